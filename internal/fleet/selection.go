package fleet

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"purser/internal/client"
	"purser/internal/events"
	"purser/internal/revisions"
	"purser/internal/wire"
)

// ParseSource parses what is copied: SITE@REVISION or SITE@REVISION/BUCKET. Without a bucket it is that of the sites.
func ParseSource(text, bucket string) (named revisions.CopyFrom, ok bool) {
	named, ok = revisions.ParseCopyFrom(text)
	if named.Bucket == "" {
		named.Bucket = bucket
	}
	return named, ok
}

// Source returns the revision that a name stands for now: a tag may be set anew meanwhile.
func Source(ctx context.Context, server *client.Client, named revisions.CopyFrom) (events.Upstream, error) {
	at := server.At(named.Site)
	name, err := at.Resolve(ctx, named.Revision)
	if err != nil {
		return events.Upstream{}, err
	}
	var found wire.Revision
	if _, err := at.Get(ctx, &found, nil, "revisions", name); err != nil {
		return events.Upstream{}, err
	}
	return events.Upstream{Site: named.Site, Revision: found.ID, Stamp: found.Stamp, Bucket: named.Bucket}, nil
}

// StatusOf returns the status of a revision that is copied from: success or failure.
func StatusOf(ctx context.Context, server *client.Client, from events.Upstream) (string, error) {
	verdict, _, err := server.At(from.Site).Status(ctx, strconv.FormatInt(from.Revision, 10), nil, 0, 0)
	return verdict.Status, err
}

// Selection says which sites documents are copied to.
type Selection struct {
	Bucket  string   // that they replace in each
	Labels  []string // KEY=VALUE; the sites have all of them
	Follows bool     // only sites whose bucket was copied from that of the source
	Waves   string   // the label whose values are the waves; "" for one wave
}

// Targets returns the sites that are selected, of those that the caller may see.
func (s Selection) Targets(ctx context.Context, server *client.Client, from events.Upstream) (
	targets []Target, err error,
) {
	query := url.Values{"archived": {"false"}}
	if len(s.Labels) > 0 {
		query["label"] = s.Labels
	}
	if s.Follows {
		query.Set("follows", from.Site)
	}
	err = eachSite(ctx, server, query, func(site wire.Site) {
		if target, ok := TargetOf(site, s.Waves, s.Bucket, from, s.Follows); ok {
			targets = append(targets, target)
		}
	})
	return targets, err
}

// eachSite passes all sites of a list on, page by page. Each page begins with the last site of the one before, which
// shows that none was left out because others were deleted meanwhile.
func eachSite(ctx context.Context, server *client.Client, query url.Values, pass func(wire.Site)) error {
	const size = 1000
	last := ""
	for offset := 0; ; {
		query.Set("limit", strconv.Itoa(size))
		query.Set("offset", strconv.Itoa(offset))
		var page wire.List[wire.Site]
		if _, err := server.Sites().Get(ctx, &page, query); err != nil {
			return err
		}
		found := page.Results
		if offset > 0 {
			if len(found) == 0 || found[0].Name != last {
				return errors.New("sites were made or deleted while the list of them was read: try again")
			}
			found = found[1:]
		}
		for _, site := range found {
			pass(site)
		}
		if page.Next == nil || len(found) == 0 {
			return nil
		}
		offset, last = offset+len(page.Results)-1, found[len(found)-1].Name
	}
}

// BehindText says by how many revisions a bucket is behind.
func BehindText(behind *int) string {
	const most = 1000 // that the server counts
	switch {
	case behind == nil:
		return "unknown"
	case *behind >= most:
		return strconv.Itoa(most) + " or more"
	}
	return strconv.Itoa(*behind)
}
