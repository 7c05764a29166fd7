package revisions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"purser/internal/budget"
	"purser/internal/validations"
)

// checks are the checks of a change.
type checks struct {
	of       map[*Stored]Pair // by the document that is checked
	findings map[validations.Pair][]validations.Finding
	made     []Check // those that nothing was known of
}

// subjects returns the documents to check: the new ones, and all those whose DataSchema is added, removed or replaced,
// or judges by client versions that are.
func (j judge) subjects(snapshot Snapshot, diff Diff, versions validations.ClientVersions) []*Stored {
	governed, gone := j.governed(snapshot, diff, versions), ids(diff.Removed)
	subjects := slices.Clone(diff.Added)
	for _, doc := range snapshot.Governed {
		if governed[doc.Schema] && !gone[doc.ID] {
			subjects = append(subjects, doc)
		}
	}
	return subjects
}

// governed returns the document schemas by whose DataSchemas documents must be checked again.
func (j judge) governed(snapshot Snapshot, diff Diff, versions validations.ClientVersions) map[string]bool {
	kinds := map[string]bool{}
	for _, doc := range slices.Concat(diff.Added, diff.Removed) {
		if validations.Registers(doc.Document) {
			kinds[doc.Name] = true
		}
	}
	if versions.Digest() == snapshot.Newest.ClientVersions {
		return kinds
	}
	for _, doc := range snapshot.Schemas {
		if validations.Registers(doc.Document) && j.engine.NamesVersions(doc.Digest, doc.Data) {
			kinds[doc.Name] = true
		}
	}
	return kinds
}

// rules are the schemas in force once a change is made, with the texts of those that are registered.
type rules struct {
	validations.Rules

	texts map[validations.Rule][]byte
}

func (j judge) rules(snapshot Snapshot, diff Diff, versions validations.ClientVersions) rules {
	r := rules{
		validations.Rules{Registered: map[string]validations.Rule{}, ControlOnly: j.compat},
		map[validations.Rule][]byte{},
	}
	for _, doc := range Registering(after(snapshot.Schemas, diff)) {
		rule := j.engine.RuleOf(doc.Digest, doc.Data, versions)
		r.Registered[doc.Name], r.texts[rule] = rule, doc.Data
	}
	return r
}

// pairs returns the checks that documents need.
func (r rules) pairs(documents []*Stored) map[*Stored]Pair {
	pairs := make(map[*Stored]Pair, len(documents))
	for _, doc := range documents {
		if rule, ok := r.For(doc.Document); ok {
			pairs[doc] = Pair{doc.Digest, rule}
		}
	}
	return pairs
}

// recorded returns the checks whose outcomes the store may have: those of contents that it has.
func (j judge) recorded(snapshot Snapshot, diff Diff, versions validations.ClientVersions) (pairs []Pair) {
	subjects := j.subjects(snapshot, diff, versions)
	of := j.rules(snapshot, diff, versions).pairs(subjects)
	added := len(diff.Added)
	for i, doc := range subjects {
		pair, checked := of[doc]
		if _, stored := snapshot.Contents[doc.Digest]; checked && (stored || i >= added) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// check checks the subjects: by what is known of the same content and rule, else now, each pair once.
func (j judge) check(ctx context.Context, snapshot Snapshot, diff Diff, subjects []*Stored,
	versions validations.ClientVersions,
) (checks, error) {
	rules := j.rules(snapshot, diff, versions)
	c := checks{of: rules.pairs(subjects), findings: map[validations.Pair][]validations.Finding{}}
	var todo []*Stored
	planned := map[Pair]bool{}
	for _, doc := range subjects {
		pair, checked := c.of[doc]
		if !checked || planned[pair] {
			continue
		}
		planned[pair] = true
		if findings, known := snapshot.Checks[pair.Name()]; known {
			c.findings[pair.Name()] = findings
		} else {
			todo = append(todo, doc)
		}
	}
	checkers, err := j.checkers(ctx, c.of, todo, rules.texts, versions)
	if err != nil {
		return c, err
	}
	c.made = make([]Check, len(todo))
	var size atomic.Int64
	err = forEach(ctx, len(todo), func(_ *budget.Meter, i int) error {
		doc, pair := todo[i], c.of[todo[i]]
		c.made[i] = Check{pair, bounded(j.findings(ctx, checkers[pair.Rule], doc), &size)}
		return nil
	})
	if err != nil {
		return c, fmt.Errorf("check documents: %w", err)
	}
	for _, check := range c.made {
		c.findings[check.Name()] = check.Findings
	}
	return c, nil
}

// checkers returns what checks documents by their rules. Each rule that was not used lately is compiled once.
func (j judge) checkers(ctx context.Context, of map[*Stored]Pair, documents []*Stored,
	texts map[validations.Rule][]byte, versions validations.ClientVersions,
) (map[validations.Rule]validations.Checker, error) {
	checkers := map[validations.Rule]validations.Checker{}
	var unknown []validations.Rule
	for _, doc := range documents {
		rule := of[doc].Rule
		if _, known := checkers[rule]; known {
			continue
		}
		checker, known := j.engine.Checker(rule)
		if checkers[rule] = checker; !known {
			unknown = append(unknown, rule)
		}
	}
	compiled := make([]validations.Checker, len(unknown))
	err := forEach(ctx, len(unknown), func(_ *budget.Meter, i int) error {
		compiled[i] = j.engine.Compile(unknown[i], texts[unknown[i]], versions)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("compile DataSchemas: %w", err)
	}
	for i, rule := range unknown {
		checkers[rule] = compiled[i]
	}
	return checkers, nil
}

// findings checks a document. Of an encrypted one nothing is told but that it fails a rule.
func (j judge) findings(ctx context.Context, checker validations.Checker, doc *Stored) []validations.Finding {
	if !refers(doc) {
		return checker.Check(doc.Data)
	}
	text, err := open(ctx, j.vault, doc)
	if err != nil {
		return []validations.Finding{{Message: validations.Unopened, Instance: []string{}, SchemaPath: "."}}
	}
	return validations.Concealed(checker.Check(text))
}

// bounded keeps all findings until those of one change are many megabytes, then the first of each check, cut short.
func bounded(findings []validations.Finding, total *atomic.Int64) []validations.Finding {
	const maxTotal, maxShort = 16 << 20, 256
	size := 0
	for _, finding := range findings {
		size += len(finding.Message) + len(finding.SchemaPath)
	}
	if total.Add(int64(size)) <= maxTotal || len(findings) == 0 {
		return findings
	}
	first := findings[0]
	if len(first.Message) > maxShort {
		first.Message = strings.ToValidUTF8(first.Message[:maxShort], "") + "…"
	}
	return []validations.Finding{first}
}

// Registering returns the DataSchemas in force among documents, in order of place: of several of one name the first
// counts (spec/api.md §2.5).
func Registering(documents []*Stored) (registering []*Stored) {
	decided := map[string]bool{}
	for _, doc := range slices.SortedStableFunc(slices.Values(documents), byPlace) {
		if validations.Registers(doc.Document) && !decided[doc.Name] {
			decided[doc.Name] = true
			registering = append(registering, doc)
		}
	}
	return registering
}
