package folder

import (
	"fmt"

	"purser/internal/document"
	"purser/internal/wire"
)

// Document is a document as a server returns it.
type Document struct {
	wire.Identity

	metadata, data any
	encrypted      bool
}

// Parse parses a JSON array of documents. It skips buckets without documents, which the server lists only with
// their status.
func Parse(text []byte) ([]Document, error) {
	value, err := document.ParseJSON(text)
	items, ok := value.([]any)
	if err != nil || !ok {
		return nil, fmt.Errorf("the server's list of documents cannot be read: %w", err)
	}
	var list []Document
	for _, item := range items {
		root, _ := item.(document.Mapping)
		if _, ok := root.Lookup("schema"); !ok {
			continue
		}
		status, _ := root.At("status").(document.Mapping)
		s := documentOf(textOf(root.At("schema")), root.At("metadata"), root.At("data"))
		s.Bucket = optionalOf(status.At("bucket"))
		list = append(list, s)
	}
	return list, nil
}

// documentOf returns a document with the identity in its schema and metadata.
func documentOf(schema string, metadata, data any) Document {
	of, _ := metadata.(document.Mapping)
	layering, _ := of.At("layeringDefinition").(document.Mapping)
	return Document{
		Identity: wire.Identity{Schema: schema, Layer: optionalOf(layering.At("layer")), Name: textOf(of.At("name"))},
		metadata: metadata, data: data, encrypted: of.At("storagePolicy") == "encrypted",
	}
}

func textOf(value any) string {
	text, _ := value.(string)
	return text
}

func optionalOf(value any) wire.Optional { return wire.Optional(textOf(value)) }

// stored returns a document of a file as a server would store it.
func (s *source) stored() (Document, error) {
	doc, err := document.New(s.Entry)
	if err != nil {
		return Document{}, fmt.Errorf("%s: %w", s.file, err)
	}
	metadata, err := document.ParseJSON(doc.Metadata)
	if err != nil {
		return Document{}, fmt.Errorf("%s: %w", s.file, err)
	}
	data, err := document.ParseJSON(doc.Data)
	if err != nil {
		return Document{}, fmt.Errorf("%s: %w", s.file, err)
	}
	return documentOf(doc.Schema, metadata, data), nil
}

// value returns a document as one value, without its data if hidden.
func (d *Document) value(hidden bool) document.Mapping {
	value := document.Mapping{{Key: "schema", Value: d.Schema}, {Key: "metadata", Value: d.metadata}}
	if hidden {
		return value
	}
	return append(value, document.Member{Key: "data", Value: d.data})
}
