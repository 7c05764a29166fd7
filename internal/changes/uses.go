package changes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// usesNeed returns the parts of the site needed to find the uses of encrypted documents that a change adds.
func usesNeed(diff revisions.Diff, options revisions.Options) revisions.Need {
	return revisions.Need{Documents: options.WithoutUse && diff.Changes && MayAddUses(diff)}
}

// checkUses refuses a change that adds a use of encrypted documents. Fault: Forbidden.
func (s *Service) checkUses(ctx context.Context, from source, snapshot revisions.Snapshot, diff revisions.Diff,
	options revisions.Options,
) error {
	uses, err := s.newJudge(options).AddedUses(ctx, snapshot, diff)
	if err != nil || len(uses) == 0 {
		return err
	}
	place := func(document.Identity) string { return "The document" }
	if of, isBody := from.(payloadSource); isBody {
		place = of.payload.placeOf
	}
	return mayNotUse(uses, place)
}

// mayNotUse returns the fault for a caller who may not add uses of encrypted documents. place says where a document is
// in the body.
func mayNotUse(uses []Use, place func(document.Identity) string) error {
	const most = 10
	slices.SortFunc(uses, func(a, b Use) int { return strings.Compare(a.String(), b.String()) })
	uses = slices.CompactFunc(uses, func(a, b Use) bool { return a.String() == b.String() })
	f := fault.New(fault.Forbidden, "HTTPForbidden",
		"Policy doesn't allow %s to be performed: the change would make documents depend on encrypted ones, or check "+
			"them. Nothing was changed. Leave out what the list names, or have somebody make the change who passes this rule",
		authz.UseEncryptedDocuments)
	for _, u := range uses[:min(len(uses), most)] {
		f.Messages = append(f.Messages, fault.Message{
			Message: place(u.By.Identity) + ": " + u.String(), Error: true, Documents: []fault.Document{{
				Schema: u.By.Schema, Name: u.By.Name, Layer: u.By.Layer, Encrypted: u.By.Traits().Encrypted,
			}},
			Secret: u.By.Traits().Encrypted,
		})
	}
	if more := len(uses) - most; more > 0 {
		f.Messages = append(f.Messages, fault.Message{Message: fmt.Sprintf("And %d more", more), Error: true})
	}
	return f
}
