package jsonschema

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"purser/internal/regex"
)

// maxPatterns is the maximum size of all patterns of a schema together.
const maxPatterns = 100_000

// translateByte is the cost of translating a byte of a pattern, in steps.
const translateByte = 100

// compilePattern compiles a regular expression of a schema with RE2. In Draft 4 it is one of Python, as in Deckhand,
// and in later drafts one of ECMA-262. The error names a construct that RE2 lacks.
func compilePattern(w counter, written string, d *draft) (*regex.Expression, error) {
	if err := regex.CheckLength(written); err != nil {
		return nil, err
	}
	w.spend(len(written) * translateByte)
	if err := unsupported(written); err != nil {
		return nil, err
	}
	translated := fromPython(written)
	if d != draft4 {
		translated = fromECMA(written)
	}
	compiled, err := regex.CompileTranslated(w.meter, translated)
	if w.spend(0); err != nil {
		return nil, patternError(err)
	}
	return compiled, nil
}

// matches reports whether a pattern matches anywhere in the text.
func (c counter) matches(p *regex.Expression, text string) bool {
	c.spend(p.MatchSteps(len(text)))
	return p.MatchString(text)
}

const needsRE2 = "patterns need RE2 syntax, which has no lookarounds and no back-references"

// patternError rewords an error of the regular expression parser.
func patternError(err error) error {
	malformed, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return err
	}
	return fmt.Errorf("%s (%s: %s)", needsRE2, malformed.Code, strconv.Quote(malformed.Expr))
}

// lookarounds are the beginnings of groups that RE2 lacks.
var lookarounds = []struct{ opens, name string }{
	{"(?=", "look-ahead"},
	{"(?!", "negative look-ahead"},
	{"(?<=", "look-behind"},
	{"(?<!", "negative look-behind"},
	{"(?>", "atomic group"},
	{"(?P=", "back-reference"},
	{"(?(", "conditional group"},
}

// unsupported returns an error for the first construct of a pattern that RE2 lacks, with its position.
func unsupported(written string) error {
	class := false
	for i := 0; i < len(written); i++ {
		rest := written[i:]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			if !class && (rest[1] >= '1' && rest[1] <= '9' || strings.HasPrefix(rest, `\k<`)) {
				return lacks("back-reference", rest[:2], i)
			}
			i++
		case rest[0] == '[' && !class:
			class = true
		case rest[0] == ']':
			class = false
		case rest[0] == '(' && !class:
			for _, l := range lookarounds {
				if strings.HasPrefix(rest, l.opens) {
					return lacks(l.name, l.opens, i)
				}
			}
		}
	}
	return nil
}

func lacks(name, written string, at int) error {
	return fmt.Errorf("%s (here: the %s %s at character %d)", needsRE2, name, written, at+1)
}

// fromPython translates syntax that RE2 reads differently: in Python, $ also matches before a final newline, which
// matters for every block scalar, and \Z matches only at the end. It does not change a pattern that sets flags, which
// can change the meaning of $.
func fromPython(written string) string {
	if !strings.ContainsAny(written, `$Z`) || setsFlags(written) {
		return written
	}
	return translate(written, func(escape string, class bool) string {
		switch {
		case class:
		case escape == `\Z`:
			return `\z`
		case escape == "$":
			return `(?:\n?\z)`
		}
		return escape
	})
}

// Classes of white space in ECMA-262, and of all other characters.
const (
	space    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	notSpace = `\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
		`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
)

// fromECMA translates syntax that RE2 writes or reads differently: \s includes Unicode spaces, $ matches only at the
// end, and \uXXXX, \cX, \/ and names of scripts.
func fromECMA(written string) string {
	return translate(written, func(escape string, class bool) string {
		switch {
		case escape == "$" && !class:
			return `\z`
		case escape == `\s` && class:
			return space
		case escape == `\s`:
			return `[` + space + `]`
		case escape == `\S` && class:
			return notSpace
		case escape == `\S`:
			return `[^` + space + `]`
		case escape == `\/`:
			return `/`
		case escape == `\0`:
			return `\x00`
		case strings.HasPrefix(escape, `\u{`):
			return `\x` + escape[2:]
		case strings.HasPrefix(escape, `\u`) && len(escape) > len(`\u`):
			return `\x{` + escape[2:] + `}`
		case strings.HasPrefix(escape, `\c`) && len(escape) > len(`\c`):
			return fmt.Sprintf(`\x%02x`, escape[2]%32)
		case strings.HasPrefix(escape, `\p{`), strings.HasPrefix(escape, `\P{`):
			_, name, ok := strings.Cut(strings.TrimSuffix(escape[3:], "}"), "=")
			if ok {
				return escape[:3] + name + "}"
			}
		}
		return escape
	})
}

// longEscape matches an escape of more than one character.
var longEscape = regexp.MustCompile(`^\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|c[A-Za-z]|[pP]\{[^}]*\})`)

// translate copies a pattern and replaces its escapes and $ by the results of to. class means that they are within
// brackets.
func translate(written string, to func(escape string, class bool) string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(written); i++ {
		switch c := written[i]; {
		case c == '\\' && i+1 < len(written):
			escape := written[i : i+2]
			if strings.IndexByte("ucpP", written[i+1]) >= 0 {
				escape = cmp.Or(longEscape.FindString(written[i:]), escape)
			}
			b.WriteString(to(escape, class))
			i += len(escape) - 1
		case c == '[' && !class:
			class = true
			b.WriteByte(c)
			n := classStart(written[i+1:])
			b.WriteString(written[i+1 : i+1+n])
			i += n
		case c == ']':
			class = false
			b.WriteByte(c)
		case c == '$':
			b.WriteString(to("$", class))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// classStart returns the number of bytes at the start of a class that do not end it: ^ and ].
func classStart(rest string) int {
	n := 0
	if strings.HasPrefix(rest, "^") {
		n++
	}
	if strings.HasPrefix(rest[n:], "]") {
		n++
	}
	return n
}

func setsFlags(written string) bool {
	for rest := written; ; {
		_, after, ok := strings.Cut(rest, "(?")
		if !ok {
			return false
		}
		if after != "" && strings.IndexByte("imsU-", after[0]) >= 0 {
			return true
		}
		rest = after
	}
}
