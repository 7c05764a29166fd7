package diff

import (
	"context"
	"strings"

	"purser/internal/document"
)

// Deep returns how two values differ, as python-deepdiff 7 and 8 print it in their text view, with types by their
// names; equal values give an empty mapping. Categories are left out where they are empty:
//
//	dictionary_item_added:   ["root['b']"]
//	dictionary_item_removed: ["root['a']"]
//	iterable_item_added:     {"root['l'][2]": 4}    index in the new list
//	iterable_item_removed:   {"root['l'][0]": 1}    index in the old list
//	type_changes:            {"root['t']": {old_type: int, new_type: str, old_value: 1, new_value: '1'}}
//	values_changed:          {"root['s']": {new_value: "a\nc", old_value: "a\nb", diff: "--- \n+++ \n@@ …"}}
//
// The index of a change is that of the old list (deepdiff 6: of the new one). Two differences that deepdiff hides are
// shown: list items 1, 1.0 and True are not the same, and keys that begin with two underscores count.
//
// Fault: TooLarge, *budget.Exceeded.
func Deep(ctx context.Context, before, after any) (document.Mapping, error) {
	m := newMeter(ctx)
	r := report{meter: m, room: maxPathBytes}
	r.compare([]byte("root"), before, after)
	if r.room < 0 {
		r = report{meter: m, values: document.Mapping{m.changed("root", before, after)}}
	}
	return r.categories(), m.end()
}

// report collects the differences by category.
type report struct {
	*meter

	keysAdded, keysRemoved   []any // paths
	itemsAdded, itemsRemoved document.Mapping
	types, values            document.Mapping
	room                     int // bytes that paths may still take
}

// at is the path of a change, paid for.
func (r *report) at(path []byte) string {
	if r.room -= len(path); r.room < 0 || r.err != nil {
		return ""
	}
	r.hold(changeSize + len(path))
	return string(path)
}

func (r *report) compare(path []byte, before, after any) {
	if r.charge(valueCost); r.room < 0 || r.err != nil {
		return
	}
	oldType, newType := document.TypeName(before), document.TypeName(after)
	if oldType != newType {
		r.types = append(r.types, document.Member{Key: r.at(path), Value: document.Mapping{
			{Key: "old_type", Value: oldType},
			{Key: "new_type", Value: newType},
			{Key: "old_value", Value: before},
			{Key: "new_value", Value: after},
		}})
		return
	}
	switch was := before.(type) {
	case document.Mapping:
		is, _ := after.(document.Mapping)
		r.mappings(path, was, is)
	case []any:
		is, _ := after.([]any)
		r.lists(path, was, is)
	default:
		if r.compareTexts(before, after); r.identity(before) != r.identity(after) {
			r.values = append(r.values, r.changed(r.at(path), before, after))
		}
	}
}

func (r *report) mappings(path []byte, before, after document.Mapping) {
	for _, p := range r.pairs(before, after) {
		r.charge(byteCost * len(p.key))
		place := appendKey(path, p.key)
		switch {
		case !p.was:
			r.keysAdded = append(r.keysAdded, r.at(place))
		case !p.is:
			r.keysRemoved = append(r.keysRemoved, r.at(place))
		default:
			r.compare(place, p.before, p.after)
		}
	}
}

// lists compares lists of scalars aligned and all others by position.
func (r *report) lists(path []byte, before, after []any) {
	hunks := positional(before, after)
	if areScalars(before) && areScalars(after) {
		hunks = alignOrPair(r.meter, r.identities(before), r.identities(after))
	}
	for _, h := range hunks {
		shared := h.shared()
		for k := range shared {
			r.compare(appendIndex(path, h.i+k), before[h.i+k], after[h.j+k])
		}
		for i := h.i + shared; i < h.iEnd; i++ {
			r.itemsRemoved = append(r.itemsRemoved, document.Member{Key: r.at(appendIndex(path, i)), Value: before[i]})
		}
		for j := h.j + shared; j < h.jEnd; j++ {
			r.itemsAdded = append(r.itemsAdded, document.Member{Key: r.at(appendIndex(path, j)), Value: after[j]})
		}
	}
}

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
