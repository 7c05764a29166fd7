package queries

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"purser/internal/fault"
	"purser/internal/revisions"
)

// latest is the name of the newest revision; tagPrefix is the prefix of names of tagged ones.
const latest, tagPrefix = "latest", "tag:"

// Name identifies a revision. The zero Name is the newest one.
type Name struct {
	Number int64 // 0 for a revision that is not identified by number
	ByTag  bool  // the newest revision with Tag
	Tag    string
}

// parseName parses a number, "latest" or "tag:NAME"; ok is false if no revision can have the name.
func parseName(id string) (name Name, ok bool) {
	if id == latest {
		return Name{}, true
	}
	if tag, isTag := strings.CutPrefix(id, tagPrefix); isTag {
		return Name{ByTag: true, Tag: tag}, true
	}
	name.Number = parseNumber(id)
	return name, name.Number != 0
}

// Resolve returns the number of a revision that is named by number, as "latest", or as "tag:NAME" for the newest one
// with that tag. It does not check that a numbered revision exists. Fault: NotFound.
func (v View) Resolve(ctx context.Context, id string) (number int64, err error) {
	name, ok := parseName(id)
	switch {
	case !ok || name.Number != 0:
		number = name.Number
	case name.ByTag:
		number, err = v.store.Tagged(ctx, name.Tag)
	default:
		number, err = v.store.Latest(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("find revision %q: %w", revisions.Truncate(id), err)
	}
	if number == 0 {
		return 0, unknown(id)
	}
	return number, nil
}

// unknown returns the fault for a revision that does not exist, by its number or name.
func unknown(id string) error {
	var reason string
	switch {
	case id == latest:
		reason = ": there is no revision yet; the first change makes one"
	case strings.HasPrefix(id, tagPrefix):
		reason = ": no revision has the tag"
	case !IsRevision(id):
		return revisions.UnknownName(id)
	default:
		return revisions.UnknownRevision(id).Hint(
			"A revision is named by its number, from 1 on, without a sign and without zeros before it.")
	}
	return fault.New(fault.NotFound, "RevisionNotFound", "%w%s", revisions.UnknownRevision(id), reason)
}

// IsRevision reports whether a string has the form of a revision's name, or is an integer.
func IsRevision(id string) bool {
	_, err := strconv.ParseInt(id, 10, 64)
	return err == nil || errors.Is(err, strconv.ErrRange) || id == latest || strings.HasPrefix(id, tagPrefix)
}

// parseNumber parses a revision number. It returns 0 for numbers that no revision can have.
func parseNumber(id string) int64 {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil || number < 1 || strconv.FormatInt(number, 10) != id { // +1 and 01 are not names
		return 0
	}
	return number
}
