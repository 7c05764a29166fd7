package changes

import (
	"context"
	"fmt"
	"slices"

	"purser/internal/budget"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// scope is the set of documents to check after a diff, with the rule for each.
type scope struct {
	// versions are the client versions to judge the new revision with.
	versions validations.ClientVersions
	// governed are the document schemas whose DataSchemas change, use client versions that change, or refer to such ones:
	// to which one.
	governed map[string]string
	// subjects are the documents to check: new ones, then those of the governed schemas.
	subjects []*revisions.Stored
	// pairs are the checks of the subjects, by document; subjects without a rule have none.
	pairs map[*revisions.Stored]revisions.Pair
	book  ruleBook
	// withheld reports whether documents are left out because they or their schemas depend on secrets.
	withheld bool
}

// scope returns the scope of a diff, within the limits of a snapshot.
func (v Validator) scope(ctx context.Context, snapshot revisions.Snapshot, diff revisions.Diff) (s scope, err error) {
	var unknownVersions bool
	if s.versions, unknownVersions, err = v.clientVersions(ctx, snapshot, diff); err != nil {
		return s, err
	}
	versionsChange := s.versions.Digest() != snapshot.Newest.ClientVersions
	s.book, err = v.newRuleBook(ctx, diff.After(snapshot.Schemas), Computed{}.digest, s.versions,
		unknownVersions || versionsChange)
	if err != nil {
		return s, err
	}
	changed := registeredNames(slices.Concat(diff.Added, diff.Removed))
	if versionsChange {
		changed = append(changed, s.book.dependingOnVersions()...)
	}
	s.governed = s.book.registry.Referring(changed)
	gone := revisions.IDs(diff.Removed)
	s.subjects = slices.Clone(diff.Added)
	for _, doc := range snapshot.Governed {
		if _, is := s.governed[doc.Schema]; is && !gone[doc.ID] {
			s.subjects = append(s.subjects, doc)
		}
	}
	if v.Withhold {
		if unknownVersions {
			for _, name := range s.book.dependingOnVersions() {
				s.book.unknown[name] = true
			}
		}
		s.subjects = slices.DeleteFunc(s.subjects, func(doc *revisions.Stored) bool {
			withheld := s.book.unknown[doc.Schema] || isEncrypted(doc)
			s.withheld = s.withheld || withheld
			return withheld
		})
	}
	s.pairs = make(map[*revisions.Stored]revisions.Pair, len(s.subjects))
	for _, doc := range s.subjects {
		if rule, ok := s.book.rules.For(doc.Document); ok {
			s.pairs[doc] = revisions.Pair{Content: doc.Digest, Rule: rule}
		}
	}
	return s, nil
}

// registeredNames returns the names of the DataSchemas among documents.
func registeredNames(documents []*revisions.Stored) (names []string) {
	for _, doc := range documents {
		if validations.Registers(doc.Document) {
			names = append(names, doc.Name)
		}
	}
	return names
}

// hasReferences reports whether a DataSchema of the scope refers to another.
func (s scope) hasReferences() bool {
	return slices.ContainsFunc(s.book.schemas, func(schema *registered) bool { return schema.of.Refers() })
}

// recorded returns the checks whose outcomes may be in the store: those of stored contents, which for a rollback are
// all.
func (s scope) recorded(snapshot revisions.Snapshot, diff revisions.Diff) (pairs []revisions.Pair) {
	isRollback := diff.Result == nil
	for i, doc := range s.subjects {
		pair, checked := s.pairs[doc]
		if _, stored := snapshot.Contents[doc.Digest]; checked && (stored || isRollback || i >= len(diff.Added)) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// mayFail reports whether a check has findings or no recorded outcome in a snapshot.
func (s scope) mayFail(snapshot revisions.Snapshot) bool {
	for _, pair := range s.pairs {
		if found, known := snapshot.Checks[pair.Name()]; !known || len(found) > 0 {
			return true
		}
	}
	return false
}

// unchecked returns one document for each check without an outcome in a snapshot.
func (s scope) unchecked(snapshot revisions.Snapshot) (documents []*revisions.Stored) {
	planned := make(map[revisions.Pair]bool, len(s.subjects))
	for _, doc := range s.subjects {
		pair, checked := s.pairs[doc]
		if _, known := snapshot.Checks[pair.Name()]; checked && !known && !planned[pair] {
			planned[pair] = true
			documents = append(documents, doc)
		}
	}
	return documents
}

// compile compiles the DataSchemas that documents are checked by.
func (v Validator) compile(ctx context.Context, s scope, documents []*revisions.Stored) error {
	needed := map[*registered]bool{}
	for _, doc := range documents {
		needed[s.book.byRule[s.pairs[doc].Rule]] = true
	}
	err := budget.ForEach(ctx, len(s.book.schemas), func(meter *budget.Meter, i int) error {
		schema := s.book.schemas[i]
		if !needed[schema] {
			return nil
		}
		_, err := v.checkerOf(meter, schema.rule, schema, false)
		return budget.About(err, "compile the DataSchema %s", schema.Name)
	})
	if err != nil {
		return fmt.Errorf("compile DataSchemas: %w", err)
	}
	return nil
}
