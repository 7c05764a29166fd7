package revisions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/validations"
)

// readVersions finds the client versions that the new revision is judged with.
func (j *judgement) readVersions(ctx context.Context) (err error) {
	if j.change.Against.Versioned || slices.ContainsFunc(j.change.Added, saysVersions) {
		j.versions, err = j.service.versionsAfter(ctx, j.change, j.gone)
	} else {
		j.versions = validations.ReadClientVersions(nil, j.service.ClientVersions)
	}
	j.change.Revision.ClientVersions = j.versions.Digest()
	return err
}

func saysVersions(doc *Stored) bool { return doc.Schema == validations.ClientVersionsKind }

// versionsAfter reads the documents that say client versions as they are once a change is made. They are rendered if
// any of them has to be; while documents do not render, those count that need no rendering.
func (s *Service) versionsAfter(ctx context.Context, change *Change, gone map[int64]bool) (
	validations.ClientVersions, error,
) {
	live, err := s.Store.OfKinds(ctx, []string{validations.ClientVersionsKind})
	if err != nil {
		return nil, fmt.Errorf("find client versions: %w", err)
	}
	var final []*Stored
	layered := false
	for _, doc := range slices.Concat(live, change.Added) {
		switch traits := doc.Traits(); {
		case !saysVersions(doc) || gone[doc.ID]:
		case traits.Final():
			final = append(final, doc)
		default:
			layered = layered || !traits.Abstract
		}
	}
	if !layered {
		return s.versionsOf(final), nil
	}
	rendered, err := s.renderedVersions(ctx, change)
	if rendered == nil {
		rendered = final
	}
	return s.versionsOf(rendered), err
}

// versionsOf are the client versions that rendered documents say, in the order of their places.
func (s *Service) versionsOf(documents []*Stored) validations.ClientVersions {
	said := slices.DeleteFunc(slices.Clone(documents), func(doc *Stored) bool { return !saysVersions(doc) })
	slices.SortStableFunc(said, byPlace)
	return validations.ReadClientVersions(contentsOf(said), s.ClientVersions)
}

// renderedVersions renders those documents of a change's revision that say client versions, and what they depend on.
func (s *Service) renderedVersions(ctx context.Context, change *Change) ([]*Stored, error) {
	documents, err := s.documentsAfter(ctx, change)
	if err != nil {
		return nil, err
	}
	if documents, _, err = s.withPolicy(ctx, change.Revision.ID, documents); err != nil {
		return nil, err
	}
	rendered, err := s.renderedKind(ctx, documents, validations.ClientVersionsKind)
	if problem, ok := errors.AsType[*fault.Fault](err); ok && problem.Kind != fault.Unavailable {
		return nil, nil
	}
	return rendered, err
}

// addVersioned adds the document schemas whose DataSchemas judge by client versions, if these are others than those
// that the newest revision was judged with.
func (j *judgement) addVersioned(ctx context.Context, kinds map[string]bool) error {
	if j.change.Revision.ClientVersions == j.change.Against.ClientVersions {
		return nil
	}
	schemas, err := j.service.Store.OfKinds(ctx, []string{validations.DataSchemaKind})
	if err != nil {
		return fmt.Errorf("find the DataSchemas that judge by client versions: %w", err)
	}
	meter := budget.NewMeter(ctx)
	for _, doc := range schemas {
		if !validations.Registers(doc.Document) {
			continue
		}
		named, err := j.service.Engine.NamesVersions(meter, doc.Digest, doc.Data)
		if err != nil {
			return budget.About(err, "compile DataSchema %s", doc.Name)
		}
		if named {
			kinds[doc.Name] = true
		}
	}
	return nil
}
