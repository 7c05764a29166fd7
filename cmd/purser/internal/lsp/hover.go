package lsp

import (
	"context"
	"fmt"
	"strings"

	"purser/internal/check"
	"purser/internal/document"
	"purser/internal/schemadocs"
)

// spot is a position in an open file.
type spot struct {
	name string
	text []byte
	at   position
}

// find returns the document and the path at a spot. ok is false in comments and in documents that cannot be read.
func (s spot) find(ctx context.Context) (found check.Spot, ok bool, err error) {
	all := linesOf(s.text)
	line := strings.TrimSpace(all.at(s.at.Line))
	if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "---") {
		return found, false, nil
	}
	return check.At(ctx, check.File{Name: s.name, Text: s.text}, all.positionOf(s.at))
}

// hoverAt describes the value at a spot: by its schema, and by where it comes from when it is rendered.
func hoverAt(ctx context.Context, s *state, at spot) (any, error) {
	found, ok, err := at.find(ctx)
	if err != nil || !ok || len(found.Path) == 0 {
		return nil, err
	}
	about, name, err := s.site.About(ctx, found, found.Path)
	if err != nil {
		return nil, err
	}
	text := described(about, name)
	if found.Path[0] == "data" {
		if origin, ok := s.site.Origin(ctx, found.Identity(), found.Path[1:]); ok && !origin.IsOwn {
			text = append(text, originOf(origin)...)
		}
	}
	if len(text) == 0 {
		return nil, nil
	}
	return hover{markup{"plaintext", strings.Join(text, "\n")}}, nil
}

// Bounds of a text for people.
const (
	maxNamed = 20
	maxValue = 100 // bytes
)

// described returns the lines of what a schema says.
func described(about schemadocs.About, name string) (text []string) {
	text = append(text, about.Texts...)
	if len(about.Types) > 0 {
		text = append(text, "Type: "+strings.Join(about.Types, " or "))
	}
	var values []string
	for _, value := range about.Values {
		values = append(values, string(document.ShortJSON(value, maxValue)))
	}
	if len(values) > 0 {
		text = append(text, "One of: "+listed(values))
	}
	if len(text) > 0 {
		text = append(text, "(schema of "+name+")")
	}
	return text
}

// listed joins the first of some texts, and says how many more there are.
func listed(texts []string) string {
	if len(texts) <= maxNamed {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:maxNamed], ", "), len(texts)-maxNamed)
}

// originOf returns the lines of where a value comes from.
func originOf(from check.Origin) (text []string) {
	switch {
	case from.IsSecret:
		text = append(text, "Rendered: not shown, because it is from an encrypted document")
	case from.Value != "":
		text = append(text, "Rendered: "+from.Value)
	}
	names := make([]string, len(from.Documents))
	for i, id := range from.Documents {
		names[i] = id.String()
	}
	written := "Written in: " + listed(names)
	if from.Place.Line > 0 {
		written += fmt.Sprintf(" (%s:%d)", from.Place.File, from.Place.Line)
	}
	text = append(text, written)
	for _, step := range from.Steps {
		text = append(text, fmt.Sprintf("%s (%s:%d)", step.Message, step.File, step.Line))
	}
	return text
}
