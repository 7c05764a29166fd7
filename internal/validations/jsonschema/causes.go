package jsonschema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/words"
)

// Bounds of the causes and hints of findings.
const (
	maxCaused   = 20   // findings with causes
	maxCauses   = 5    // per finding
	maxWithin   = 2    // depth of causes of causes
	maxCause    = 1024 // bytes of a cause's message
	maxBranches = 50   // branches that are examined
	maxHints    = 3    // misspelt names per finding
	maxExamples = 5    // per hint
	maxNames    = 200  // candidates for a misspelt name
)

// causes returns the violations of the branch of an anyOf or oneOf that was most likely intended; nil if no branch
// accepts values of this type.
func (c *run) causes(v *failure) []Finding {
	branches := v.branches()
	if branches == nil || c.within == maxWithin {
		return nil
	}
	var best *attempt
	for i, to := range branches[:min(len(branches), maxBranches)] {
		if !to.accepts().has(c.counter, v.value, to.draft()) {
			continue
		}
		if a := c.attempt(v, to, i); best == nil || a.compare(best) < 0 {
			best = a
		}
	}
	if best == nil {
		return nil
	}
	found := best.describe()
	found = found[:min(len(found), maxCauses)]
	for i := range found {
		found[i].Message = words.FirstBytes(found[i].Message, maxCause)
	}
	return found
}

// branches returns the schemas of an anyOf or oneOf none of which is valid.
func (v *failure) branches() []*node {
	switch {
	case v.keyword == "anyOf":
		return v.node.inPlace.anyOf
	case v.keyword == "oneOf" && v.note == "":
		return v.node.inPlace.oneOf
	}
	return nil
}

// attempt is the evaluation of a branch, with all violations.
type attempt struct {
	run

	differ, agree int // members whose const or enum distinguishes the branch from others
	here          int // violations of the value itself, not of its members
}

func (c *run) attempt(v *failure, to *node, i int) *attempt {
	a := &attempt{run: run{
		counter: c.counter, schema: c.schema, within: c.within + 1, scope: slices.Clone(v.scope), data: slices.Clone(v.data),
		route: append(slices.Clone(v.route), indexed(i)),
	}}
	a.eval(to, v.value, false)
	for i := range a.found.first {
		if len(a.found.first[i].data) == len(v.data) {
			a.here++
		}
	}
	a.discriminate(to, v.value)
	return a
}

// compare orders attempts by how likely they were intended: those with agreeing discriminators first, then those with
// the fewest violations of the value itself, then those with the fewest in total.
func (a *attempt) compare(b *attempt) int {
	return cmp.Or(
		cmp.Compare(a.differ, b.differ), cmp.Compare(b.agree, a.agree),
		cmp.Compare(a.here, b.here), cmp.Compare(a.found.total, b.found.total),
	)
}

// discriminate counts the members for which the branch lists the allowed values.
func (a *attempt) discriminate(to *node, v any) {
	for range maxSteps {
		if to.objects != nil || to.ref == nil || to.ref.to == nil {
			break
		}
		to = to.ref.to
	}
	m, ok := v.(mapping)
	if !ok || to.objects == nil {
		return
	}
	for _, member := range m {
		a.spend(findSteps(member.Key))
		p := to.objects.properties.find(member.Key)
		if p == nil || p.asserts == nil {
			continue
		}
		agree, differ := p.asserts.distinguish(a.counter, member.Value)
		a.agree, a.differ = a.agree+agree, a.differ+differ
	}
}

// hint returns a suggestion for a violation, "" if there is none.
func (c *run) hint(v *failure) string {
	switch {
	case v.added != nil:
	case v.keyword == "additionalProperties":
		return c.misspelt(v, v.additional(c.counter))
	case v.keyword == "unevaluatedProperties":
		return c.misspelt(v, v.extras)
	case v.keyword == "oneOf" && v.note != "":
		var valid []string
		for index := range strings.SplitSeq(v.note, " ") {
			valid = append(valid, "oneOf."+index)
		}
		return words.FirstBytes("it is valid under "+strings.Join(valid, " and ")+", and must be under one alone", maxCause)
	case v.keyword == "pattern":
		return c.examples(v.node)
	}
	return ""
}

// examples returns the strings in a schema's examples, which are clearer than its pattern; "" if there are none.
func (c *run) examples(n *node) string {
	list, _ := n.members.At("examples").([]any)
	var texts []string
	for _, example := range list[:min(len(list), maxExamples)] {
		if s := Text(example); s != "" {
			c.spend(min(len(s), maxCause) * describeByte)
			texts = append(texts, words.FirstBytes(s, maxCause))
		}
	}
	if texts == nil {
		return ""
	}
	return words.FirstBytes("write, for example, "+strings.Join(texts, ", "), maxCause)
}

// misspelt returns, for names that are not allowed, the most similar properties next to the keyword.
func (c *run) misspelt(v *failure, extras []any) string {
	m, _ := v.value.(mapping)
	var known []string
	for _, p := range v.node.objects.properties.list {
		if len(known) == maxNames {
			return ""
		}
		known = append(known, p.name)
	}
	slices.Sort(known)
	present := keysOf(c.counter, m, len(known))
	known = slices.DeleteFunc(known, present.has)
	var hints []string
	for _, extra := range extras {
		if len(hints) == maxHints {
			break
		}
		name := Text(extra)
		c.spend(len(known) * spellSteps)
		if nearest := words.Nearest(name, known); nearest != "" {
			hints = append(hints, fmt.Sprintf("%s for %s", strconv.Quote(nearest), strconv.Quote(name)))
		}
	}
	if hints == nil {
		return ""
	}
	return words.FirstBytes("did you mean "+strings.Join(hints, ", ")+"?", maxCause)
}
