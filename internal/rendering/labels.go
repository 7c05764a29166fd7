package rendering

import (
	"strconv"
	"strings"

	"purser/internal/document"
)

// label is one pair of a document's labels or of a parentSelector. Value is equalText's, because values of different
// types may be equal.
type label struct{ key, value string }

// length returns the size of a label in bytes.
func (l label) length() int { return len(l.key) + len(l.value) }

// text returns the value if it is a string.
func (l label) text() (text string, ok bool) { return strings.CutPrefix(l.value, `"`) }

// nullLabel is the value of a label null, which also selects documents without the label.
const nullLabel = "null"

func labelsOf(m *meter, value any) []label {
	members := mappingOf(value)
	m.hold(2 * entrySize * len(members)) // in an index too
	labels := make([]label, 0, len(members))
	for _, member := range members {
		text := equalText(member.Value)
		m.charge(2*lookupCost + parseByteCost*len(text))
		m.hold(len(text))
		labels = append(labels, label{member.Key, text})
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
