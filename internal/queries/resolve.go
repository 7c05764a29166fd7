package queries

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"purser/internal/revisions"
)

// tagPrefix begins the name of a revision that is asked for by its tag.
const tagPrefix = "tag:"

// Resolve gives the number of a revision that was asked for by number, as "latest", or as "tag:NAME", the newest one
// with that tag. It says nothing about whether a numbered one exists. Fault: NotFound.
func (v View) Resolve(ctx context.Context, id string) (int64, error) {
	var number int64
	var err error
	tag, isTag := strings.CutPrefix(id, tagPrefix)
	switch {
	case id == "latest":
		number, err = v.store.Latest(ctx)
	case isTag:
		number, err = v.store.Tagged(ctx, tag)
	default:
		number = parseNumber(id)
	}
	if err != nil {
		return 0, fmt.Errorf("find revision %q: %w", revisions.Truncate(id), err)
	}
	if number == 0 {
		return 0, revisions.UnknownRevision(id)
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
	if err != nil || number < 1 || strconv.FormatInt(number, 10) != id { // +1 and 01 do not name revisions
		return 0
	}
	return number
}
