// Package pattern searches texts for the patterns of substitutions, which are regular expressions in RE2's dialect.
//
// A search cannot be stopped, so its cost is counted before it begins. The size of the pattern's program bounds the
// work for each character, and the length of its longest match bounds the work to search again behind one.
package pattern

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/document/repr"
	"purser/internal/regex"
	"purser/internal/rendering/meter"
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
	matchSize       = meter.List + meter.Word
)

// ErrTooMuchWork is the error of a search that would take too long.
var ErrTooMuchWork = errors.New("a pattern takes too much work on a text of this length; make it simpler")

// Pattern is a regular expression.
type Pattern struct {
	*regex.Expression

	literal string // the only text it matches, if there is just one
	err     error
}

// Compiler compiles each pattern once.
type Compiler struct {
	*meter.Meter

	known map[string]*Pattern
}

// NewCompiler returns a compiler that counts its work.
func NewCompiler(m *meter.Meter) *Compiler { return &Compiler{m, map[string]*Pattern{}} }

// Compile compiles a pattern.
func (c *Compiler) Compile(written string) (*Pattern, error) {
	known := c.known[written]
	if known == nil {
		known = compile(c.Budget(), written)
		c.known[written] = known
		c.Hold(meter.Entry)
		if known.err == nil {
			c.Hold(instructionSize * known.Size)
		}
	}
	return known, known.err
}

func compile(m *budget.Meter, written string) *Pattern {
	compiled, err := regex.Compile(m, written)
	if _, ok := errors.AsType[*syntax.Error](err); ok {
		return &Pattern{err: fmt.Errorf("the pattern '%s' is not valid RE2 (https://github.com/google/re2/wiki/Syntax): %w",
			words.Excerpt(written), err)}
	}
	if err != nil {
		return &Pattern{err: fmt.Errorf("the pattern '%s' cannot be used: %w", words.Excerpt(written), err)}
	}
	p := &Pattern{Expression: compiled}
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
func (p *Pattern) cost(length int) int {
	return matchCost + length*p.Size*(instructionCost+p.NumSubexp()/groupsPerStep)
}

// afford charges for a search through a text in advance.
func (p *Pattern) afford(m *meter.Meter, text string) error {
	cost := p.cost(len(text))
	if cost > maxMatching {
		return ErrTooMuchWork
	}
	m.Charge(cost)
	m.HoldBriefly(p.Size * p.NumSubexp() * groupSize)
	return m.Err
}

// Matches finds all matches of a pattern in a text. After each match, the search restarts behind it and may read the
// same text again, so some patterns take time quadratic in the length of the text.
func (p *Pattern) Matches(m *meter.Meter, text string) ([][]int, error) {
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
	m.Charge(again * len(found))
	m.HoldBriefly(matchSize * len(found))
	if len(found) == most {
		return nil, ErrTooMuchWork
	}
	return found, m.Err
}

// occurrences finds the positions of one text in another.
func occurrences(m *meter.Meter, text, part string) ([][]int, error) {
	m.Charge(meter.Visit + len(text)/meter.BytesPerStep)
	count := strings.Count(text, part)
	m.Charge(meter.Visit * count)
	if m.HoldBriefly(matchSize * count); m.Err != nil {
		return nil, m.Err
	}
	found, bounds := make([][]int, count), make([]int, 2*count)
	for i, at := 0, 0; i < count; i++ {
		at += strings.Index(text[at:], part)
		found[i] = append(bounds[2*i:2*i], at, at+len(part))
		at += len(part)
	}
	return found, nil
}

// Group searches a text and returns the group that is asked for: nil if it took no part, all of the text if nothing is
// found.
func (p *Pattern) Group(m *meter.Meter, text string, asked any) (value any, found bool, err error) {
	number := 0
	if asked != nil {
		written, _ := asked.(document.Number)
		if number, err = strconv.Atoi(string(written)); err != nil || number < 0 || number > p.NumSubexp() {
			return nil, false, fmt.Errorf("src.match_group %s is not one of the %d groups of the pattern", repr.Of(asked),
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
