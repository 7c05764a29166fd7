package queries

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"purser/internal/authz"
	"purser/internal/cache"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// at is the fixed time of all tests.
func at() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// site is a store that answers from plain lists. Methods that no test calls are those of a nil Store.
type site struct {
	Store

	stamp     revisions.Stamp
	revisions []revisions.Revision
	policies  []revisions.PolicyVersion
	outcomes  map[int64][]validations.Outcome
	tags      map[string]int64
	worst     map[string]string
	documents map[int64][]*revisions.Stored
	ranks     map[int64]int
	failures  []revisions.FailedEntry
	findings  map[validations.Pair][]validations.Finding
	texts     map[document.Digest][]byte
	reported  []Reported
	errors    map[int64][]byte
	compared  revisions.Comparison

	readBefore int          // number of selections read by Documents before Compare
	contents   int          // number of calls of Contents
	near       int          // number of documents read if a selection has a limit in bytes; 0 for all
	selections []Selection  // passed to Documents and Ranks
	queries    []EntryQuery // passed to Failures and FailedEntries
	ids        []int64      // passed to ResultTexts
}

// same returns the fault for a revision that has been replaced by another with its number.
func (s *site) same(of revisions.Revision) error {
	if of.Stamp != s.stamp {
		return revisions.UnknownRevision(strconv.FormatInt(of.ID, 10))
	}
	return nil
}

// service returns a view of a site for a viewer who may see everything.
func service(s *site) View { return serviceFor(s, authz.Viewer{Encrypted: true}) }

func serviceFor(s *site, viewer authz.Viewer) View { return serviceOf(s).For(viewer) }

func serviceOf(s Store) *Service {
	const cacheSize = 1 << 20
	return NewService(Config{
		DefaultValidations: revisions.Defaults{validations.SchemaValidation},
		Store:              s, Renderer: changes.Renderer{Engine: validations.NewEngine(validations.Options{})},
		Rendered: cache.New[changes.RenderKey, changes.Rendering](cacheSize),
	})
}

func (s *site) newest() int64 { return int64(len(s.revisions)) }

func (s *site) Latest(context.Context) (int64, error) { return s.newest(), nil }

func (s *site) Tagged(_ context.Context, tag string) (int64, error) { return s.tags[tag], nil }

func (s *site) Around(_ context.Context, revision int64) (revisions.Neighbourhood, error) {
	head := revisions.Head{Revision: s.newest()}
	return revisions.Neighbourhood{Head: head, Stamp: s.stamp, Exists: 0 < revision && revision <= s.newest()}, nil
}

func (s *site) Evidence(_ context.Context, numbers []int64) (Evidence, error) {
	evidence := Evidence{Now: at(), Policies: s.policies, Known: map[int64]validations.Known{}}
	for revision, outcomes := range s.outcomes {
		evidence.Known[revision] = validations.Known{Outcomes: outcomes}
	}
	for _, revision := range s.revisions {
		if slices.Contains(numbers, revision.ID) {
			evidence.Revisions = append(evidence.Revisions, revision)
		}
	}
	return evidence, nil
}

func (s *site) EvidenceOf(ctx context.Context, name Name) (Evidence, error) {
	number := name.Number
	switch {
	case name.ByTag:
		number = s.tags[name.Tag]
	case number == 0:
		number = s.newest()
	}
	return s.Evidence(ctx, []int64{number})
}

func (s *site) List(_ context.Context, query Query) ([]int64, *revisions.Purge, error) {
	var numbers []int64
	for _, revision := range s.revisions {
		numbers = append(numbers, revision.ID)
	}
	numbers = append(numbers, s.newest()+1) // a revision that is deleted before it is read
	if query.Limit >= 0 {
		numbers = numbers[:min(query.Limit, len(numbers))]
	}
	return numbers, nil, nil
}

func (s *site) AllDocuments(ctx context.Context, revision int64, _ revisions.Stamp) (Selected, error) {
	return s.Documents(ctx, revision, Selection{Page: Page{Limit: -1}})
}

func (s *site) Documents(_ context.Context, revision int64, selection Selection) (Selected, error) {
	s.selections = append(s.selections, selection)
	documents, ok := s.documents[revision]
	if !ok {
		return Selected{}, fault.New(fault.NotFound, "RevisionNotFound", "no revision %d", revision)
	}
	if selection.Limit >= 0 {
		documents = documents[:min(selection.Limit, len(documents))]
	}
	if selection.Among > 0 {
		documents = documents[min(selection.Searched, len(documents)):]
		documents = documents[:min(selection.Among, len(documents))]
	}
	selected := Selected{Documents: documents, Stamp: s.stamp}
	if selection.MaxBytes > 0 && s.near > 0 {
		selected.Documents = documents[:min(s.near, len(documents))]
		for _, doc := range documents[len(selected.Documents):] {
			selected.Rest = append(selected.Rest, Outline{ID: doc.ID, Size: len(doc.Data)})
		}
	}
	return selected, nil
}

