package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"purser/internal/events"
)

// Revision is a revision.
type Revision struct {
	Buckets      []string `json:"buckets"`
	CreatedAt    Optional `json:"createdAt"`
	ID           int64    `json:"id"`
	Stamp        string   `json:"stamp"`
	Kind         string   `json:"kind"`
	User         Optional `json:"user"`
	Message      Optional `json:"message"`
	Source       Optional `json:"source"` // the URL of the commit that it was made from
	RolledBackTo *int64   `json:"rolledBackTo,omitempty"`
	Status       string   `json:"status"`           // success or failure; failed with --compat=deckhand
	Waived       int      `json:"waived,omitempty"` // number of validations that the status depends on waivers of
	Tags         Tags     `json:"tags"`
	URL          string   `json:"url,omitempty"` // not in a list
	Policies     []Policy `json:"validationPolicies"`

	// Chain is the chain value, a SHA-256 sum; "" if an earlier version of the server made the revision.
	Chain string `json:"chain,omitempty"`

	// Sources are where the documents of buckets were copied from, by the buckets that were.
	Sources map[string]events.Upstream `json:"sources,omitempty"`

	// Changes are the versions of documents that it begins and ends; only in the details of a verdict, and nil if they
	// are not known.
	Changes *events.Effect `json:"changes,omitempty"`

	// Not in a list: the revisions before and after it, 0 if there is none and nil from an older server, and how the
	// policies in force in it are weaker than those of the one before.
	Weakened []string `json:"weakened,omitempty"`
	Previous *int64   `json:"previous,omitempty"`
	Next     *int64   `json:"next,omitempty"`
}

// Link is what the chain value of a revision is made from, as far as that is found in the documents now.
type Link struct {
	Chain string `json:"chain"` // as it was stored
	// Of is the text, a JSON mapping, whose SHA-256 sum in canonical form the value is.
	Of json.RawMessage `json:"of"`
	// Intact reports whether the value is that sum.
	Intact bool `json:"intact"`
	// Unchecked names the members of Of that are as they were stored, because the revision before was deleted.
	Unchecked []string `json:"unchecked"`
}

// Tags are the tags of a revision: a list of names in a list of revisions, and a mapping to their data in a single
// revision.
type Tags struct {
	Names []string // in order
	Data  map[string]json.RawMessage
}

// MarshalJSON implements json.Marshaler.
func (t Tags) MarshalJSON() ([]byte, error) {
	if t.Data != nil {
		return json.Marshal(t.Data)
	}
	return json.Marshal(t.Names)
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Tags) UnmarshalJSON(text []byte) error {
	if !strings.HasPrefix(string(text), "{") {
		return json.Unmarshal(text, &t.Names)
	}
	err := json.Unmarshal(text, &t.Data)
	t.Names = slices.Sorted(maps.Keys(t.Data))
	return err
}

// Revisions is a page of revisions. Deckhand has no pages and does not show purges.
type Revisions struct {
	List[Revision]

	Purged *Purge `json:"purged,omitempty"`
}

// Purge is the time, author and reason of the last purge.
type Purge struct {
	At      Optional `json:"at"`
	User    Optional `json:"user"`
	Message Optional `json:"message"`
}

// Pruned is what a prune deletes or would delete.
type Pruned struct {
	DryRun    bool   `json:"dryRun"`
	Revisions Ranges `json:"revisions"`
	Documents int    `json:"documents"` // versions of documents
	Contents  int    `json:"contents"`
	Bytes     int64  `json:"bytes"`
	Kept      int    `json:"kept"`
}

// Ranges are the ranges of deleted revisions.
type Ranges struct {
	Count  int     `json:"count"` // of revisions
	Ranges []Range `json:"ranges"`
}

// Range is a range of revisions.
type Range struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}
