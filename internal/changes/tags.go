package changes

import (
	"context"
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Tag adds a tag to a revision, or replaces its data; data is a mapping, or nil for an empty one. Faults: Invalid for
// other data and for some names, NotFound, Gone, Stale if the revision is not an expected one, Conflict if it has too
// many tags.
func (s *Service) Tag(ctx context.Context, revision int64, options revisions.Options, name string, data any) (
	revisions.Tag, error,
) {
	if err := validations.CheckNewName(name, "The name of the tag"); err != nil {
		return revisions.Tag{}, err
	}
	if data == nil {
		data = document.Mapping{}
	}
	if _, isMapping := data.(document.Mapping); !isMapping {
		return revisions.Tag{}, fault.New(fault.Invalid, "RevisionTagBadFormat",
			"The requested tag data %s must either be null or dictionary", revisions.Truncate(string(document.AppendJSON(nil,
				data))))
	}
	tag := revisions.Tag{Name: name, Data: document.AppendJSON(nil, data)}
	done, err := s.Store.Tag(ctx, options.About(revision), tag)
	switch {
	case err != nil:
		return revisions.Tag{}, fmt.Errorf("store tag: %w", err)
	case !done:
		if err := s.missing(ctx, options.About(revision)); err != nil {
			return revisions.Tag{}, err
		}
		return revisions.Tag{}, fault.New(fault.Conflict, "TooManyTags",
			"Revision %d may have %d tags, of %d bytes together with their data; delete one first, or keep the data elsewhere",
			revision, revisions.MaxTags, revisions.MaxTagBytes)
	}
	return tag, nil
}

// Untag removes a tag from a revision. Faults: NotFound for the revision, else for the tag; Gone, Stale.
func (s *Service) Untag(ctx context.Context, revision int64, options revisions.Options, name string) error {
	had, err := s.untag(ctx, options.About(revision), name)
	if err == nil && !had {
		return revisions.UnknownTag(revision, name)
	}
	return err
}

// UntagAll removes all tags of a revision, and reports whether it had any. Faults: NotFound, Gone, Stale.
func (s *Service) UntagAll(ctx context.Context, revision int64, options revisions.Options) (bool, error) {
	return s.untag(ctx, options.About(revision))
}

func (s *Service) untag(ctx context.Context, about revisions.About, names ...string) (had bool, err error) {
	if had, err = s.Store.Untag(ctx, about, names...); err != nil {
		return false, fmt.Errorf("delete tags: %w", err)
	}
	if had {
		return true, nil
	}
	return false, s.missing(ctx, about)
}

// Author returns the ID of the user who made a revision, "" if that is not known, and the revision's version. Faults:
// NotFound, Gone.
func (s *Service) Author(ctx context.Context, revision int64) (string, revisions.Version, error) {
	around, err := s.Store.Around(ctx, revision)
	switch {
	case err != nil:
		return "", revisions.Version{}, fmt.Errorf("find the author of revision %d: %w", revision, err)
	case !around.Exists:
		return "", revisions.Version{}, revisions.Absent(ctx, s.Store, revision)
	}
	return around.AuthorID, revisions.Version{Revision: revision, Stamp: around.Stamp}, nil
}

// missing returns the fault for a revision that does not exist, or has none of the expected stamps; nil for others.
func (s *Service) missing(ctx context.Context, about revisions.About) error {
	around, err := s.Store.Around(ctx, about.Revision)
	switch {
	case err != nil:
		return fmt.Errorf("find revision %d: %w", about.Revision, err)
	case !around.Exists:
		return revisions.Absent(ctx, s.Store, about.Revision)
	case about.Stamps != nil && !slices.Contains(about.Stamps, around.Stamp):
		return revisions.Replaced(around, about.Revision)
	}
	return nil
}
