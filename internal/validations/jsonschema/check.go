package jsonschema

import (
	"encoding/json"
	"strconv"

	"purser/internal/budget"
	"purser/internal/document"
)

// Check returns every violation, in an order that depends on schema and data alone; nil if the data passes. data is
// compact JSON text whose keys are in the order they were written. Of more than 100 violations the first 99 are
// returned, and one that says how many more there were. Text that is no JSON or that is nested deeper than 100 levels
// is one violation.
//
// What it takes is counted while it is done. The error is the meter's, as it came.
func (s *Schema) Check(meter *budget.Meter, data []byte) (findings []Finding, err error) {
	defer stopped(&err)
	w := work{meter}
	w.spend(len(data) * decodeByte)
	var root any
	if json.Valid(data) {
		root, err = document.ParseJSON(data)
	} else {
		root, err = parse(w, data, -1)
	}
	if err != nil {
		return unchecked(err), nil
	}
	if tooDeep(w, root, 0) {
		return unchecked(errTooDeep), nil
	}
	return s.check(w, root), nil
}

// CheckValue is Check for a value of a document.
func (s *Schema) CheckValue(meter *budget.Meter, root any) (findings []Finding, err error) {
	defer stopped(&err)
	return s.check(work{meter}, root), nil
}

func unchecked(err error) []Finding {
	return []Finding{{Message: "the data cannot be checked: " + err.Error(), Instance: []string{}, SchemaPath: "."}}
}

func (s *Schema) check(w work, root any) []Finding {
	c := run{work: w, schema: s}
	c.eval(s.root, root, false)
	if c.found.total == 0 {
		return nil
	}
	return c.describe()
}

// run is one check of a value: where it is and what it has found.
type run struct {
	work

	schema *Schema
	data   []step      // to the value
	route  []step      // of the schema
	scope  []*resource // that the route has come through
	level  int         // schemas that are being evaluated against the same value
	quiet  int         // combinators around, within which nobody asks what is wrong
	within int         // findings whose causes are looked for
	found  selection
	// reached counts the references that lead nowhere and that were come to.
	reached int
	objects map[*document.Member]map[string]any // as keywords of extensions take them
}

// evaluation is that of one schema against one value.
type evaluation struct {
	*run

	node  *node
	value any
	track bool // somebody asks what is evaluated
	seen  seen
	ok    bool
}

// eval evaluates a schema against a value and reports whether that holds. If track is set, and it holds, it tells which
// members or items were evaluated.
func (c *run) eval(n *node, v any, track bool) (bool, seen) {
	c.spend(visitSteps)
	if n.members == nil {
		if n.isFalse {
			return c.fail(n, v, "", 1), seen{}
		}
		return true, seen{}
	}
	if c.level++; c.level > maxLevel {
		c.level--
		c.nowhere(n, v, n.dynamic)
		return true, seen{}
	}
	entered := len(c.scope) == 0 || c.scope[len(c.scope)-1] != n.resource
	if entered {
		c.scope = append(c.scope, n.resource)
	}
	e := evaluation{run: c, node: n, value: v, track: track || n.tracks(), ok: true}
	e.all()
	if entered {
		c.scope = c.scope[:len(c.scope)-1]
	}
	c.level--
	return e.ok, e.seen
}

// all evaluates all keywords, and no more than needed where nobody asks what is wrong.
func (e *evaluation) all() {
	n := e.node
	if !n.types.has(e.value, n.draft()) {
		e.fail("type", 1)
	}
	if n.asserts != nil && !e.isOver() {
		e.assert(n.asserts)
	}
	if n.ref != nil && !e.isOver() {
		e.refer(n.ref)
	}
	if n.dynamic != nil && !e.isOver() {
		e.refer(n.dynamic)
	}
	switch v := e.value.(type) {
	case mapping:
		if n.objects != nil && !e.isOver() {
			e.object(n.objects, v)
		}
	case []any:
		if n.arrays != nil && !e.isOver() {
			e.array(n.arrays, v)
		}
	}
	if n.inPlace != nil && !e.isOver() {
		e.combine(n.inPlace)
	}
	if n.added != nil && !e.isOver() {
		e.extended()
	}
	if e.track && !e.isOver() {
		e.unevaluated()
	}
}

// isOver reports whether the outcome is known and nothing else is asked.
func (e *evaluation) isOver() bool { return !e.ok && e.quiet > 0 && !e.schema.nowhere }

// refer evaluates the schema that a reference leads to.
func (e *evaluation) refer(r *reference) {
	to := e.target(r)
	if to == nil {
		e.nowhere(e.node, e.value, r)
		return
	}
	e.inPlace(to, step{name: r.keyword, kind: isRef})
}

// target returns the schema that a reference leads to in this check.
func (e *evaluation) target(r *reference) *node {
	switch {
	case r.to == nil:
		return nil
	case r.anchor != "":
		for _, outer := range e.scope {
			if to := outer.dynamic[r.anchor]; to != nil {
				return to
			}
		}
	case r.keyword == "$recursiveRef" && r.to.resource.root == r.to && r.to.resource.recursive:
		for _, outer := range e.scope {
			if outer.recursive {
				return outer.root
			}
		}
	}
	return r.to
}

