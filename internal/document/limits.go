package document

import (
	"purser/internal/fault"
)

// Limits bounds one body and how its documents are read. Each limit is checked before the work that it bounds.
type Limits struct {
	Body      int64 // bytes of a body, decompressed
	Documents int   // documents in a body
	Size      int   // bytes of a document, as written and with its aliases expanded
	Depth     int   // nesting of a document
	Values    int   // keys and values of a document, with its aliases expanded
	Strict    bool  // read everything with the YAML library; otherwise most documents are read by the plain reader
}

// DefaultLimits returns limits that are well above the needs of real sites.
func DefaultLimits() Limits {
	return Limits{Body: 32 << 20, Documents: 100_000, Size: 4 << 20, Depth: 100, Values: 100_000}
}

// TooLarge returns the fault for an exceeded limit. The message should name the limit and the flag that raises it.
func TooLarge(format string, args ...any) *fault.Fault {
	return fault.New(fault.TooLarge, "HTTPPayloadTooLarge", format, args...)
}

// maxMarksPerValue bounds the separators of a text relative to Limits.Values. Counting them before parsing bounds the
// memory of the YAML parser, which needs about 250 bytes per value.
const maxMarksPerValue = 2

// checkText checks the limits of a segment's text before it is parsed.
func (l Limits) checkText(s Segment) error {
	if len(s.Text) > l.Size {
		return TooLarge("%s has %d bytes, and a document has at most %d; split it up, or raise the server's "+
			"--max-document-size", s.Place(), len(s.Text), l.Size)
	}
	if marksOf(s.Text) > maxMarksPerValue*l.Values {
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
			if i+1 < len(text) && text[i+1] <= ' ' { // not a hyphen within a word
				marks++
			}
		}
	}
	return marks
}

func (l Limits) tooManyValues(s Segment) error {
	return TooLarge("%s has more than %d keys and values, aliases expanded; split it up, or raise the server's "+
		"--max-values", s.Place(), l.Values)
}
