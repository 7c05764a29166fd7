package lsp

import (
	"path/filepath"
	"strings"

	"purser/internal/check"
	"purser/internal/queries"
)

// path returns the path of a file by its name.
func (s *state) path(name string) string {
	path := filepath.FromSlash(name)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.root, path)
}

// diagnostics returns the findings by the path of their file. Files without findings have none.
func (s *state) diagnostics() map[string][]diagnostic {
	known := map[string]lines{}
	all := map[string][]diagnostic{}
	for _, f := range s.findings {
		d := diagnostic{
			Range: s.location(known, f.Place).Range, Severity: severityOf(f.Level), Code: f.Rule, Source: "purser",
			Message: messageOf(f),
		}
		for _, step := range f.Chain {
			if step.File != "" {
				d.Related = append(d.Related, related{s.location(known, step.Place), step.Message})
			}
		}
		all[s.path(f.File)] = append(all[s.path(f.File)], d)
	}
	return all
}

// messageOf returns the text of a finding: what is wrong, the causes, and what helps.
func messageOf(f check.Finding) string {
	text := []string{f.Message}
	if len(f.Chain) > 0 && f.Document.Name != "" { // it need not be the document of the place
		text[0] = f.Document.String() + " " + f.Path + ": " + f.Message
	}
	for _, cause := range f.Causes {
		text = append(text, "cause: "+cause.Path+": "+cause.Message)
	}
	if f.Advice != "" {
		text = append(text, "help: "+f.Advice)
	}
	return strings.Join(text, "\n")
}

// location converts a place. known has the lines of the files that were needed before.
func (s *state) location(known map[string]lines, p check.Place) location {
	text, ok := known[p.File]
	if !ok {
		text = linesOf(s.texts[p.File])
		known[p.File] = text
	}
	return location{uriOf(s.path(p.File)), text.spanOf(p)}
}

func severityOf(level check.Level) int {
	switch level {
	case queries.LevelError:
		return severityError
	case queries.LevelWarning:
		return severityWarning
	default:
		return severityInformation
	}
}
