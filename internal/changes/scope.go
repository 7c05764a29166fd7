package changes

import (
	"context"
	"fmt"
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
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
	pairs   map[*revisions.Stored]revisions.Pair
	schemas map[validations.Rule]validations.DataSchema
	// registering are the documents that give the DataSchemas.
	registering map[validations.Rule]*revisions.Stored
	// secret are the rules that depend on client versions from a secret.
	secret map[validations.Rule]bool
	// withheld reports whether documents are left out because they or their schemas depend on secrets.
	withheld bool
}

// scope returns the scope of a diff, within the limits of a snapshot.
func (v Validator) scope(ctx context.Context, snapshot revisions.Snapshot, diff revisions.Diff) (s scope, err error) {
	var unknownVersions bool
	if s.versions, unknownVersions, err = v.clientVersions(ctx, snapshot, diff); err != nil {
		return s, err
	}
	meter := budget.NewMeter(ctx)
	registering := Registering(diff.After(snapshot.Schemas))
	registry, err := v.registryOf(meter, registering, Computed{}.digest)
	if err != nil {
		return s, err
	}
	changed, err := v.changed(meter, registry, registering, diff, s.versions.Digest() != snapshot.Newest.ClientVersions)
	if err != nil {
		return s, err
	}
	s.governed = registry.Referring(changed)
	gone := revisions.IDs(diff.Removed)
	s.subjects = slices.Clone(diff.Added)
	for _, doc := range snapshot.Governed {
		if _, is := s.governed[doc.Schema]; is && !gone[doc.ID] {
			s.subjects = append(s.subjects, doc)
		}
	}
	rules := validations.Rules{Registered: make(map[string]validations.Rule, len(registering)), ControlOnly: v.Compat}
	s.schemas, s.secret = map[validations.Rule]validations.DataSchema{}, map[validations.Rule]bool{}
	s.registering = map[validations.Rule]*revisions.Stored{}
	unknown := map[string]bool{} // document schemas whose DataSchemas name withheld client versions
	digest := s.versions.Digest()
	for _, doc := range registering {
		schema := registry.DataSchema(doc.Digest, doc.Name)
		own := v.meterFor(meter, doc.Identity, doc.Data)
		rule, names, err := v.ruleOf(own, schema, s.versions, digest, unknownVersions)
		if err = own.Done(err); err != nil {
			return s, readingSchema(err, doc)
		}
		unknown[doc.Name] = names && unknownVersions
		s.secret[rule] = names && s.versions.AreSecret()
		rules.Registered[doc.Name], s.schemas[rule], s.registering[rule] = rule, schema, doc
	}
	if v.Withhold {
		s.subjects = slices.DeleteFunc(s.subjects, func(doc *revisions.Stored) bool {
			withheld := unknown[doc.Schema] || doc.Traits().Encrypted
			s.withheld = s.withheld || withheld
			return withheld
		})
	}
	s.pairs = make(map[*revisions.Stored]revisions.Pair, len(s.subjects))
	for _, doc := range s.subjects {
		if rule, ok := rules.For(doc.Document); ok {
			s.pairs[doc] = revisions.Pair{Content: doc.Digest, Rule: rule}
		}
	}
	return s, meter.Check()
}

// ruleOf returns the rule of a DataSchema for client versions, whose digest is given because it takes long to compute.
// If client versions are withheld or secret, it reports whether the DataSchema names any. The error is the meter's,
// unwrapped.
func (r Renderer) ruleOf(meter *budget.Meter, schema validations.DataSchema, versions validations.ClientVersions,
	digest document.Digest, withheld bool,
) (rule validations.Rule, names bool, err error) {
	rule, err = r.Engine.RuleOf(meter, schema, digest)
	if err == nil && (withheld || versions.AreSecret()) {
		names, err = r.Engine.NamesVersions(meter, schema)
	}
	return rule, names, err
}

// hasReferences reports whether a DataSchema of the scope refers to another.
func (s scope) hasReferences() bool {
	for _, schema := range s.schemas {
		if schema.Refers() {
			return true
		}
	}
	return false
}

// registryOf returns the DataSchemas that documents register; digest identifies the data of each.
func (r Renderer) registryOf(meter *budget.Meter, registering []*revisions.Stored,
	digest func(*revisions.Stored) document.Digest,
) (validations.Registry, error) {
	schemas := make(map[string]validations.DataSchema, len(registering))
	for _, doc := range registering {
		schemas[doc.Name] = validations.DataSchema{Digest: digest(doc), Text: doc.Data}
	}
	registry, err := r.Engine.Registry(meter, schemas)
	return registry, budget.About(err, "read the DataSchemas")
}

// changed returns the names of the DataSchemas that a diff changes, and, if the client versions change, of those that
// use them.
func (v Validator) changed(meter *budget.Meter, registry validations.Registry, registering []*revisions.Stored,
	diff revisions.Diff, versionsChange bool,
) (kinds []string, err error) {
	for _, doc := range slices.Concat(diff.Added, diff.Removed) {
		if validations.Registers(doc.Document) {
			kinds = append(kinds, doc.Name)
		}
	}
	if !versionsChange {
		return kinds, nil
	}
	for _, doc := range registering {
		own := v.meterFor(meter, doc.Identity, doc.Data)
		names, err := v.Engine.NamesVersions(own, registry.DataSchema(doc.Digest, doc.Name))
		if err = own.Done(err); err != nil {
			return nil, readingSchema(err, doc)
		}
		if names {
			kinds = append(kinds, doc.Name)
		}
	}
	return kinds, nil
}

// ofSecret reports whether a rule depends on client versions that come from a secret.
func (s scope) ofSecret(rule validations.Rule) bool { return s.secret[rule] }

// readingSchema adds the name of a DataSchema to the error of an exhausted budget.
func readingSchema(err error, doc *revisions.Stored) error {
	return budget.About(err, "read the DataSchema %s", doc.Name)
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

// checkers returns the checkers for the rules of documents.
func (v Validator) checkers(ctx context.Context, s scope, documents []*revisions.Stored) (
	map[validations.Rule]validations.Checker, error,
) {
	checkers := map[validations.Rule]validations.Checker{}
	var unknown []*revisions.Stored // one document for each rule
	for _, doc := range documents {
		rule := s.pairs[doc].Rule
		if _, known := checkers[rule]; known {
			continue
		}
		checker, isBuiltIn := v.Engine.BuiltIn(rule)
		if checkers[rule] = checker; !isBuiltIn {
			unknown = append(unknown, doc)
		}
	}
	compiled := make([]validations.Checker, len(unknown))
	err := budget.ForEach(ctx, len(unknown), func(meter *budget.Meter, i int) (err error) {
		rule := s.pairs[unknown[i]].Rule
		own := v.meterFor(meter, s.registering[rule].Identity, s.registering[rule].Data)
		compiled[i], err = v.Engine.Compile(own, s.schemas[rule], s.versions)
		return budget.About(own.Done(err), "compile the DataSchema %s", unknown[i].Schema)
	})
	if err != nil {
		return nil, fmt.Errorf("compile DataSchemas: %w", err)
	}
	for i, doc := range unknown {
		checkers[s.pairs[doc].Rule] = compiled[i]
	}
	return checkers, nil
}
