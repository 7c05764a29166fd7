package diff

import (
	"strconv"

	"purser/internal/document"
)

// numbering gives values numbers that are equal exactly if their canonical texts are.
type numbering struct {
	*meter

	known map[string]int // by the canonical text of a value whose parts are their numbers
	items map[*any]int   // of every item of a list, by where it stands
	size  int            // bytes that the two maps hold
}

func (n *numbering) number(value any) int {
	if n.err != nil {
		return 0
	}
	switch v := value.(type) {
	case []any:
		parts := make([]any, len(v))
		for i := range v {
			n.items[&v[i]] = n.number(v[i])
			n.enter(entrySize)
			parts[i] = document.Number(strconv.Itoa(n.items[&v[i]]))
		}
		value = parts
	case document.Mapping:
		parts := make(document.Mapping, len(v))
		for i, member := range v {
			parts[i] = document.Member{Key: member.Key, Value: document.Number(strconv.Itoa(n.number(member.Value)))}
		}
		value = parts
	}
	text := document.Canonical(value)
	n.charge(entryCost + byteCost*len(text))
	number, known := n.known[string(text)]
	if !known {
		n.enter(entrySize + len(text))
		number = len(n.known)
		n.known[string(text)] = number
	}
	return number
}

// of returns the numbers of a list's items.
func (n *numbering) of(list []any) []int {
	numbers := make([]int, len(list))
	for i := range list {
		numbers[i] = n.items[&list[i]]
	}
	return numbers
}

// enter counts the bytes of an entry.
func (n *numbering) enter(bytes int) {
	n.hold(bytes)
	n.size += bytes
}
