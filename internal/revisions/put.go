package revisions

import (
	"bytes"
	"context"

	"purser/internal/document"
	"purser/internal/fault"
)

// Put makes the documents of a body the content of a bucket; those it leaves out are deleted (spec/api.md §3). Faults:
// Invalid for what cannot be read or is no document, TooLarge beyond limits, Conflict for an identity that lives in
// another bucket or twice in the body, a second LayeringPolicy, or a site that does not stop changing, Stale for terms
// that do not hold, Forbidden for encrypted documents that the terms do not allow, and Unimplemented for those without
// a vault. Nothing is stored with a fault.
func (s *Service) Put(ctx context.Context, bucket string, body []byte, media document.Media, terms Terms) (
	Written, error,
) {
	segments, err := s.split(ctx, body, media)
	if err != nil {
		return Written{}, err
	}
	in := newIngest(s, segments, []string{bucket})
	in.cleartextOnly = terms.CleartextOnly
	for i := range in.owners {
		in.owners[i] = bucket
	}
	return s.carryOut(ctx, in, Put, terms)
}

// PutChangeSet makes the documents of a body the content of several buckets at once: each names its own under
// status.bucket, as documents read from the service do. Buckets that are named become empty if the body has no document
// of theirs. Faults: those of Put; Invalid also for a document that names no bucket.
func (s *Service) PutChangeSet(ctx context.Context, buckets []string, body []byte, media document.Media, terms Terms) (
	Written, error,
) {
	segments, err := s.split(ctx, body, media)
	if err != nil {
		return Written{}, err
	}
	if len(segments) == 0 && len(buckets) == 0 {
		return Written{}, fault.New(fault.Invalid, "HTTPBadRequest", "The change set is about no bucket: it has no "+
			"document, each of which would name its bucket under status.bucket, and ?buckets= names none to be emptied.")
	}
	for i := range segments {
		segments[i].Digest = segments[i].Digest.ForBucket()
	}
	in := newIngest(s, segments, buckets)
	in.cleartextOnly = terms.CleartextOnly
	return s.carryOut(ctx, in, ChangeSet, terms)
}

func (s *Service) split(ctx context.Context, body []byte, media document.Media) ([]document.Segment, error) {
	began := s.Now()
	segments, err := document.Split(ctx, body, media, s.Limits)
	if err != nil {
		return nil, err
	}
	s.observe("split", began)
	if len(segments) == 0 && media == document.YAML && len(bytes.TrimSpace(body)) > 0 {
		// A file whose line breaks were lost on the way is one long comment.
		return nil, fault.New(fault.Invalid, "HTTPBadRequest",
			"The body holds no document, only comments. To delete all documents of a bucket, PUT an empty body to it.")
	}
	return segments, nil
}
