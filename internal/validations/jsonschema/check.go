package jsonschema

import (
	"strconv"

	"purser/internal/budget"
)

// Check returns every violation, in an order that depends only on schema and data; nil if the data is valid. data is
// compact JSON text with its keys in written order. If there are more than 100 violations, it returns the first 99 and
// one with the number of the others. Data that is not JSON, or is nested more than 100 levels deep, is a single
// violation.
//
// The work is counted as it is done. The only errors are those of meter, returned unwrapped.
func (s *Schema) Check(meter *budget.Meter, data []byte) (findings []Finding, err error) {
	defer catchStop(&err)
	w := counter{meter: meter}
	w.spend(len(data) * decodeByte)
	root, err := readJSON(data)
	if err != nil {
		return unchecked(err), nil
	}
	if isTooDeep(w, root, 0) {
		return unchecked(errTooDeep), nil
	}
	return s.check(w, root), nil
}

// CheckValue is like Check, for a value of a document.
func (s *Schema) CheckValue(meter *budget.Meter, root any) (findings []Finding, err error) {
	defer catchStop(&err)
	return s.check(counter{meter: meter}, root), nil
}

func unchecked(err error) []Finding {
	return []Finding{{Message: "the data cannot be checked: " + err.Error(), Instance: []string{}, SchemaPath: "."}}
}

func (s *Schema) check(w counter, root any) []Finding {
	c := run{counter: w, schema: s}
	c.eval(s.root, root, false)
	if c.found.total == 0 {
		return nil
	}
	return c.describe()
}

// run is one check of a value: the current place and the violations so far.
type run struct {
	counter

	schema *Schema
	data   []step      // path of the value
	route  []step      // path of the schema
	scope  []*resource // resources along route
	level  int         // schemas being evaluated against the same value
	quiet  int         // enclosing combinators that need no violations
	within int         // findings whose causes are being determined
	found  selection
	// reached counts the evaluated references without a target.
	reached int
}

// evaluation evaluates one schema against one value.
type evaluation struct {
	*run

	node  *node
	value any
	track bool // evaluated members and items are needed
	seen  seen
	ok    bool
}

// eval evaluates a schema against a value and reports whether the value is valid. If track is set and the value is
// valid, it also returns the evaluated members or items.
func (c *run) eval(n *node, v any, track bool) (bool, seen) {
	c.spend(visitSteps)
	if n.members == nil {
		if n.isFalse {
			return c.fail(n, v, ""), seen{}
		}
		return true, seen{}
	}
	if c.level++; c.level > maxLevel {
		c.level--
		c.noteDangling(n, v, n.dynamic)
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

// all evaluates all keywords, or only until the result is known if violations are not needed.
func (e *evaluation) all() {
	n := e.node
	if !n.types.has(e.counter, e.value, n.draft()) {
		e.fail("type")
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

// isOver reports whether the result is known and violations are not needed.
func (e *evaluation) isOver() bool { return !e.ok && e.quiet > 0 && !e.schema.dangling }

// refer evaluates the target of a reference.
func (e *evaluation) refer(r *reference) {
	to := e.target(r)
	if to == nil {
		e.noteDangling(e.node, e.value, r)
		return
	}
	e.inPlace(to, step{name: r.keyword, kind: isRef})
}

// target returns the target of a reference in this check.
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

// noteDangling records a reference without a target. The data is still valid, but the reference is a finding, even
// where violations are not needed.
func (c *run) noteDangling(n *node, v any, r *reference) {
	quiet := c.quiet
	c.quiet = 0
	c.reached++
	keyword := "$ref"
	if r != nil {
		keyword = r.keyword
	}
	c.fail(n, v, keyword)
	c.quiet = quiet
}

// inPlace evaluates a schema against the same value and reports whether that is valid.
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

// merge adds the members and items that another schema has evaluated.
func (e *evaluation) merge(s seen) {
	e.spend(lookupSteps * (len(s.names) + len(s.some)))
	e.seen.add(s)
}

// below evaluates a schema against a member or an item and reports whether that is valid.
func (e *evaluation) below(to *node, v any, at step, route ...step) bool {
	e.data = append(e.data, at)
	ok := e.checkOther(to, v, route...)
	e.data = e.data[:len(e.data)-1]
	return ok
}

// checkOther evaluates a schema against another value, such as a key, and reports whether that is valid.
func (e *evaluation) checkOther(to *node, v any, route ...step) bool {
	e.route = append(e.route, route...)
	level := e.level
	e.level = 0
	ok, _ := e.eval(to, v, false)
	e.level = level
	e.route = e.route[:len(e.route)-len(route)]
	e.ok = e.ok && ok
	return ok
}

// combine applies schemas to the value itself. A value may be valid only because a reference has no target, so oneOf
// and not report nothing in that case.
func (e *evaluation) combine(rules *combinators) {
	for i, to := range rules.allOf {
		e.inPlace(to, named("allOf"), indexed(i))
	}
	if rules.anyOf != nil && len(e.valid(rules.anyOf, "anyOf", 1)) == 0 {
		e.fail("anyOf")
	}
	before := e.reached
	if rules.oneOf != nil {
		valid := e.valid(rules.oneOf, "oneOf", len(rules.oneOf))
		if len(valid) != 1 && e.reached == before {
			e.failAs(failure{keyword: "oneOf", note: joined(valid)})
		}
	}
	before = e.reached
	if rules.not != nil && e.silently(rules.not, false, named("not")) && e.reached == before {
		e.fail("not")
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
	keys := keysOf(e.counter, m, len(dependents))
	for _, d := range dependents {
		e.spend(findSteps(d.name))
		if keys.has(d.name) {
			e.inPlace(d.to, named(d.keyword), named(d.name))
		}
	}
}

// silently evaluates a schema without reporting violations.
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

// valid returns the indexes of the valid branches, up to enough of them, or all if evaluated members and items are
// needed.
func (e *evaluation) valid(branches []*node, keyword string, enough int) (indexes []int) {
	for i, to := range branches {
		e.spend(branchSteps)
		if !to.accepts().has(e.counter, e.value, to.draft()) {
			continue // branches mostly differ in type
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

// fail records a violation of a keyword.
//
//go:noinline
func (e *evaluation) fail(keyword string) {
	e.ok = false
	e.run.fail(e.node, e.value, keyword)
}

// failAs records a violation of the schema by the value.
func (e *evaluation) failAs(v failure) {
	e.ok = false
	v.node, v.value = e.node, e.value
	e.add(v)
}

// fail records a violation and returns false.
func (c *run) fail(n *node, v any, keyword string) bool {
	c.add(failure{node: n, keyword: keyword, value: v})
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
