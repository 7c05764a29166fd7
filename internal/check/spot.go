package check

import (
	"context"
	"fmt"

	"purser/internal/budget"
	"purser/internal/document"
)

// Spot is a place in a document.
type Spot struct {
	Value document.Mapping // of the whole document
	Path  []string         // of the value at the place
	IsKey bool             // the place is in the key of that value
}

// Identity returns the identity that the document names, as far as it does.
func (s Spot) Identity() document.Identity {
	return document.Identity{
		Schema: s.Text("schema"), Layer: s.Text("metadata", "layeringDefinition", "layer"), Name: s.Text("metadata", "name"),
	}
}

// Text returns the text at a path of the document, "" if there is none.
func (s Spot) Text(path ...string) string {
	text, _ := document.Locate(s.Value, path).(string)
	return text
}

// At returns what is at a position of a file. ok is false if there is no document that can be read. Errors come from
// the budget or the context.
func At(ctx context.Context, file File, at document.Position) (spot Spot, ok bool, err error) {
	ctx, end := begin(ctx, []File{file})
	defer end()
	segments, err := segmentsOf(ctx, file, document.DefaultLimits())
	var segment *document.Segment
	for i := range segments {
		if segments[i].Line <= at.Line {
			segment = &segments[i]
		}
	}
	if err == nil && segment != nil {
		spot, ok, err = spotIn(ctx, *segment, at)
	}
	if err != nil && !isOfFile(err) {
		return Spot{}, false, fmt.Errorf("%s: %w", file.Name, err)
	}
	return spot, ok && err == nil, nil
}

// spotIn returns what is at a position in one document.
func spotIn(ctx context.Context, segment document.Segment, at document.Position) (spot Spot, ok bool, err error) {
	entry, err := document.Decode(ctx, segment, document.DefaultLimits())
	if err != nil {
		return spot, false, err
	}
	path, err := document.PathAt(budget.NewMeter(ctx), segment, at)
	if err != nil {
		return spot, false, err
	}
	spot.Value, ok = entry.Value.(document.Mapping)
	spot.Path = path
	if last := len(path) - 1; last >= 0 && path[last] == document.AtKey {
		spot.Path, spot.IsKey = path[:last], true
	}
	return spot, ok && path != nil, nil
}
