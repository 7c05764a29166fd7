package document

import (
	"fmt"
	"slices"
)

// Unnamed returns notes without the duplicate keys that they name, which are secret in an encrypted document.
func Unnamed(notes []Note) []Note {
	unnamed := slices.Clone(notes)
	for i, note := range unnamed {
		if note.Second.Line > 0 {
			unnamed[i].Key = ""
			unnamed[i].Message = fmt.Sprintf("A key appears twice in one mapping, at lines %d and %d; the last one wins.",
				note.First.Line, note.Second.Line)
		}
	}
	return unnamed
}
