// Package paths reads the paths of actions and substitutions.
//
// A Path is what somebody wrote, which may lead to many values or to none. A Place is where one value is. Both are made
// of steps, and never change.
package paths

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"purser/internal/rendering/meter"
	"purser/internal/words"
)

// Path leads to a place in a document's data, or to several of them.
type Path struct {
	Steps  []Step
	Broken error // why its text cannot be read
}

// Step leads from a container to a member of it, or to all of them.
type Step struct {
	Kind  Kind
	Key   string
	Index int
}

// stepSize is the memory of a step, in bytes.
const stepSize = 40

// Kind is the kind of a Step.
type Kind uint8

// The kinds of steps.
const (
	ByKey   Kind = iota // .key
	ByIndex             // [2], or [-1] for the last
	AnyKey              // .*
	AnyItem             // [*]
)

func (s Step) String() string {
	switch s.Kind {
	case ByIndex:
		return fmt.Sprintf("[%d]", s.Index)
	case AnyKey:
		return ".*"
	case AnyItem:
		return "[*]"
	case ByKey:
	}
	if plain, rest := cutKey(s.Key); plain != "" && rest == "" {
		return "." + s.Key
	}
	return ".'" + strings.NewReplacer(`'`, `\'`, `\`, `\\`).Replace(s.Key) + "'"
}

// Items returns the range of the items of a list that a step selects. Negative indexes count from the end.
func (s Step) Items(length int) (from, to int) {
	switch s.Kind {
	case ByIndex:
		at := s.Index
		if at < 0 {
			at += length
		}
		if at >= 0 && at < length {
			return at, at + 1
		}
	case AnyItem:
		return 0, length
	case ByKey, AnyKey:
	}
	return 0, 0
}

// Common returns the keys and indexes that all targets of the path have in common.
func (p *Path) Common() []string {
	parts := []string{}
	for _, s := range p.Steps {
		switch {
		case s.Kind == ByKey:
			parts = append(parts, s.Key)
		case s.Kind == ByIndex && s.Index >= 0:
			parts = append(parts, strconv.Itoa(s.Index))
		default:
			return parts
		}
	}
	return parts
}

func (p *Path) String() string { return Of(p.Steps) }

// Of writes steps as a path.
func Of(steps []Step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString(s.String())
	}
	if b.Len() == 0 || b.String()[0] == '[' {
		return "." + b.String()
	}
	return b.String()
}

// Parser parses each path once.
type Parser struct {
	*meter.Meter

	known map[string]*Path
}

// NewParser returns a parser that counts its work.
func NewParser(m *meter.Meter) *Parser { return &Parser{m, map[string]*Path{}} }

// ParseAction parses the path of an action, which may begin at the document instead of its data.
func (p *Parser) ParseAction(written string) *Path {
	rest := written
	if below, cut := strings.CutPrefix(rest, "$"); cut && endsStep(below) {
		rest = below
	}
	if below, cut := strings.CutPrefix(rest, ".data"); cut && endsStep(below) {
		rest = below
	}
	if rest == "" {
		rest = "."
	}
	return p.Parse(rest)
}

// endsStep reports whether a step of a path is over where rest begins.
func endsStep(rest string) bool { return rest == "" || rest[0] == '.' || rest[0] == '[' }

// Parse parses a path.
func (p *Parser) Parse(written string) *Path {
	p.Charge(meter.Lookup + len(written)/meter.BytesPerStep)
	known := p.known[written]
	if known == nil {
		known = parse(strings.Clone(written)) // documents share it: it must not keep one document's text in memory
		p.known[written] = known
		p.Charge(meter.Rune*len(written) + meter.Lookup*len(known.Steps))
		p.Hold(2*meter.Entry + stepSize*cap(known.Steps))
	}
	return known
}

// maxIndex bounds the indexes that a path may have.
const maxIndex = 1_000_000

// MaxDepth bounds the nesting of rendered data, and the steps of a path, far above the bound for submitted documents:
// code that walks the data later may recurse.
const MaxDepth = 1000

const pathHelp = "a path is made of .key, .'quoted key', [2], [-1], .* and [*]"

func parse(written string) *Path {
	s := scanner{text: written, rest: strings.Trim(written, " \t")}
	steps, err := s.path()
	return &Path{Steps: steps, Broken: err}
}

// scanner reads a path from front to back.
type scanner struct{ text, rest string }

func (s *scanner) refuse(why string) error {
	return fmt.Errorf("the path '%s' cannot be read at character %d: %s; %s", words.Excerpt(s.text),
		1+utf8.RuneCountInString(s.text)-utf8.RuneCountInString(s.rest), why, pathHelp)
}

// accept skips a mark and the spaces after it.
func (s *scanner) accept(mark string) bool {
	rest, found := strings.CutPrefix(s.rest, mark)
	if found {
		s.rest = strings.TrimLeft(rest, " \t")
	}
	return found
}

func (s *scanner) path() (steps []Step, err error) {
	if s.rest == "." || s.rest == "$" {
		return nil, nil
	}
	rooted := s.accept("$")
	for first := true; first || s.rest != ""; first = false {
		if len(steps) == MaxDepth {
			return nil, s.refuse("it is too long")
		}
		next, err := s.step(first && !rooted)
		if err != nil {
			return nil, err
		}
		steps = append(steps, next)
	}
	return steps, nil
}

// step reads one step; the dot before a key may be missing where the path begins with it.
func (s *scanner) step(first bool) (Step, error) {
	dotted := s.accept(".")
	switch {
	case s.accept("["):
		return s.bracket()
	case !dotted && !first:
		return Step{}, s.refuse("a '.' or '[' is expected")
	case s.accept("*"):
		return Step{Kind: AnyKey}, nil
	}
	return s.key()
}

func (s *scanner) bracket() (next Step, err error) {
	number := s.rest[:len(s.rest)-len(strings.TrimLeft(s.rest, "-0123456789"))]
	switch {
	case s.accept("*"):
		next.Kind = AnyItem
	case number != "":
		next.Kind = ByIndex
		if next.Index, err = strconv.Atoi(number); err != nil || max(next.Index, -next.Index) > maxIndex {
			return Step{}, s.refuse(fmt.Sprintf("an index is a number of at most %d", maxIndex))
		}
		s.accept(number)
	default:
		if next, err = s.key(); err != nil {
			return Step{}, err
		}
	}
	if !s.accept("]") {
		return Step{}, s.refuse("a ']' is expected")
	}
	return next, nil
}

func (s *scanner) key() (Step, error) {
	if s.rest != "" && (s.rest[0] == '\'' || s.rest[0] == '"') {
		return s.quoted()
	}
	key, rest := cutKey(s.rest)
	if key == "" {
		return Step{}, s.refuse("a key is expected")
	}
	s.rest = strings.TrimLeft(rest, " \t")
	return Step{Key: key}, nil
}

// cutKey cuts a plain key from the front of a text: a letter, _ or @ and then digits and hyphens too, or digits alone.
func cutKey(text string) (key, rest string) {
	rest = strings.TrimLeft(text, "0123456789")
	if len(rest) == len(text) && !strings.HasPrefix(text, "-") {
		rest = strings.TrimLeftFunc(text, func(r rune) bool {
			return unicode.IsLetter(r) || r >= utf8.RuneSelf || strings.ContainsRune("0123456789_@-", r)
		})
	}
	return text[:len(text)-len(rest)], rest
}

func (s *scanner) quoted() (Step, error) {
	mark := s.rest[0]
	var key strings.Builder
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == mark:
			s.rest = strings.TrimLeft(s.rest[i+1:], " \t")
			return Step{Key: key.String()}, nil
		case c == '\\' && i+1 < len(s.rest):
			i++
			key.WriteByte(s.rest[i])
		default:
			key.WriteByte(c)
		}
	}
	return Step{}, s.refuse("the quoted key does not end")
}
