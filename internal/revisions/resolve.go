package revisions

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"purser/internal/fault"
)

// tagPrefix begins the name of a revision that is asked for by its tag.
const tagPrefix = "tag:"

// Resolve gives the number of a revision that was asked for by number, as "latest", or as "tag:NAME", the newest one
// with that tag. It says nothing about whether a numbered one exists. Fault: NotFound.
func (s *Service) Resolve(ctx context.Context, id string) (int64, error) {
	var number int64
	var err error
	tag, isTag := strings.CutPrefix(id, tagPrefix)
	switch {
	case id == "latest":
		number, err = s.Store.Latest(ctx)
	case isTag:
		number, err = s.Store.Tagged(ctx, tag)
	default:
		number = parseNumber(id)
	}
	if err != nil {
		return 0, fmt.Errorf("find revision %q: %w", Brief(id), err)
	}
	if number == 0 {
		return 0, UnknownRevision(id)
	}
	return number, nil
}

// IsRevision tells whether a text has the form of a revision's name, or is an integer.
func IsRevision(id string) bool {
	_, err := strconv.ParseInt(id, 10, 64)
	return err == nil || errors.Is(err, strconv.ErrRange) || id == "latest" || strings.HasPrefix(id, tagPrefix)
}

// parseNumber reads a revision's number, 0 if there can be none with it.
func parseNumber(id string) int64 {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil || number < 1 || strconv.FormatInt(number, 10) != id { // +1 and 01 are no numbers of revisions
		return 0
	}
	return number
}

// Brief keeps what is quoted in messages short.
func Brief(id string) string {
	const longest = 64
	if len(id) > longest {
		return strings.ToValidUTF8(id[:longest], "") + "…"
	}
	return id
}

// UnknownRevision is the fault of asking for a revision that does not exist.
func UnknownRevision(id string) error {
	return fault.New(fault.NotFound, "RevisionNotFound", "The requested revision=%s was not found", Brief(id))
}

// absent is the fault of asking for a revision that is not there: it never was, or it was pruned.
func (s *Service) absent(ctx context.Context, revision int64) error {
	id := strconv.FormatInt(revision, 10)
	around, err := s.Store.Around(ctx, revision)
	switch {
	case err != nil:
		return fmt.Errorf("find what is around revision %d: %w", revision, err)
	case around.Exists || revision > around.Revision || revision < 1:
		return UnknownRevision(id)
	}
	left := "the next one that is left is " + strconv.FormatInt(around.Next, 10)
	metadata := map[string]any{"next": around.Next}
	if around.Previous > 0 {
		left = fmt.Sprintf("the nearest that are left are %d and %d", around.Previous, around.Next)
		metadata["previous"] = around.Previous
	}
	pruned := fault.New(fault.Gone, "RevisionPruned", "The requested revision=%s was pruned; %s", id, left)
	pruned.Metadata = metadata
	return pruned
}

// explained makes the fault of a revision that a store did not find say whether it was pruned.
func (s *Service) explained(ctx context.Context, revision int64, err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return s.absent(ctx, revision)
	}
	return err
}
