package revisions

import (
	"context"
	"errors"
)

// DeepDifference is what became of a bucket, down to its documents. A document that moved is a deleted one in the one
// bucket and a created one in the other.
type DeepDifference struct {
	BucketDifference

	Documents []DocumentDifference
}

// DeepDiff tells how one revision becomes another, down to what the documents say; 0 is the revision without any. Of
// the buckets the higher number is the newer one, as for Diff (spec/api.md §6.2). Documents that only one revision has
// come with their contents if whole is asked for; encrypted ones never do. Faults: NotFound, Gone.
func (s *Service) DeepDiff(ctx context.Context, before, after int64, whole bool) ([]DeepDifference, error) {
	differences, err := s.deepDiff(ctx, before, after, whole)
	if errors.Is(err, ErrStale) { // a prune came in between
		differences, err = s.deepDiff(ctx, before, after, whole)
	}
	return differences, err
}

func (s *Service) deepDiff(ctx context.Context, before, after int64, whole bool) ([]DeepDifference, error) {
	found, err := s.compare(ctx, before, after)
	if err != nil {
		return nil, err
	}
	gone, come := GroupByBucket(found.Gone), GroupByBucket(found.Come)
	var differences []DeepDifference
	var shown []**Stored
	for _, bucket := range found.buckets(before, after) {
		documents := documentDifferences(gone[bucket.Bucket], come[bucket.Bucket])
		for i := range documents {
			if d := &documents[i]; whole || d.Difference == Modified {
				shown = append(shown, &d.Before, &d.After)
			}
		}
		differences = append(differences, DeepDifference{bucket, documents})
	}
	return differences, s.render(ctx, shown)
}

// render puts documents as services read them in place of those that say nothing yet. So far that is what was
// submitted: there is no layering and no substitution.
func (s *Service) render(ctx context.Context, shown []**Stored) error {
	var open []*Stored
	var places []**Stored
	for _, doc := range shown {
		if *doc != nil && !(*doc).Traits().Encrypted {
			open, places = append(open, *doc), append(places, doc)
		}
	}
	open, err := s.withContents(ctx, open)
	if err != nil {
		return err
	}
	for i, doc := range open {
		*places[i] = doc
	}
	return nil
}

// GroupByBucket sorts documents by the bucket they are in, each list in the order of the whole.
func GroupByBucket(documents []*Stored) map[string][]*Stored {
	of := map[string][]*Stored{}
	for _, doc := range documents {
		of[doc.Bucket] = append(of[doc.Bucket], doc)
	}
	return of
}
