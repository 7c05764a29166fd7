package revisions

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"purser/internal/events"
	"purser/internal/fault"
	"purser/internal/words"
)

// Upstream is a bucket of a revision of another site that documents were copied from.
type Upstream = events.Upstream

// Upstreams are where the documents of buckets were copied from, by the names of the buckets. Buckets whose documents
// came in a body have none.
type Upstreams map[string]Upstream

// MaxUpstreams bounds how many buckets of a site have an upstream: each revision keeps all of them.
const MaxUpstreams = 1000

// After returns the upstreams after buckets were replaced: by copies, whose upstreams copied has, or, if that is nil,
// by documents of a body. Such a body replaces buckets with an upstream only if detach is set. Fault: Conflict.
func (u Upstreams) After(buckets []string, copied Upstreams, detach bool) (Upstreams, error) {
	if copied != nil {
		after := maps.Clone(u)
		if after == nil {
			after = Upstreams{}
		}
		maps.Copy(after, copied)
		if len(after) > MaxUpstreams {
			return nil, fault.New(fault.Conflict, "TooManySources", "%d buckets of the site would follow those of other sites, "+
				"and at most %d may; nothing was stored. Detach some of them: PUT their documents with detach=true", len(after),
				MaxUpstreams)
		}
		return after, nil
	}
	var follow []string
	for _, bucket := range buckets {
		if _, follows := u[bucket]; follows {
			follow = append(follow, bucket)
		}
	}
	switch {
	case len(follow) == 0:
		return u, nil
	case !detach:
		return nil, u.followed(follow)
	}
	after := maps.Clone(u)
	for _, bucket := range follow {
		delete(after, bucket)
	}
	return after, nil
}

// followed returns the fault of a body for buckets that have an upstream.
func (u Upstreams) followed(buckets []string) error {
	const most = 10
	slices.Sort(buckets)
	f := fault.New(fault.Conflict, "BucketFollows", "%s: what is put here now would be lost when it is copied again, and "+
		"nothing was stored", words.Count(len(buckets), "bucket")+" of the request follows a bucket of another site")
	if len(buckets) > 1 {
		f.Message = strings.Replace(f.Message, "follows a bucket", "follow buckets", 1)
	}
	f.Messages = []fault.Message{{Message: f.Message, Error: true}}
	for _, bucket := range buckets[:min(len(buckets), most)] {
		from := u[bucket]
		f.Messages = append(f.Messages, fault.Message{Error: true, Message: fmt.Sprintf("Bucket %s was copied from bucket "+
			"%s of revision %d of the site %s. Change it there and copy it again (from=%[4]s@REVISION/%[2]s, or \"purser fleet "+
			"push\"); or send this again with detach=true, and it follows nothing any more.", bucket, from.Bucket, from.Revision,
			from.Site)})
	}
	return f
}

// CopyFrom names documents to copy: those of a site's revision, and there of a bucket.
type CopyFrom struct {
	Site     string
	Revision string // a number, "latest", or "tag:" and a tag
	Stamp    Stamp  // that the revision must have; 0 for any
	Bucket   string // empty for that of the same name
}

// ParseCopyFrom parses SITE@REVISION or SITE@REVISION/BUCKET, where REVISION may be NUMBER-STAMP, as in an ETag. Tags
// and buckets may have slashes in their names: the name of a revision ends at the first one, and a tag with a slash
// cannot be named.
func ParseCopyFrom(text string) (from CopyFrom, ok bool) {
	site, rest, ok := strings.Cut(text, "@")
	revision, bucket, named := strings.Cut(rest, "/")
	from = CopyFrom{Site: site, Revision: revision, Bucket: bucket}
	number, stamp, stamped := strings.Cut(revision, "-")
	if _, err := strconv.ParseUint(number, 10, 64); err == nil && stamped {
		from.Revision = number
		if from.Stamp, err = ParseStamp(stamp); err != nil {
			return from, false
		}
	}
	return from, ok && site != "" && revision != "" && (bucket != "" || !named)
}

// Promotion is the condition of a change that the revision which it copies has a verdict of success when the change is
// stored: that the state of what decides it is as it was when it was judged.
type Promotion struct {
	Site     string
	Revision int64
	Stamp    Stamp
	Facts    FactsMark
	Until    time.Time // when the verdict may change by itself; zero for never
}

// FactsMark changes whenever a result or a waiver is added to a revision or a waiver of it ends.
type FactsMark struct{ Results, Waivers, Ended int64 }
