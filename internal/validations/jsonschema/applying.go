package jsonschema

import (
	"strconv"

	"purser/internal/document"
)

// object applies schemas to the members of an object.
func (e *evaluation) object(rules *objectRules, m mapping) {
	extra := false
	for _, member := range m {
		if e.isOver() {
			return
		}
		e.spend(findSteps(member.Key))
		extra = !e.member(rules, member) || extra
	}
	if extra && rules.closed {
		e.fail("additionalProperties")
	}
	if e.track && rules.isComplete {
		e.seen.all = true
	}
	if rules.names == nil {
		return
	}
	for _, member := range m {
		e.checkOther(rules.names, member.Key, named("propertyNames"))
	}
}

// member applies the schemas of a member. It reports whether properties or patternProperties describe the member.
func (e *evaluation) member(rules *objectRules, member document.Member) bool {
	at, known := named(member.Key), false
	if to := rules.properties.find(member.Key); to != nil {
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
		case rules.afterPrefix != nil:
			e.below(rules.afterPrefix, item, indexed(i), named(rules.afterPrefixKeyword))
		}
	}
	if rules.closed && len(items) > len(rules.prefix) {
		e.fail(rules.afterPrefixKeyword)
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
		e.failAs(failure{keyword: "minContains", note: strconv.Itoa(matched)})
	case matched < rules.least:
		e.fail("contains")
	case matched > rules.most:
		e.fail("maxContains")
	}
}
