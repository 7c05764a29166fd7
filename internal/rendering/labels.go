package rendering

import (
	"strconv"

	"purser/internal/document"
)

// label is one pair of a document's labels or of a parentSelector. Values of any kind compare by what they say (R11).
type label struct{ key, value string }

// length is how many bytes a label has.
func (l label) length() int { return len(l.key) + len(l.value) }

// null is the comparable form of null, which selects documents without the label too (spec/rendering.md §4).
const null = "null"

func (m *meter) labelsOf(value any) []label {
	members := mapping(value)
	m.hold(2 * entrySize * len(members)) // in an index too
	labels := make([]label, 0, len(members))
	for _, member := range members {
		text := equalText(member.Value)
		m.charge(2*lookupCost + parseCost*len(text))
		m.hold(len(text))
		labels = append(labels, label{member.Key, text})
	}
	return labels
}

// equalText writes a value as a text that is the same for values that Python holds for equal: 1, 1.0 and true are.
func equalText(value any) string {
	if s, ok := value.(string); ok {
		return `"` + s
	}
	return string(document.Canonical(leveled(value)))
}

// leveled puts numbers for booleans, and integers for floats that are whole.
func leveled(value any) any {
	switch v := value.(type) {
	case bool:
		if v {
			return document.Number("1")
		}
		return document.Number("0")
	case document.Number:
		return whole(v)
	case []any:
		level := make([]any, len(v))
		for i, item := range v {
			level[i] = leveled(item)
		}
		return level
	case document.Mapping:
		level := make(document.Mapping, len(v))
		for i, m := range v {
			level[i] = document.Member{Key: m.Key, Value: leveled(m.Value)}
		}
		return level
	}
	return value
}

func whole(n document.Number) document.Number {
	if _, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || f != float64(int64(f)) {
		return n // beyond 64 bits no integer equals a float, because none gets in
	}
	return document.Number(strconv.FormatInt(int64(f), 10))
}
