package wire

import (
	"maps"
	"slices"

	"purser/internal/document"
)

// Identity identifies a document.
type Identity struct {
	Schema string   `json:"schema"`
	Layer  Optional `json:"layer"`
	Name   string   `json:"name"`
	Bucket Optional `json:"bucket"`
}

// String formats the known parts of an identity.
func (id Identity) String() string { return id.Plain().Known() }

// Plain returns the identity without the bucket.
func (id Identity) Plain() document.Identity {
	return document.Identity{Schema: id.Schema, Layer: string(id.Layer), Name: id.Name}
}

// Version is a version of a document.
type Version struct {
	Schema   string   `json:"schema"`
	Name     string   `json:"name"`
	Layer    Optional `json:"layer"`
	Bucket   string   `json:"bucket"`
	Revision int64    `json:"revision"` // in which it last changed
}

// Identity returns the document's identity.
func (v Version) Identity() Identity { return Identity{v.Schema, v.Layer, v.Name, Optional(v.Bucket)} }

// Difference names a document and its change.
type Difference struct {
	Change string   `json:"change"`
	Bucket string   `json:"bucket"`
	From   string   `json:"from,omitempty"` // the bucket that it moves from
	Schema string   `json:"schema"`
	Layer  Optional `json:"layer"`
	Name   string   `json:"name"`
}

// Identity returns the document's identity.
func (d Difference) Identity() Identity {
	return Identity{d.Schema, d.Layer, d.Name, Optional(d.Bucket)}
}

// Document is a document of a revision without its data.
type Document struct {
	Schema   string `json:"schema"`
	Metadata struct {
		Name     string            `json:"name"`
		Labels   map[string]string `json:"labels"`
		Storage  string            `json:"storagePolicy"`
		Layering struct {
			Layer    Optional `json:"layer"`
			Abstract bool     `json:"abstract"`
		} `json:"layeringDefinition"`
	} `json:"metadata"`
	Status struct {
		Bucket   Optional `json:"bucket"`
		Revision int64    `json:"revision"`
	} `json:"status"`
}

// Identity returns the document's identity.
func (d Document) Identity() Identity {
	return Identity{d.Schema, d.Metadata.Layering.Layer, d.Metadata.Name, d.Status.Bucket}
}

// Labels returns the document's labels as text, in order.
func (d Document) Labels() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(d.Metadata.Labels)) {
		all = append(all, name+"="+d.Metadata.Labels[name])
	}
	return all
}

// Encrypted reports whether the document is a secret.
func (d Document) Encrypted() bool { return d.Metadata.Storage == "encrypted" }
