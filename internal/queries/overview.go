package queries

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Overview is the newest revision with its verdict, for monitoring.
type Overview struct {
	revisions.RevisionStatus // zero if there is no revision

	// Required are the validations that the verdict is based on, and those that only make warnings, without duplicates, in
	// order of first mention.
	Required []Watched
	// Counts are the numbers of findings; nil if counting them takes too long.
	Counts map[Counted]Number
	// Waivers is the number of active waivers of all revisions.
	Waivers int64
}

// Watched is a validation that a verdict is based on.
type Watched struct {
	Name   string
	Status validations.Status // the worst one in any policy
	// Waived is set if it passes because of a waiver.
	Waived bool
	// Advisory is set if it only makes warnings, in all policies, so that the verdict is not based on it.
	Advisory bool
	// PostedAt is the time of its newest posted result; zero if there is none, and for the server's own validations.
	PostedAt time.Time
	// ExpiresAt is the earliest time at which its success expires by some policy; zero if it does not expire.
	ExpiresAt time.Time
}

// countsKey identifies the findings about a revision as a viewer sees them, by the revision or its failures, and by the
// results that it is judged by.
type countsKey struct {
	site         string
	revision     int64
	stamp        revisions.Stamp
	failures     document.Digest
	viewer       authz.Viewer
	judged       [sha256.Size]byte
	look         int
	failuresOnly bool
}

// Overview returns the newest revision for monitoring. It reads as much as Status does. Findings are counted only once
// for a revision and its newest results, in fewFindings failing documents, and not at all if that takes more than a
// second or exceeds another limit: such a count is not kept, and each call would begin it again.
func (v View) Overview(ctx context.Context) (Overview, error) {
	const patience = time.Second
	evidence, err := v.evidenceOf(ctx, latest)
	if fault.KindOf(err) == fault.NotFound {
		return Overview{}, nil
	}
	if err != nil {
		return Overview{}, err
	}
	overview := Overview{RevisionStatus: v.status(evidence)}
	outcomes := evidence.Known[overview.ID].Outcomes
	overview.Required = watched(overview.Verdict, outcomes)
	if !v.renderer.Compat {
		if overview.Waivers, err = v.store.CountWaivers(ctx); err != nil {
			return Overview{}, fmt.Errorf("count waivers: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if counts, err := v.count(ctx, overview.RevisionStatus, outcomes, fewFindings, false); err == nil {
		overview.Counts = counts.Numbers
	}
	return overview, nil
}

// watched returns the validations that a verdict is based on, given the newest posted results.
func watched(verdict validations.Verdict, outcomes []validations.Outcome) (all []Watched) {
	posted, places := map[string]time.Time{}, map[string]int{}
	for _, outcome := range outcomes {
		posted[outcome.Name] = outcome.At
	}
	add := func(judged validations.Judged) *Watched {
		place, known := places[judged.Name]
		if !known {
			place = len(all)
			places[judged.Name] = place
			one := Watched{Name: judged.Name, Status: judged.Status, Advisory: true}
			if !validations.IsOwn(judged.Name) {
				one.PostedAt = posted[judged.Name]
			}
			all = append(all, one)
		}
		one := &all[place]
		one.Status = worse(one.Status, judged.Status)
		one.Waived, one.Advisory = one.Waived || judged.Waiver != nil, one.Advisory && judged.Advisory
		return one
	}
	for _, policy := range verdict.Policies {
		for i, judged := range policy.Validations { // one for each requirement
			one := add(judged)
			at, expires := policy.Policy.Requirements[i].Expiry(one.PostedAt)
			success := judged.Status == validations.Success || judged.Status == validations.Expired
			if expires && success && !one.PostedAt.IsZero() && (one.ExpiresAt.IsZero() || at.Before(one.ExpiresAt)) {
				one.ExpiresAt = at
			}
		}
	}
	for _, judged := range verdict.Reported {
		add(judged)
	}
	return all
}

// worse returns the more urgent status: a failure before a missing or expired result, and one that does not apply last.
func worse(a, b validations.Status) validations.Status {
	if urgency(b) > urgency(a) {
		return b
	}
	return a
}

// urgency returns a larger number for a status that needs more attention.
func urgency(status validations.Status) int {
	switch status {
	case validations.Failure:
		return 3
	case validations.Missing, validations.Expired:
		return 2
	case validations.Success:
		return 1
	case validations.NotApplicable:
	}
	return 0
}

// count returns the numbers of all findings about a revision, or of those that are not likely mistakes. It describes up
// to look failing documents.
func (v View) count(ctx context.Context, shown revisions.RevisionStatus, outcomes []validations.Outcome, look int,
	failuresOnly bool,
) (Counts, error) {
	judged := withFindingsIn(shown.Verdict).by
	if len(judged) == 0 {
		return Counts{Numbers: map[Counted]Number{}}, nil
	}
	return v.counted(ctx, shown, countsKey{
		site: v.renderer.Site, revision: shown.ID, stamp: shown.Stamp, viewer: v.viewer, judged: digestOf(judged, outcomes),
		look: look, failuresOnly: failuresOnly,
	})
}

// counted returns the numbers of the findings about a revision, once for each key.
func (v View) counted(ctx context.Context, shown revisions.RevisionStatus, key countsKey) (Counts, error) {
	return shareAnswer(ctx, v.Service, key, func(ctx context.Context) (counts Counts, size int, err error) {
		const perItem = 1000
		all, next, more, err := v.allFindings(ctx, shown, FindingsQuery{
			After: FindingPlace{Size: key.look}, FailuresOnly: key.failuresOnly,
		})
		if err != nil {
			return counts, 0, err
		}
		counts = chooseFindings(shown, all, next > 0 || more, FindingsQuery{}).Counts
		size = perItem * (1 + len(counts.Causes) + len(counts.Numbers))
		for _, cause := range counts.Causes {
			size += len(cause.First.Message)
		}
		return counts, size, nil
	})
}

// digestOf returns a digest of the judged results and their statuses.
func digestOf(judged map[string]statusLevel, outcomes []validations.Outcome) [sha256.Size]byte {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(judged)) {
		_, _ = fmt.Fprintf(hash, "%q %d %d %q\n", name, judged[name].Status, judged[name].Level, judged[name].Votes)
	}
	byName := slices.SortedFunc(slices.Values(outcomes), func(a, b validations.Outcome) int {
		return cmp.Compare(a.Name, b.Name)
	})
	for _, outcome := range byName {
		_, _ = fmt.Fprintf(hash, "%q %d\n", outcome.Name, outcome.At.UnixNano())
	}
	return [sha256.Size]byte(hash.Sum(nil))
}
