package rendering

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/regex"
	"purser/internal/words"
)

const (
	// maxMatching bounds the steps of one search through a text, which cannot be stopped, and maxMatches its matches.
	maxMatching = budget.Second
	maxMatches  = 1 << 18

	instructionCost = 6   // to run an instruction on a character
	groupsPerStep   = 2   // whose bounds are copied for that
	matchCost       = 200 // to begin to search, and to note a match
	instructionSize = 64
	groupSize       = 16
	matchSize       = listSize + wordSize
)

// errTooMuchWork is the error of a search that would take too long.
var errTooMuchWork = errors.New("a pattern takes too much work on a text of this length; make it simpler")

// pattern is a regular expression.
type pattern struct {
	*regex.Expression

	literal string // the only text it matches, if there is just one
	err     error
}

// compile compiles a pattern, each once.
func (memo *memo) compile(written string) (*pattern, error) {
	known := memo.patterns[written]
	if known == nil {
		known = newPattern(memo.budget(), written)
		memo.patterns[written] = known
		memo.hold(entrySize)
		if known.err == nil {
			memo.hold(instructionSize * known.Size)
		}
	}
	return known, known.err
}

func newPattern(m *budget.Meter, written string) *pattern {
	compiled, err := regex.Compile(m, written)
	if _, ok := errors.AsType[*syntax.Error](err); ok {
		return &pattern{err: fmt.Errorf("the pattern '%s' is not valid RE2 (https://github.com/google/re2/wiki/Syntax): %w",
			words.Excerpt(written), err)}
	}
	if err != nil {
		return &pattern{err: fmt.Errorf("the pattern '%s' cannot be used: %w", words.Excerpt(written), err)}
	}
	p := &pattern{Expression: compiled}
	if prefix, complete := p.LiteralPrefix(); complete {
		p.literal = prefix
	}
	return p
}

// longestLine returns the length of the longest line of a text.
func longestLine(text string) (longest int) {
	for line := range strings.Lines(text) {
		longest = max(longest, len(line))
	}
	return longest
}

// cost returns the cost of a search through a number of bytes. For each instruction, package regexp copies the bounds
// of all groups, also if only those of the match are needed.
func (p *pattern) cost(length int) int {
	return matchCost + length*p.Size*(instructionCost+p.NumSubexp()/groupsPerStep)
}

// afford charges for a search through a text in advance.
func (p *pattern) afford(m *meter, text string) error {
	cost := p.cost(len(text))
	if cost > maxMatching {
		return errTooMuchWork
	}
	m.charge(cost)
	m.holdBriefly(p.Size * p.NumSubexp() * groupSize)
	return m.err
}

// matches finds all matches of a pattern in a text. After each match, the search restarts behind it and may read the
// same text again, so some patterns take time quadratic in the length of the text.
func (p *pattern) matches(m *meter, text string) ([][]int, error) {
	if p.literal != "" {
		return occurrences(m, text, p.literal)
	}
	if err := p.afford(m, text); err != nil {
		return nil, err
	}
	reach := min(p.Reach, len(text))
	if p.InLine && reach > longestLine(text) {
		reach = longestLine(text)
	}
	again := p.cost(reach)
	most := min(maxMatches, 1+maxMatching/again)
	found := p.FindAllStringIndex(text, most)
	m.charge(again * len(found))
	m.holdBriefly(matchSize * len(found))
	if len(found) == most {
		return nil, errTooMuchWork
	}
	return found, m.err
}

// occurrences finds the positions of one text in another.
func occurrences(m *meter, text, part string) ([][]int, error) {
	m.charge(visitCost + len(text)/bytesPerStep)
	count := strings.Count(text, part)
	m.charge(visitCost * count)
	if m.holdBriefly(matchSize * count); m.err != nil {
		return nil, m.err
	}
	found, bounds := make([][]int, count), make([]int, 2*count)
	for i, at := 0, 0; i < count; i++ {
		at += strings.Index(text[at:], part)
		found[i] = append(bounds[2*i:2*i], at, at+len(part))
		at += len(part)
	}
	return found, nil
}

// group searches a text and returns the group that is asked for: nil if it took no part, all of the text if nothing is
// found.
func (p *pattern) group(m *meter, text string, asked any) (value any, found bool, err error) {
	number := 0
	if asked != nil {
		written, _ := asked.(document.Number)
		if number, err = strconv.Atoi(string(written)); err != nil || number < 0 || number > p.NumSubexp() {
			return nil, false, fmt.Errorf("src.match_group %s is not one of the %d groups of the pattern", document.Repr(asked),
				p.NumSubexp())
		}
	}
	if err := p.afford(m, text); err != nil {
		return nil, false, err
	}
	at := p.FindStringSubmatchIndex(text)
	switch {
	case at == nil:
		return text, false, nil
	case at[2*number] < 0:
		return nil, true, nil
	}
	return text[at[2*number]:at[2*number+1]], true, nil
}
