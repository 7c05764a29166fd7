package changes

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// maxBuckets is the maximum number of buckets of a change set.
const maxBuckets = 10_000

// Payload is the documents of a request. Documents with the same text as in their bucket are not decoded.
type Payload struct {
	Items   []Item
	Buckets []string // the buckets to replace, without duplicates
	// CleartextOnly refuses encrypted documents.
	CleartextOnly bool
	// Partial keeps documents of the buckets that are not among the items.
	Partial bool
	// Archive is the archive of the only item, a package; nil for other payloads.
	Archive []byte
	// Copied and Detach are as in revisions.Options.
	Copied revisions.Upstreams
	Detach bool
	// Blind is set if the caller may not see encrypted documents: each counts as changed, so that guesses reveal nothing.
	Blind bool
}

// Item is one document of a payload.
type Item struct {
	Segment  *document.Segment
	Bucket   string             // empty while the document that names it is not decoded
	Document *document.Document // nil until it is decoded
	// Secret is the first encrypted document in the source of the segment, if this document is decoded.
	Secret *document.Identity
}

// in returns the document of a snapshot that was read from the same text for the same bucket, nil if there is none.
func (i Item) in(known func(document.Digest) *revisions.Stored) *revisions.Stored {
	doc := known(i.Segment.Digest)
	if doc != nil && i.Bucket != "" && doc.Bucket != i.Bucket {
		return nil
	}
	return doc
}

// parse splits a body into an undecoded payload that replaces buckets. If bucket is empty, each document names its own.
func (s *Service) parse(ctx context.Context, body []byte, media document.Media, bucket string, buckets []string) (
	Payload, error,
) {
	budget.From(ctx).Grant(len(body))
	if err := budget.NewMeter(ctx).Hold(len(body)); err != nil {
		return Payload{}, fmt.Errorf("hold the body: %w", err)
	}
	began := s.Now()
	segments, err := document.SplitBody(ctx, body, media, s.Limits, !s.Compat)
	if err != nil {
		return Payload{}, err
	}
	s.observe("split", began)
	if len(segments) == 0 && media == document.YAML && len(bytes.TrimSpace(body)) > 0 {
		// A file that lost its line breaks in transit is one long comment.
		way := "To delete all documents of a bucket, PUT an empty body to it."
		if bucket == "" {
			way = "To delete all documents of buckets, send an empty body, and name the buckets in ?buckets=."
		}
		return Payload{}, fault.New(fault.Invalid, "HTTPBadRequest",
			"The body holds no document, only comments or an empty list. %s Nothing was stored.", way)
	}
	if bucket != "" && len(segments) > 0 {
		if err := validations.CheckNewName(bucket, "The name of the bucket"); err != nil {
			return Payload{}, err
		}
	}
	payload := Payload{Items: make([]Item, len(segments))}
	for i := range segments {
		of, err := bucketFor(segments[i], bucket)
		if err != nil {
			return Payload{}, err
		}
		if of == "" {
			segments[i].Digest = segments[i].Digest.ForBucket()
		}
		buckets = append(buckets, of)
		payload.Items[i] = Item{Segment: &segments[i], Bucket: of}
	}
	payload.Buckets = revisions.Missing(buckets, []string{""})
	if len(payload.Buckets) > maxBuckets {
		return Payload{}, tooManyBuckets()
	}
	return payload, nil
}

// bucketFor returns the bucket of a document, "" if the document names it itself. requested is that of the request, ""
// for a change set.
func bucketFor(s document.Segment, requested string) (string, error) {
	switch {
	case s.Bucket == "":
		return requested, nil
	case requested == "":
		return s.Bucket, validations.CheckNewName(s.Bucket, "The name of the bucket")
	case s.Bucket != requested:
		return "", fault.New(fault.Invalid, "HTTPBadRequest", "The comment before the file with %s names bucket %s, "+
			"and the request is for bucket %s: push files of several buckets with one change set (purser push --changeset, "+
			"or PUT /changesets). Nothing was stored.", s.Place(), s.Bucket, requested)
	}
	return requested, nil
}

// unknown returns the positions of the first items, at most most, that are neither decoded nor in a snapshot. An item
// with an archive is always unknown: the document may be stored without its archive.
func (p Payload) unknown(snapshot revisions.Snapshot, most int) (positions []int) {
	known := snapshot.Texts()
	for i, item := range p.Items {
		if len(positions) == most {
			break
		}
		if item.Document == nil && (p.Archive != nil || item.in(known) == nil) {
			positions = append(positions, i)
		}
	}
	return positions
}

// undecoded returns the number of items that are not decoded.
func (p Payload) undecoded() (count int) {
	for _, item := range p.Items {
		if item.Document == nil {
			count++
		}
	}
	return count
}

// namesBuckets reports whether the documents name their own buckets.
func (p Payload) namesBuckets() bool {
	return slices.ContainsFunc(p.Items, func(item Item) bool { return item.Bucket == "" })
}

// with returns the payload with decoded items and the buckets that they name.
func (p Payload) with(positions []int, decoded []Item) (Payload, error) {
	p.Items = slices.Clone(p.Items)
	var buckets []string
	for i, position := range positions {
		p.Items[position] = decoded[i]
		buckets = append(buckets, decoded[i].Bucket)
	}
	if p.Buckets = slices.Concat(p.Buckets, revisions.Missing(buckets, p.Buckets)); len(p.Buckets) > maxBuckets {
		return p, tooManyBuckets()
	}
	return p, nil
}

func tooManyBuckets() error {
	return document.TooLarge("the change set has more than %d buckets; send it in parts", maxBuckets)
}

// decodeUnknown decodes up to most documents that are not in a snapshot. They may name a bucket that was not read; its
// snapshot may make decoding the rest unnecessary.
func (s *Service) decodeUnknown(ctx context.Context, payload Payload, snapshot revisions.Snapshot, most int) (
	Payload, error,
) {
	positions := payload.unknown(snapshot, most)
	if len(positions) == 0 {
		return payload, nil
	}
	began := s.Now()
	decoded, err := s.decode(ctx, payload, positions)
	if err != nil {
		return payload, err
	}
	s.observe("decode", began)
	return payload.with(positions, decoded)
}

// need returns the parts of the site needed to plan the payload.
func (p Payload) need() revisions.Need {
	need := revisions.Need{Buckets: p.Buckets}
	decoded := len(p.Items) - p.undecoded()
	if decoded == 0 {
		return need
	}
	need.Identities, need.Contents = make([]document.Identity, 0, decoded), make([]document.Digest, 0, decoded)
	for _, item := range p.Items {
		if item.Document == nil {
			continue
		}
		need.Identities = append(need.Identities, item.Document.Identity)
		need.Contents = append(need.Contents, item.Document.Digest)
		need.Kinds = append(need.Kinds, item.Document.Schema)
	}
	need.Evidence = true
	return need
}
