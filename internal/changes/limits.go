package changes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// deleted returns the removed documents that are not replaced by an added one, sorted.
func deleted(removed, added []*revisions.Stored) []*revisions.Stored {
	replaced := make(map[document.Identity]bool, len(added))
	for _, doc := range added {
		replaced[doc.Identity] = true
	}
	gone := slices.DeleteFunc(slices.Clone(removed), func(doc *revisions.Stored) bool { return replaced[doc.Identity] })
	slices.SortFunc(gone, revisions.ByBucket)
	return gone
}

// checkDeleted refuses a change that deletes more documents than the options allow. Fault: Conflict; it is secret if
// the limit is exceeded only because of encrypted documents that the viewer may not see.
func checkDeleted(diff revisions.Diff, options revisions.Options) error {
	if options.MaxDeleted == nil {
		return nil
	}
	all := deleted(diff.Removed, diff.Added)
	shown := revisions.Visible(options.Viewer, all)
	if len(all) <= *options.MaxDeleted {
		return nil
	}
	secret := len(shown) <= *options.MaxDeleted
	if secret {
		shown = all
	}
	const most = 10 // names in the message
	var names []string
	message := fault.Message{Error: true, Secret: secret}
	for _, doc := range shown[:min(len(shown), most)] {
		names = append(names, doc.Identity.String())
		message.Documents = append(message.Documents, documentOf(doc))
	}
	if more := len(shown) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	conflict := fault.New(fault.Conflict, "TooManyDeleted",
		"The change would delete more documents (%d) than max-deleted allows (%d): %s. Nothing was changed. Keep "+
			"these documents, or raise max-deleted.", len(shown), *options.MaxDeleted, strings.Join(names, ", "))
	message.Message = conflict.Message
	conflict.Secret, conflict.Messages = secret, []fault.Message{message}
	return conflict
}

// mayDelete refuses a change that removes encrypted versions of documents. Fault: Forbidden.
func mayDelete(removed []*revisions.Stored) error {
	encrypted := slices.DeleteFunc(slices.Clone(removed), func(doc *revisions.Stored) bool { return !isEncrypted(doc) })
	if len(encrypted) == 0 {
		return nil
	}
	return revisions.MayNotDelete(encrypted[0].Identity, len(encrypted)-1)
}

// checkSize refuses a change that makes the site larger than it may be. A change that deletes at least as many
// documents as it adds is always allowed. Only viewers of encrypted documents, which are counted too, are told how many
// there are. Fault: Conflict.
func (s *Service) checkSize(live int, diff revisions.Diff, options revisions.Options) error {
	most, by := s.SiteDocuments, "--site-documents"
	if options.MaxDocuments != nil {
		most, by = int(*options.MaxDocuments), "the limit of the site"
	}
	if diff.Fits(live, most) {
		return nil
	}
	are := ""
	if options.Viewer.Encrypted {
		are = fmt.Sprintf(" There are %d now.", live)
	}
	return fault.New(fault.Conflict, "SiteFull",
		"The change adds more documents than it deletes (by %d), and the site would have more than the %d that %s "+
			"allows.%s Nothing was changed. Delete documents that are not needed, or have the operator raise the limit.",
		diff.Growth(), most, by, are)
}

// maxRequired is the number of validations that the policies in force may list together. Each change and each status
// weighs all of them, and the feed stores those that are missing with the verdict.
const maxRequired = 1000

// checkPolicies refuses a change after which policies list too many validations, unless they list no more than before.
// Fault: Conflict, which names the policy that grows most.
func checkPolicies(before, after []validations.Policy) error {
	now := required(after)
	if now <= maxRequired || now <= required(before) {
		return nil
	}
	had := map[document.Identity]int{}
	for _, policy := range before {
		had[policy.Identity] = len(policy.Requirements)
	}
	grown := slices.MaxFunc(after, func(a, b validations.Policy) int {
		return cmp.Compare(len(a.Requirements)-had[a.Identity], len(b.Requirements)-had[b.Identity])
	})
	return fault.New(fault.Conflict, "TooManyValidations",
		"The ValidationPolicies would list %d validations together, and at most %d are allowed; %s would list %d instead of "+
			"%d. Nothing was changed. Leave out validations, or delete policies that are not needed.",
		now, maxRequired, grown.Identity, len(grown.Requirements), had[grown.Identity])
}

// required returns the number of validations that policies list, at least one for each.
func required(policies []validations.Policy) (count int) {
	for _, policy := range policies {
		count += max(1, len(policy.Requirements))
	}
	return count
}
