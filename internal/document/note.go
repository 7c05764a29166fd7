package document

import (
	"slices"
	"strings"
)

// Unnamed returns notes about duplicate keys without the keys, which are secret in an encrypted document.
func Unnamed(notes []Note) []Note {
	const twice = "' appears twice"
	unnamed := slices.Clone(notes)
	for i, note := range unnamed {
		if !strings.HasPrefix(note.Message, "The key '") {
			continue
		}
		unnamed[i].Message = "A key appears twice"
		if at := strings.LastIndex(note.Message, twice); at >= 0 { // the key may contain these words, too
			unnamed[i].Message += note.Message[at+len(twice):]
		}
	}
	return unnamed
}
