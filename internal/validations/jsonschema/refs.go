package jsonschema

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"purser/internal/document"
)

// reference is a $ref, $dynamicRef or $recursiveRef.
type reference struct {
	keyword  string
	written  string
	fragment string // the text after #, without leading slashes
	other    string // the DataSchema that it refers to; "" if none
	outside  bool   // it refers to neither a DataSchema nor a metaschema
	to       *node  // nil if it has no target
	anchor   string // identifies the target of a $dynamicRef among the schemas on the check's path
}

// refer reads the references of a schema and reports whether it has a $ref. As in Python, null is not a reference.
func (g *graph) refer(n *node) bool {
	switch n.draft() {
	case draft2019:
		n.dynamic = newReference("$recursiveRef", n.members)
	case draft2020:
		n.dynamic = newReference("$dynamicRef", n.members)
	}
	v, ok := n.members.Lookup("$ref")
	if !ok || v == nil {
		return false
	}
	if n.ref = newReference("$ref", n.members); n.ref == nil {
		g.refuse(n, "$ref", new(message).repr(v).add(" is not of type 'string'").String())
	}
	return true
}

func newReference(keyword string, m mapping) *reference {
	written, ok := m.At(keyword).(string)
	if !ok {
		return nil
	}
	return &reference{keyword: keyword, written: written}
}

// resolve determines the target of each reference. A target that is not at the place of a schema becomes a schema, and
// one in another document adds all schemas of that document, which may have further references.
func (g *graph) resolve() {
	for i := 0; i < len(g.nodes); i++ { //nolint:intrange // target adds nodes
		n := g.nodes[i]
		if n.ref != nil {
			g.target(n, n.ref)
		}
		if n.dynamic != nil {
			g.target(n, n.dynamic)
			n.dynamic.setDynamicAnchor()
		}
	}
}

// setDynamicAnchor sets the anchor of a $dynamicRef. Without a dynamic anchor at its target, the reference is like a
// $ref.
func (r *reference) setDynamicAnchor() {
	if r.to != nil && r.keyword == "$dynamicRef" && r.to.resource.dynamic[r.fragment] == r.to {
		r.anchor = r.fragment
	}
}

// target determines the target of a reference.
func (g *graph) target(n *node, r *reference) {
	g.spend(targetSteps + lookupSteps*strings.Count(r.written, "/") + len(r.written)*describeByte)
	uri, fragment := join(n.resource.uri, r.written)
	r.fragment = strings.TrimLeft(fragment, "/")
	name, _, _ := strings.Cut(r.written, "#")
	in := g.resource(uri, name)
	if in == nil && otherName.MatchString(name) {
		r.other, g.dangling = name, true
		return
	}
	if in == nil {
		r.outside, g.dangling = true, true
		return
	}
	if r.to = g.within(in, fragment); r.to == nil {
		g.dangling = true
	}
}

// unresolved returns the message about a reference without a target.
func (r *reference) unresolved() string {
	m := new(message)
	switch {
	case r.other != "":
		m.add("the DataSchema ", r.other, " is not registered, or cannot be used")
	case r.outside:
		m.quote(r.written).add(" points outside the schema: a DataSchema may only refer to itself, with a ", r.keyword,
			" that starts with #, or to another one by its name, as in acme/Address/v1#/definitions/street")
	default:
		m.add("Unresolvable JSON pointer: ").quote(r.fragment)
	}
	return m.String()
}

// findUnresolved returns the references of the schema itself that have no target.
func (g *graph) findUnresolved() (found []Finding) {
	if !g.dangling {
		return nil
	}
	for _, n := range g.nodes {
		for _, r := range [...]*reference{n.ref, n.dynamic} {
			if r != nil && r.to == nil && n.resource.source == g.own && len(found) < maxFindings {
				found = append(found, Finding{
					Message: r.unresolved(), Instance: n.place(r.keyword), SchemaPath: "." + r.keyword,
				})
			}
		}
	}
	return found
}

