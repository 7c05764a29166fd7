package changes

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// memory is a site without a database that computes everything a Need can ask for from plain lists. Methods that no
// test in this package calls are those of a nil Store.
type memory struct {
	revisions.Store

	mu       sync.Mutex
	head     revisions.Head
	live     []*revisions.Stored
	history  [][]*revisions.Stored // the live documents by revision
	changed  map[string]int64
	stamps   []revisions.Stamp // of the revisions, beginning with the empty one
	contents map[document.Digest]revisions.Content
	checks   map[validations.Pair][]validations.Finding
	newest   revisions.Revision
	violated []revisions.Violation
	outcomes []validations.Outcome
	carried  []validations.Outcome // posted about the target of any rollback

	needs   []revisions.Need   // of the snapshots that were read
	commits []revisions.Commit // in order of appending
	// before is called before a commit is stored, if not nil.
	before func()
}

func newMemory() *memory {
	return &memory{
		history: [][]*revisions.Stored{nil}, changed: map[string]int64{}, stamps: make([]revisions.Stamp, 1),
		contents: map[document.Digest]revisions.Content{},
		checks:   map[validations.Pair][]validations.Finding{},
	}
}

// that returns the live documents that meet a condition.
func (m *memory) that(holds func(doc *revisions.Stored) bool) (documents []*revisions.Stored) {
	for _, doc := range m.live {
		if holds(doc) {
			documents = append(documents, doc)
		}
	}
	return documents
}

func ofSchema(schemas ...string) func(doc *revisions.Stored) bool {
	return func(doc *revisions.Stored) bool { return slices.Contains(schemas, doc.Schema) }
}

func (m *memory) bucket(name string) revisions.Bucket {
	return revisions.NewBucket(name, m.changed[name], m.stamps[m.changed[name]], m.that(func(doc *revisions.Stored) bool { return doc.Bucket == name }))
}

func (m *memory) Snapshot(_ context.Context, need revisions.Need) (revisions.Snapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.needs = append(m.needs, need)
	s := revisions.Snapshot{Head: m.head, Now: at()}
	for _, name := range need.Buckets {
		s.Buckets = append(s.Buckets, m.bucket(name))
	}
	m.fillDocuments(&s, need)
	if need.Evidence {
		s.Newest, s.Violations, s.Policies = m.newest, m.violated, m.policies()
		s.ClientVersions = m.that(givesVersions)
	}
	if need.Preview {
		s.Occupied, s.Known.Outcomes = occupied(m.live), m.outcomes
		s.Failing = m.that(func(doc *revisions.Stored) bool {
			return slices.ContainsFunc(m.violated, func(v revisions.Violation) bool { return v.Document == doc.ID })
		})
	}
	if need.Target != nil {
		s.Comparison, s.Carried.Outcomes = m.compare(*need.Target), m.carried
		s.Noted = m.that(func(doc *revisions.Stored) bool { return len(doc.Notes) > 0 })
	}
	if need.Positions {
		for _, doc := range m.live {
			s.Positions = append(s.Positions, revisions.Position{ID: doc.ID, Place: doc.Place})
		}
	}
	return s, nil
}

func (m *memory) fillDocuments(s *revisions.Snapshot, need revisions.Need) {
	if len(need.Identities) > 0 {
		s.Claims = m.that(func(doc *revisions.Stored) bool {
			return slices.Contains(need.Identities, doc.Identity) || doc.IsLayeringPolicy()
		})
	}
	if len(need.Contents) > 0 {
		s.Contents = map[document.Digest]revisions.Content{}
		for _, digest := range need.Contents {
			if content, known := m.contents[digest]; known {
				s.Contents[digest] = content
			}
		}
	}
	s.Schemas = m.that(func(doc *revisions.Stored) bool {
		return doc.Schema == validations.DataSchemaKind && (need.Schemas || slices.Contains(need.Kinds, doc.Name))
	})
	s.Governed = m.that(ofSchema(need.Governed...))
	if len(need.Checks) > 0 {
		s.Checks = map[validations.Pair][]validations.Finding{}
	}
	for _, pair := range need.Checks {
		if findings, known := m.checks[pair.Name()]; known {
			s.Checks[pair.Name()] = findings
		}
	}
	if need.Documents {
		s.Documents, s.Fallback = slices.Clone(m.live), m.fallback()
	}
}

func (m *memory) Held(context.Context, []revisions.Hold, string) ([]revisions.HeldResult, error) {
	return nil, nil
}

func (m *memory) Settled(context.Context) (int64, error) { return m.head.Revision, nil }

func (m *memory) CarryHeld(context.Context, revisions.Revision, int64, bool, validations.Result) error {
	return nil
}

func (m *memory) policies() (versions []revisions.PolicyVersion) {
	for _, doc := range m.that((*revisions.Stored).IsPolicy) {
		policy := validations.ParsePolicy(doc.Identity, doc.Data, false)
		versions = append(versions, revisions.PolicyVersion{Policy: policy, Place: doc.Place, Since: doc.Revision})
	}
	return versions
}

