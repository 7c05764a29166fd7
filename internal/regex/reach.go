package regex

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// unbounded is the Reach of an expression that matches texts of any length.
const unbounded = 1 << 40

// reach returns the maximum length of a match with one character on each side, in bytes.
func reach(re *syntax.Regexp) int {
	n := utf8.UTFMax
	switch re.Op { //nolint:exhaustive // all others match as their parts do
	case syntax.OpStar, syntax.OpPlus:
		return unbounded
	case syntax.OpLiteral:
		n *= 1 + len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += reach(sub)
	}
	if re.Op == syntax.OpRepeat {
		if re.Max < 0 {
			return unbounded
		}
		n *= 1 + re.Max
	}
	return min(n, unbounded)
}

// crossesLines reports whether a part of an expression matches the end of a line.
func crossesLines(re *syntax.Regexp) bool {
	switch re.Op { //nolint:exhaustive // all others match as their parts do
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return true
			}
		}
	}
	return slices.ContainsFunc(re.Sub, crossesLines)
}
