package jsonschema

import "strings"

// identify reads the identifiers of a schema: its URI, its draft and its anchors.
func (g *graph) identify(n *node) {
	_, refers := n.members.At("$ref").(string)
	d := n.draft()
	id, _ := n.members.At(d.id).(string)
	if refers && d.hidesSiblings() {
		id = ""
	}
	isRoot := n.parent == nil && len(n.steps) == 0
	if dialect, ok := n.members.At("$schema").(string); ok && (isRoot || id != "") {
		if d = draftNamed(dialect); d == nil {
			g.refuse(n, "$schema", unknownDraft(dialect))
			d = n.draft()
		}
	}
	uri, anchor := n.resource.uri, ""
	if id != "" {
		uri, anchor = join(uri, id)
	}
	if n.draft().atLeast(draft2019) {
		anchor = "" // only drafts before it write an anchor as the fragment of an id
	}
	if uri != n.resource.uri || isRoot {
		n.resource = &resource{uri: uri, draft: d, root: n, source: n.resource.source}
		if isRoot {
			g.resources[n.resource.source.uri] = n.resource
		}
		g.resources[uri] = n.resource
	}
	g.anchor(n, anchor)
}

// anchor adds the anchors of a schema.
func (g *graph) anchor(n *node, legacy string) {
	r := n.resource
	if r.root == nil {
		r.root = n
	}
	note := func(name string) {
		if r.anchors == nil {
			r.anchors = make(map[string]*node)
		}
		if name != "" && r.anchors[name] == nil {
			r.anchors[name] = n
		}
	}
	note(legacy)
	if r.draft.atLeast(draft2019) {
		note(Text(n.members.At("$anchor")))
	}
	if r.draft == draft2019 && r.root == n {
		r.recursive, _ = n.members.At("$recursiveAnchor").(bool)
	}
	if name := Text(n.members.At("$dynamicAnchor")); r.draft == draft2020 && name != "" {
		note(name)
		if r.dynamic == nil {
			r.dynamic = make(map[string]*node)
		}
		if r.dynamic[name] == nil {
			r.dynamic[name] = n
		}
	}
}

func unknownDraft(uri string) string {
	known := make([]string, len(drafts))
	for i, d := range drafts {
		known[i] = d.uri
	}
	return new(message).quote(uri).add(" is not a known version of JSON Schema: use one of ",
		strings.Join(known, ", "), "; or leave $schema out, which means Draft 4").String()
}
