package murano

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Spec is a requirement on the version of another package: all its conditions must be met. The zero Spec allows all
// versions.
type Spec struct{ conditions []condition }

// condition is met by a version in at least one of its ranges.
type condition []span

// span is the range of versions that satisfy all of its bounds.
type span []bound

type bound struct {
	op     string // == != < <= > >=
	target Version
	always bool // prereleases of the target are below it even if it is a release
	strict bool // builds are compared, too
}

// blockPattern matches a condition: operator, numbers, prerelease and build.
var blockPattern = regexp.MustCompile(`^(<=?|={0,2}|>=?|!=|\^|~=?)(\*|0|[1-9][0-9]*)(?:\.(\*|0|[1-9][0-9]*)` +
	`(?:\.(\*|0|[1-9][0-9]*))?)?(-[a-zA-Z0-9.-]*)?(\+[a-zA-Z0-9.-]*)?$`)

// ParseSpec parses conditions separated by commas, such as ">=1.2,<2". A complete version without an operator allows
// only that version, an incomplete one all versions that begin with it. "" means 0.
func ParseSpec(text string) (Spec, error) {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	if text == "" {
		text = "0"
	}
	var s Spec
	for block := range strings.SplitSeq(text, ",") {
		parts := blockPattern.FindStringSubmatch(block)
		if parts == nil {
			return s, fmt.Errorf("%q is not a condition such as 1.2, >=1.2 or ~=1.2", block)
		}
		c, err := newCondition(parts)
		if err != nil {
			return s, fmt.Errorf("%q %w", block, err)
		}
		s.conditions = append(s.conditions, c)
	}
	return s, nil
}

// newCondition creates a condition from its parts. Missing numbers match any.
func newCondition(parts []string) (condition, error) {
	op := parts[1]
	if op == "" || op == "=" {
		op = "=="
	}
	target := Version{parts: [3]string{"0", "0", "0"}}
	given := 0 // number of given numbers
	for ; given < 3 && parts[2+given] != "" && parts[2+given] != "*"; given++ {
		target.parts[given] = parts[2+given]
	}
	pre, build := parts[5], parts[6]
	switch {
	case given == 0 && op != "==" && op != ">=":
		return nil, errors.New("compares with every version; only == and >= may")
	case given < 3 && (len(pre) > 1 || len(build) > 1):
		return nil, errors.New("has a prerelease or a build, but not all three numbers")
	case build != "" && op != "==" && op != "!=":
		return nil, errors.New("names a build; only == and != may")
	}
	var err error
	if target.prerelease, err = identifiers(strings.TrimPrefix(pre, "-"), true); err != nil {
		return nil, err
	}
	if target.build, err = identifiers(strings.TrimPrefix(build, "+"), false); err != nil {
		return nil, err
	}
	return expand(op, target, given, pre == "-", build == "+"), nil
}

// expand returns the ranges of a condition. given is the number of version parts that it specifies.
func expand(op string, target Version, given int, always, strict bool) condition {
	between := func(part int) condition {
		return condition{{{op: ">=", target: target}, {op: "<", target: target.next(part)}}}
	}
	last := max(0, given-1) // the last given part
	one := func(b bound) condition { return condition{{b}} }
	switch op {
	case "^":
		if first := slices.IndexFunc(target.parts[:2], func(p string) bool { return p != "0" }); first >= 0 {
			return between(first)
		}
		return between(2)
	case "~":
		return between(min(last, 1))
	case "~=":
		return between(max(0, last-1))
	case "==":
		switch given {
		case 0:
			return one(bound{op: ">=", target: target})
		case 3:
			return one(bound{op: "==", target: target, strict: strict})
		}
		return between(last)
	case "!=":
		if given < 3 {
			return condition{{{op: "<", target: target}}, {{op: ">=", target: target.next(last)}}}
		}
		return one(bound{op: "!=", target: target, strict: strict})
	case ">":
		if given < 3 {
			return one(bound{op: ">=", target: target.next(last)})
		}
	case "<=":
		if given < 3 {
			return one(bound{op: "<", target: target.next(last)})
		}
	}
	return one(bound{op: op, target: target, always: always})
}

// Match reports whether a version meets all conditions.
func (s Spec) Match(v Version) bool {
	for _, c := range s.conditions {
		met := slices.ContainsFunc(c, func(s span) bool {
			return !slices.ContainsFunc(s, func(b bound) bool { return !b.match(v) })
		})
		if !met {
			return false
		}
	}
	return true
}

func (b bound) match(v Version) bool {
	order := v.compare(b.target)
	ofTarget := len(b.target.prerelease) == 0 && v.release().compare(b.target.release()) == 0
	switch b.op {
	case "==":
		if b.strict {
			return order == 0 && slices.Equal(v.build, b.target.build)
		}
		return order == 0 && len(b.target.build) == 0
	case "!=":
		if b.strict {
			return order != 0 || !slices.Equal(v.build, b.target.build)
		}
		return !ofTarget && (order != 0 || len(b.target.build) > 0)
	case "<":
		return order < 0 && (b.always || !ofTarget || len(v.prerelease) == 0)
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}
