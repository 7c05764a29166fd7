package revisions

import (
	"context"
	"fmt"
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/validations"
)

// maxBuckets is how many buckets a change set may have.
const maxBuckets = 10_000

// ingest is a payload on its way in. What has been decoded once stays decoded when the change is planned again.
type ingest struct {
	service  *Service
	segments []document.Segment
	decoded  []*document.Document // nil where the segment was known so far
	faults   []decodeFaults
	owners   []string // the bucket of each segment; empty where only the document tells
	buckets  []string // to be replaced
	// cleartextOnly refuses encrypted documents.
	cleartextOnly bool
	owned         map[string]bool

	state State
	index map[document.Digest]*Stored // the state's documents by the text they were read from
}

func newIngest(s *Service, segments []document.Segment, buckets []string) *ingest {
	in := &ingest{
		service: s, segments: segments, owned: map[string]bool{}, owners: make([]string, len(segments)),
		decoded: make([]*document.Document, len(segments)), faults: make([]decodeFaults, len(segments)),
	}
	for _, bucket := range buckets {
		if !in.owned[bucket] {
			in.own(bucket)
		}
	}
	return in
}

// prepare reads the newest state of the buckets and decodes the segments that they do not know. Which buckets these are
// may only turn out on the way: then the documents of the next one are read before more is decoded, for most of them
// will be known.
func (in *ingest) prepare(ctx context.Context) (Head, error) {
	if err := in.read(ctx); err != nil {
		return Head{}, err
	}
	const patient, step = 16, 4
	most := in.firstStep()
	for round := 1; ; round++ {
		todo := in.unknown(most)
		if len(todo) == 0 {
			return in.state.Head, in.firstFault()
		}
		if err := in.decode(ctx, todo); err != nil {
			return Head{}, err
		}
		switch {
		case in.discover(todo):
			if len(in.buckets) > maxBuckets {
				return Head{}, document.TooLarge("the change set has more than %d buckets; send it in parts", maxBuckets)
			}
			if err := in.read(ctx); err != nil {
				return Head{}, err
			}
		default:
			most *= step
		}
		if round == patient { // with so many buckets there is little to gain
			most = len(in.segments)
		}
	}
}

// firstStep is how many segments to decode before looking what buckets they are of.
func (in *ingest) firstStep() int {
	if slices.Contains(in.owners, "") {
		return 1
	}
	return max(1, len(in.segments))
}

// read reads the state of the buckets that are known so far.
func (in *ingest) read(ctx context.Context) error {
	state, err := in.service.Store.Buckets(ctx, in.buckets)
	if err != nil {
		return fmt.Errorf("read buckets: %w", err)
	}
	same := in.index != nil && sameDocuments(in.state, state)
	if in.state = state; same {
		return nil
	}
	in.index = make(map[document.Digest]*Stored, len(in.segments))
	for _, bucket := range in.state.Buckets {
		for _, doc := range bucket.Documents {
			if !doc.Segment.IsZero() {
				in.index[doc.Segment] = doc
			}
		}
	}
	return nil
}

// sameDocuments tells whether the buckets of two states hold the same.
func sameDocuments(a, b State) bool {
	return a.Epoch == b.Epoch && slices.EqualFunc(a.Buckets, b.Buckets, func(a, b Bucket) bool {
		return a.Name == b.Name && a.Changed == b.Changed
	})
}

// unknown finds the first segments that have to be decoded.
func (in *ingest) unknown(most int) (todo []int) {
	for i, segment := range in.segments {
		if len(todo) == most {
			break
		}
		if in.decoded[i] == nil && in.index[segment.Digest] == nil && !in.faults[i].any() {
			todo = append(todo, i)
		}
	}
	return todo
}

func (in *ingest) decode(ctx context.Context, todo []int) error {
	began := in.service.Now()
	err := in.service.countEach(ctx, len(todo), func(meter *budget.Meter, i int) error {
		in.decodeOne(meter, todo[i])
		return nil
	})
	if err != nil {
		return fmt.Errorf("decode documents: %w", err)
	}
	in.service.observe("decode", began)
	return nil
}

// discover notes the buckets that decoded documents are of, and tells whether there are new ones.
func (in *ingest) discover(decoded []int) bool {
	before := len(in.buckets)
	for _, i := range decoded {
		if owner := in.owners[i]; in.decoded[i] != nil && !in.owned[owner] {
			in.own(owner)
		}
	}
	return len(in.buckets) > before
}

func (in *ingest) own(bucket string) {
	in.buckets = append(in.buckets, bucket)
	in.owned[bucket] = true
}

func (in *ingest) decodeOne(meter *budget.Meter, i int) {
	segment, f := in.segments[i], &in.faults[i]
	entry, err := document.Decode(segment, in.service.Limits)
	switch {
	case err != nil:
		f.parse = err
		return
	case !entry.IsDocument():
		f.invalid = true
		return
	}
	if f.sanity = validations.Sanity(meter, entry); f.sanity != nil {
		f.sanity = budget.About(f.sanity, "check document %d, from line %d", entry.Index, entry.Line)
		return
	}
	doc, err := document.New(entry)
	if err != nil {
		f.parse = err
		return
	}
	if in.owners[i] == "" {
		if in.owners[i], f.bucket = bucketOf(entry, doc); f.bucket != nil {
			return
		}
	}
	if doc.Traits().Encrypted {
		if in.cleartextOnly {
			f.secret = fault.New(fault.Forbidden, "HTTPForbidden", "%s", mayNotEncrypt)
			return
		}
		if doc, f.secret = in.service.conceal(entry, doc); f.secret != nil {
			return
		}
	}
	in.decoded[i] = doc
}

// bucketOf reads which bucket a document of a change set is for.
func bucketOf(e document.Entry, doc *document.Document) (string, error) {
	bucket, isText := document.Locate(e.Value, []string{"status", "bucket"}).(string)
	if isText {
		return bucket, validations.CheckName(bucket, fmt.Sprintf(
			"The status.bucket of document %s (document %d, from line %d)", doc.Identity, e.Index, e.Line))
	}
	return "", fault.New(fault.Invalid, "HTTPBadRequest",
		"Document %s (document %d, from line %d) names no bucket. In a change set each document must say which bucket it is "+
			"for, as status: {bucket: NAME}. Nothing was stored.", doc.Identity, e.Index, e.Line)
}

func encryptedFault(e document.Entry, doc *document.Document) error {
	return fault.New(fault.Unimplemented, "HTTPNotImplemented", "Document %s (document %d, from line %d) has "+
		"storagePolicy: encrypted, and this server has no keyset to seal it with: start it with --secrets-keyset. It "+
		"refuses secrets rather than store them in clear. Nothing was stored.", doc.Identity, e.Index, e.Line)
}