// otherName matches the names of DataSchemas.
var otherName = regexp.MustCompile(`^[a-zA-Z]+/[a-zA-Z]+/v\d+$`)

// References returns the names of the DataSchemas to which a schema, given as compact JSON text, may refer. It may also
// return names that are not in references.
func References(schema []byte) (names []string) {
	for _, keyword := range [...]string{`"$ref":"`, `"$dynamicRef":"`, `"$recursiveRef":"`} {
		for rest := schema; ; {
			_, after, ok := bytes.Cut(rest, []byte(keyword))
			if !ok {
				break
			}
			rest = after
			if end := bytes.IndexAny(after, `#"`); end > 0 && otherName.Match(after[:end]) {
				names = append(names, string(after[:end]))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// resource returns the resource with a URI, or the DataSchema if it is the name of one; nil if there is none. It reads
// other documents on the first reference to them.
func (g *graph) resource(uri, name string) *resource {
	if r, ok := g.resources[uri]; ok {
		return r
	}
	if text, ok := g.options.Others[name]; ok {
		return g.read(base+name, text)
	}
	s := metaSource(uri)
	if s == nil {
		return nil
	}
	d := draftNamed(s.uri)
	if d == nil {
		d = draftNamed(Text(s.root.(mapping).At("$schema"))) //nolint:forcetypeassert // an embedded document
	}
	g.add(s, d)
	g.resources[uri] = g.resources[s.uri]
	return g.resources[uri]
}

// read reads another DataSchema. It returns nil if that cannot be used.
func (g *graph) read(uri string, written []byte) *resource {
	if r, ok := g.resources[uri]; ok {
		return r
	}
	g.spend(sourceSteps)
	g.resources[uri] = nil
	g.otherBytes += len(written)
	root, err := parse(g.counter, written, maxNodes)
	if err != nil {
		return nil
	}
	d := dialectOf(root)
	if d == nil || len(metaschema(d).checkSchema(g.counter, root, nil)) > 0 {
		return nil
	}
	g.add(&source{uri: uri, root: root, meta: metaschema(d)}, d)
	return g.resources[uri]
}

// within returns the schema of a resource to which a fragment points, or nil.
func (g *graph) within(r *resource, fragment string) *node {
	if fragment == "" {
		return r.root
	}
	if decoded, err := url.PathUnescape(fragment); err == nil && r.anchors[decoded] != nil {
		return r.anchors[decoded]
	}
	steps, ok := document.PointerSteps(strings.TrimLeft(fragment, "/"))
	if !ok {
		return nil
	}
	steps = r.root.place(steps...)
	if n, ok := g.byPlace[place{r.source, pointer(steps)}]; ok {
		return n
	}
	found, ok := valueAt(r.source.root, steps)
	if !ok {
		return nil
	}
	if wrong := r.source.meta.checkSchema(g.counter, found, steps); len(wrong) > 0 {
		if r.source == g.own {
			g.findings = append(g.findings, wrong...)
		}
		return nil
	}
	return g.node(found, nil, g.nearest(r, steps), steps...)
}

// nearest returns the resource to which the value at a path belongs.
func (g *graph) nearest(r *resource, steps []string) *resource {
	for i := len(steps) - 1; i > 0; i-- {
		if n, ok := g.byPlace[place{r.source, pointer(steps[:i])}]; ok {
			return n.resource
		}
	}
	return r
}

// join resolves a reference against a base URI and splits off its fragment.
func join(base, ref string) (uri, fragment string) {
	ref, fragment, _ = strings.Cut(ref, "#")
	if ref == "" {
		return base, fragment
	}
	from, err := url.Parse(base)
	if err != nil {
		return ref, fragment
	}
	to, err := from.Parse(ref)
	if err != nil {
		return ref, fragment
	}
	return to.String(), fragment
}
