package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// RenderedChanges are the rendered documents that differ between two sides, as a viewer sees them.
type RenderedChanges struct {
	Documents []revisions.DocumentDifference // sorted by bucket and identity
	// Unrendered are the sides with documents that do not render. Nothing is compared then.
	Unrendered []UnrenderedSide
}

// UnrenderedSide is a side with documents that do not render.
type UnrenderedSide struct {
	After    bool // it is the second one
	Revision int64
	Cause    *fault.Fault // as the viewer sees it
}

// Unrendered returns the side of a comparison that was not rendered because of an error, as a viewer sees it. It
// returns the error if that is not one of the documents.
func Unrendered(viewer authz.Viewer, after bool, revision int64, err error) (UnrenderedSide, error) {
	problem, isFault := errors.AsType[*fault.Fault](err)
	if !isFault || !isOfDocuments(problem) {
		return UnrenderedSide{}, err
	}
	return UnrenderedSide{after, revision, viewer.Fault(problem)}, nil
}

// renderedSide has the documents of a revision as services read them.
type renderedSide struct {
	documents []*revisions.Stored
	withheld  []*revisions.Stored // as submitted; those that depend on secrets, if the renderer withholds these
	problem   error               // why some documents do not render
}

// renderedChanges compares the rendered documents of the newest revision with those after a change. What the viewer may
// not see is left out of both.
func (s *Service) renderedChanges(ctx context.Context, p proposal) (*RenderedChanges, error) {
	changes := &RenderedChanges{}
	if !p.diff.Changes {
		return changes, nil
	}
	before, after := s.sideBefore(ctx, p), s.sideAfter(ctx, p)
	for i, side := range []renderedSide{before, after} {
		if side.problem == nil {
			continue
		}
		unrendered, err := Unrendered(p.options.Viewer, i > 0, p.snapshot.Revision+int64(i), side.problem)
		if err != nil {
			return nil, err
		}
		changes.Unrendered = append(changes.Unrendered, unrendered)
	}
	if len(changes.Unrendered) > 0 {
		return changes, nil
	}
	hidden := map[document.Identity]bool{} // that one of them begins or ceases to depend on a secret is not shown either
	for _, doc := range slices.Concat(before.withheld, after.withheld) {
		hidden[doc.Identity] = true
	}
	shown := func(documents []*revisions.Stored) []*revisions.Stored {
		return slices.DeleteFunc(documents, func(doc *revisions.Stored) bool { return hidden[doc.Identity] })
	}
	changes.Documents = revisions.DocumentDifferences(
		shown(revisions.RenderedOnly(before.documents, after.documents)),
		shown(revisions.RenderedOnly(after.documents, before.documents)))
	return changes, nil
}

// sideBefore renders the newest revision: the whole one, which is kept for other readers, if the viewer may see it. As
// for every revision before the first LayeringPolicy, that one is used, which may come with the change.
func (s *Service) sideBefore(ctx context.Context, p proposal) renderedSide {
	snapshot := p.snapshot
	v := s.newValidator(p.options)
	v.Renderer = v.bringing(nil)
	if snapshot.Revision == 0 {
		return renderedSide{}
	}
	fallback := snapshot.Fallback
	if first := slices.IndexFunc(p.diff.Added, (*revisions.Stored).IsLayeringPolicy); fallback == nil && first >= 0 {
		fallback = p.diff.Added[first]
	}
	if v.Withhold || fallback != snapshot.Fallback {
		return v.renderedSide(ctx, snapshot.Documents, fallback)
	}
	rendered, err := s.renderedBefore(ctx, snapshot)
	return sideOf(rendered, err)
}

// renderedBefore returns the rendered revision of a snapshot, from the cache if possible.
func (s *Service) renderedBefore(ctx context.Context, snapshot revisions.Snapshot) (Rendering, error) {
	key := RenderKey{Site: s.Site, Revision: snapshot.Revision, Stamp: snapshot.Stamp}
	rendered, err := s.Rendered.Do(ctx, key, func(ctx context.Context) (Rendering, int, error) {
		rendered, err := s.Renderer().Render(ctx, snapshot.Revision, snapshot.Documents, snapshot.Fallback)
		if rendered.Provisional {
			return rendered, -1, err
		}
		return rendered, rendered.Size, err
	})
	if err != nil {
		return Rendering{}, fmt.Errorf("render revision %d: %w", snapshot.Revision, err)
	}
	return rendered, nil
}

// sideAfter renders the documents after a change, unless judging it has done so.
func (s *Service) sideAfter(ctx context.Context, p proposal) renderedSide {
	v := s.newValidator(p.options)
	if rendered := p.judgement.Rendered; rendered != nil && !v.Withhold {
		return sideOf(*rendered, nil)
	}
	v.Renderer = v.bringing(p.diff.Added)
	return v.renderedSide(ctx, p.diff.After(p.snapshot.Documents), p.snapshot.Fallback)
}

// sideOf returns a rendered revision, or the error because of which it is not rendered, as a side.
func sideOf(rendered Rendering, err error) renderedSide {
	if err == nil {
		err = rendered.Unrendered
	}
	return renderedSide{documents: rendered.Documents, problem: err}
}

// renderedSide renders documents without checking them. fallback is as for Render.
func (r Renderer) renderedSide(ctx context.Context, documents []*revisions.Stored, fallback *revisions.Stored,
) renderedSide {
	computed, err := r.compute(ctx, WithPolicy(documents, fallback), nil)
	if err != nil {
		return renderedSide{problem: err}
	}
	side := renderedSide{documents: computed.Documents, withheld: computed.Withheld}
	faults := computed.faults
	if r.Withhold {
		faults = slices.DeleteFunc(slices.Clone(faults), func(f *fault.Fault) bool {
			return f.Secret || !slices.ContainsFunc(MessagesOf(f), func(m fault.Message) bool { return !m.Secret })
		})
		for _, doc := range computed.unrendered {
			if doc.secret {
				side.withheld = append(side.withheld, doc.Stored)
			}
		}
	}
	if len(faults) > 0 {
		side.problem = combined(faults)
	}
	return side
}
