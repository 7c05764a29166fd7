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

// latest is the name of the newest revision; tagPrefix begins the name of a tagged one.
const latest, tagPrefix = "latest", "tag:"

// Name says which revision is asked for. The zero Name stands for the newest one.
type Name struct {
	Number int64 // 0 if it is not asked for by number
	ByTag  bool  // it is the newest one with Tag
	Tag    string
}

// parseName reads a number, "latest" or "tag:NAME"; ok is false if no revision can have the name.
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

// Resolve gives the number of a revision that was asked for by number, as "latest", or as "tag:NAME", the newest one
// with that tag. It says nothing about whether a numbered one exists. Fault: NotFound.
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

// unknown is the fault of asking for a revision that does not exist, by a number or a name.
func unknown(id string) error {
	var reason string
	switch {
	case id == latest:
		reason = ": there is no revision yet; the first change makes one"
	case strings.HasPrefix(id, tagPrefix):
		reason = ": no revision has the tag"
	default:
		return revisions.UnknownRevision(id)
	}
	return fault.New(fault.NotFound, "RevisionNotFound", "%w%s", revisions.UnknownRevision(id), reason)
}

// IsRevision reports whether a text has the form of a revision's name, or is an integer.
func IsRevision(id string) bool {
	_, err := strconv.ParseInt(id, 10, 64)
	return err == nil || errors.Is(err, strconv.ErrRange) || id == latest || strings.HasPrefix(id, tagPrefix)
}

// parseNumber parses a revision number. It returns 0 for numbers that no revision can have.
func parseNumber(id string) int64 {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil || number < 1 || strconv.FormatInt(number, 10) != id { // +1 and 01 do not name revisions
		return 0
	}
	return number
}
