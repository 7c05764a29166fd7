package lsp

import (
	"context"
	"slices"

	"purser/internal/check"
	"purser/internal/document"
)

// definitionOf returns where the thing at a spot is written: the source of a substitution, the parent, the DataSchema,
// or, for a value, where it comes from when it is rendered.
func definitionOf(ctx context.Context, s *state, at spot) (any, error) {
	found, ok, err := at.find(ctx)
	if err != nil || !ok {
		return nil, err
	}
	place, ok, err := s.definition(ctx, found)
	if err != nil || !ok {
		return nil, err
	}
	return s.location(map[string]lines{}, place), nil
}

func (s *state) definition(ctx context.Context, found check.Spot) (place check.Place, ok bool, err error) {
	path := found.Path
	switch {
	case slices.Equal(path, []string{"schema"}):
		id, known := s.site.DataSchema(found.Text("schema"))
		place, ok = s.site.Place(ctx, id, nil)
		return place, ok && known, nil
	case isBelow(path, "metadata", "layeringDefinition", "parentSelector"):
		place, ok, err = s.parent(ctx, found.Identity())
	case isBelow(path, "metadata", "substitutions") && len(path) > 3 && path[3] == "src":
		place, ok, err = s.source(ctx, found, path[:4])
	case isBelow(path, "data"):
		origin, known := s.site.Origin(ctx, found.Identity(), path[1:])
		return origin.Place, known && origin.Place.Line > 0, nil
	}
	return place, ok, err
}

// isBelow reports whether a path begins with some parts.
func isBelow(path []string, parts ...string) bool {
	return len(path) >= len(parts) && slices.Equal(path[:len(parts)], parts)
}

// parent returns the place of the parent of a document.
func (s *state) parent(ctx context.Context, of document.Identity) (check.Place, bool, error) {
	all, err := s.site.Dependencies(ctx, of)
	for _, on := range all {
		if on.IsParent {
			place, ok := s.site.Place(ctx, on.Identity, nil)
			return place, ok, nil
		}
	}
	return check.Place{}, false, err
}

// source returns the place of the value that a substitution reads; src is the path of its source.
func (s *state) source(ctx context.Context, found check.Spot, src []string) (check.Place, bool, error) {
	text := func(key string) string { return found.Text(append(slices.Clip(src), key)...) }
	all, err := s.site.Dependencies(ctx, found.Identity())
	for _, on := range all {
		if !on.IsParent && on.Schema == text("schema") && on.Name == text("name") {
			place, ok := s.site.Place(ctx, on.Identity, append([]string{"data"}, document.SplitPath(text("path"))...))
			return place, ok, nil
		}
	}
	return check.Place{}, false, err
}
