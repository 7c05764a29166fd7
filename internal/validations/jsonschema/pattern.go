package jsonschema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// pattern is a regular expression of a schema.
type pattern struct {
	runs     string // as RE2 runs it
	compiled *regexp.Regexp
	size     int // steps of the compiled program, which is what a byte of text costs at most
}

// readPattern translates a Python pattern into RE2. Whatever RE2 does not have is an error. One that is larger than all
// patterns of a schema may be is not compiled.
func readPattern(w work, written string) (pattern, error) {
	runs := translate(written)
	tree, err := syntax.Parse(runs, syntax.Perl)
	if err != nil {
		return pattern{}, fmt.Errorf("parse pattern: %w", err)
	}
	size := instructions(tree)
	if w.spend(len(written) * describeByte); size > maxPrograms {
		return pattern{size: size}, nil // which no schema may have
	}
	w.spend(programBase + size*programSteps)
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return pattern{}, fmt.Errorf("compile pattern: %w", err)
	}
	compiled, err := regexp.Compile(runs)
	if err != nil {
		return pattern{}, fmt.Errorf("compile pattern: %w", err)
	}
	return pattern{runs: runs, compiled: compiled, size: len(program.Inst)}, nil
}

// translate rewrites what the two dialects both have but read differently: in Python $ also matches before a newline
// that ends the text, which matters to every block scalar, and the very end is \Z. A pattern that sets flags is left
// alone, since a flag can change what $ means.
func translate(written string) string {
	if !strings.ContainsAny(written, `$Z`) || setsFlags(written) {
		return written
	}
	var b strings.Builder
	class := false // within [...]
	for i := 0; i < len(written); i++ {
		switch c := written[i]; {
		case c == '\\' && i+1 < len(written):
			i++
			b.WriteString(escaped(written[i], class))
		case c == '[' && !class:
			class = true
			b.WriteByte(c)
			i += copyClassStart(&b, written[i+1:])
		case c == ']':
			class = false
			b.WriteByte(c)
		case c == '$' && !class:
			b.WriteString(`(?:\n?\z)`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func escaped(c byte, class bool) string {
	if c == 'Z' && !class {
		return `\z`
	}
	return `\` + string([]byte{c}) // a byte, which may be the first of a longer rune
}

// copyClassStart copies what may open a class without ending it, ^ and ], and returns how many bytes that were.
func copyClassStart(b *strings.Builder, rest string) int {
	n := 0
	if strings.HasPrefix(rest, "^") {
		n++
	}
	if strings.HasPrefix(rest[n:], "]") {
		n++
	}
	b.WriteString(rest[:n])
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

// instructions returns about how many instructions a pattern compiles to: what it repeats is there that many times.
func instructions(tree *syntax.Regexp) int {
	n := 1 + len(tree.Rune)
	for _, sub := range tree.Sub {
		n += instructions(sub)
	}
	if tree.Op == syntax.OpRepeat {
		n *= max(1, tree.Min, tree.Max)
	}
	return n
}

// steps is what it takes at most to match the pattern with a text of so many bytes.
func (p *pattern) steps(bytes int) int { return matchSteps + p.size*(bytes+1)*matchByte }
