package jsonschema

import "strconv"

// writer rewrites schemas for the library. What it keeps is listed, so that nothing else reaches the library: not id
// and $schema, no later keywords, no texts. It keeps the keywords that apply schemas to members and items, allOf and
// dependencies, and adds the keyword of this package to each schema. A schema that something points at becomes a
// definition, so that the library never resolves a pointer that a user wrote.
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
		n.wrapped = true
		return map[string]any{"$ref": definition(n)}
	}
	return w.schema(n)
}

func definition(n *node) string { return "#/definitions/s" + strconv.Itoa(n.id) }

// schema writes n itself.
func (w *writer) schema(n *node) map[string]any {
	out := map[string]any{own: n.id, "format": own + strconv.Itoa(n.id)}
	if n.ref != nil {
		return out
	}
	if items := n.raw.member("items"); items != nil && items.kind == array {
		out["items"] = make([]any, len(items.items)) // an empty one is not allowed, so there are edges to fill it
	}
	for i := range n.edges {
		w.edge(out, &n.edges[i])
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
