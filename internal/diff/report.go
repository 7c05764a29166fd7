package diff

import (
	"strings"

	"purser/internal/document"
)

// categories puts the report together.
func (r *report) categories() document.Mapping {
	r.charge(entryCost * (len(r.itemsRemoved) + len(r.itemsAdded)))
	r.meet()
	result := document.Mapping{}
	for _, category := range []struct {
		name   string
		size   int
		report any
	}{
		{"dictionary_item_added", len(r.keysAdded), r.keysAdded},
		{"dictionary_item_removed", len(r.keysRemoved), r.keysRemoved},
		{"iterable_item_added", len(r.itemsAdded), r.itemsAdded},
		{"iterable_item_removed", len(r.itemsRemoved), r.itemsRemoved},
		{"type_changes", len(r.types), r.types},
		{"values_changed", len(r.values), r.values},
	} {
		if category.size > 0 {
			result = append(result, document.Member{Key: category.name, Value: category.report})
		}
	}
	return result
}

// meet makes one item removed and another added under the same path into a change of its value, as deepdiff does at the
// end, whether or not the two have to do with each other.
func (r *report) meet() {
	removed := make(map[string]any, len(r.itemsRemoved))
	for _, item := range r.itemsRemoved {
		removed[item.Key] = item.Value
	}
	var onlyAdded, onlyRemoved document.Mapping
	for _, item := range r.itemsAdded {
		value, both := removed[item.Key]
		if !both {
			onlyAdded = append(onlyAdded, item)
			continue
		}
		delete(removed, item.Key)
		r.values = append(r.values, document.Member{Key: item.Key, Value: document.Mapping{
			{Key: "new_value", Value: item.Value},
			{Key: "old_value", Value: value},
		}})
	}
	for _, item := range r.itemsRemoved {
		if _, alone := removed[item.Key]; alone {
			onlyRemoved = append(onlyRemoved, item)
		}
	}
	r.itemsAdded, r.itemsRemoved = onlyAdded, onlyRemoved
}

// changed is the entry of a value that changed within its type.
func (m *meter) changed(path string, before, after any) document.Member {
	entry := document.Mapping{{Key: "new_value", Value: after}, {Key: "old_value", Value: before}}
	was, _ := before.(string)
	is, _ := after.(string)
	if strings.Contains(was, "\n") || strings.Contains(is, "\n") {
		if lines := m.lineDiff(was, is); lines != "" {
			entry = append(entry, document.Member{Key: "diff", Value: lines})
		}
	}
	return document.Member{Key: path, Value: entry}
}
