package document

import (
	"fmt"
	"slices"
	"strings"
)

// Identity is what makes a document one and the same over revisions (spec/api.md §3.2).
type Identity struct {
	Schema string
	Layer  string // "" if the document has none
	Name   string
}

// String writes an identity as the reference's messages do: [acme/Widget/v1, site] w1.
func (id Identity) String() string {
	layer := id.Layer
	if layer == "" {
		layer = "None"
	}
	return fmt.Sprintf("[%s, %s] %s", id.Schema, layer, id.Name)
}

// Document is a document that passed its sanity checks, in the form it is stored in.
type Document struct {
	Identity

	Metadata []byte // canonical JSON text, defaults filled in
	Data     []byte // JSON text, keys in written order
	Digest   Digest // of Data's canonical form
	Notes    []Note
	Segment  Digest // of the text it was read from; zero if that does not matter

	// Secret is what an encrypted document says as long as it is on its way in, and Sealed what is stored of it; Data is
	// a reference to it then. Both are nil of what was read from the store.
	Secret, Sealed []byte

	traits *Traits // nil where they have not been read from Metadata
}

// Traits are the parts of a document's metadata that decide how it is treated.
type Traits struct {
	Abstract     bool
	Control      bool
	Encrypted    bool
	Substituted  bool     // it has substitutions
	Parented     bool     // it has a parentSelector
	Destinations []string // paths in Data that substitutions write to
	Labels       Mapping  // those whose values are strings
}

// Final tells whether the document says already what its rendered form will say (spec/api.md §0 C1).
func (t Traits) Final() bool { return !t.Abstract && !t.Substituted && !t.Parented }

// New makes a document of an entry that passed the sanity checks, with the defaults of spec/api.md §2.6 filled in.
// Unknown top-level keys are left out, so that what was read from the service can be put back.
func New(e Entry) (*Document, error) {
	root, _ := e.Value.(Mapping)
	submitted := mapping(root.At("metadata"))
	if holdsNUL(root.At("schema")) || holdsNUL(submitted) {
		return nil, Malformed("document %d (from line %d): a NUL character in its schema or metadata", e.Index, e.Line)
	}
	data, given := root.Lookup("data")
	if !given {
		data = Mapping{}
	}
	metadata := withDefaults(submitted)
	return &Document{
		Identity: identityOf(root, metadata),
		Metadata: Canonical(metadata),
		Data:     AppendJSON(nil, data),
		Digest:   DigestOf(data),
		Notes:    e.Notes,
		Segment:  e.Segment,
		traits:   traitsOf(metadata),
	}, nil
}

func identityOf(root, metadata Mapping) Identity {
	return Identity{
		Schema: text(root.At("schema")),
		Layer:  text(mapping(metadata.At("layeringDefinition")).At("layer")),
		Name:   text(metadata.At("name")),
	}
}

func withDefaults(metadata Mapping) Mapping {
	if IsFalsy(metadata.At("storagePolicy")) {
		metadata = metadata.With("storagePolicy", "cleartext")
	}
	layering := mapping(metadata.At("layeringDefinition"))
	if _, given := layering.Lookup("abstract"); !given {
		metadata = metadata.With("layeringDefinition", layering.With("abstract", false))
	}
	if _, given := metadata.Lookup("replacement"); !given {
		metadata = metadata.With("replacement", false)
	}
	return metadata
}

func traitsOf(metadata Mapping) *Traits {
	layering := mapping(metadata.At("layeringDefinition"))
	substitutions, _ := metadata.At("substitutions").([]any)
	return &Traits{
		Abstract:     layering.At("abstract") == true,
		Control:      strings.HasPrefix(text(metadata.At("schema")), "metadata/Control"),
		Encrypted:    metadata.At("storagePolicy") == "encrypted",
		Substituted:  len(substitutions) > 0,
		Parented:     !IsFalsy(layering.At("parentSelector")),
		Destinations: destinations(substitutions),
		Labels: slices.DeleteFunc(slices.Clone(mapping(metadata.At("labels"))), func(label Member) bool {
			_, isText := label.Value.(string)
			return !isText
		}),
	}
}

// Traits returns the traits of the document. Of stored metadata that cannot be read the most careful ones are assumed.
func (d *Document) Traits() Traits {
	if d.traits != nil {
		return *d.traits
	}
	value, err := ParseJSON(d.Metadata)
	if err != nil {
		return Traits{Encrypted: true, Substituted: true}
	}
	return *traitsOf(mapping(value))
}

func destinations(substitutions []any) (paths []string) {
	for _, s := range substitutions {
		dest := mapping(s).At("dest")
		list, isList := dest.([]any)
		if !isList {
			list = []any{dest}
		}
		for _, d := range list {
			paths = append(paths, text(mapping(d).At("path")))
		}
	}
	return paths
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

func mapping(value any) Mapping {
	m, _ := value.(Mapping)
	return m
}

// IsFalsy tells what Python takes for false, which is how the reference asks whether a value is there.
func IsFalsy(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case Number:
		return v == "0" || v == "0.0" || v == "-0.0"
	case []any:
		return len(v) == 0
	case Mapping:
		return len(v) == 0
	}
	return false
}
