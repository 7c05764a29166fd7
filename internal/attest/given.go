package attest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"purser/internal/document"
)

// Documents are documents that somebody got, to be compared with a statement.
type Documents []Given

// Given is a document that somebody got.
type Given struct {
	Document

	Encrypted bool
}

// ReadDocuments reads rendered documents as a server answers them: a stream of YAML documents or a JSON array. Their
// order and the way in which they are written do not matter. It refuses what two programs could read in two ways, and
// keys beside those of a document that the digest does not cover.
func ReadDocuments(ctx context.Context, text []byte) (Documents, error) {
	const much = 1 << 30 // whoever verifies has chosen the file
	limits := document.Limits{Body: much, Documents: much, Size: much, Depth: 10_000, Values: much}
	segments, err := document.Split(ctx, text, document.YAML, limits)
	if err == nil {
		segments, err = document.Listed(ctx, text, segments, limits)
	}
	if err != nil {
		return nil, errors.New(document.Details(err))
	}
	documents := make(Documents, 0, len(segments))
	for _, segment := range segments {
		entry, err := document.Decode(ctx, segment, limits)
		if err != nil {
			return nil, errors.New(document.Details(err))
		}
		given, err := givenOf(entry)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", segment.Place(), err)
		}
		documents = append(documents, given)
	}
	return documents, nil
}

// known are the keys of a rendered document. The digest covers the first three; the others are the server's.
var known = []string{"schema", "metadata", "data", "id", "status"}

func givenOf(entry document.Entry) (given Given, err error) {
	root, isMapping := entry.Value.(document.Mapping)
	if !isMapping {
		return given, errors.New("it is not a mapping")
	}
	twice := func(note document.Note) bool { return note.Key != "" }
	if entry.Twice != nil || slices.ContainsFunc(entry.Notes, twice) {
		return given, errors.New("a key appears twice in one mapping, which programs read in different ways")
	}
	for _, member := range root {
		if !slices.Contains(known, member.Key) {
			return given, errors.New("it has a key at its top that rendered documents do not have")
		}
	}
	metadata, isMapping := root.At("metadata").(document.Mapping)
	schema, isText := root.At("schema").(string)
	if !isMapping || !isText {
		return given, errors.New("it has no schema or no metadata")
	}
	layering, _ := metadata.At("layeringDefinition").(document.Mapping)
	given.Schema = schema
	given.Name, _ = metadata.At("name").(string)
	given.Layer, _ = layering.At("layer").(string)
	given.Metadata, given.Data = document.AppendJSON(nil, metadata), document.AppendJSON(nil, root.At("data"))
	given.Encrypted = metadata.At("storagePolicy") == "encrypted"
	return given, nil
}