// fallback returns the newest LayeringPolicy of all revisions.
func (m *memory) fallback() *revisions.Stored {
	for _, documents := range slices.Backward(m.history) {
		if at := slices.IndexFunc(documents, (*revisions.Stored).IsLayeringPolicy); at >= 0 {
			return documents[at]
		}
	}
	return nil
}

func occupied(documents []*revisions.Stored) []string {
	return slices.Sorted(maps.Keys(revisions.GroupByBucket(documents)))
}

func (m *memory) compare(target int64) *revisions.Comparison {
	c := &revisions.Comparison{Head: m.head, Target: target, Before: occupied(m.live)}
	if target >= int64(len(m.history)) {
		c.Missing = []int64{target}
		return c
	}
	old := m.history[target]
	c.After = occupied(old)
	was, is := revisions.IDs(old), revisions.IDs(m.live)
	for _, doc := range m.live {
		if !was[doc.ID] {
			c.Removed = append(c.Removed, doc)
		}
	}
	for _, doc := range old {
		if !is[doc.ID] {
			c.Added = append(c.Added, doc)
		}
	}
	return c
}

func (m *memory) Recall(names []string) (snapshot revisions.Snapshot, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		snapshot.Buckets = append(snapshot.Buckets, m.bucket(name))
	}
	return snapshot, true
}

func (m *memory) Remember(_ []revisions.Bucket, _ revisions.Revision, documents []*revisions.Stored) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, doc := range documents {
		for i, old := range m.live {
			if old.ID == doc.ID {
				m.live[i] = doc
			}
		}
	}
}

func (*memory) Pack(data []byte) []byte { return data }

func (m *memory) Reread(_ context.Context, base revisions.Head, diff revisions.Diff, _ []revisions.TextBlock) error {
	if base != m.head {
		return revisions.ErrStaleSnapshot
	}
	m.Remember(nil, revisions.Revision{}, diff.Reread)
	return nil
}

func (m *memory) Append(_ context.Context, commit revisions.Commit) (revisions.Commit, error) {
	if before := m.before; before != nil {
		m.before = nil
		before()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commits = append(m.commits, commit)
	if commit.Base != m.head {
		return commit, revisions.ErrStaleSnapshot
	}
	return m.apply(commit)
}

var errTwice = errors.New("an identity is live twice")

func (m *memory) apply(commit revisions.Commit) (revisions.Commit, error) {
	gone, diff := revisions.IDs(commit.Diff.Removed), commit.Diff
	live := m.that(func(doc *revisions.Stored) bool { return !gone[doc.ID] })
	for _, doc := range diff.Added {
		if slices.ContainsFunc(live, func(other *revisions.Stored) bool { return other.Identity == doc.Identity }) {
			return commit, errors.Join(revisions.ErrStaleSnapshot, errTwice)
		}
	}
	for _, doc := range diff.Result {
		for i := range live {
			if live[i].ID == doc.ID {
				live[i] = doc
			}
		}
	}
	live = append(live, diff.Added...)
	slices.SortFunc(live, func(a, b *revisions.Stored) int { return cmp.Compare(a.Place, b.Place) })
	for _, bucket := range commit.Revision.Buckets {
		m.changed[bucket] = commit.Revision.ID
	}
	for _, doc := range diff.Added {
		if _, known := m.contents[doc.Digest]; !known {
			m.contents[doc.Digest] = revisions.Content{Sealed: doc.Sealed}
		}
	}
	for _, check := range commit.Checks {
		m.checks[check.Name()] = check.Findings
	}
	m.live, m.history = live, append(m.history, live)
	commit.Revision.Stamp = revisions.Stamp(commit.Revision.ID)
	m.stamps = append(m.stamps, commit.Revision.Stamp)
	m.violated = slices.DeleteFunc(slices.Clone(m.violated), func(v revisions.Violation) bool {
		return slices.Contains(commit.Ended, v)
	})
	for _, violation := range commit.Begun {
		violation.Since = commit.Revision.ID
		m.violated = append(m.violated, violation)
	}
	m.newest, m.head.Stamp = commit.Revision, commit.Revision.Stamp
	m.head.Revision, m.head.Live = commit.Revision.ID, len(live)
	m.head.LastDocument += int64(len(diff.Added))
	return commit, nil
}

func (m *memory) Around(_ context.Context, revision int64) (revisions.Neighbourhood, error) {
	return revisions.Neighbourhood{Head: m.head, Exists: revision > 0 && revision <= m.head.Revision}, nil
}

// shown lists the live documents as "bucket/schema name=data@place", in order of place.
func (m *memory) shown() (lines []string) {
	for _, doc := range m.live {
		lines = append(lines, strings.Join([]string{doc.Bucket, doc.Schema, doc.Name, string(doc.Data)}, " "))
	}
	return lines
}
