package validations

import (
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/words"
)

// Weakened returns a line for each way in which the policies after a change require less than those before it: a policy
// is gone, no policy lists a validation any more, older results count, or fewer approvals are needed. The last one of at most 20
// counts the others.
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
	needed, need := approvals(before), approvals(after)
	for _, name := range Required(before) {
		old := had[name]
		if _, listed := have[name]; listed && need[name] < needed[name] {
			lines = append(lines,
				fmt.Sprintf("%s needs %s, not %d any more", name, words.Count(need[name], "approval"), needed[name]))
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
	if others := len(lines) - most + 1; others > 1 {
		lines = append(slices.Clip(lines[:most-1]), fmt.Sprintf("Policies are weakened in %d more ways", others))
	}
	return lines
}

// approvals returns the largest number of approvals that policies need of each validation that others post.
func approvals(policies []Policy) map[string]int {
	most := map[string]int{}
	for _, policy := range policies {
		for _, requirement := range policy.Requirements {
			if !IsOwn(requirement.Name) {
				most[requirement.Name] = max(most[requirement.Name], requirement.Approvals)
			}
		}
	}
	return most
}
