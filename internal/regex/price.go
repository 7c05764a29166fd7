package regex

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Costs in steps. Each expression is parsed twice: for its reach, and by package regexp.
const (
	baseSteps    = 5_000
	byteSteps    = 400 // parsing a byte
	rangeSteps   = 350 // reading, sorting and merging a range of a class
	foldSteps    = 100 // finding the other cases of a character of a range
	caseSteps    = 800 // finding those of one character beyond ASCII
	programSteps = 450 // compiling an instruction
	pieceSteps   = 50  // factoring a piece out of an alternative, for each piece behind it
)

// price is what an expression costs.
type price struct {
	steps        int // of parsing and compiling
	instructions int
	size         int // of the program, see Expression
}

// priceOf returns the price of an expression. It is a bound that is close for ordinary expressions. After a mistake in
// the syntax, at which the parser stops, it may be any.
func priceOf(text string) price {
	s := scanner{text: text, steps: baseSteps + byteSteps*len(text), open: make([]group, 1, 8)}
	for s.at < len(text) && s.steps <= maxSteps {
		s.next()
	}
	all := part{}
	for i := range s.open {
		all = all.plus(s.open[i].whole(&s))
	}
	s.steps += programSteps * all.instructions
	return price{steps: s.steps, instructions: 1 + all.instructions, size: 1 + all.work}
}

// scanner reads an expression as the parser does, but builds no tree.
type scanner struct {
	text   string
	at     int
	folds  bool // letters match in any case, from the first (?i) on
	steps  int
	ranges int // of all classes
	open   []group
}

// part is a part of an expression, such as a character, a class or a group.
type part struct {
	instructions int
	work         int // for a byte of a text, in instructions that compare one character
}

// huge bounds parts, so that products do not overflow.
const huge = 1 << 40

func (p part) plus(q part) part {
	return part{min(p.instructions+q.instructions, huge), min(p.work+q.work, huge)}
}

func (p part) times(n int) part { return part{min(p.instructions*n, huge), min(p.work*n, huge)} }

// group is an open group, or the whole expression.
type group struct {
	sum   part // without last
	last  part // what a repetition repeats
	edges int  // instructions that capture the group

	pieces       int  // of the current alternative; a text is one piece
	inText       bool // last is a character of a text
	alternatives int
	factoring    int // the most moves that it takes to factor out what alternatives have in common
}

// maxPieces is the number of pieces that may be nested, which bounds how many can be factored out.
const maxPieces = 1000

func (g *group) endAlternative() {
	n := min(g.pieces, maxPieces)
	g.factoring += n * n
	g.pieces, g.inText = 0, false
}

// whole returns a group as one part, and charges for its alternatives.
func (g *group) whole(s *scanner) part {
	if g.alternatives > 0 {
		g.endAlternative()
		s.steps += pieceSteps * g.factoring
	}
	return g.sum.plus(g.last).plus(part{g.edges, g.edges})
}

func (s *scanner) top() *group { return &s.open[len(s.open)-1] }

// add adds a part to the current group.
func (s *scanner) add(p part, isText bool) {
	g := s.top()
	if !isText || !g.inText {
		g.pieces++
	}
	g.sum, g.last, g.inText = g.sum.plus(g.last), p, isText
}

var simple = part{1, 1}

// next reads the next part, or what changes the last one.
func (s *scanner) next() {
	switch c := s.text[s.at]; c {
	case '\\':
		s.escape()
	case '[':
		s.class()
	case '(':
		s.group()
	case ')':
		s.at++
		if last := len(s.open) - 1; last > 0 {
			closed := s.open[last].whole(s)
			s.open = s.open[:last]
			s.add(closed, false)
		}
	case '|':
		s.at++
		s.add(simple, false)
		g := s.top()
		g.alternatives++
		g.endAlternative()
	case '*', '+', '?':
		s.at++
		s.repeated(1, 1)
	case '{':
		s.repeat()
	case '^', '$', '.':
		s.at++
		s.add(simple, false)
	default:
		s.character()
	}
}

// character reads a character that matches itself.
func (s *scanner) character() {
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	s.at += size
	s.literal(r)
}

// Work of matching a character in any case, in instructions that compare one.
const (
	foldedWork = 3
	caseWork   = 12 // beyond ASCII
)

func (s *scanner) literal(r rune) {
	p := simple
	switch {
	case !s.folds:
	case r < utf8.RuneSelf:
		p.work = foldedWork
	default:
		p.work = caseWork
		s.steps += caseSteps
	}
	s.add(p, true)
}

// group reads the beginning of a group, or flags.
func (s *scanner) group() {
	rest := s.text[s.at:]
	switch {
	case strings.HasPrefix(rest, "(?P<"), strings.HasPrefix(rest, "(?<"):
		name, _, _ := strings.Cut(rest, ">")
		s.at += min(len(name)+1, len(rest))
		s.open = append(s.open, group{edges: 2})
	case strings.HasPrefix(rest, "(?"):
		end := strings.IndexAny(rest, ":)")
		if end < 0 {
			s.at = len(s.text)
			return
		}
		s.at += end + 1
		s.folds = s.folds || strings.Contains(rest[:end], "i")
		if rest[end] == ':' {
			s.open = append(s.open, group{})
		}
	default:
		s.at++
		s.open = append(s.open, group{edges: 2})
	}
}

// repetition matches {n}, {n,} and {n,m}. Any other { matches itself.
var repetition = regexp.MustCompile(`^\{([0-9]+)(?:,([0-9]*))?\}`)

// repeat reads a repetition with numbers.
func (s *scanner) repeat() {
	found := repetition.FindStringSubmatch(s.text[s.at:])
	if found == nil {
		s.character()
		return
	}
	s.at += len(found[0])
	low, _ := strconv.Atoi(found[1])
	high, _ := strconv.Atoi(found[2]) // 0 if there is none
	s.repeated(min(max(1, low, high), maxRepeat), min(max(1, 1+high-low), maxRepeat))
}

// maxRepeat is the maximum number of a repetition; the parser refuses larger ones.
const maxRepeat = 1000

// repeated repeats the last part, with a number of decisions between them.
func (s *scanner) repeated(times, decisions int) {
	g := s.top()
	g.last = g.last.times(times).plus(simple.times(decisions))
	g.pieces, g.inText = g.pieces+1, false
}
