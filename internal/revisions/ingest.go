package revisions

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/validations"
)

// ingest is a payload on its way in. What has been decoded once stays decoded when the change is planned again.
type ingest struct {
	service  *Service
	segments []document.Segment
	decoded  []*document.Document // nil where the segment was known so far

	state Bucket // the one that index is of
	index map[document.Digest]*Stored
}

func newIngest(s *Service, segments []document.Segment) *ingest {
	return &ingest{service: s, segments: segments, decoded: make([]*document.Document, len(segments))}
}

// known finds the bucket's documents by the text they were read from.
func (in *ingest) known(state Bucket) map[document.Digest]*Stored {
	if in.index != nil && in.state.Epoch == state.Epoch && in.state.Changed == state.Changed {
		return in.index
	}
	in.state, in.index = state, make(map[document.Digest]*Stored, len(state.Documents))
	for _, doc := range state.Documents {
		if !doc.Segment.IsZero() {
			in.index[doc.Segment] = doc
		}
	}
	return in.index
}

// decode reads and checks the segments that the bucket does not know. Of several faults the reference's order decides:
// what cannot be parsed, then what is no mapping, then the first document that fails its sanity checks.
func (in *ingest) decode(ctx context.Context, state Bucket) error {
	began := in.service.Now()
	bySegment := in.known(state)
	var todo []int
	for i, segment := range in.segments {
		if in.decoded[i] == nil && bySegment[segment.Digest] == nil {
			todo = append(todo, i)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	faults := make([]decodeFaults, len(todo))
	err := in.service.forEach(ctx, len(todo), func(i int) {
		in.decoded[todo[i]], faults[i] = in.decodeOne(in.segments[todo[i]])
	})
	if err != nil {
		return fmt.Errorf("decode documents: %w", err)
	}
	in.service.observe("decode", began)
	return firstFault(in.segments, todo, faults)
}

// decodeFaults are the ways in which one segment can fail; at most one is set.
type decodeFaults struct {
	parse   error
	invalid bool
	sanity  error
	secret  error // it is encrypted, which is looked at last
}

func (in *ingest) decodeOne(segment document.Segment) (*document.Document, decodeFaults) {
	entry, err := document.Decode(segment, in.service.Limits)
	switch {
	case err != nil:
		return nil, decodeFaults{parse: err}
	case !entry.IsDocument():
		return nil, decodeFaults{invalid: true}
	}
	if err := validations.Sanity(entry); err != nil {
		return nil, decodeFaults{sanity: err}
	}
	doc, err := document.New(entry)
	if err != nil {
		return nil, decodeFaults{parse: err}
	}
	if doc.Traits().Encrypted {
		return nil, decodeFaults{secret: encryptedFault(entry, doc)}
	}
	return doc, decodeFaults{}
}

func encryptedFault(e document.Entry, doc *document.Document) error {
	return fault.New(fault.Unimplemented, "HTTPNotImplemented",
		"Document %s (document %d, from line %d) has storagePolicy: encrypted, and this version of Purser cannot keep "+
			"secrets yet; it refuses them rather than store them in clear. Nothing was stored.", doc.Identity, e.Index, e.Line)
}

func firstFault(segments []document.Segment, todo []int, faults []decodeFaults) error {
	var sanity, secret error
	var invalid []string
	for i, f := range faults {
		switch {
		case f.parse != nil:
			return f.parse
		case f.invalid:
			invalid = append(invalid, strconv.Itoa(segments[todo[i]].Index))
		case f.sanity != nil && sanity == nil:
			sanity = f.sanity
		case f.secret != nil && secret == nil:
			secret = f.secret
		}
	}
	if len(invalid) > 0 {
		return invalidEntries(invalid)
	}
	if sanity != nil {
		return sanity
	}
	return secret
}

func invalidEntries(indexes []string) error {
	const most = 100
	list := strings.Join(indexes[:min(len(indexes), most)], ",")
	if len(indexes) > most {
		list += ",…"
	}
	return fault.New(fault.Invalid, "HTTPBadRequest",
		"Expected a list of valid objects. Invalid entries found at following indexes: %s.", list)
}
