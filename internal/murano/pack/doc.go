// Package pack loads packages of Murano: a folder, a zip archive, or one file of a package.
//
// An archive is not trusted. Its members are counted before its directory is read, and their bytes while they are
// inflated. Problems with members become issues of the package: a name must not lead out of the package, and two
// members must not share a name or bytes.
package pack

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"purser/internal/murano"
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
func (e *Unreadable) Issue() murano.Issue {
	return murano.Issue{Code: "PKG:E123", Severity: murano.Error, Message: e.Reason}
}

// keeps reports whether a validator reads the content of a file. Of other files only the digest is kept.
func (l Limits) keeps(name string) bool {
	nested := l.Nested && strings.HasSuffix(name, ".zip") && !strings.Contains(name, "/")
	return nested || name == murano.ManifestName || strings.HasPrefix(name, "Classes/") || strings.HasPrefix(name, "UI/")
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
	switch plain := murano.PlainName(name); {
	case name == plain:
		return ""
	case strings.Contains(name, `\`):
		return fmt.Sprintf(`it has a backslash; folders are separated by slashes, as in "%s"`, plain)
	default:
		return fmt.Sprintf(`it has an empty part or a dot; the plain name is "%s"`, plain)
	}
}

// addf reports an issue about a member, whose name is shortened.
func addf(pkg *murano.Package, code, name, format string, args ...any) {
	shown := strings.ToValidUTF8(name[:min(len(name), maxName)], "\ufffd")
	pkg.Problems = append(pkg.Problems, murano.Issue{
		Code: code, File: shown, Message: fmt.Sprintf(`"%s": %s`, shown, fmt.Sprintf(format, args...)),
	})
}

// giveUpf returns a package that has only a problem to report.
func giveUpf(format string, args ...any) *murano.Package {
	return &murano.Package{Unread: true, Problems: []murano.Issue{{
		Code: "PKG:E127", Message: fmt.Sprintf(format, args...),
	}}}
}
