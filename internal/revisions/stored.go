package revisions

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/document/blockyaml"
	"purser/internal/validations"
)

// Stored is a version of a document in the store. It is immutable.
type Stored struct {
	*document.Document

	ID       int64
	Place    int64 // its position in a revision; shared by all versions of an identity
	Bucket   string
	Revision int64 // the revision that added this version
	Shared   bool  // the value may be in a cache and be returned again
	Tainted  bool  // rendered with a secret in its data
	// Computed identifies everything that rendered data was computed from, zero if that is not known; nil for data as it
	// was submitted.
	Computed *document.Digest

	Origin
}

// Origin is where a document was written as it was submitted last.
type Origin struct {
	// Text is the number of its text in the store; 0 if none is kept, TextPlanned before it is stored.
	Text int64
	Path string // of its file, if the text is kept; "" if it is not known
	Line int    // of the text in the file, if the path is known
}

// TextPlanned is the number of a text that is not stored yet.
const TextPlanned = -1

// SameVersion reports whether two versions of an identity have equal contents and the same bucket.
func SameVersion(a, b *Stored) bool {
	return a.Bucket == b.Bucket && a.Digest == b.Digest && bytes.Equal(a.Metadata, b.Metadata)
}

// With returns a copy of the version with another document.
func (d Stored) With(text document.Document) *Stored {
	d.Document = &text
	return &d
}

// Value returns the document as one value, without its data if that is hidden.
func (d Stored) Value(hidden bool) document.Mapping {
	value := document.Mapping{{Key: "schema", Value: d.Schema}, {Key: "metadata", Value: parsed(d.Metadata)}}
	if hidden {
		return value
	}
	return append(value, document.Member{Key: "data", Value: parsed(d.Data)})
}

// parsed returns the value of stored JSON text, nil if there is none.
func parsed(text []byte) any {
	value, err := document.ParseJSON(text)
	if err != nil {
		return nil
	}
	return value
}

// CanonicalYAML returns a document as YAML with sorted keys, without its data if that is hidden; "" for none. complete
// is false if it has more than most bytes.
func CanonicalYAML(doc *Stored, hidden bool, most int) (text string, complete bool) {
	if doc == nil {
		return "", true
	}
	laidOut, complete := blockyaml.AppendAtMost(nil, document.Canonical(doc.Value(hidden)), most)
	return string(laidOut), complete
}

// IsLayeringPolicy reports whether it is the document that lists a site's layers.
func (d Stored) IsLayeringPolicy() bool {
	return strings.HasPrefix(d.Schema, "deckhand/LayeringPolicy/")
}

// IsPolicy reports whether it is a ValidationPolicy.
func (d Stored) IsPolicy() bool { return strings.HasPrefix(d.Schema, validations.PolicyPrefix) }

// IsPackage reports whether it describes a Murano package.
func (d Stored) IsPackage() bool { return d.Schema == validations.PackageKind }

// ByPlace compares versions by their places.
func ByPlace(a, b *Stored) int { return cmp.Compare(a.Place, b.Place) }

// ByBucket compares versions by their buckets, then by schema, name and layer.
func ByBucket(a, b *Stored) int {
	return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Layer, b.Layer))
}

// Contents returns the documents of versions, in their order.
func Contents(documents []*Stored) []*document.Document {
	contents := make([]*document.Document, len(documents))
	for i, doc := range documents {
		contents[i] = doc.Document
	}
	return contents
}

// TextSize returns the size of documents as JSON, in bytes.
func TextSize(documents []*Stored) (bytes int) {
	for _, doc := range documents {
		bytes += len(doc.Metadata) + len(doc.Data)
	}
	return bytes
}

// Size estimates the memory of a document in bytes, including its traits if they are decoded.
func Size(doc *document.Document) int {
	const overhead, entry = 512, 64 // overhead: its structures and references to it; entry: a label or a path
	size := len(doc.Data) + len(doc.Metadata) + len(doc.Sealed) + len(doc.Secret) + overhead
	if traits, decoded := doc.Decoded(); decoded {
		for _, label := range traits.Labels {
			value, _ := label.Value.(string)
			size += entry + len(label.Key) + len(value)
		}
		for _, path := range traits.Destinations {
			size += entry + len(path)
		}
	}
	for _, note := range doc.Notes {
		size += len(note.Message) + len(note.Path)
	}
	return size
}

// GroupByBucket groups documents by bucket, keeping their order.
func GroupByBucket(documents []*Stored) map[string][]*Stored {
	of := map[string][]*Stored{}
	for _, doc := range documents {
		of[doc.Bucket] = append(of[doc.Bucket], doc)
	}
	return of
}

// IDs returns the ids of documents as a set.
func IDs(documents []*Stored) map[int64]bool {
	set := make(map[int64]bool, len(documents))
	for _, doc := range documents {
		set[doc.ID] = true
	}
	return set
}

// After applies the diff to documents and returns the result in order of place.
func (d Diff) After(documents []*Stored) []*Stored {
	gone := IDs(d.Removed)
	left := make([]*Stored, 0, len(documents)+len(d.Added))
	for _, doc := range documents {
		if !gone[doc.ID] {
			left = append(left, doc)
		}
	}
	left = append(left, d.Added...)
	slices.SortFunc(left, ByPlace)
	return left
}

// Visible returns the documents that a viewer may see.
func Visible(viewer authz.Viewer, documents []*Stored) []*Stored {
	if viewer.Encrypted {
		return documents
	}
	return slices.DeleteFunc(slices.Clone(documents), func(doc *Stored) bool { return doc.Traits().Encrypted })
}
