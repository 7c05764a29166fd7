package declared

import (
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/rendering/meter"
)

// Label is one pair of a document's labels or of a parentSelector. Value is equalText's, because values of different
// types may be equal.
type Label struct{ Key, Value string }

// Length returns the size of a label in bytes.
func (l Label) Length() int { return len(l.Key) + len(l.Value) }

// Text returns the value if it is a string.
func (l Label) Text() (text string, ok bool) { return strings.CutPrefix(l.Value, `"`) }

// Null is the value of a label null, which also selects documents without the label.
const Null = "null"

func labelsOf(m *meter.Meter, value any) []Label {
	members := mapping(value)
	m.Hold(2 * meter.Entry * len(members)) // in an index too
	labels := make([]Label, 0, len(members))
	for _, member := range members {
		text := equalText(member.Value)
		m.Charge(2*meter.Lookup + meter.ParseByte*len(text))
		m.Hold(len(text))
		labels = append(labels, Label{member.Key, text})
	}
	return labels
}

// equalText returns the same text for all values that are equal in Python, such as 1, 1.0 and true.
func equalText(value any) string {
	if s, ok := value.(string); ok {
		return `"` + s
	}
	return string(document.Canonical(document.MapScalars(value, pythonNumber)))
}

// pythonNumber replaces booleans by 0 and 1, and whole floats by integers. It returns other values unchanged.
func pythonNumber(value any) any {
	switch v := value.(type) {
	case bool:
		if v {
			return document.Number("1")
		}
		return document.Number("0")
	case document.Number:
		return wholeNumber(v)
	}
	return value
}

func wholeNumber(n document.Number) document.Number {
	if _, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || f != float64(int64(f)) {
		return n // integers beyond 64 bits are refused, so no integer equals the float
	}
	return document.Number(strconv.FormatInt(int64(f), 10))
}
