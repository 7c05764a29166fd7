package revisions

import (
	"context"
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/validations"
)

// UnknownTag is the fault of a tag that a revision does not have.
func UnknownTag(revision int64, name string) error {
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
			"The requested tag data %s must either be null or dictionary", Truncate(string(document.AppendJSON(nil, data))))
	}
	tag := Tag{Name: name, Data: document.AppendJSON(nil, data)}
	if err := s.Store.Tag(ctx, revision, tag); err != nil {
		return Tag{}, fmt.Errorf("store tag: %w", Explained(ctx, s.Store, revision, err))
	}
	return tag, nil
}

// Untag removes a tag from a revision. Faults: NotFound for the revision, then for the tag; Gone.
func (s *Service) Untag(ctx context.Context, revision int64, name string) error {
	had, err := s.Store.Untag(ctx, revision, name)
	if err != nil {
		return fmt.Errorf("delete tag: %w", err)
	}
	if had > 0 {
		return nil
	}
	if err := s.exists(ctx, revision); err != nil {
		return err
	}
	return UnknownTag(revision, name)
}

// UntagAll removes all tags of a revision, also if there are none. Faults: NotFound, Gone.
func (s *Service) UntagAll(ctx context.Context, revision int64) error {
	if err := s.exists(ctx, revision); err != nil {
		return err
	}
	if _, err := s.Store.Untag(ctx, revision); err != nil {
		return fmt.Errorf("delete tags: %w", err)
	}
	return nil
}

// exists returns nil if a revision exists. Faults: NotFound, Gone.
func (s *Service) exists(ctx context.Context, revision int64) error {
	around, err := s.Store.Around(ctx, revision)
	switch {
	case err != nil:
		return fmt.Errorf("find revision %d: %w", revision, err)
	case !around.Exists:
		return Absent(ctx, s.Store, revision)
	}
	return nil
}

// Post appends a result that another service reports about a revision (spec/api.md §8.1). body is the parsed request.
// Faults: Invalid, Forbidden for a reserved name, NotFound, Gone.
func (s *Service) Post(ctx context.Context, revision int64, name string, body any) (validations.Result, error) {
	result, err := validations.ParseResult(name, body, s.Compat)
	if err != nil {
		return validations.Result{}, err
	}
	result.CreatedAt = s.Now().UTC()
	if err := s.Store.AddResult(ctx, revision, result); err != nil {
		return validations.Result{}, fmt.Errorf("store validation result: %w", Explained(ctx, s.Store, revision, err))
	}
	return result, nil
}

// Purge deletes all revisions and everything that belongs to them, and keeps who did it and why. Fault: Stale.
func (s *Service) Purge(ctx context.Context, options Options) error {
	if err := s.Store.Purge(ctx, Purge{options.Reason, s.Now().UTC()}, options.Expected); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

// Prune deletes all revisions but the newest keep and those with tags, and whatever none of the remaining needs; a dry
// run only reports it. Faults: Invalid for less than one to keep, Stale.
func (s *Service) Prune(ctx context.Context, keep int, options Options) (Pruned, error) {
	if keep < 1 {
		return Pruned{}, fault.New(fault.Invalid, "HTTPInvalidParam",
			"The \"keep\" parameter is invalid. At least the newest revision must be kept; DELETE /revisions deletes all.")
	}
	pruned, err := s.Store.Prune(ctx, keep, options)
	if err != nil {
		return Pruned{}, fmt.Errorf("prune: %w", err)
	}
	return pruned, nil
}