// nowhere notes a reference that leads nowhere. That is not a failure of the data but a finding all the same, wherever
// it is: so it is noted, and passes.
func (c *run) nowhere(n *node, v any, r *reference) {
	quiet := c.quiet
	c.quiet = 0
	c.reached++
	keyword := "$ref"
	if r != nil {
		keyword = r.keyword
	}
	c.fail(n, v, keyword, 1)
	c.quiet = quiet
}

// inPlace evaluates a schema against the same value and reports whether it holds.
func (e *evaluation) inPlace(to *node, route ...step) bool {
	e.route = append(e.route, route...)
	ok, s := e.eval(to, e.value, e.track)
	e.route = e.route[:len(e.route)-len(route)]
	if ok && e.track {
		e.merge(s)
	}
	e.ok = e.ok && ok
	return ok
}

// merge adds what another schema has evaluated.
func (e *evaluation) merge(s seen) {
	e.spend(lookupSteps * (len(s.names) + len(s.some)))
	e.seen.add(s)
}

// below evaluates a schema against a member or an item and reports whether it holds.
func (e *evaluation) below(to *node, v any, at step, route ...step) bool {
	e.data = append(e.data, at)
	ok := e.aside(to, v, route...)
	e.data = e.data[:len(e.data)-1]
	return ok
}

// aside evaluates a schema against another value than the evaluation's own and reports whether it holds.
func (e *evaluation) aside(to *node, v any, route ...step) bool {
	e.route = append(e.route, route...)
	level := e.level
	e.level = 0
	ok, _ := e.eval(to, v, false)
	e.level = level
	e.route = e.route[:len(e.route)-len(route)]
	e.ok = e.ok && ok
	return ok
}

// combine applies schemas to the value itself. What comes to a reference to nowhere is known to be valid only for want
// of a schema, so oneOf and not say nothing then.
func (e *evaluation) combine(rules *combinators) {
	for i, to := range rules.allOf {
		e.inPlace(to, named("allOf"), indexed(i))
	}
	if rules.anyOf != nil && len(e.valid(rules.anyOf, "anyOf", 1)) == 0 {
		e.fail("anyOf", 1)
	}
	before := e.reached
	if rules.oneOf != nil {
		valid := e.valid(rules.oneOf, "oneOf", len(rules.oneOf))
		if len(valid) != 1 && e.reached == before {
			e.failWith("oneOf", joined(valid))
		}
	}
	before = e.reached
	if rules.not != nil && e.silently(rules.not, false, named("not")) && e.reached == before {
		e.fail("not", 1)
	}
	switch {
	case rules.cond == nil:
	case e.silently(rules.cond, e.track, named("if")):
		if rules.then != nil {
			e.inPlace(rules.then, named("then"))
		}
	case rules.other != nil:
		e.inPlace(rules.other, named("else"))
	}
	e.dependents(rules.dependents)
}

func (e *evaluation) dependents(dependents []dependent) {
	m, ok := e.value.(mapping)
	if !ok || len(dependents) == 0 {
		return
	}
	keys := e.keys(m, len(dependents))
	for _, d := range dependents {
		e.spend(lookupSteps + len(d.name)/keyBytes)
		if keys.has(d.name) {
			e.inPlace(d.to, named(d.keyword), named(d.name))
		}
	}
}

// silently reports whether a schema holds, and says nothing of what is wrong.
func (e *evaluation) silently(to *node, track bool, route ...step) bool {
	e.spend(combineSteps)
	e.quiet++
	e.route = append(e.route, route...)
	ok, s := e.eval(to, e.value, track)
	e.route = e.route[:len(e.route)-len(route)]
	e.quiet--
	if ok && track {
		e.merge(s)
	}
	return ok
}

// valid returns the indexes of the branches that hold, up to enough of them; all if somebody asks what is evaluated.
func (e *evaluation) valid(branches []*node, keyword string, enough int) (indexes []int) {
	for i, to := range branches {
		e.spend(branchSteps)
		if !to.accepts().has(e.value, to.draft()) {
			continue // what most branches differ in
		}
		if !e.silently(to, e.track, named(keyword), indexed(i)) {
			continue
		}
		if indexes = append(indexes, i); len(indexes) == enough && !e.track {
			break
		}
	}
	return indexes
}

// fail notes a violation of a keyword, which is so many findings.
func (e *evaluation) fail(keyword string, count int) {
	e.ok = false
	e.run.fail(e.node, e.value, keyword, count)
}

// failWith notes a violation with something that its words need.
func (e *evaluation) failWith(keyword, note string) {
	e.ok = false
	e.add(violation{node: e.node, keyword: keyword, value: e.value, note: note, count: 1})
}

// fail notes a violation and returns false.
func (c *run) fail(n *node, v any, keyword string, count int) bool {
	c.add(violation{node: n, keyword: keyword, value: v, count: count})
	return false
}

func joined(indexes []int) string {
	var b []byte
	for i, index := range indexes {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(index), 10)
	}
	return string(b)
}
