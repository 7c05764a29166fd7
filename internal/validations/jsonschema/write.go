package jsonschema

import (
	"encoding/json"
	"strconv"
)

// writer rewrites schemas for the library. What it keeps is listed, so that nothing else reaches the library: not id
// and $schema, no later keywords, no texts. A schema that something points at becomes a definition, so that the
// library never resolves a pointer that a user wrote.
type writer struct{ hoisted map[int]*node }

// hoist finds the schemas that the root reaches and that must become definitions: what references point to, and what
// this package evaluates itself.
func (w *writer) hoist(root *node) {
	seen := make(map[*node]bool)
	var reach func(n *node)
	reach = func(n *node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.ref != nil && n.ref.to != nil {
			w.add(n.ref.to)
			reach(n.ref.to)
		}
		for _, e := range n.edges {
			switch e.keyword {
			case "definitions":
				continue
			case "anyOf", "oneOf", "not":
				w.add(e.to)
			}
			reach(e.to)
		}
	}
	reach(root)
}

func (w *writer) add(n *node) {
	n.hoisted = true
	w.hoisted[n.id] = n
}

// place writes n where a schema applies it.
func (w *writer) place(n *node) map[string]any {
	if n.hoisted {
		return map[string]any{"$ref": definition(n)}
	}
	return w.schema(n)
}

func definition(n *node) string { return "#/definitions/s" + strconv.Itoa(n.id) }

// schema writes n itself.
func (w *writer) schema(n *node) map[string]any {
	out := make(map[string]any)
	switch {
	case n.ref == nil:
	case n.ref.to == nil:
		out[own] = n.id
		return out
	default:
		out["$ref"] = definition(n.ref.to)
		return out
	}
	for i, keyword := range n.raw.keys {
		w.keyword(out, n, keyword, n.raw.items[i])
	}
	if len(n.added) > 0 {
		out[own] = n.id
	}
	for i := range n.edges {
		w.edge(out, &n.edges[i])
	}
	return out
}

// maxCount stands for any larger length or count, which the library would read wrongly.
const maxCount = 1<<31 - 1

// keyword writes a keyword that holds no schemas.
func (w *writer) keyword(out map[string]any, n *node, keyword string, held *value) {
	switch keyword {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "required":
		out[keyword] = held.plain()
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		if i, err := strconv.Atoi(held.text); err != nil || i > maxCount {
			out[keyword] = maxCount
		} else {
			out[keyword] = i
		}
	case "pattern":
		out[keyword] = n.pattern.runs
	case "additionalProperties", "additionalItems":
		if held.kind == boolean {
			out[keyword] = held.text == "true"
		}
	case "items":
		if held.kind == array { // an empty one is not allowed, so there are edges to fill it
			out[keyword] = make([]any, len(held.items))
		}
	case "dependencies":
		out[keyword] = required(held)
	case "type", "enum", "uniqueItems", "anyOf", "oneOf", "not":
		out[own] = n.id
	}
}

// required returns the dependencies that are lists of keys.
func required(held *value) map[string]any {
	out := make(map[string]any)
	for i, name := range held.keys {
		if held.items[i].kind == array {
			out[name] = held.items[i].plain()
		}
	}
	return out
}

// edge writes a schema that a keyword applies.
func (w *writer) edge(out map[string]any, e *edge) {
	switch e.keyword {
	case "properties", "dependencies":
		put(out, e.keyword, e.name, w.place(e.to))
	case "patternProperties":
		put(out, e.keyword, e.pattern.runs, w.place(e.to))
	case "allOf":
		schemas, _ := out[e.keyword].([]any)
		out[e.keyword] = append(schemas, w.place(e.to))
	case "items":
		if schemas, ok := out[e.keyword].([]any); ok {
			i, _ := strconv.Atoi(e.name)
			schemas[i] = w.place(e.to)
		} else {
			out[e.keyword] = w.place(e.to)
		}
	case "additionalProperties", "additionalItems":
		out[e.keyword] = w.place(e.to)
	}
}

func put(out map[string]any, keyword, name string, schema any) {
	members, ok := out[keyword].(map[string]any)
	if !ok {
		members = make(map[string]any)
		out[keyword] = members
	}
	members[name] = schema
}

// schemaNumber reads an integer of a schema that the library decoded.
func schemaNumber(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(string(n))
	return i, err == nil
}
