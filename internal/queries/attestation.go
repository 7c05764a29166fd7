package queries

import (
	"context"
	"strconv"
	"strings"

	"purser/internal/attest"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Attested returns what an attestation says of a revision, named as for Resolve. It is the same for all viewers.
// Faults: NotFound, Gone; Conflict, with the obstacles, if the revision is no success, and if it has no chain.
func (v View) Attested(ctx context.Context, id string) (attest.Facts, error) {
	evidence, err := v.evidenceOf(ctx, id)
	if err != nil {
		return attest.Facts{}, err
	}
	shown := v.status(evidence)
	if shown.Verdict.Status != validations.Success {
		return attest.Facts{}, v.unattested(ctx, shown.ID)
	}
	if shown.Chain.IsZero() {
		return attest.Facts{}, withoutChain(shown.ID)
	}
	found, err := v.attestable(ctx, changes.RenderKey{
		Site: v.renderer.Site, Revision: shown.ID, Stamp: shown.Stamp, Cleartext: true,
	})
	if err != nil {
		return attest.Facts{}, err
	}
	return attest.Facts{
		Site: v.renderer.Site, Revision: shown.ID, Chain: shown.Chain, Rendered: found.rendered, Policies: found.policies,
		Verdict: shown.Verdict, At: evidence.Now,
	}, nil
}

// unattested returns the fault of a revision that is no success, with the obstacles as its viewer may see them.
func (v View) unattested(ctx context.Context, id int64) error {
	shown, err := v.Status(ctx, strconv.FormatInt(id, 10))
	if err != nil {
		return err
	}
	f := fault.New(fault.Conflict, "RevisionNotSuccessful",
		"Revision %d is no success, so there is no attestation of it", id)
	f.Messages = []fault.Message{{Message: f.Message, Error: true}}
	for _, line := range shown.Verdict.Obstacles(nil) {
		f.Messages = append(f.Messages, fault.Message{Message: strings.TrimSpace(line), Error: true})
	}
	return f
}

// attestable is what an attestation says of the documents of a revision.
type attestable struct {
	rendered attest.Rendered
	policies document.Digest
}

// attestableOf identifies an attestable.
type attestableOf changes.RenderKey

// attestable returns what an attestation says of the documents of a revision, from the cache if possible. It is made
// from the cleartext documents alone, so it depends on no secret.
func (s *Service) attestable(ctx context.Context, key changes.RenderKey) (attestable, error) {
	return shareAnswer(ctx, s, attestableOf(key), func(ctx context.Context) (found attestable, size int, err error) {
		rendered, err := s.rendered(ctx, key)
		if err != nil {
			return found, 0, err
		}
		found.rendered.NotCovered = rendered.Lost
		if found.rendered.Digest, err = attest.DigestOf(ctx, attestedOf(rendered.Documents)); err != nil {
			return found, 0, err
		}
		policies, err := s.store.Documents(ctx, key.Revision, Selection{
			Schemas: []string{"deckhand/ValidationPolicy"}, Cleartext: true, Page: Page{Limit: -1},
		})
		switch {
		case err != nil:
			return found, 0, s.readError(ctx, key.Revision, "ValidationPolicies", err)
		case policies.Stamp != key.Stamp:
			return found, 0, replaced(key.Revision)
		}
		if found.policies, err = attest.DigestOf(ctx, attestedOf(policies.Documents)); err != nil || rendered.Provisional {
			return found, -1, err
		}
		const each, name = 100, 64
		for _, id := range rendered.Lost {
			size += name + len(id.Schema) + len(id.Layer) + len(id.Name)
		}
		return found, each + size, nil
	})
}

// attestedOf returns documents as digests cover them.
func attestedOf(documents []*revisions.Stored) []attest.Document {
	covered := make([]attest.Document, len(documents))
	for i, doc := range documents {
		covered[i] = attest.Document{Identity: doc.Identity, Metadata: doc.Metadata, Data: doc.Data}
	}
	return covered
}
