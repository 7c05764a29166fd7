package changes

import (
	"context"
	"maps"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// Put makes the documents of a body the content of a bucket, deleting its other documents. Faults: Invalid for a body
// that cannot be parsed or has an entry that is not a document, TooLarge beyond limits, Conflict for an identity that
// is live in another bucket or twice in the body, for a second LayeringPolicy, or if the site does not stop changing,
// Stale if the options expect another state, Forbidden for encrypted documents that the options do not allow, and
// Unimplemented for encrypted documents without a vault. With a fault nothing is stored.
func (s *Service) Put(ctx context.Context, bucket string, body []byte, media document.Media,
	options revisions.Options,
) (
	Written, error,
) {
	payload, err := s.parse(ctx, body, media, bucket, []string{bucket})
	if err != nil {
		return Written{}, err
	}
	return s.put(ctx, payload, revisions.Put, options)
}

// PutChangeSet makes the documents of a body the content of several buckets in one revision. Each document names its
// bucket under status.bucket, as documents read from the service do. Named buckets without a document in the body
// become empty. Faults: those of Put; Invalid also for a document that names no bucket.
func (s *Service) PutChangeSet(ctx context.Context, buckets []string, body []byte, media document.Media,
	options revisions.Options,
) (Written, error) {
	payload, err := s.parse(ctx, body, media, "", buckets)
	if err != nil {
		return Written{}, err
	}
	if len(payload.Items) == 0 && len(payload.Buckets) == 0 {
		return Written{}, fault.New(fault.Invalid, "HTTPBadRequest", "The change set names no bucket: it has no "+
			"documents, which name their bucket under status.bucket, and ?buckets= names none to empty.")
	}
	return s.put(ctx, payload, revisions.ChangeSet, options)
}

func (s *Service) put(ctx context.Context, payload Payload, kind revisions.Kind, options revisions.Options) (
	Written, error,
) {
	payload.CleartextOnly, payload.Blind = options.CleartextOnly, !options.Viewer.Encrypted
	payload.Copied, payload.Detach = options.Copied, options.Detach
	payload, err := s.decodeCached(ctx, payload)
	if err != nil {
		return Written{}, err
	}
	written, err := s.change(ctx, payloadSource{s, payload}, kind, options)
	if options.Copied == nil { // the caller has the text
		written.Items = payload.Items
	}
	return written, err
}

// decodeCached decodes the documents that are not in a payload's buckets, if these buckets are cached. The others are
// decoded once a snapshot shows which of them are new. A decoded document of a change set may name a bucket not seen
// before; then it stops after a few documents, because the rest may already be in that bucket.
func (s *Service) decodeCached(ctx context.Context, payload Payload) (Payload, error) {
	const maxRounds, growth = 16, 4
	most := max(1, len(payload.Items))
	if payload.namesBuckets() {
		most = 1
	}
	for round := 1; ; round++ {
		snapshot, ok := s.Store.Recall(payload.Buckets)
		if !ok {
			return payload, nil
		}
		decoded, err := s.decodeUnknown(ctx, payload, snapshot, most)
		if err != nil || decoded.undecoded() == payload.undecoded() {
			return decoded, err
		}
		if len(decoded.Buckets) == len(payload.Buckets) {
			if most >= len(payload.Items) {
				return decoded, nil
			}
			most *= growth
		}
		if round == maxRounds { // with so many buckets there is little to gain
			most = len(payload.Items)
		}
		payload = decoded
	}
}

// payloadSource is a payload as the source of a change.
type payloadSource struct {
	service *Service
	payload Payload
}

func (p payloadSource) need() revisions.Need { return p.payload.need() }

func (p payloadSource) decoded(ctx context.Context, snapshot revisions.Snapshot) (source, error) {
	payload, err := p.service.decodeUnknown(ctx, p.payload, snapshot, len(p.payload.Items))
	return payloadSource{p.service, p.service.withSecrets(payload)}, err
}

func (p payloadSource) plan(ctx context.Context, snapshot revisions.Snapshot) (revisions.Diff, error) {
	diff, err := p.payload.plan(snapshot, p.service.Compat)
	if err == nil && !p.service.Compat {
		err = p.payload.checkArchives(snapshot, diff)
	}
	if err != nil {
		return diff, err
	}
	diff.Archive = p.payload.Archive
	if diff.Upstreams, err = snapshot.Upstreams.After(p.payload.Buckets, p.payload.Copied, p.payload.Detach); err != nil {
		return diff, err
	}
	diff.Refollows = !maps.Equal(diff.Upstreams, snapshot.Upstreams)
	return p.service.seal(ctx, snapshot, diff)
}
