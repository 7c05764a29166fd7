package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"purser/internal/document/blockyaml"

	"purser/internal/client"
	"purser/internal/diff"
	"purser/internal/document"
)

// stored is a document as a server returns it.
type stored struct {
	client.Identity

	metadata, data any
	encrypted      bool
}

// documentsOf parses a JSON array of documents. It skips buckets without documents, which the server lists only with
// their status.
func documentsOf(text []byte) ([]stored, error) {
	value, err := document.ParseJSON(text)
	items, ok := value.([]any)
	if err != nil || !ok {
		return nil, fmt.Errorf("the server's list of documents cannot be read: %w", err)
	}
	var list []stored
	for _, item := range items {
		root, _ := item.(document.Mapping)
		if _, ok := root.Lookup("schema"); !ok {
			continue
		}
		status, _ := root.At("status").(document.Mapping)
		s := storedOf(textOf(root.At("schema")), root.At("metadata"), root.At("data"))
		s.Bucket = textOf(status.At("bucket"))
		list = append(list, s)
	}
	return list, nil
}

// storedOf returns a document with the identity in its schema and metadata.
func storedOf(schema string, metadata, data any) stored {
	of, _ := metadata.(document.Mapping)
	layering, _ := of.At("layeringDefinition").(document.Mapping)
	return stored{
		Identity: client.Identity{Schema: schema, Layer: textOf(layering.At("layer")), Name: textOf(of.At("name"))},
		metadata: metadata, data: data, encrypted: of.At("storagePolicy") == "encrypted",
	}
}

func textOf(value any) string {
	text, _ := value.(string)
	return text
}

// storedAs returns a document of a file as a server would store it.
func storedAs(s *source) (stored, error) {
	doc, err := document.New(s.Entry)
	if err != nil {
		return stored{}, fmt.Errorf("%s: %w", s.file, err)
	}
	metadata, err := document.ParseJSON(doc.Metadata)
	if err != nil {
		return stored{}, fmt.Errorf("%s: %w", s.file, err)
	}
	data, err := document.ParseJSON(doc.Data)
	if err != nil {
		return stored{}, fmt.Errorf("%s: %w", s.file, err)
	}
	return storedOf(doc.Schema, metadata, data), nil
}

// key returns the part of an identity that is unique in a revision.
func key(id client.Identity) client.Identity {
	id.Bucket = ""
	return id
}

// value returns a document as one value, without its data if hidden.
func (s *stored) value(hidden bool) document.Mapping {
	value := document.Mapping{{Key: "schema", Value: s.Schema}, {Key: "metadata", Value: s.metadata}}
	if hidden {
		return value
	}
	return append(value, document.Member{Key: "data", Value: s.data})
}

// canonical returns a document as YAML with sorted keys, "" for nil.
func (s *stored) canonical(hidden bool) string {
	if s == nil {
		return ""
	}
	return string(blockyaml.Append(nil, document.Canonical(s.value(hidden))))
}

// difference returns the unified diff of two versions of a document, either of which may be nil. It does not show data
// of encrypted documents.
func difference(ctx context.Context, oldName, newName string, before, after *stored) (string, error) {
	hidden := before != nil && before.encrypted || after != nil && after.encrypted
	text, err := diff.Unified(ctx, oldName, newName, before.canonical(hidden), after.canonical(hidden))
	if err != nil {
		return "", fmt.Errorf("compare documents: %w", err)
	}
	if hidden && before != nil && after != nil &&
		!bytes.Equal(document.Canonical(before.data), document.Canonical(after.data)) {
		text += "Encrypted data changed\n"
	}
	return text, nil
}

// decode decodes JSON of the server.
func decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return nil
}

// marshal returns a value as JSON text.
func marshal(value any) []byte {
	text, _ := json.Marshal(value) //nolint:errchkjson // strings, numbers and lists of them always marshal
	return text
}
