package revisions

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations"
)

// judgement works out the schema validation of a change: what its documents, and those elsewhere that its DataSchemas
// govern, are found to be (spec/api.md §7.1, §0 C1, D1).
type judgement struct {
	service  *Service
	change   *Change
	versions validations.ClientVersions
	gone     map[int64]bool             // documents that are no longer live
	failing  map[int64]validations.Rule // documents of the new revision that fail, by id
}

// judge fills in the checks, the failures and the number of entries of a change.
func (s *Service) judge(ctx context.Context, change *Change) error {
	j := &judgement{
		service: s, change: change, gone: map[int64]bool{},
		failing: map[int64]validations.Rule{},
	}
	for _, doc := range change.Removed {
		j.gone[doc.ID] = true
	}
	if err := j.inherit(ctx); err != nil {
		return err
	}
	if err := j.readVersions(ctx); err != nil {
		return err
	}
	subjects, err := j.subjects(ctx)
	if err != nil {
		return err
	}
	if err := j.check(ctx, subjects); err != nil {
		return err
	}
	return j.record(ctx)
}

// inherit takes over the failures of the newest revision whose documents are still there.
func (j *judgement) inherit(ctx context.Context) error {
	failures, err := j.service.Store.Failures(ctx, j.change.Against.Revision)
	if err != nil {
		return fmt.Errorf("read the newest revision's failures: %w", err)
	}
	for _, failure := range failures {
		if !j.gone[failure.Document] && !failure.Rule.IsZero() {
			j.failing[failure.Document] = failure.Rule
		}
	}
	return nil
}

// subjects are the documents to check: the new ones, and all whose DataSchema came, went or changed, or judges by
// client versions that did.
func (j *judgement) subjects(ctx context.Context) ([]*Stored, error) {
	subjects := j.change.Added
	kinds := map[string]bool{}
	for _, doc := range slices.Concat(j.change.Added, j.change.Removed) {
		if validations.Registers(doc.Document) {
			kinds[doc.Name] = true
		}
	}
	if err := j.addVersioned(ctx, kinds); err != nil || len(kinds) == 0 {
		return subjects, err
	}
	governed, err := j.service.Store.OfKinds(ctx, slices.Collect(maps.Keys(kinds)))
	if err != nil {
		return nil, fmt.Errorf("find the documents that DataSchemas govern: %w", err)
	}
	for _, doc := range governed {
		if !j.gone[doc.ID] {
			subjects = append(slices.Clip(subjects), doc)
		}
	}
	return subjects, nil
}

// rules are the schemas in force for the subjects once the change is made.
func (j *judgement) rules(ctx context.Context, subjects []*Stored) (
	validations.Rules, map[document.Digest][]byte, error,
) {
	kinds := map[string]bool{}
	for _, doc := range subjects {
		kinds[doc.Schema] = true
	}
	live, err := j.service.Store.Registered(ctx, slices.Collect(maps.Keys(kinds)))
	if err != nil {
		return validations.Rules{}, nil, fmt.Errorf("find DataSchemas: %w", err)
	}
	rules := validations.Rules{Registered: map[string]validations.Rule{}, ControlOnly: j.service.Compat}
	texts := map[document.Digest][]byte{}
	for _, doc := range j.change.Added {
		texts[doc.Digest] = doc.Data
		live = append(live, doc)
	}
	live = slices.DeleteFunc(slices.Clone(live), func(doc *Stored) bool { return j.gone[doc.ID] })
	meter := budget.NewMeter(ctx)
	for _, doc := range registering(live) {
		rule, err := j.service.Engine.RuleOf(meter, doc.Digest, doc.Data, j.versions)
		if err != nil {
			return validations.Rules{}, nil, budget.About(err, "compile DataSchema %s", doc.Name)
		}
		rules.Registered[doc.Name] = rule
	}
	return rules, texts, nil
}

// check judges the subjects: by what is known of the same content and rule, else by checking now.
func (j *judgement) check(ctx context.Context, subjects []*Stored) error {
	rules, texts, err := j.rules(ctx, subjects)
	if err != nil {
		return err
	}
	tasks := newTasks(subjects, rules)
	for _, doc := range subjects {
		delete(j.failing, doc.ID)
	}
	findings, err := j.service.Store.Checked(ctx, tasks.pairs)
	if err != nil {
		return fmt.Errorf("look up earlier checks: %w", err)
	}
	if err := j.checkNew(ctx, tasks, findings, texts); err != nil {
		return err
	}
	for doc, pair := range tasks.pairOf {
		if len(findings[pair.Name()]) > 0 {
			j.failing[doc.ID] = pair.Rule
		}
	}
	return nil
}

