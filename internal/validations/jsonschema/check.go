package jsonschema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"unicode/utf8"

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
		if n.raw == false {
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
	if n.asserts != nil {
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
	e.seen = e.seen.with(s)
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

// object applies schemas to the members of an object.
func (e *evaluation) object(rules *objectRules, m mapping) {
	extra := false
	for _, member := range m {
		if e.isOver() {
			return
		}
		e.spend(lookupSteps + len(member.Key)/keyBytes)
		extra = !e.member(rules, member) || extra
	}
	if extra && rules.closed {
		e.fail("additionalProperties", 1)
	}
	if e.track && rules.isComplete {
		e.seen.all = true
	}
	if rules.names == nil {
		return
	}
	for _, member := range m {
		e.aside(rules.names, member.Key, named("propertyNames"))
	}
}

// member applies the schemas of a member, and reports whether it is named or is otherwise described.
func (e *evaluation) member(rules *objectRules, member document.Member) bool {
	at, known := named(member.Key), false
	if to, ok := rules.properties[member.Key]; ok {
		known = true
		e.below(to, member.Value, at, named("properties"), at)
	}
	for _, p := range rules.patterns {
		if e.matches(p.pattern, member.Key) {
			known = true
			e.below(p.to, member.Value, at, named("patternProperties"), named(p.name))
		}
	}
	switch {
	case known && e.track:
		e.seen.name(member.Key)
	case !known && rules.additional != nil:
		e.below(rules.additional, member.Value, at, named("additionalProperties"))
		return true
	}
	return known
}

// array applies schemas to the items of an array.
func (e *evaluation) array(rules *arrayRules, items []any) {
	for i, item := range items {
		if e.isOver() {
			return
		}
		e.spend(lookupSteps)
		switch {
		case i < len(rules.prefix):
			e.below(rules.prefix[i], item, indexed(i), named(rules.prefixKeyword), indexed(i))
		case rules.rest != nil:
			e.below(rules.rest, item, indexed(i), named(rules.restKeyword))
		}
	}
	if rules.closed && len(items) > len(rules.prefix) {
		e.fail(rules.restKeyword, 1)
	}
	if e.track {
		e.seen.items = max(e.seen.items, min(len(items), len(rules.prefix)))
		e.seen.all = e.seen.all || rules.isComplete
	}
	if rules.contains != nil {
		e.contains(rules, items)
	}
}

func (e *evaluation) contains(rules *arrayRules, items []any) {
	matched, before := 0, e.ok
	e.quiet++
	for i, item := range items {
		if e.below(rules.contains, item, indexed(i), named("contains")) {
			if matched++; e.track && rules.marksContained {
				e.seen.index(i)
			}
		}
	}
	e.quiet--
	switch e.ok = before; {
	case matched < rules.least && rules.hasLeast && matched > 0:
		e.failWith("minContains", strconv.Itoa(matched))
	case matched < rules.least:
		e.fail("contains", 1)
	case matched > rules.most:
		e.fail("maxContains", 1)
	}
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

func (e *evaluation) dependents(dependents []*edge) {
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
		if types := to.accepts(); types != nil && !isOfTypes(e.value, types, to.draft()) {
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

// unevaluated applies schemas to what no other has evaluated.
func (e *evaluation) unevaluated() {
	switch v := e.value.(type) {
	case mapping:
		if e.node.objects == nil || e.node.objects.unevaluated == nil {
			return
		}
		e.rest(e.node.objects.unevaluated, "unevaluatedProperties", len(v), func(i int) (step, any, bool) {
			return named(v[i].Key), v[i].Value, e.seen.names[v[i].Key]
		})
	case []any:
		if e.node.arrays == nil || e.node.arrays.unevaluated == nil {
			return
		}
		e.rest(e.node.arrays.unevaluated, "unevaluatedItems", len(v), func(i int) (step, any, bool) {
			return indexed(i), v[i], i < e.seen.items || e.seen.some[i]
		})
	}
}

// rest applies a schema to those of n members or items that are not evaluated. Those that false forbids are told in one
// finding.
func (e *evaluation) rest(to *node, keyword string, n int, of func(i int) (at step, v any, isSeen bool)) {
	if e.seen.all {
		return
	}
	var forbidden []any
	for i := range n {
		e.spend(lookupSteps)
		at, v, isSeen := of(i)
		switch {
		case isSeen:
		case to.raw == false && at.kind == isIndex:
			forbidden = append(forbidden, v)
		case to.raw == false:
			forbidden = append(forbidden, at.name)
		default:
			e.below(to, v, at, named(keyword))
		}
	}
	if e.seen.all = true; len(forbidden) > 0 {
		e.ok = false
		e.add(violation{node: e.node, keyword: keyword, value: e.value, extras: forbidden, count: 1})
	}
}

// assert evaluates the assertions.
func (e *evaluation) assert(a *assertions) {
	if a.types != nil && !isOfTypes(e.value, a.types, e.node.draft()) {
		e.fail("type", 1)
	}
	if a.enum != nil && !a.enum.has(e.work, e.value) {
		e.fail("enum", 1)
	}
	if a.constant != nil && !a.constant.has(e.work, e.value) {
		e.fail("const", 1)
	}
	switch v := e.value.(type) {
	case string:
		e.string(a, v)
	case document.Number:
		e.number(a, v)
	case []any:
		e.within(len(v), a.items, "minItems", "maxItems")
		if a.unique && !areUnique(e.work, v) {
			e.fail("uniqueItems", 1)
		}
	case mapping:
		e.within(len(v), a.properties, "minProperties", "maxProperties")
		e.required(a, v)
	}
	if a.format != nil && !a.format(e.value) {
		e.fail("format", 1)
	}
}

// within evaluates a lower and an upper bound.
func (e *evaluation) within(n int, b bounds, least, most string) {
	if n < b.min {
		e.fail(least, 1)
	}
	if n > b.max {
		e.fail(most, 1)
	}
}

func (e *evaluation) string(a *assertions, v string) {
	if a.length.holds() {
		e.spend(len(v))
		e.within(utf8.RuneCountInString(v), a.length, "minLength", "maxLength")
	}
	if a.pattern != nil && !e.matches(a.pattern, v) {
		e.fail("pattern", 1)
	}
	if a.format != nil {
		e.spend(formatSteps + len(v)*formatByte)
	}
}

func (e *evaluation) number(a *assertions, v document.Number) {
	if a.minimum == nil && a.maximum == nil && a.exclusiveMinimum == nil && a.exclusiveMaximum == nil && a.multipleOf == nil {
		return
	}
	e.spend(4 * numberSteps)
	if !isInteger(v) {
		e.spend(4 * powerSteps)
	}
	n := rational(bounded(v))
	if a.minimum != nil && n.Cmp(a.minimum) < 0 {
		e.fail("minimum", 1)
	}
	if a.maximum != nil && n.Cmp(a.maximum) > 0 {
		e.fail("maximum", 1)
	}
	if a.exclusiveMinimum != nil && n.Cmp(a.exclusiveMinimum) <= 0 {
		e.fail("exclusiveMinimum", 1)
	}
	if a.exclusiveMaximum != nil && n.Cmp(a.exclusiveMaximum) >= 0 {
		e.fail("exclusiveMaximum", 1)
	}
	if a.multipleOf != nil && a.multipleOf.Sign() != 0 && !new(big.Rat).Quo(n, a.multipleOf).IsInt() {
		e.fail("multipleOf", 1)
	}
}

func (e *evaluation) required(a *assertions, m mapping) {
	if a.required == nil && a.dependencies == nil {
		return
	}
	keys := e.keys(m, len(a.required)+len(a.dependencies))
	missing := 0
	for _, key := range a.required {
		if e.spend(lookupSteps + len(key)/keyBytes); !keys.has(key) {
			missing++
		}
	}
	if missing > 0 {
		e.fail("required", missing)
	}
	for _, d := range a.dependencies {
		if e.spend(lookupSteps); !keys.has(d.key) {
			continue
		}
		for i, key := range d.asks {
			if e.spend(lookupSteps + len(key)/keyBytes); !keys.has(key) {
				e.ok = false
				e.add(violation{
					node: e.node, keyword: d.keyword, value: e.value, count: 1,
					names: []step{named(d.key), indexed(i)}, extras: []any{key, d.key},
				})
			}
		}
	}
}

// keySet finds the keys of an object.
type keySet struct {
	members mapping
	index   map[string]struct{} // nil if searching one by one is as fast
}

func (k keySet) has(key string) bool {
	if k.index != nil {
		_, ok := k.index[key]
		return ok
	}
	_, ok := k.members.Lookup(key)
	return ok
}

// fewKeys is how many keys are searched one by one, which is faster than a map and needs none.
const fewKeys = 16

// keys returns the keys of an object for so many searches.
func (c *run) keys(m mapping, searches int) keySet {
	if len(m) <= fewKeys || searches == 1 {
		c.spend(len(m))
		return keySet{members: m}
	}
	c.spend(len(m) * lookupSteps)
	index := make(map[string]struct{}, len(m))
	for _, member := range m {
		index[member.Key] = struct{}{}
	}
	return keySet{index: index}
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

// seen is which members or items of a value schemas have evaluated.
type seen struct {
	all   bool
	names map[string]bool // of members
	items int             // the first ones
	some  map[int]bool    // others, by index
}

func (s *seen) name(key string) {
	if s.names == nil {
		s.names = make(map[string]bool)
	}
	s.names[key] = true
}

func (s *seen) index(i int) {
	if s.some == nil {
		s.some = make(map[int]bool)
	}
	s.some[i] = true
}

// with returns what either has.
func (s seen) with(other seen) seen {
	s.all, s.items = s.all || other.all, max(s.items, other.items)
	for key := range other.names {
		s.name(key)
	}
	for i := range other.some {
		s.index(i)
	}
	return s
}
