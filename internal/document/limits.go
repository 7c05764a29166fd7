package document

import (
	"purser/internal/fault"
)

// Limits bound what one body may cost. They are checked before the cost is spent.
type Limits struct {
	Body      int64 // bytes of a body, decompressed
	Documents int   // documents of a body
	Size      int   // bytes of one document: as written, and of its values with aliases expanded
	Depth     int   // nesting of one document
	Values    int   // keys and values of one document, aliases expanded
}

// DefaultLimits are far above what real sites need and far below what hurts.
func DefaultLimits() Limits {
	return Limits{Body: 32 << 20, Documents: 100_000, Size: 4 << 20, Depth: 100, Values: 100_000}
}

// TooLarge is the fault of exceeding a limit; every message names the limit and the setting that raises it.
func TooLarge(format string, args ...any) *fault.Fault {
	return fault.New(fault.TooLarge, "HTTPPayloadTooLarge", format, args...)
}

// marksPerValue is how many separators a value may have around it. Counting separators bounds the memory of the
// YAML parser, which needs some 250 bytes a value, before it runs.
const marksPerValue = 2

// checkText refuses a segment that would be too expensive to parse.
func (l Limits) checkText(s Segment) error {
	if len(s.Text) > l.Size {
		return TooLarge("%s has %d bytes; the limit for one document is %d (--max-document-size)",
			s.place(), len(s.Text), l.Size)
	}
	if marksOf(s.Text) > marksPerValue*l.Values {
		return l.tooManyValues(s)
	}
	return nil
}

// marksOf counts the separators of a text.
func marksOf(text []byte) int {
	marks := 0
	for i, c := range text {
		switch c {
		case '\n', ',', ':', '[', '{':
			marks++
		case '-', '?':
			if i+1 < len(text) && text[i+1] <= ' ' { // hyphens of words are none
				marks++
			}
		}
	}
	return marks
}

func (l Limits) tooManyValues(s Segment) error {
	return TooLarge("%s has more than %d keys and values, aliases expanded (--max-values); split it up",
		s.place(), l.Values)
}
