package store

import (
	"context"

	"purser/internal/revisions"
	"purser/internal/validations"
)

// AddResults adds results in one group, as AddResult does with concurrent ones. It returns the stamps of their
// revisions, and their errors.
func (s *Store) AddResults(ctx context.Context, about []revisions.About, results []validations.Result) (
	stamps []revisions.Stamp, errs []error, err error,
) {
	posts := make([]post, len(results))
	for i, result := range results {
		posts[i] = postOf(about[i], result)
	}
	done, err := s.addResults(ctx, posts)
	for _, one := range done {
		stamps, errs = append(stamps, one.stamp), append(errs, one.rejected)
	}
	return stamps, errs, err
}

// Setting returns a setting of the sessions of a store.
func (s *Store) Setting(ctx context.Context, name string) (value string, err error) {
	err = s.db.Pool.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value)
	return value, err
}

// MaxLocked is how many rows a step of a prune may delete while it holds the site's counters.
const MaxLocked = maxLocked

// AfterStep has f called after each transaction of a prune, with the number of rows that it deleted while it held the
// site's counters. An error ends the prune, as if the server were killed.
func (s *Store) AfterStep(f func(locked int) error) { s.stepped = f }

// WorstResults is the statement of Store.WorstResults.
const WorstResults = worstResults

// LiveVersions is the statement that each change reads the client versions with.
const LiveVersions = liveVersions

// LiveOfKinds is the statement that reads the documents of changed DataSchemas.
const LiveOfKinds = liveOfKinds
