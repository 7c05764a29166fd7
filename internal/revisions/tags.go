package revisions

import (
	"context"
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
)

// Tags returns the tags of a revision, sorted by name. Faults: NotFound, Gone.
func (s *Service) Tags(ctx context.Context, revision int64) ([]Tag, error) {
	return s.tags(ctx, revision)
}

// ShowTag returns one tag of a revision. Faults: NotFound for the revision, then for the tag; Gone.
func (s *Service) ShowTag(ctx context.Context, revision int64, name string) (Tag, error) {
	tags, err := s.tags(ctx, revision, name)
	if err != nil {
		return Tag{}, err
	}
	if len(tags) == 0 {
		return Tag{}, unknownTag(revision, name)
	}
	return tags[0], nil
}

// tags reads tags of a revision, which must exist.
func (s *Service) tags(ctx context.Context, revision int64, names ...string) ([]Tag, error) {
	tags, err := s.Store.Tags(ctx, revision, names...)
	if err != nil {
		return nil, fmt.Errorf("read tags: %w", err)
	}
	if len(tags) > 0 {
		return tags, nil
	}
	_, err = s.Epoch(ctx, revision)
	return nil, err
}

func unknownTag(revision int64, name string) error {
	return fault.New(fault.NotFound, "RevisionTagNotFound", "The requested tag '%s' for revision %d was not found", name,
		revision)
}

// Tag gives a revision a tag with data, a mapping or nil for none; a tag that it has gets the new data (spec/api.md
// §6.5). Faults: Invalid for other data, NotFound, Gone.
func (s *Service) Tag(ctx context.Context, revision int64, name string, data any) (Tag, error) {
	if data == nil {
		data = document.Mapping{}
	}
	if _, isMapping := data.(document.Mapping); !isMapping {
		return Tag{}, fault.New(fault.Invalid, "RevisionTagBadFormat",
			"The requested tag data %s must either be null or dictionary", Brief(string(document.AppendJSON(nil, data))))
	}
	tag := Tag{Name: name, Data: document.AppendJSON(nil, data)}
	if err := s.Store.Tag(ctx, revision, tag); err != nil {
		return Tag{}, fmt.Errorf("store tag: %w", s.explained(ctx, revision, err))
	}
	return tag, nil
}

// Untag takes a tag from a revision. Faults: NotFound for the revision, then for the tag; Gone.
func (s *Service) Untag(ctx context.Context, revision int64, name string) error {
	had, err := s.Store.Untag(ctx, revision, name)
	if err != nil {
		return fmt.Errorf("delete tag: %w", err)
	}
	if had > 0 {
		return nil
	}
	if _, err := s.Epoch(ctx, revision); err != nil {
		return err
	}
	return unknownTag(revision, name)
}

// UntagAll takes all tags from a revision, also if there are none. Faults: NotFound, Gone.
func (s *Service) UntagAll(ctx context.Context, revision int64) error {
	if _, err := s.Epoch(ctx, revision); err != nil {
		return err
	}
	if _, err := s.Store.Untag(ctx, revision); err != nil {
		return fmt.Errorf("delete tags: %w", err)
	}
	return nil
}