// tasks are the checks that subjects need, each pair of content and rule once.
type tasks struct {
	pairs  []Pair
	pairOf map[*Stored]Pair
	of     map[Pair]*Stored // a document with the content
}

func newTasks(subjects []*Stored, rules validations.Rules) tasks {
	t := tasks{pairOf: make(map[*Stored]Pair, len(subjects)), of: make(map[Pair]*Stored, len(subjects))}
	for _, doc := range subjects {
		rule, ok := rules.For(doc.Document)
		if !ok {
			continue
		}
		pair := Pair{doc.Digest, rule}
		t.pairOf[doc] = pair
		if t.of[pair] == nil {
			t.of[pair] = doc
			t.pairs = append(t.pairs, pair)
		}
	}
	return t
}

// checkNew makes the checks whose outcome is not known, adds them to findings and keeps them with the change.
func (j *judgement) checkNew(ctx context.Context, t tasks, findings map[validations.Pair][]validations.Finding,
	texts map[document.Digest][]byte,
) error {
	todo := slices.DeleteFunc(slices.Clone(t.pairs), func(pair Pair) bool {
		_, known := findings[pair.Name()]
		return known
	})
	checkers, err := j.checkers(ctx, todo, texts)
	if err != nil {
		return err
	}
	unknown := make([]*Stored, len(todo))
	for i, pair := range todo {
		unknown[i] = t.of[pair]
	}
	secrets, err := j.service.openerOf(ctx, unknown)
	if err != nil {
		return err
	}
	checks := make([]Check, len(todo))
	var kept atomic.Int64
	err = j.service.countEach(ctx, len(todo), func(meter *budget.Meter, i int) error {
		findings, err := secrets.check(ctx, meter, checkers[todo[i].Rule], unknown[i])
		checks[i] = Check{Pair: todo[i], Findings: bounded(findings, &kept)}
		return budget.About(err, "check document %s by schema %s", unknown[i].Identity, unknown[i].Schema)
	})
	if err != nil {
		return fmt.Errorf("check documents: %w", err)
	}
	for _, check := range checks {
		findings[check.Name()] = check.Findings
	}
	j.change.Checks = checks
	return nil
}

// bounded keeps all findings until those of one change are many megabytes, then the first of each check, cut short.
func bounded(findings []validations.Finding, kept *atomic.Int64) []validations.Finding {
	const budget, short = 16 << 20, 256
	size := 0
	for _, finding := range findings {
		size += len(finding.Message) + len(finding.SchemaPath)
	}
	if kept.Add(int64(size)) <= budget || len(findings) == 0 {
		return findings
	}
	first := findings[0]
	if len(first.Message) > short {
		first.Message = strings.ToValidUTF8(first.Message[:short], "") + "…"
	}
	return []validations.Finding{first}
}

// checkers gets the checkers of the rules that are to be applied, compiling those that were not used lately.
func (j *judgement) checkers(ctx context.Context, todo []Pair, texts map[document.Digest][]byte) (
	map[validations.Rule]validations.Checker, error,
) {
	checkers := map[validations.Rule]validations.Checker{}
	var missing []validations.Rule
	var err error
	meter := budget.NewMeter(ctx)
	for _, pair := range todo {
		rule := pair.Rule
		if checkers[rule] != nil || slices.Contains(missing, rule) {
			continue
		}
		if checker, ok := j.service.Engine.Checker(rule); ok {
			checkers[rule] = checker
		} else if text, ok := texts[rule.Schema]; ok {
			if checkers[rule], err = j.service.Engine.Compile(meter, rule, text, j.versions); err != nil {
				return nil, budget.About(err, "compile DataSchema %s", rule.Schema)
			}
		} else {
			missing = append(missing, rule)
		}
	}
	if len(missing) == 0 {
		return checkers, nil
	}
	stored, err := j.service.Store.Contents(ctx, schemasOf(missing))
	if err != nil {
		return nil, fmt.Errorf("read DataSchemas: %w", err)
	}
	for _, rule := range missing {
		if checkers[rule], err = j.service.Engine.Compile(meter, rule, stored[rule.Schema], j.versions); err != nil {
			return nil, budget.About(err, "compile DataSchema %s", rule.Schema)
		}
	}
	return checkers, nil
}

func schemasOf(rules []validations.Rule) []document.Digest {
	schemas := make([]document.Digest, len(rules))
	for i, rule := range rules {
		schemas[i] = rule.Schema
	}
	return schemas
}
