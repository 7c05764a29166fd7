package sites

import (
	"context"

	"purser/internal/fault"
	"purser/internal/revisions"
)

// MaxSites bounds the sites of a database, with those that are being deleted.
const MaxSites = 20_000

// Service makes, changes and deletes sites. It is safe for concurrent use.
type Service struct {
	Store     Store
	Directory *Directory // of the same store
}

// NewService returns a service with a directory.
func NewService(store Store, directory *Directory) *Service { return &Service{store, directory} }

// Set makes a site or changes its settings, and returns it. A site keeps no setting that it does not get. Faults: Gone
// if it is being deleted, Stale if the condition does not hold, Conflict if there are MaxSites.
func (s *Service) Set(ctx context.Context, name string, settings Settings, condition Condition, audit Audit) (
	Site, Outcome, error,
) {
	outcome, err := s.Store.SetSite(ctx, name, settings, condition, MaxSites, audit)
	s.Directory.Forget(name)
	if err != nil {
		return Site{}, outcome, err
	}
	site, err := s.Store.FindSite(ctx, name)
	return site, outcome, err
}

// Delete begins to delete an archived site. confirm must be its name. Faults: Invalid if it is not, Conflict for the
// site Default, which always exists, and for one that is not archived, NotFound, Gone if that has begun already, Stale
// if the condition does not hold.
func (s *Service) Delete(ctx context.Context, name, confirm string, condition Condition, audit *revisions.AuditEvent,
) error {
	switch {
	case name == Default:
		return fault.New(fault.Conflict, "SiteNotDeletable", "The site %s always exists: requests without a site are about "+
			"it. DELETE /revisions deletes all that it has", name)
	case !IsName(name):
		return Unknown(name, "")
	case confirm != name:
		return fault.New(fault.Invalid, "HTTPInvalidParam", "All that the site %s has would be deleted for good, and "+
			"nothing was deleted: to confirm that, the parameter \"confirm\" must be the name of the site", name)
	}
	err := s.Store.DeleteSite(ctx, name, condition, audit)
	s.Directory.Forget(name)
	return err
}
