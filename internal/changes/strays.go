package changes

import (
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// MaxStrays is the maximum number of stray keys that a status names.
const MaxStrays = 5

// AppendStrays appends the warnings of a status about stray keys of a document to those about others.
func AppendStrays(warnings []string, about *revisions.Stored, notes []document.Note) []string {
	for _, note := range notes {
		switch {
		case !validations.IsStray(note) || len(warnings) > MaxStrays:
		case len(warnings) == MaxStrays:
			warnings = append(warnings, "More keys of documents are not kept, or have no effect: the findings name them")
		default:
			warnings = append(warnings, about.Known()+": "+note.Message)
		}
	}
	return warnings
}
