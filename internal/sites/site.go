// Package sites manages the sites of a database: their names, labels and limits, and that they are archived or deleted.
package sites

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"purser/internal/fault"
	"purser/internal/revisions"
)

// Default is the site that always exists. Requests without a site in their path are about it.
const Default = revisions.DefaultSite

// Settings are what an operator sets of a site.
type Settings struct {
	Labels   map[string]string
	Limits   Limits
	Archived bool
}

// Version identifies settings: equal ones have the same.
func (s Settings) Version() string {
	if s.Labels == nil {
		s.Labels = map[string]string{}
	}
	const size = 8
	text, _ := json.Marshal(s) //nolint:errchkjson,musttag // it cannot fail, and is only hashed
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:size])
}

// Condition is what must hold of a site for a change of it. The zero value always holds.
type Condition struct {
	New   bool     // there is no site of the name
	Match []string // there is one whose settings have one of these versions, or any for "*"; nil for no such condition
}

// Check returns the fault Stale if a condition does not hold of a site, whose settings are nil if there is none.
func (c Condition) Check(name string, was *Settings) error {
	switch {
	case c.New && was != nil:
		return fault.New(fault.Stale, "HTTPPreconditionFailed", "The site %s exists, and nothing was changed; without "+
			"If-None-Match the request changes it", name)
	case c.Match == nil || was != nil && (slices.Contains(c.Match, "*") || slices.Contains(c.Match, was.Version())):
		return nil
	case was == nil:
		return fault.New(fault.Stale, "HTTPPreconditionFailed", "There is no site %s, and nothing was changed; without "+
			"If-Match the request makes it", name)
	}
	return fault.New(fault.Stale, "HTTPPreconditionFailed", "The settings of the site %s have changed since you read "+
		"them, and nothing was changed; read them again: GET /sites/%[1]s has the ETag for If-Match", name)
}

// Limits are the limits that a site has instead of the server's; nil where the server's hold.
type Limits struct {
	Documents *int64 // live ones
	Changes   *int64 // a minute, of each server
	Keep      *int64 // revisions, besides tagged ones
}

// Site is a site, with what is known of it.
type Site struct {
	Settings

	Name      string
	Revision  int64 // the newest one; 0 if there is none
	Stamp     revisions.Stamp
	Status    string // the verdict on that revision: success or failure; empty if there is none
	Documents int64  // live ones
	CreatedAt time.Time
	ChangedAt time.Time           // when the settings were changed or the newest revision was made, whichever was later
	Upstreams revisions.Upstreams // in a list only if it is of sites that follow one
}

// Keys that sites are sorted by.
const (
	ByName      = "name"
	ByStatus    = "status" // failures first, sites without a revision last
	ByChange    = "changedAt"
	ByDocuments = "documents"
)

// Keys returns the keys that sites are sorted by.
func Keys() []string { return []string{ByName, ByStatus, ByChange, ByDocuments} }

// Query selects sites, in the order of a key and then of their names.
type Query struct {
	Labels        map[string]string // that they have
	Status        string            // success or failure; empty for any
	Archived      *bool             // nil for any
	Follows       string            // a site that they have an upstream in; empty for any
	Behind        bool              // with Follows: only those that are behind one of these upstreams
	Sort          string            // one of Keys; empty for ByName
	Backwards     bool
	Limit, Offset int
	// Among are the names of the sites to select from; nil for all.
	Among []string
}

// Outcome is what became of settings.
type Outcome uint8

// The outcomes.
const (
	Unchanged Outcome = iota // the site had them already
	Changed
	Made
)

// Audit returns the entry of the audit for an outcome; nil for none. It is not asked for Unchanged.
type Audit = func(Outcome) *revisions.AuditEvent

// Store keeps sites. Faults: NotFound for a site that does not exist, Gone for one that is being deleted, Unavailable
// if the database does not answer.
type Store interface {
	// Settings returns the settings of a site.
	Settings(ctx context.Context, name string) (Settings, error)
	// FindSite returns a site.
	FindSite(ctx context.Context, name string) (Site, error)
	// SetSite makes a site, unless there are most already, or changes its settings. The entry of the audit goes to the
	// site Default. Faults: Conflict if there are too many, Stale if the condition does not hold.
	SetSite(ctx context.Context, name string, settings Settings, condition Condition, most int, audit Audit) (
		Outcome, error)
	// DeleteSite marks an archived site for deletion. The entry of the audit goes to the site Default once nothing is left
	// of the site. Faults: Conflict if it is not archived, Stale if the condition does not hold.
	DeleteSite(ctx context.Context, name string, condition Condition, audit *revisions.AuditEvent) error
	// FindSites returns the sites that a query selects, and whether there are more.
	FindSites(ctx context.Context, query Query) (found []Site, more bool, err error)
	// SiteNames returns the names of all sites in alphabetical order.
	SiteNames(ctx context.Context) ([]string, error)
}

var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$`)

// IsName reports whether a site can have a name.
func IsName(name string) bool { return namePattern.MatchString(name) }

// Unknown returns the fault for a site that does not exist, or of which the caller may not know. near is the most
// similar name of a site that the caller may see; empty if there is none.
func Unknown(name, near string) *fault.Fault {
	if near != "" {
		return fault.New(fault.NotFound, "UnknownSite", "There is no site %s; did you mean %s? GET /sites lists those that "+
			"you may see", name, near)
	}
	return fault.New(fault.NotFound, "UnknownSite", "There is no site %s; GET /sites lists those that you may see", name)
}

// Archived returns the fault of a request that would change an archived site.
func Archived(name string) *fault.Fault {
	return fault.New(fault.Conflict, "SiteArchived", "The site %s is archived and takes no changes; PUT /sites/%[1]s "+
		"with archived: false opens it", name)
}

// Deleted returns the fault of a request about a site that is being deleted.
func Deleted(name string) *fault.Fault {
	return fault.New(fault.Gone, "SiteDeleted", "The site %s is being deleted; its name is free once nothing is left of "+
		"it", name)
}

// NotArchived returns the fault of deleting a site that takes changes.
func NotArchived(name string) *fault.Fault {
	return fault.New(fault.Conflict, "SiteNotArchived", "The site %s is not archived, and nothing was deleted; archive "+
		"it first: PUT /sites/%[1]s with archived: true", name)
}

// TooMany returns the fault of making a site where there are most already.
func TooMany(most int) *fault.Fault {
	return fault.New(fault.Conflict, "TooManySites", "There are %d sites, the most that there may be; delete one first",
		most)
}
