// Package declared reads what a document's metadata says about its rendering.
//
// Metadata is never modified, so that renderings share it.
package declared

import (
	"cmp"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/rendering/meter"
	"purser/internal/rendering/paths"
)

// Metadata is the part of a document's metadata that matters to its rendering.
type Metadata struct {
	Abstract    bool
	Control     bool
	Replacement bool
	Encrypted   bool

	Labels        []Label // by key, as metadata is canonical
	Selector      []Label
	Actions       []Action
	Substitutions []Substitution

	Layers []string // of a LayeringPolicy, the most general first; of an invalid one, the part that can be read
}

// Size is the memory of Metadata without its lists, in bytes.
const Size = 128

// Read reads metadata.
func Read(parser *paths.Parser, metadata document.Mapping) *Metadata {
	layering := mapping(metadata.At("layeringDefinition"))
	d := &Metadata{
		Abstract:    layering.At("abstract") == true,
		Control:     strings.HasPrefix(text(metadata.At("schema")), "metadata/Control"),
		Replacement: metadata.At("replacement") == true,
		Encrypted:   metadata.At("storagePolicy") == "encrypted",
		Labels:      labelsOf(parser.Meter, metadata.At("labels")),
		Selector:    labelsOf(parser.Meter, layering.At("parentSelector")),
	}
	for _, item := range list(layering.At("actions")) {
		d.Actions = append(d.Actions, action(parser, mapping(item)))
	}
	for _, item := range list(metadata.At("substitutions")) {
		d.Substitutions = append(d.Substitutions, substitution(parser, mapping(item)))
	}
	return d
}

// Plain returns the metadata of a document whose traits determine it completely.
func Plain(m *meter.Meter, traits document.Traits) *Metadata {
	labels := labelsOf(m, traits.Labels)
	slices.SortFunc(labels, func(a, b Label) int { return cmp.Compare(a.Key, b.Key) })
	return &Metadata{
		Abstract: traits.Abstract, Control: traits.Control, Replacement: traits.Replacement, Encrypted: traits.Encrypted,
		Labels: labels,
	}
}

// LayerOrder returns the layers that the data of a LayeringPolicy lists, the most general first.
func LayerOrder(data any) (layers []string) {
	for _, layer := range list(mapping(data).At("layerOrder")) {
		layers = append(layers, text(layer))
	}
	return layers
}

func mapping(value any) document.Mapping {
	m, _ := value.(document.Mapping)
	return m
}

func list(value any) []any {
	l, _ := value.([]any)
	return l
}

func text(value any) string {
	s, _ := value.(string)
	return s
}
