package rendering

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"purser/internal/words"
)

// dataPath leads to a place in a document's data, or to several of them.
type dataPath struct {
	steps  []pathStep
	broken error // why its text cannot be read
}

// pathStep leads from a container to a member of it, or to all of them.
type pathStep struct {
	kind  pathKind
	key   string
	index int
}

// stepSize is the memory of a step, in bytes.
const stepSize = 40

// pathKind is the kind of a Step.
type pathKind uint8

// The kinds of steps.
const (
	byKey   pathKind = iota // .key
	byIndex                 // [2], or [-1] for the last
	anyKey                  // .*
	anyItem                 // [*]
)

func (s pathStep) String() string {
	switch s.kind {
	case byIndex:
		return fmt.Sprintf("[%d]", s.index)
	case anyKey:
		return ".*"
	case anyItem:
		return "[*]"
	case byKey:
	}
	if plain, rest := cutKey(s.key); plain != "" && rest == "" {
		return "." + s.key
	}
	return ".'" + strings.NewReplacer(`'`, `\'`, `\`, `\\`).Replace(s.key) + "'"
}

// items returns the range of the items of a list that a step selects. Negative indexes count from the end.
func (s pathStep) items(length int) (from, to int) {
	switch s.kind {
	case byIndex:
		at := s.index
		if at < 0 {
			at += length
		}
		if at >= 0 && at < length {
			return at, at + 1
		}
	case anyItem:
		return 0, length
	case byKey, anyKey:
	}
	return 0, 0
}

// common returns the keys and indexes that all targets of the path have in common.
func (p *dataPath) common() []string {
	parts := []string{}
	for _, s := range p.steps {
		switch {
		case s.kind == byKey:
			parts = append(parts, s.key)
		case s.kind == byIndex && s.index >= 0:
			parts = append(parts, strconv.Itoa(s.index))
		default:
			return parts
		}
	}
	return parts
}

func (p *dataPath) String() string { return pathText(p.steps) }

// pathText writes steps as a path.
func pathText(steps []pathStep) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString(s.String())
	}
	if b.Len() == 0 || b.String()[0] == '[' {
		return "." + b.String()
	}
	return b.String()
}

// parseAction parses the path of an action, which may begin at the document instead of its data.
func (memo *memo) parseAction(written string) *dataPath {
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
	return memo.parsePath(rest)
}

// endsStep reports whether a step of a path is over where rest begins.
func endsStep(rest string) bool { return rest == "" || rest[0] == '.' || rest[0] == '[' }

// parsePath parses a path, each once.
func (memo *memo) parsePath(written string) *dataPath {
	memo.charge(lookupCost + len(written)/bytesPerStep)
	known := memo.paths[written]
	if known == nil {
		known = newPath(strings.Clone(written)) // documents share it: it must not keep one document's text in memory
		memo.paths[written] = known
		memo.charge(runeCost*len(written) + lookupCost*len(known.steps))
		memo.hold(2*entrySize + stepSize*cap(known.steps))
	}
	return known
}

// maxIndex bounds the indexes that a path may have.
const maxIndex = 1_000_000

// maxDepth bounds the nesting of rendered data, and the steps of a path, far above the bound for submitted documents:
// code that walks the data later may recurse.
const maxDepth = 1000

const pathHelp = "a path is made of .key, .'quoted key', [2], [-1], .* and [*]"

func newPath(written string) *dataPath {
	s := pathScanner{text: written, rest: strings.Trim(written, " \t")}
	steps, err := s.path()
	return &dataPath{steps: steps, broken: err}
}

// pathScanner reads a path from front to back.
type pathScanner struct{ text, rest string }

func (s *pathScanner) refuse(why string) error {
	return fmt.Errorf("the path '%s' cannot be read at character %d: %s; %s", words.Excerpt(s.text),
		1+utf8.RuneCountInString(s.text)-utf8.RuneCountInString(s.rest), why, pathHelp)
}

// accept skips a mark and the spaces after it.
func (s *pathScanner) accept(mark string) bool {
	rest, found := strings.CutPrefix(s.rest, mark)
	if found {
		s.rest = strings.TrimLeft(rest, " \t")
	}
	return found
}

func (s *pathScanner) path() (steps []pathStep, err error) {
	if s.rest == "." || s.rest == "$" {
		return nil, nil
	}
	rooted := s.accept("$")
	for first := true; first || s.rest != ""; first = false {
		if len(steps) == maxDepth {
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
func (s *pathScanner) step(first bool) (pathStep, error) {
	dotted := s.accept(".")
	switch {
	case s.accept("["):
		return s.bracket()
	case !dotted && !first:
		return pathStep{}, s.refuse("a '.' or '[' is expected")
	case s.accept("*"):
		return pathStep{kind: anyKey}, nil
	}
	return s.key()
}

func (s *pathScanner) bracket() (next pathStep, err error) {
	number := s.rest[:len(s.rest)-len(strings.TrimLeft(s.rest, "-0123456789"))]
	switch {
	case s.accept("*"):
		next.kind = anyItem
	case number != "":
		next.kind = byIndex
		if next.index, err = strconv.Atoi(number); err != nil || max(next.index, -next.index) > maxIndex {
			return pathStep{}, s.refuse(fmt.Sprintf("an index is a number of at most %d", maxIndex))
		}
		s.accept(number)
	default:
		if next, err = s.key(); err != nil {
			return pathStep{}, err
		}
	}
	if !s.accept("]") {
		return pathStep{}, s.refuse("a ']' is expected")
	}
	return next, nil
}

func (s *pathScanner) key() (pathStep, error) {
	if s.rest != "" && (s.rest[0] == '\'' || s.rest[0] == '"') {
		return s.quoted()
	}
	key, rest := cutKey(s.rest)
	if key == "" {
		return pathStep{}, s.refuse("a key is expected")
	}
	s.rest = strings.TrimLeft(rest, " \t")
	return pathStep{key: key}, nil
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

func (s *pathScanner) quoted() (pathStep, error) {
	mark := s.rest[0]
	var key strings.Builder
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == mark:
			s.rest = strings.TrimLeft(s.rest[i+1:], " \t")
			return pathStep{key: key.String()}, nil
		case c == '\\' && i+1 < len(s.rest):
			i++
			key.WriteByte(s.rest[i])
		default:
			key.WriteByte(c)
		}
	}
	return pathStep{}, s.refuse("the quoted key does not end")
}

// place is the position of a value in a document's data, from its last step to its first. It is nil if positions are
// not recorded; then those below it are nil too.
type place struct {
	in *place // nil for the root

	step pathStep
}

// placeSize is the memory of a place, in bytes.
const placeSize = 64

// member returns the place of a member with a key.
func (p *place) member(key string) *place {
	if p == nil {
		return nil
	}
	return &place{p, pathStep{kind: byKey, key: key}}
}

// item returns the place of an item of a list.
func (p *place) item(index int) *place {
	if p == nil {
		return nil
	}
	return &place{p, pathStep{kind: byIndex, index: index}}
}

// at returns the place of the value at a position of a container.
func (p *place) at(container any, at int) *place {
	if p == nil {
		return nil
	}
	if members, _ := contents(container); at < len(members) {
		return p.member(members[at].Key)
	}
	return p.item(at)
}

// steps returns the steps that lead to the place. The caller may change them.
func (p *place) steps() (steps []pathStep) {
	for ; p.in != nil; p = p.in {
		steps = append(steps, p.step)
	}
	slices.Reverse(steps)
	return steps
}
