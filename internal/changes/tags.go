package changes

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Tag adds a tag to a revision, or replaces its data; data is a mapping, or nil for an empty one. Faults: Invalid for
// other data, NotFound, Gone, Stale if the revision is not an expected one, Conflict if it has too many tags.
func (s *Service) Tag(ctx context.Context, revision int64, options revisions.Options, name string, data any) (
	revisions.Tag, error,
) {
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

// refused returns the fault for a revision that nothing could be added to: it does not exist, did not exist a moment
// ago, or is not the expected one.
func (s *Service) refused(ctx context.Context, about revisions.About) error {
	if err := s.missing(ctx, about); err != nil {
		return err
	}
	return revisions.Absent(ctx, s.Store, about.Revision)
}

// Posted is a result that was appended to a revision.
type Posted struct {
	validations.Result

	Stamp   revisions.Stamp // of the revision
	Warning string          // that the result does not count or was not kept completely; empty in compat mode
}

// Post appends a result that another service reports for a revision. body is the parsed request. Faults: Invalid,
// Forbidden for a reserved name, NotFound, Gone, Stale if the revision is not an expected one, Conflict if it has
// results of too many validations.
func (s *Service) Post(ctx context.Context, revision int64, options revisions.Options, name string, body any) (
	posted Posted, err error,
) {
	if posted.Result, err = validations.ParseResult(name, body, s.Compat); err != nil {
		return Posted{}, err
	}
	var policies []revisions.PolicyVersion
	posted.Stamp, policies, err = s.Store.AddResult(ctx, options.About(revision), posted.Result)
	switch {
	case err != nil:
		return Posted{}, fmt.Errorf("store validation result: %w", err)
	case posted.Stamp == 0:
		return Posted{}, s.refused(ctx, options.About(revision))
	case !s.Compat:
		posted.Warning = cmp.Or(validations.UnlistedWarning(revisions.InForce(policies, revision), name),
			validations.LostWarning(body))
	}
	return posted, nil
}

// Purge deletes all revisions and everything that belongs to them, and records who did it and why. Faults: Stale,
// Forbidden if it would delete encrypted documents and the options do not allow that.
func (s *Service) Purge(ctx context.Context, options revisions.Options) error {
	if err := s.Store.Purge(ctx, s.deleting(options)); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

// Prune deletes all revisions except the newest keep and tagged ones, and everything that no remaining revision needs;
// a dry run only reports it. Faults: Invalid if keep is less than 1, Stale, Forbidden if it would delete encrypted
// documents and the options do not allow that.
func (s *Service) Prune(ctx context.Context, keep int, options revisions.Options) (revisions.Pruned, error) {
	if keep < 1 {
		return revisions.Pruned{}, fault.New(fault.Invalid, "HTTPInvalidParam",
			"The \"keep\" parameter is invalid. At least the newest revision must be kept; DELETE /revisions deletes all.")
	}
	pruned, err := s.Store.Prune(ctx, keep, s.deleting(options))
	if err != nil {
		return revisions.Pruned{}, fmt.Errorf("prune: %w", err)
	}
	return pruned, nil
}
