package revisions

import (
	"slices"

	"purser/internal/document"
	"purser/internal/validations"
)

// Diff is the effect of a change on the site in a snapshot. New versions are numbered as if this change were stored
// next.
type Diff struct {
	Added   []*Stored
	Removed []*Stored // deleted, replaced or moved
	Opened  []string  // buckets that were empty and now have documents
	Emptied []string  // buckets that had documents and are now empty
	Buckets []string  // buckets that the revision lists as written, sorted
	// Result is the new content of a payload's buckets, in the order of the payload; nil for a rollback.
	Result []*Stored
	// Archive is the archive of the added package, nil if there is none.
	Archive []byte
	// CarriedFrom is the revision whose posted results (the newest of each name) the new one takes over; 0 for none.
	CarriedFrom int64
	// Carried are those results, its waivers and, of each validation that needs approvals, the votes, of which the new
	// revision takes over each user's newest.
	Carried validations.Known
	// Texts are the texts of added documents, and of those that only have another text or another place in their file,
	// Reread, which make no revision.
	Texts  []Text
	Reread []*Stored
	// Upstreams are those of the site after the change. Refollows reports whether they are others than before, which makes
	// no revision.
	Upstreams Upstreams
	Refollows bool
	// Changes reports whether the diff makes a revision.
	Changes bool
}

// Numbered returns a new version with its ID, and the place it gets unless it succeeds another version.
func Numbered(head Head, n int, doc Stored) *Stored {
	doc.ID = head.LastDocument + int64(n) + 1
	doc.Place, doc.Revision = doc.ID, head.Revision+1
	doc.Shared = true // once it is stored
	return &doc
}

// TouchedBuckets returns the buckets to which documents are added or from which they are removed, sorted.
func TouchedBuckets(added, removed []*Stored) []string {
	var buckets []string
	for _, doc := range slices.Concat(added, removed) {
		buckets = append(buckets, doc.Bucket)
	}
	slices.Sort(buckets)
	return slices.Compact(buckets)
}

// Growth returns how many more documents the diff adds than it removes.
func (d Diff) Growth() int { return len(d.Added) - len(d.Removed) }

// modified returns the number of documents of which the diff replaces a version.
func (d Diff) modified() (count int) {
	gone := make(map[document.Identity]bool, len(d.Removed))
	for _, doc := range d.Removed {
		gone[doc.Identity] = true
	}
	for _, doc := range d.Added {
		if gone[doc.Identity] {
			count++
		}
	}
	return count
}

// Fits reports whether the diff keeps a site with a number of documents below a limit, 0 for none, or does not make it
// larger.
func (d Diff) Fits(live, most int) bool {
	return most == 0 || d.Growth() <= 0 || live+d.Growth() <= most
}

// Replacing returns the diff with some of the new versions replaced.
func (d Diff) Replacing(by map[*Stored]*Stored) Diff {
	if len(by) == 0 {
		return d
	}
	replace := func(list []*Stored) []*Stored {
		list = slices.Clone(list)
		for i, doc := range list {
			if other := by[doc]; other != nil {
				list[i] = other
			}
		}
		return list
	}
	d.Added, d.Result, d.Reread = replace(d.Added), replace(d.Result), replace(d.Reread)
	return d
}

// WithoutSecrets returns the diff without cleartext secrets, and without texts, which may have some.
func (d Diff) WithoutSecrets() Diff {
	d.Texts = nil
	sealed := map[*Stored]*Stored{}
	for _, doc := range d.Added {
		if doc.Secret != nil {
			text := *doc.Document
			text.Secret = nil
			sealed[doc] = doc.With(text)
		}
	}
	return d.Replacing(sealed)
}
