package queries

import (
	"context"
	"strconv"

	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Details are what belongs to the verdict on a revision. Parts are nil if they are not wanted, or if they take too much
// work.
type Details struct {
	Described *Described
	Findings  *FindingList
	Results   *Results
	History   *Listed // the newest revisions of the site, the last one first
	Buckets   *BucketPage
}

// Results are the validations of a revision, with their newest posted results.
type Results struct {
	Summaries []validations.Summary
	Newest    map[string]validations.Entry
}

// BucketPage is the first page of the buckets.
type BucketPage struct {
	Buckets []Bucket
	More    bool // there are others
}

// Wanted names the parts of Details.
type Wanted struct {
	Described, Results         bool
	Findings, History, Buckets int // the maximum number of items; 0 to leave the part out
}

// Details returns the wanted parts of what belongs to the verdict on a revision. Findings that take too much work are
// left out, because the verdict is still known without them; they are read last.
func (v View) Details(ctx context.Context, of revisions.RevisionStatus, wanted Wanted) (d Details, err error) {
	name := strconv.FormatInt(of.ID, 10)
	for _, part := range []struct {
		wanted bool
		read   func() error
	}{
		{wanted.Described, func() error { return assign(&d.Described)(v.Describe(ctx, of.ID)) }},
		{wanted.Results, func() error {
			summaries, newest, err := v.Validations(ctx, name, true)
			return assign(&d.Results)(Results{summaries, newest}, err)
		}},
		{wanted.History > 0, func() error {
			query := Query{Page: Page{Limit: wanted.History}, Sort: []SortKey{ByNumber}, Backwards: true}
			return assign(&d.History)(v.List(ctx, query))
		}},
		{wanted.Buckets > 0, func() error {
			buckets, more, err := v.Buckets(ctx, Page{Limit: wanted.Buckets})
			return assign(&d.Buckets)(BucketPage{buckets, more}, err)
		}},
		{wanted.Findings > 0, func() error {
			return assign(&d.Findings)(v.Findings(ctx, name, FindingsQuery{Limit: wanted.Findings}))
		}},
	} {
		if !part.wanted {
			continue
		}
		if err := part.read(); err != nil && fault.KindOf(err) != fault.TooLarge {
			return d, err
		}
	}
	return d, nil
}

// assign returns a function that stores a value unless there is an error, which it returns.
func assign[T any](to **T) func(T, error) error {
	return func(value T, err error) error {
		if err == nil {
			*to = &value
		}
		return err
	}
}
