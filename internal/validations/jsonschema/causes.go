package jsonschema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/spelling"
)

// What is said besides a message.
const (
	maxCaused   = 20   // findings whose causes are told
	maxCauses   = 5    // of one finding
	maxWithin   = 2    // causes of causes
	maxCause    = 1024 // bytes of a cause's message
	maxBranches = 50   // that are looked at
	maxHints    = 3    // names that may be misspelt
	maxExamples = 5    // that a hint gives
	maxNames    = 200  // that they are compared with
)

// causes returns what is wrong with the branch of an anyOf or oneOf that was most likely meant; nil if no branch takes
// values of this type.
func (c *run) causes(v *violation) []Finding {
	branches := v.branches()
	if branches == nil || c.within == maxWithin {
		return nil
	}
	var best *attempt
	for i, to := range branches[:min(len(branches), maxBranches)] {
		if !to.accepts().has(v.value, to.draft()) {
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
		found[i].Message = cut(found[i].Message, maxCause)
	}
	return found
}

// branches returns the schemas of an anyOf or oneOf that holds for none of them.
func (v *violation) branches() []*node {
	switch {
	case v.keyword == "anyOf":
		return v.node.inPlace.anyOf
	case v.keyword == "oneOf" && v.note == "":
		return v.node.inPlace.oneOf
	}
	return nil
}

// attempt is the evaluation of a branch, told in full.
type attempt struct {
	run

	differ, agree int // members whose const or enum tells the branch from others
	here          int // violations of the value itself, not of its members
}

func (c *run) attempt(v *violation, to *node, i int) *attempt {
	a := &attempt{run: run{
		work: c.work, schema: c.schema, within: c.within + 1, scope: slices.Clone(v.scope), data: slices.Clone(v.data),
		route: append(slices.Clone(v.route), indexed(i)),
	}}
	a.eval(to, v.value, false)
	for i := range a.found.first {
		a.here += btoi(len(a.found.first[i].data) == len(v.data))
	}
	a.discriminate(to, v.value)
	return a
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compare orders attempts: first those whose discriminators agree, then those which got furthest.
func (a *attempt) compare(b *attempt) int {
	return cmp.Or(
		cmp.Compare(a.differ, b.differ), cmp.Compare(b.agree, a.agree),
		cmp.Compare(a.here, b.here), cmp.Compare(a.found.total, b.found.total),
	)
}

// discriminate counts the members whose schema in a branch names the values that they may have.
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
		a.spend(lookupSteps + len(member.Key)/keyBytes)
		p := to.objects.properties.find(member.Key)
		if p == nil || p.asserts == nil {
			continue
		}
		for _, values := range [...]*enumeration{p.asserts.constant, p.asserts.enum} {
			switch {
			case values == nil:
			case values.has(a.work, member.Value):
				a.agree++
			default:
				a.differ++
			}
		}
	}
}

// hint returns what may have been meant, or what the message leaves open; empty if nothing can be said.
func (c *run) hint(v *violation) string {
	switch {
	case v.added != nil:
	case v.keyword == "additionalProperties":
		return c.misspelt(v, v.additional(c.work))
	case v.keyword == "unevaluatedProperties":
		return c.misspelt(v, v.extras)
	case v.keyword == "oneOf" && v.note != "":
		var valid []string
		for index := range strings.SplitSeq(v.note, " ") {
			valid = append(valid, "oneOf."+index)
		}
		return cut("it is valid under "+strings.Join(valid, " and ")+", and must be under one alone", maxCause)
	case v.keyword == "pattern":
		return c.examples(v.node)
	}
	return ""
}

// examples returns the texts among a schema's examples, which tell more than its pattern; empty if it has none.
func (c *run) examples(n *node) string {
	list, _ := n.members.At("examples").([]any)
	var texts []string
	for _, example := range list[:min(len(list), maxExamples)] {
		if s := text(example); s != "" {
			c.spend(min(len(s), maxCause) * describeByte)
			texts = append(texts, cut(s, maxCause))
		}
	}
	if texts == nil {
		return ""
	}
	return cut("write, for example, "+strings.Join(texts, ", "), maxCause)
}

// misspelt returns the names that are nearest to those which are not allowed, of the properties beside the keyword.
func (c *run) misspelt(v *violation, extras []any) string {
	m, _ := v.value.(mapping)
	var known []string
	for _, p := range v.node.objects.properties.list {
		if len(known) == maxNames {
			return ""
		}
		known = append(known, p.name)
	}
	slices.Sort(known)
	present := c.keys(m, len(known))
	known = slices.DeleteFunc(known, present.has)
	var said []string
	for _, extra := range extras {
		if len(said) == maxHints {
			break
		}
		name := text(extra)
		c.spend(len(known) * spellSteps)
		if nearest := spelling.Nearest(name, known); nearest != "" {
			said = append(said, fmt.Sprintf("%s for %s", strconv.Quote(nearest), strconv.Quote(name)))
		}
	}
	if said == nil {
		return ""
	}
	return cut("did you mean "+strings.Join(said, ", ")+"?", maxCause)
}
