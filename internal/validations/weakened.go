package validations

import (
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/words"
)

// Weakened returns a line for each way in which the policies after a change require less than those before it: a policy
// is gone, no policy lists a validation any more, older results count, or it is required less firmly (see demand).
// Before them are the policies that the change breaks, which may be why. The last one of at most 20 counts the others.
func Weakened(before, after []Policy) (lines []string) {
	const most = 20
	kept := map[document.Identity]bool{}
	for _, policy := range after {
		kept[policy.Identity] = true
	}
	for _, policy := range before {
		if !kept[policy.Identity] {
			lines = append(lines, "The ValidationPolicy "+policy.Name+" no longer applies")
		}
	}
	had, have := strictest(before), strictest(after)
	if _, listed := have[SchemaValidationAlias]; listed { // it stands for the same validation
		have[SchemaValidation] = have[SchemaValidationAlias]
	} else if now, listed := have[SchemaValidation]; listed {
		have[SchemaValidationAlias] = now
	}
	were, are := demands(before), demands(after)
	for _, name := range Required(before) {
		old := had[name]
		if _, listed := have[name]; listed {
			lines = append(lines, are[name].lines(name, were[name])...)
		}
		switch now, listed := have[name]; {
		case !listed:
			lines = append(lines, "No ValidationPolicy requires "+name+" any more")
		case old.ExpiresAfter == "" || IsOwn(name):
		case now.ExpiresAfter == "":
			lines = append(lines, fmt.Sprintf("Results of %s do not expire any more; they did after %s", name, old.ExpiresAfter))
		case now.lifetime > old.lifetime:
			lines = append(lines,
				fmt.Sprintf("Results of %s expire after %s, not after %s any more", name, now.ExpiresAfter, old.ExpiresAfter))
		}
	}
	if len(lines) > 0 {
		lines = slices.Concat(brokenBy(before, after), lines)
	}
	if others := len(lines) - most + 1; others > 1 {
		lines = append(slices.Clip(lines[:most-1]), fmt.Sprintf("Policies are weakened in %d more ways", others))
	}
	return lines
}

// brokenBy returns a line for each policy that is broken after a change and was not before it.
func brokenBy(before, after []Policy) (lines []string) {
	whole := map[document.Identity]bool{}
	for _, policy := range before {
		whole[policy.Identity] = !policy.Broken
	}
	for _, policy := range after {
		if policy.Broken && whole[policy.Identity] {
			lines = append(lines,
				"The ValidationPolicy "+policy.Name+" violates its schema, so it fails: the findings say where")
		}
	}
	return lines
}

// demand is how firmly policies require a validation, apart from the age of results.
type demand struct {
	binds     bool     // some requirement is not advisory
	always    bool     // one of these has no condition
	when      []string // the conditions of the others, in order
	approvals int      // the most that one of these needs
}

// demands returns the demands of policies by the name of the validation; the schema validation has both names.
func demands(policies []Policy) map[string]demand {
	all := map[string]demand{}
	for _, policy := range policies {
		for _, r := range policy.Requirements {
			names := []string{r.Name}
			if r.Name == SchemaValidation || r.Name == SchemaValidationAlias {
				names = []string{SchemaValidation, SchemaValidationAlias}
			}
			for _, name := range names {
				all[name] = all[name].with(r)
			}
		}
	}
	return all
}

func (d demand) with(r Requirement) demand {
	if r.Advisory {
		return d
	}
	if d.binds = true; r.When == nil {
		d.always = true
	} else {
		d.when = append(d.when, r.When.Text())
		slices.Sort(d.when)
	}
	if !IsOwn(r.Name) {
		d.approvals = max(d.approvals, r.Approvals)
	}
	return d
}

// lines says how a demand for a validation is weaker than an earlier one, or may be.
func (d demand) lines(name string, before demand) (lines []string) {
	switch {
	case !before.binds:
		return nil
	case !d.binds:
		return []string{"Failures of " + name + " only make warnings: it is advisory"}
	case before.always && !d.always:
		lines = append(lines, "Only revisions with certain documents require "+name+": it has a condition")
	case !before.always && !d.always && !slices.Equal(before.when, d.when):
		lines = append(lines, "Other revisions than before require "+name+": it has another condition")
	}
	if d.approvals < before.approvals {
		lines = append(lines, fmt.Sprintf("%s needs %s, not %d any more", name, words.Count(d.approvals, "approval"),
			before.approvals))
	}
	return lines
}
