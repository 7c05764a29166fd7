package jsonschema

import (
	"fmt"
	"slices"
	"strings"
)

// describe converts violations to findings.
func (c *run) describe() []Finding {
	var findings []Finding
	for i := range c.found.first {
		v := &c.found.first[i]
		instance, schema := v.paths()
		c.spend(describeSteps + textSize(instance)*splitByte + len(schema)*splitByte)
		for _, text := range v.messages(c.counter, maxFindings) {
			c.spend(len(text) * describeByte)
			findings = append(findings, Finding{
				Message: text, Instance: instance, SchemaPath: schema, Names: v.showsNames(),
			})
		}
		if last := len(findings) - 1; i < maxCaused {
			findings[last].Hint, findings[last].Causes = c.hint(v), c.causes(v)
		}
		if len(findings) >= maxFindings {
			break
		}
	}
	return atMost(findings, c.found.total)
}

// unresolved returns the message about a reference without a target, or with an endless cycle of references.
func (v *failure) unresolved() string {
	r := v.node.ref
	if v.keyword != "$ref" {
		r = v.node.dynamic
	}
	if r == nil || r.to != nil {
		return "the schema is a loop: it leads back to itself at the same place of the data"
	}
	return r.unresolved()
}

// additional returns the keys that neither properties nor patternProperties describe, in written order.
func (v *failure) additional(w counter) (extras []any) {
	m, _ := v.value.(mapping)
	rules := v.node.objects
	for _, member := range m {
		w.spend(findSteps(member.Key))
		if rules.properties.find(member.Key) == nil &&
			!slices.ContainsFunc(rules.patterns, func(p patternRule) bool { return w.matches(p.pattern, member.Key) }) {
			extras = append(extras, member.Key)
		}
	}
	return extras
}

func textSize(steps []string) int {
	n := 0
	for _, step := range steps {
		n += len(step)
	}
	return n
}

// paths returns the path of the value and that of the keyword, without references, as in Python. Paths to keywords of
// extensions include references.
func (v *failure) paths() (instance []string, schema string) {
	instance = make([]string, 0, len(v.data))
	for _, s := range v.data {
		instance = append(instance, s.String())
	}
	var parts []string
	for _, s := range v.route[:len(v.route)-1-len(v.names)] {
		if s.kind != isRef || v.added != nil {
			parts = append(parts, s.String())
		}
	}
	switch {
	case v.added != nil:
		instance = append(instance, v.added.Instance...)
		parts = append(parts, v.added.Keyword...)
	case v.keyword != "":
		parts = append(parts, v.shownKeyword())
	}
	return instance, "." + strings.Join(parts, ".")
}

// showsNames reports whether the message contains names of members, but no other part of the data.
func (v *failure) showsNames() bool {
	switch v.keyword {
	case "required", "additionalProperties", "dependencies", "dependentRequired", "unevaluatedProperties":
		return true
	}
	return v.added != nil
}

// shownKeyword returns the keyword as Python names it. In Draft 4 an exclusive bound is a flag of the bound.
func (v *failure) shownKeyword() string {
	if v.node.draft() == draft4 {
		switch v.keyword {
		case "exclusiveMinimum":
			return "minimum"
		case "exclusiveMaximum":
			return "maximum"
		}
	}
	return v.keyword
}

// atMost cuts findings, the first of total ones, down to maxFindings.
func atMost(findings []Finding, total int) []Finding {
	if total <= maxFindings {
		return findings
	}
	const shown = maxFindings - 1
	return append(slices.Clip(findings[:min(shown, len(findings))]), Finding{
		Message: fmt.Sprintf("and %d more", total-shown), Instance: []string{}, SchemaPath: ".",
	})
}
