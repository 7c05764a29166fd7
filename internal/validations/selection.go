package validations

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// Selection selects documents that are not abstract, by their metadata and their bucket. The items of a list are
// alternatives, of which a * at the end stands for any rest; all lists that are not empty, and all labels, must match.
// A Selection without any selects nothing.
type Selection struct {
	Schemas []string          `json:"schemas,omitempty"`
	Buckets []string          `json:"buckets,omitempty"`
	Layers  []string          `json:"layers,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
}

// Bounds of a Selection; the built-in schema of a ValidationPolicy has the same ones.
const (
	maxSelectionItems  = 100 // of each list
	maxSelectionLabels = 20
	maxSelectionItem   = 255 // characters of an item, a label and its value
)

// IsZero reports whether the selection has neither lists nor labels.
func (s Selection) IsZero() bool { return s.Size() == 0 }

// Size returns the number of items of the lists and of labels, to which the work of matching is proportional.
func (s Selection) Size() int { return len(s.Schemas) + len(s.Buckets) + len(s.Layers) + len(s.Labels) }

// Matches reports whether the selection selects a document of a bucket.
func (s Selection) Matches(doc *document.Document, bucket string) bool {
	return s.MatchesPlace(doc.Schema, bucket, doc.Layer) && s.MatchesTraits(doc.Traits())
}

// MatchesPlace reports whether the selection selects documents of a schema, a bucket and a layer, if they have its
// labels and are not abstract.
func (s Selection) MatchesPlace(schema, bucket, layer string) bool {
	return !s.IsZero() && matchesAny(s.Schemas, schema) && matchesAny(s.Buckets, bucket) && matchesAny(s.Layers, layer)
}

// MatchesTraits reports whether a document is not abstract and has the labels of the selection.
func (s Selection) MatchesTraits(traits document.Traits) bool {
	if traits.Abstract {
		return false
	}
	for label, value := range s.Labels {
		if found, has := traits.Labels.Lookup(label); !has || found != value {
			return false
		}
	}
	return true
}

// matchesAny reports whether one of the patterns matches a word, or there are none.
func matchesAny(patterns []string, word string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		if prefix, open := strings.CutSuffix(pattern, "*"); open {
			return strings.HasPrefix(word, prefix)
		}
		return pattern == word
	})
}

// Text returns the selection in canonical form, as JSON: with sorted lists and labels. ParseSelection reads it.
func (s Selection) Text() string {
	var fields document.Mapping
	for _, list := range lists(&s) {
		if len(*list.items) > 0 {
			sorted := slices.Sorted(slices.Values(*list.items))
			items := make([]any, 0, len(sorted))
			for _, item := range slices.Compact(sorted) {
				items = append(items, item)
			}
			fields = append(fields, document.Member{Key: list.key, Value: items})
		}
	}
	if len(s.Labels) > 0 {
		var labels document.Mapping
		for _, label := range slices.Sorted(maps.Keys(s.Labels)) {
			labels = append(labels, document.Member{Key: label, Value: s.Labels[label]})
		}
		fields = append(fields, document.Member{Key: "labels", Value: labels})
	}
	return string(document.AppendJSON(nil, fields))
}

// list is a list of a selection by its key.
type list struct {
	key   string
	items *[]string
}

// lists returns the lists of a selection.
func lists(s *Selection) []list {
	return []list{{"buckets", &s.Buckets}, {"layers", &s.Layers}, {"schemas", &s.Schemas}}
}

// ParseSelection parses the selection under a key, such as inputs. Fault: Invalid, InvalidSelection, which says all
// that is wrong.
func ParseSelection(key string, value any) (s Selection, err error) {
	mapping, ok := value.(document.Mapping)
	if !ok {
		return s, badSelection(key, []string{"it is not a mapping"})
	}
	var wrong []string
	known := lists(&s)
	for _, field := range mapping {
		at := slices.IndexFunc(known, func(l list) bool { return l.key == field.Key })
		switch {
		case at >= 0:
			wrong = append(wrong, parseItems(field, known[at].items)...)
		case field.Key == "labels":
			wrong = append(wrong, parseLabels(field.Value, &s)...)
		default:
			wrong = append(wrong, fmt.Sprintf("the key %s is unknown", words.Excerpt(field.Key))+nearestSelectionKey(field.Key))
		}
	}
	if len(mapping) == 0 {
		wrong = append(wrong, "it selects nothing")
	}
	if len(wrong) > 0 {
		return Selection{}, badSelection(key, wrong)
	}
	return s, nil
}

func nearestSelectionKey(key string) string {
	if nearest := words.Nearest(key, []string{"schemas", "buckets", "layers", "labels"}); nearest != "" {
		return " (did you mean " + nearest + "?)"
	}
	return ""
}

func badSelection(key string, wrong []string) error {
	const maxNamed = 10
	return fault.New(fault.Invalid, "InvalidSelection", "The selection of documents in %s is wrong: %s", key,
		strings.Join(wrong[:min(len(wrong), maxNamed)], "; ")).
		Hint("A selection has at least one of the lists schemas, buckets and layers, of 1 to %d items of %d characters, "+
			"and labels, of which there may be %d, such as {schemas: [drydock/*], layers: [site], labels: {role: network}}.",
			maxSelectionItems, maxSelectionItem, maxSelectionLabels)
}

// parseItems parses a list of a selection and returns what is wrong with it.
func parseItems(field document.Member, into *[]string) (wrong []string) {
	items, ok := field.Value.([]any)
	if !ok || len(items) == 0 || len(items) > maxSelectionItems {
		return []string{fmt.Sprintf("%s is not a list of 1 to %d items", field.Key, maxSelectionItems)}
	}
	for i, item := range items {
		text, ok := item.(string)
		if !ok || text == "" || utf8.RuneCountInString(text) > maxSelectionItem {
			wrong = append(wrong, fmt.Sprintf("%s[%d] is not a text of 1 to %d characters", field.Key, i, maxSelectionItem))
		}
		*into = append(*into, text)
	}
	return wrong
}

// parseLabels parses the labels of a selection and returns what is wrong with them.
func parseLabels(value any, s *Selection) (wrong []string) {
	labels, ok := value.(document.Mapping)
	if !ok || len(labels) == 0 || len(labels) > maxSelectionLabels {
		return []string{fmt.Sprintf("labels is not a mapping of 1 to %d labels", maxSelectionLabels)}
	}
	s.Labels = make(map[string]string, len(labels))
	for _, label := range labels {
		text, ok := label.Value.(string)
		if !ok || utf8.RuneCountInString(text) > maxSelectionItem || utf8.RuneCountInString(label.Key) > maxSelectionItem {
			wrong = append(wrong, fmt.Sprintf("the label %s is not a text of at most %d characters, or is longer itself",
				words.Excerpt(label.Key), maxSelectionItem))
		}
		s.Labels[label.Key] = text
	}
	return wrong
}
