package wire

import "purser/internal/events"

// Site is a site, with what is known of it.
type Site struct {
	Name     string            `json:"name"`
	Labels   map[string]string `json:"labels"`
	Limits   SiteLimits        `json:"limits"`
	Archived bool              `json:"archived"`

	Revision  int64    `json:"revision"` // the newest one; 0 if there is none
	Stamp     Optional `json:"stamp"`    // of that revision
	Status    Optional `json:"status"`   // of that revision: success or failure
	Documents int64    `json:"documents"`
	CreatedAt Optional `json:"createdAt"`
	ChangedAt Optional `json:"changedAt"`

	// Sources are where the documents of buckets were copied from, by the buckets that were; in a list only if it is of
	// sites that follow one, and then those from there.
	Sources map[string]Followed `json:"sources,omitempty"`
}

// Followed is a bucket of another site that a bucket was copied from.
type Followed struct {
	events.Upstream

	// Behind is how many revisions have changed it there since, at most 1,000; nil if that is not known, or not for the
	// caller to know.
	Behind *int `json:"behind,omitempty"`
}

// SiteLimits are the limits of a site that it has instead of the server's; nil where it has none.
type SiteLimits struct {
	Documents *int64 `json:"documents,omitempty"`
	Changes   *int64 `json:"changes,omitempty"`
	Keep      *int64 `json:"keep,omitempty"`
}
