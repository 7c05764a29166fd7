package murano

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"purser/internal/budget"
)

// Limits bound a package.
type Limits struct {
	Files int   // files and folders
	File  int64 // bytes of a file
	Total int64 // bytes of all files
	// Ratio bounds the size of an archive's files to Ratio times that of the archive, plus 1 MiB.
	Ratio int64
	// Nested keeps the archives at the top, which may be packages of a bundle.
	Nested bool
}

// DefaultLimits returns limits well above the needs of packages.
func DefaultLimits() Limits {
	return Limits{Files: 10_000, File: 64 << 20, Total: 256 << 20, Ratio: 200}
}

// Unreadable is the error for a path or archive that is not a package at all.
type Unreadable struct{ Reason string }

func (e *Unreadable) Error() string { return e.Reason }

// Issue returns the error as an issue.
func (e *Unreadable) Issue() Issue {
	return Issue{Code: "PKG:E123", Severity: Error, Message: e.Reason}
}

// keeps reports whether a validator reads the content of a file. Of other files only the digest is kept.
func (l Limits) keeps(name string) bool {
	nested := l.Nested && strings.HasSuffix(name, ".zip") && !strings.Contains(name, "/")
	return nested || name == ManifestName || strings.HasPrefix(name, "Classes/") || strings.HasPrefix(name, "UI/")
}

// loader reads the files of a package and counts their bytes.
type loader struct {
	meter  *budget.Meter
	limits Limits
	most   int64 // limit for the bytes of all files
	total  int64
	buffer [32 << 10]byte
	pkg    *Package
}

func newLoader(meter *budget.Meter, limits Limits, most int64) *loader {
	return &loader{meter: meter, limits: limits, most: most, pkg: &Package{Files: map[string]*File{}}}
}

// errGaveUp ends the reading of a package that exceeds its limits. The loader's package then reports only that.
var errGaveUp = errors.New("the package is too large")

// giveUpf returns a package that has only a problem to report.
func giveUpf(format string, args ...any) *Package {
	return &Package{Unread: true, Problems: []Issue{{Code: "PKG:E127", Message: fmt.Sprintf(format, args...)}}}
}

// byteSteps is the cost of inflating and hashing a byte, in steps of the budget.
const byteSteps = 10

// add reads a file and adds it to the package. If the file cannot be read, the error is a *readError. Other errors end
// the reading of the package.
func (l *loader) add(name string, from io.Reader) error {
	f := &File{}
	digest := sha256.New()
	var raw bytes.Buffer
	for {
		n, err := from.Read(l.buffer[:])
		f.Size += int64(n)
		l.total += int64(n)
		if f.Size > l.limits.File || l.total > l.most {
			l.pkg = l.tooLarge(name)
			return errGaveUp
		}
		if spent := l.meter.Spend(byteSteps * n); spent != nil {
			return spent
		}
		digest.Write(l.buffer[:n])
		if l.limits.keeps(name) && n > 0 {
			if spent := l.meter.Hold(n); spent != nil {
				return spent
			}
			raw.Write(l.buffer[:n])
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &readError{err}
		}
	}
	f.Digest = hex.EncodeToString(digest.Sum(nil))
	if l.limits.keeps(name) {
		f.Raw = raw.Bytes()
	}
	l.pkg.Files[name] = f
	return nil
}

// readError is the error for a file that cannot be read.
type readError struct{ error }

func (e *readError) Unwrap() error { return e.error }

// tooLarge returns a package that reports the limit that a file exceeded.
func (l *loader) tooLarge(name string) *Package {
	const shown = 200 // characters of the name
	if l.total > l.most && l.most < l.limits.Total {
		return giveUpf("The archive inflates to more than %d times its size; at %.*q it was given up", l.limits.Ratio,
			shown, name)
	}
	return giveUpf("File %.*q is too large: a file has at most %d bytes, all files of a package %d", shown, name,
		l.limits.File, l.limits.Total)
}

// reportf reports an issue about a member, whose name is shortened.
func (l *loader) reportf(code, name, format string, args ...any) {
	shown := strings.ToValidUTF8(name[:min(len(name), maxName)], "\ufffd")
	l.pkg.Problems = append(l.pkg.Problems, Issue{
		Code: code, File: shown, Message: fmt.Sprintf(`"%s": %s`, shown, fmt.Sprintf(format, args...)),
	})
}

// maxName bounds the names of files, in bytes.
const maxName = 1000

// nameProblem returns why a name is refused, "" if it is not: it must name a file below the root.
func nameProblem(name string) string {
	switch {
	case len(name) > maxName:
		return fmt.Sprintf("it has more than %d bytes", maxName)
	case !utf8.ValidString(name):
		return "it is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "it holds a control character"
	case strings.HasPrefix(name, "/") || len(name) > 1 && name[1] == ':':
		return "it is absolute"
	}
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == ".." {
			return "it leads out of the package"
		}
	}
	switch plain := plainName(name); {
	case name == plain:
		return ""
	case strings.Contains(name, `\`):
		return fmt.Sprintf(`it has a backslash; folders are separated by slashes, as in "%s"`, plain)
	default:
		return fmt.Sprintf(`it has an empty part or a dot; the plain name is "%s"`, plain)
	}
}
