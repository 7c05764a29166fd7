package schemadocs

import (
	"context"
	"slices"
	"strconv"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/regex"
	"purser/internal/validations/jsonschema"
)

// About is what a schema says about a value in the data that it checks. Texts are those of the schema, as written.
type About struct {
	Texts   []string // titles and descriptions
	Types   []string
	Values  []any // of enumerations
	Members []Member
}

// Member is a property that a schema declares.
type Member struct {
	Name, Text string   // Text is the property's own title or description
	Types      []string // that it names itself
	IsRequired bool
}

// maxApplied is the maximum number of schemas that At reads for one value.
const maxApplied = 1000

// At returns what a schema says about the value at a path, which need not exist. It follows references within the
// schema, allOf, anyOf and oneOf. It does not follow references to other DataSchemas, and leaves out what depends on
// other values: if, dependencies and property groups.
func At(ctx context.Context, p Page, path []string) (about About, err error) {
	t := &table{meter: budget.NewMeter(ctx), schemas: map[*document.Member]schema{}}
	defer func() { t.meter.Release(t.memory) }()
	if t.outline, t.err = jsonschema.NewOutline(t.meter, p.Schema, jsonschema.Options{}); t.err == nil {
		t.spend(0, t.outline.Bytes)
		at := t.applied(nil, t.keywords(p.Schema))
		for _, step := range path {
			at = t.partOf(at, step)
		}
		for _, s := range at {
			t.tell(&about, s)
		}
	}
	if t.err != nil {
		return About{}, budget.About(t.err, "the schema %s", tail(oneLine(p.Name)))
	}
	return about, nil
}

// applied appends a schema, and those that it applies to the same value, unless they are among all.
func (t *table) applied(all []schema, s schema) []schema {
	isKnown := func(known schema) bool { return len(s.raw) > 0 && len(known.raw) > 0 && &known.raw[0] == &s.raw[0] }
	t.spend(1000+len(all), 0)
	if t.err != nil || s.raw == nil || len(all) == maxApplied || slices.ContainsFunc(all, isKnown) {
		return all
	}
	all = append(all, s)
	for _, m := range s.mapping {
		switch m.Key {
		case "$ref", "$dynamicRef", "$recursiveRef":
			if target := t.outline.Target(s.raw, m.Key); target.Where == jsonschema.Here {
				all = t.applied(all, t.read(target.Schema, s))
			}
		case "allOf", "anyOf", "oneOf":
			for _, held := range at[[]any](s, m.Key) {
				all = t.applied(all, t.read(held, s))
			}
		}
	}
	return all
}

// partOf returns the schemas that others apply to a property or an item.
func (t *table) partOf(of []schema, step string) (all []schema) {
	for _, s := range of {
		for _, held := range t.heldFor(s, step) {
			all = t.applied(all, t.read(held, s))
		}
	}
	return all
}

// heldFor returns the subschemas for a property or an item.
func (t *table) heldFor(s schema, step string) (found []any) {
	if i, err := strconv.Atoi(step); err == nil && i >= 0 {
		if prefix := at[[]any](s, "prefixItems"); i < len(prefix) {
			found = append(found, prefix[i])
		} else if items, ok := s.Lookup("items"); ok {
			found = append(found, items)
		}
	}
	properties := at[mapping](s, "properties")
	t.spend(len(properties)*5, 0)
	declared, isNamed := properties.Lookup(step)
	if isNamed {
		found = append(found, declared)
	}
	for _, m := range at[mapping](s, "patternProperties") {
		expression, err := regex.Compile(t.meter, m.Key)
		if err != nil {
			continue
		}
		if t.spend(expression.MatchSteps(len(step)), 0); t.err == nil && expression.MatchString(step) {
			found, isNamed = append(found, m.Value), true
		}
	}
	if others, ok := s.Lookup("additionalProperties"); ok && !isNamed {
		found = append(found, others)
	}
	return found
}

// tell adds what one schema says about a value.
func (t *table) tell(about *About, s schema) {
	for _, text := range []string{at[string](s, "title"), at[string](s, "description")} {
		if text != "" && !slices.Contains(about.Texts, text) {
			about.Texts = append(about.Texts, text)
		}
	}
	for _, kind := range s.types() {
		if !slices.Contains(about.Types, kind) {
			about.Types = append(about.Types, kind)
		}
	}
	about.Values = append(about.Values, at[[]any](s, "enum")...)
	required := map[string]bool{}
	for _, name := range jsonschema.Texts(at[[]any](s, "required")) {
		required[name] = true
	}
	for _, m := range at[mapping](s, "properties") {
		t.spend(1000, 0)
		of := t.read(m.Value, s)
		if t.err != nil || of.isNever || of.isNone {
			continue
		}
		text := at[string](of, "description")
		if text == "" {
			text = at[string](of, "title")
		}
		about.Members = append(about.Members, Member{m.Key, text, of.types(), required[m.Key]})
	}
}
