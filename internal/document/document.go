package document

import (
	"fmt"
	"regexp"
	"strings"
)

// Identity identifies a document across revisions.
type Identity struct {
	Schema string
	Layer  string // "" if the document has none
	Name   string
}

// String formats an identity as in the reference's messages: [acme/Widget/v1, site] w1.
func (id Identity) String() string {
	layer := id.Layer
	if layer == "" {
		layer = "None"
	}
	return fmt.Sprintf("[%s, %s] %s", id.Schema, layer, id.Name)
}

// Known formats what is known of an identity, for people: [acme/Widget/v1] w1 if there is no layer.
func (id Identity) Known() string {
	switch {
	case id.Schema == "":
		return id.Name
	case id.Name == "":
		return "[" + id.Schema + "]"
	case id.Layer == "":
		return "[" + id.Schema + "] " + id.Name
	}
	return id.String()
}

// none matches the name of a document without a layer in the reference's messages.
var none = regexp.MustCompile(`\[([^\s\[\],']+/v\d[^\s\[\],/]*), None\] `)

// WithoutNone returns a message with documents that have no layer as Known formats them: it omits the None that the
// reference writes in the place of a layer.
func WithoutNone(message string) string { return none.ReplaceAllString(message, "[$1] ") }

// Document is a document that passed its sanity checks, in its stored form.
type Document struct {
	Identity

	Metadata []byte // canonical JSON text, including defaults
	Data     []byte // JSON text, keys in written order
	Digest   Digest // of the canonical form of Data
	Notes    []Note
	Segment  Digest // of the source text; zero if unknown

	// Secret is the data of an encrypted document that is being uploaded, and Sealed its ciphertext. Data is then a
	// reference. Both are nil in documents from the store.
	Secret, Sealed []byte

	traits *Traits // nil until decoded from Metadata
}

// Traits are the parts of a document's metadata that decide how it is processed.
type Traits struct {
	Abstract     bool
	Control      bool
	Encrypted    bool
	Replacement  bool
	Substituted  bool     // has substitutions
	Parented     bool     // has a parentSelector
	Destinations []string // paths in Data to which substitutions write
	Labels       Mapping  // only those with string values
	// Plain means that rendering needs only Abstract, Control, Encrypted, Replacement and Labels of the metadata.
	Plain bool
}

// Final reports whether rendering leaves the document's data unchanged.
func (t Traits) Final() bool { return !t.Abstract && !t.Substituted && !t.Parented }

// New converts an entry that passed its sanity checks into a document, with the defaults of Deckhand's schemas. It
// ignores unknown top-level keys, so that documents read from the server can be uploaded again.
func New(e Entry) (*Document, error) {
	root, _ := e.Value.(Mapping)
	submitted := mapping(root.At("metadata"))
	if holdsNUL(root.At("schema")) || holdsNUL(submitted) {
		const wrong rule = "a NUL character in its schema or metadata"
		return nil, e.source.malformed(YAML, wrong)
	}
	data, ok := root.Lookup("data")
	if !ok {
		data = Mapping{}
	}
	metadata := withDefaults(submitted)
	return &Document{
		Identity: identityOf(root, metadata),
		Metadata: Canonical(metadata),
		Data:     textOf(data, false),
		Digest:   DigestOf(data),
		Notes:    e.Notes,
		Segment:  e.Segment,
		traits:   traitsOf(metadata),
	}, nil
}

// identityOf and traitsOf copy the strings that they keep, because those of the entry share the memory of the whole
// document.
func identityOf(root, metadata Mapping) Identity {
	return Identity{
		Schema: strings.Clone(text(root.At("schema"))),
		Layer:  strings.Clone(text(mapping(metadata.At("layeringDefinition")).At("layer"))),
		Name:   strings.Clone(text(metadata.At("name"))),
	}
}

func withDefaults(metadata Mapping) Mapping {
	if IsFalsy(metadata.At("storagePolicy")) {
		metadata = metadata.With("storagePolicy", "cleartext")
	}
	layering := mapping(metadata.At("layeringDefinition"))
	if _, ok := layering.Lookup("abstract"); !ok {
		metadata = metadata.With("layeringDefinition", layering.With("abstract", false))
	}
	if _, ok := metadata.Lookup("replacement"); !ok {
		metadata = metadata.With("replacement", false)
	}
	return metadata
}

func traitsOf(metadata Mapping) *Traits {
	layering := mapping(metadata.At("layeringDefinition"))
	substitutions, _ := metadata.At("substitutions").([]any)
	actions, _ := layering.At("actions").([]any)
	all := mapping(metadata.At("labels"))
	traits := &Traits{
		Abstract:     layering.At("abstract") == true,
		Control:      strings.HasPrefix(text(metadata.At("schema")), "metadata/Control"),
		Encrypted:    metadata.At("storagePolicy") == "encrypted",
		Replacement:  metadata.At("replacement") == true,
		Substituted:  len(substitutions) > 0,
		Parented:     !IsFalsy(layering.At("parentSelector")),
		Destinations: destinations(substitutions),
		Labels:       labels(all),
	}
	traits.Plain = !traits.Substituted && !traits.Parented && len(actions) == 0 && len(traits.Labels) == len(all)
	return traits
}

// labels returns the labels that have string values.
func labels(all Mapping) (labels Mapping) {
	for _, label := range all {
		if value, isText := label.Value.(string); isText {
			labels = append(labels, Member{strings.Clone(label.Key), strings.Clone(value)})
		}
	}
	return labels
}

// Traits returns the traits of the document, or the most restrictive ones if its stored metadata is invalid.
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

// DecodeTraits decodes the traits and keeps them in the document. It must not be called while the document is shared.
func (d *Document) DecodeTraits() {
	traits := d.Traits()
	d.traits = &traits
}

// Decoded returns the traits if they have been decoded; otherwise ok is false.
func (d *Document) Decoded() (traits Traits, ok bool) {
	if d.traits == nil {
		return Traits{}, false
	}
	return *d.traits, true
}

func destinations(substitutions []any) (paths []string) {
	for _, s := range substitutions {
		dest := mapping(s).At("dest")
		list, isList := dest.([]any)
		if !isList {
			list = []any{dest}
		}
		for _, d := range list {
			paths = append(paths, strings.Clone(text(mapping(d).At("path"))))
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

// IsFalsy reports whether Python treats a value as false. The reference uses this to test whether a value is present.
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
