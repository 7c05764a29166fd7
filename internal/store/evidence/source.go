package evidence

import (
	"sync/atomic"

	"purser/internal/cache"
	"purser/internal/queries"
	"purser/internal/store/journal"
	"purser/internal/store/postgres"
	"purser/internal/store/site"
	"purser/internal/validations"
)

// Source stores tags and posted results, and reads evidence. It is safe for concurrent use.
type Source struct {
	site     *site.Site
	journal  *journal.Journal
	policies *cache.Cache[policyKey, validations.Policy]
	evidence *cache.Cache[queries.Name, knownEvidence]
	poster   postgres.Gatherer[post, posted]
	added    atomic.Int64 // results, by this process
}

// Cache sizes in bytes: for parsed ValidationPolicies, and for the evidence about revisions. Each request for a status
// needs them.
const policiesSize, evidenceSize = 32 << 20, 4 << 20

// New returns the source of evidence about the revisions of a site.
func New(s *site.Site, j *journal.Journal) *Source {
	return &Source{
		site: s, journal: j,
		policies: cache.New[policyKey, validations.Policy](policiesSize),
		evidence: cache.New[queries.Name, knownEvidence](evidenceSize),
	}
}
