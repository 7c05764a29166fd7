package murano

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Version is a version of a package. Versions, and requirements on them, are those of semantic_version 2.9, the library
// that Murano uses, whose rules are wider than those of SemVer 2.0.
type Version struct {
	parts      [3]string // numbers without leading zeros
	prerelease []string
	build      []string
}

var (
	basePattern  = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+(?:\.[0-9]+)?)?`)
	otherPattern = regexp.MustCompile(`[^a-zA-Z0-9+.-]`)
)

var errNoVersion = errors.New("it does not begin with a number")

// ParseVersion parses a version leniently: missing parts are 0, and text after the numbers is a prerelease or a build.
func ParseVersion(text string) (Version, error) {
	var v Version
	base := basePattern.FindString(text)
	if base == "" {
		return v, errNoVersion
	}
	v.parts = [3]string{"0", "0", "0"}
	for i, part := range strings.Split(base, ".") {
		v.parts[i] = trimZeros(part)
	}
	rest := otherPattern.ReplaceAllString(text[len(base):], "-")
	var prerelease, build string
	switch {
	case rest == "":
		return v, nil
	case rest[0] == '+' || rest[0] == '.':
		build = rest[1:]
	default:
		prerelease, build, _ = strings.Cut(strings.TrimPrefix(rest, "-"), "+")
	}
	var err error
	if v.prerelease, err = identifiers(prerelease, true); err != nil {
		return v, err
	}
	v.build, err = identifiers(strings.ReplaceAll(build, "+", "."), false)
	return v, err
}

// trimZeros removes leading zeros.
func trimZeros(number string) string {
	return cmp.Or(strings.TrimLeft(number, "0"), "0")
}

// identifiers splits a prerelease or a build at its dots.
func identifiers(text string, prerelease bool) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	parts := strings.Split(text, ".")
	for _, part := range parts {
		if part == "" {
			return nil, fmt.Errorf("%q has an empty part", text)
		}
		if prerelease && len(part) > 1 && part[0] == '0' && isNumber(part) {
			return nil, fmt.Errorf("%q has a number with leading zeros", text)
		}
	}
	return parts, nil
}

func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// String returns the version in full.
func (v Version) String() string {
	text := strings.Join(v.parts[:], ".")
	if len(v.prerelease) > 0 {
		text += "-" + strings.Join(v.prerelease, ".")
	}
	if len(v.build) > 0 {
		text += "+" + strings.Join(v.build, ".")
	}
	return text
}

// compare orders versions by precedence, as SemVer does.
func (v Version) compare(w Version) int {
	if c := slices.CompareFunc(v.parts[:], w.parts[:], compareNumbers); c != 0 {
		return c
	}
	if len(v.prerelease) == 0 || len(w.prerelease) == 0 {
		return cmp.Compare(len(w.prerelease), len(v.prerelease)) // a prerelease comes before its release
	}
	return slices.CompareFunc(v.prerelease, w.prerelease, func(a, b string) int {
		switch x, y := isNumber(a), isNumber(b); {
		case x && y:
			return compareNumbers(a, b)
		case x != y:
			return map[bool]int{true: -1, false: 1}[x]
		}
		return cmp.Compare(a, b)
	})
}

func compareNumbers(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// release returns a version without prerelease and build.
func (v Version) release() Version { return Version{parts: v.parts} }

// next returns the first release after all versions that agree with v in the parts up to i.
func (v Version) next(i int) Version {
	final := len(v.prerelease) > 0
	for _, part := range v.parts[i+1:] {
		final = final && part == "0"
	}
	n := v.release()
	if !final {
		n.parts[i] = increment(n.parts[i])
	}
	for j := i + 1; j < len(n.parts); j++ {
		n.parts[j] = "0"
	}
	return n
}

// increment adds 1 to a decimal number.
func increment(number string) string {
	digits := []byte(number)
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] < '9' {
			digits[i]++
			return string(digits)
		}
		digits[i] = '0'
	}
	return "1" + string(digits)
}
