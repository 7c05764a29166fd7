package rendering

import (
	"cmp"
	"slices"
	"strings"

	"purser/internal/document"
)

// metadata is the part of a document's metadata that matters to its rendering.
type metadata struct {
	abstract    bool
	control     bool
	replacement bool
	encrypted   bool

	labels        []label // by key, as metadata is canonical
	selector      []label
	actions       []action
	substitutions []substitution

	layers []string // of a LayeringPolicy, the most general first; of an invalid one, the part that can be read
}

// metadataSize is the memory of Metadata without its lists, in bytes.
const metadataSize = 128

// readMetadata reads metadata.
func readMetadata(m *memo, stored document.Mapping) *metadata {
	layering := mappingOf(stored.At("layeringDefinition"))
	d := &metadata{
		abstract:    layering.At("abstract") == true,
		control:     strings.HasPrefix(textOf(stored.At("schema")), "metadata/Control"),
		replacement: stored.At("replacement") == true,
		encrypted:   stored.At("storagePolicy") == "encrypted",
		labels:      labelsOf(m.meter, stored.At("labels")),
		selector:    labelsOf(m.meter, layering.At("parentSelector")),
	}
	for _, item := range listOf(layering.At("actions")) {
		d.actions = append(d.actions, readAction(m, mappingOf(item)))
	}
	for _, item := range listOf(stored.At("substitutions")) {
		d.substitutions = append(d.substitutions, readSubstitution(m, mappingOf(item)))
	}
	return d
}

// plainMetadata returns the metadata of a document whose traits determine it completely.
func plainMetadata(m *meter, traits document.Traits) *metadata {
	labels := labelsOf(m, traits.Labels)
	slices.SortFunc(labels, func(a, b label) int { return cmp.Compare(a.key, b.key) })
	return &metadata{
		abstract: traits.Abstract, control: traits.Control, replacement: traits.Replacement, encrypted: traits.Encrypted,
		labels: labels,
	}
}

// layerOrder returns the layers that the data of a LayeringPolicy lists, the most general first.
func layerOrder(data any) (layers []string) {
	for _, layer := range listOf(mappingOf(data).At("layerOrder")) {
		layers = append(layers, textOf(layer))
	}
	return layers
}

func mappingOf(value any) document.Mapping {
	m, _ := value.(document.Mapping)
	return m
}

func listOf(value any) []any {
	l, _ := value.([]any)
	return l
}

func textOf(value any) string {
	s, _ := value.(string)
	return s
}