func (s *site) Ranks(_ context.Context, _ int64, selection Selection) (map[int64]int, error) {
	s.selections = append(s.selections, selection)
	return s.ranks, nil
}

func (s *site) Versions(_ context.Context, _ Selected, ids []int64, do func(*revisions.Stored) error) (found int, err error) {
	for _, id := range ids {
		for _, documents := range s.documents {
			for _, doc := range documents {
				if doc.ID == id {
					found++
					if err := do(doc); err != nil {
						return found, err
					}
				}
			}
		}
	}
	return found, nil
}

func (s *site) Kinds(context.Context, int64, bool) (
	documents map[string]validations.Kind, registered []string, err error,
) {
	return nil, nil, nil
}

func (s *site) FallbackPolicy(context.Context, int64) (*revisions.Stored, error) { return nil, nil }

func (s *site) Compare(_ context.Context, _, after int64) (revisions.Comparison, error) {
	compared := s.compared
	s.readBefore = len(s.selections)
	compared.Target = after
	return compared, nil
}

func (s *site) Failures(ctx context.Context, of revisions.Revision, query EntryQuery) ([]revisions.Failure, error) {
	rows, err := s.FailedEntries(ctx, of, query)
	failures := make([]revisions.Failure, len(rows))
	for i, row := range rows {
		failures[i] = row.Failure
	}
	return failures, err
}

func (s *site) FailedEntries(_ context.Context, of revisions.Revision, query EntryQuery) (
	rows []revisions.FailedEntry, _ error,
) {
	s.queries = append(s.queries, query)
	if err := s.same(of); err != nil {
		return nil, err
	}
	for _, row := range s.failures {
		inside := row.Entry >= query.From && (query.To == 0 || row.Entry < query.To)
		passes := !query.FailuresOnly || !row.Rule.IsZero()
		asked := query.Document == "" || isNamed(row.About.Identity, query.Document)
		if inside && passes && asked && (query.Limit == 0 || len(rows) < query.Limit) {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (s *site) Strays(_ context.Context, of revisions.Revision, document string, limit int, cleartext bool) (
	rows []revisions.FailedEntry, _ error,
) {
	for _, row := range s.failures {
		hidden := cleartext && row.About.Traits().Encrypted
		asked := document == "" || isNamed(row.About.Identity, document)
		if !hidden && asked && slices.ContainsFunc(row.Notes, validations.IsStray) && len(rows) < limit {
			rows = append(rows, row)
		}
	}
	return rows, s.same(of)
}

func (s *site) Checked(context.Context, []revisions.Pair) (map[validations.Pair][]validations.Finding, error) {
	return s.findings, nil
}

func (s *site) Contents(_ context.Context, digests []document.Digest) (map[document.Digest][]byte, error) {
	s.contents += len(digests)
	texts := maps.Clone(s.texts)
	maps.DeleteFunc(texts, func(digest document.Digest, _ []byte) bool { return !slices.Contains(digests, digest) })
	return texts, nil
}

func (s *site) Reported(_ context.Context, of revisions.Revision, name string) (found []Reported, _ error) {
	if err := s.same(of); err != nil {
		return nil, err
	}
	for _, result := range s.reported {
		if name == "" || result.Name == name {
			found = append(found, result)
		}
	}
	return found, nil
}

func (s *site) ResultTexts(_ context.Context, of revisions.Revision, ids []int64) (map[int64]ResultTexts, error) {
	s.ids = append(s.ids, ids...)
	texts := map[int64]ResultTexts{}
	for id, errs := range s.errors {
		texts[id] = ResultTexts{Errors: errs}
	}
	return texts, s.same(of)
}

func (*site) CountWaivers(context.Context) (int64, error) { return 0, nil }

func (s *site) WorstResults(_ context.Context, of revisions.Revision) (map[string]string, error) {
	return s.worst, s.same(of)
}

// policy returns a ValidationPolicy in force from the first revision on.
func policy(names ...string) revisions.PolicyVersion {
	p := validations.Policy{Identity: document.Identity{Schema: "deckhand/ValidationPolicy/v1", Name: "policy"}}
	for _, name := range names {
		p.Requirements = append(p.Requirements, validations.Requirement{Name: name})
	}
	return revisions.PolicyVersion{Policy: p, Since: 1}
}

const layeringPolicy = "---\nschema: deckhand/LayeringPolicy/v1\n" +
	"metadata: {schema: metadata/Control/v1, name: lp}\ndata: {layerOrder: [global, site]}\n"

// names returns the names of documents.
func names(documents []*revisions.Stored) (list []string) {
	for _, doc := range documents {
		list = append(list, doc.Name)
	}
	return list
}
