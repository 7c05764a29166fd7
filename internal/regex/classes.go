package regex

import (
	"cmp"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escape reads an escape outside of a class.
func (s *scanner) escape() {
	rest := s.text[s.at:]
	switch {
	case len(rest) == 1:
		s.at++
	case strings.HasPrefix(rest, `\Q`): // up to \E, all characters match themselves
		s.at += len(`\Q`)
		text, _, _ := strings.Cut(rest[len(`\Q`):], `\E`)
		for end := s.at + len(text); s.at < end; {
			s.character()
		}
		s.at = min(s.at+len(`\E`), len(s.text))
	case strings.IndexByte("AbBz", rest[1]) >= 0:
		s.at += 2
		s.add(simple, false)
	default:
		before := s.ranges
		if s.named() {
			s.addClass(s.ranges - before)
		} else {
			s.literal(s.escaped())
		}
	}
}

// class reads a class in brackets.
func (s *scanner) class() {
	before := s.ranges
	s.at++
	if strings.HasPrefix(s.text[s.at:], "^") {
		s.at++
		s.ranges++
	}
	for first := true; s.at < len(s.text) && (first || s.text[s.at] != ']') && s.ranges <= maxRanges; first = false {
		s.member()
	}
	s.at = min(s.at+1, len(s.text))
	s.addClass(s.ranges - before)
}

// addClass adds a class of a number of ranges, which a search halves until it finds a character.
func (s *scanner) addClass(ranges int) {
	const linear = 4 // ranges up to which they are compared one by one
	p := simple
	if ranges > linear {
		p.work += bits.Len(uint(ranges))
	}
	s.steps += rangeSteps * ranges
	s.add(p, false)
}

// maxRanges is more ranges than an expression can have without exceeding maxSteps.
const maxRanges = maxSteps / rangeSteps

// posixRanges is the most that a class such as [:alnum:] or \w has, in any case.
const posixRanges = 8

// member reads a member of a class: a character, a range of characters, or another class.
func (s *scanner) member() {
	if s.posix() || s.named() {
		return
	}
	low := s.inClass()
	high := low
	if rest := s.text[s.at:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
		s.at++
		high = s.inClass()
	}
	s.ranges++
	if s.folds {
		s.fold(low, high)
	}
}

// posix reads a class such as [:alnum:] within a class.
func (s *scanner) posix() bool {
	rest := s.text[s.at:]
	if !strings.HasPrefix(rest, "[:") {
		return false
	}
	s.steps += len(rest) // the parser searches all of it
	_, after, ok := strings.Cut(rest[2:], ":]")
	if ok {
		s.at = len(s.text) - len(after)
		s.few()
	}
	return ok
}

// few counts a class of few ASCII characters.
func (s *scanner) few() {
	s.ranges += posixRanges
	if s.folds {
		s.steps += unicode.MaxASCII * foldSteps
	}
}

// named reads an escape for a class, such as \w or \pL.
func (s *scanner) named() bool {
	rest := s.text[s.at:]
	if len(rest) < 2 || rest[0] != '\\' || strings.IndexByte("dDsSwWpP", rest[1]) < 0 {
		return false
	}
	s.at += 2
	if rest[1] != 'p' && rest[1] != 'P' {
		s.few()
		return true
	}
	name := rest[2:min(3, len(rest))]
	if name == "{" {
		name, _, _ = strings.Cut(rest[3:], "}")
		s.at += 2
	}
	s.at = min(s.at+len(name), len(s.text))
	s.ranges += s.rangesOf(strings.TrimPrefix(name, "^"))
	return true
}

// mostRanges is the most ranges that a category or a script has, with those that (?i) adds.
const mostRanges = 1320

// rangesOf returns the number of ranges of a category or a script.
func (s *scanner) rangesOf(name string) int {
	table, folded := unicode.Categories[name], unicode.FoldCategory[name]
	if table == nil {
		table, folded = unicode.Scripts[name], unicode.FoldScript[name]
	}
	if table == nil {
		return mostRanges // the parser knows more names for them
	}
	n := 1 + rangesIn(table)
	if s.folds && folded != nil {
		n += rangesIn(folded)
	}
	return n
}

// rangesIn returns the number of ranges of a table; the parser writes out those that skip characters.
func rangesIn(table *unicode.RangeTable) (n int) {
	for _, r := range table.R16 {
		n += rangesBetween(int(r.Lo), int(r.Hi), int(r.Stride))
	}
	for _, r := range table.R32 {
		n += rangesBetween(int(r.Lo), int(r.Hi), int(r.Stride))
	}
	return n
}

func rangesBetween(low, high, stride int) int {
	if stride == 1 {
		return 1
	}
	return (high-low)/stride + 1
}

// The first and the last character that have another case.
const (
	firstCase = 'A'
	lastCase  = 0x1e943
)

// foldedRanges is the most ranges that the cases of one range make.
const foldedRanges = 3000

// fold charges for the cases of all characters of a range, which the parser finds one by one.
func (s *scanner) fold(low, high rune) {
	if low <= firstCase && high >= lastCase {
		return // they are within the range
	}
	n := max(0, int(min(high, lastCase)-max(low, firstCase))+1)
	s.steps += n * foldSteps
	s.ranges += min(n, foldedRanges)
}

// inClass reads a character of a class.
func (s *scanner) inClass() rune {
	if s.at < len(s.text) && s.text[s.at] == '\\' {
		return s.escaped()
	}
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	s.at += size
	return r
}

// numbered matches an escape with the number of a character.
var numbered = regexp.MustCompile(`^\\(?:x\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{2})|([0-7]{1,3}))`)

// escaped reads an escape for one character.
func (s *scanner) escaped() rune {
	found := numbered.FindStringSubmatch(s.text[s.at:])
	if found == nil {
		s.at++
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		s.at += size
		return r // of \t the letter, which costs no less
	}
	s.at += len(found[0])
	base := 16
	if found[3] != "" {
		base = 8
	}
	r, err := strconv.ParseUint(cmp.Or(found[1:]...), base, 31)
	if err != nil {
		return unicode.MaxRune // the parser refuses it
	}
	return rune(r)
}
