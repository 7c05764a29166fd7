package changes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// ruleBook has the rules that the DataSchemas of a revision, submitted or rendered, give for its documents.
type ruleBook struct {
	rules    validations.Rules
	registry validations.Registry
	schemas  []*registered // in order of place
	byRule   map[validations.Rule]*registered
	// unknown are the document schemas whose DataSchemas are withheld, or depend on something withheld.
	unknown map[string]bool
	usable  map[*revisions.Stored]bool // known of rendered DataSchemas only
}

// registered is a DataSchema in force with its rule.
type registered struct {
	*revisions.Stored

	of       validations.DataSchema
	rule     validations.Rule
	versions validations.ClientVersions
	// byVersions reports whether checks by it depend on client versions; known if newRuleBook was asked for that.
	byVersions bool
	secret     bool // it contains a secret, or checks by it depend on client versions that do
	quoted     bool // it contains a secret, or refers to a DataSchema that does

	// These are known of rendered DataSchemas only.
	isUsable   bool
	unresolved []validations.Finding // the references in it that have no target
	// broken is why it checks nothing: it is unusable, or something that it needs does not render. Its cause is nil if it
	// is not broken, or if each document that it should check fails by itself.
	broken unjudged

	compiling sync.Once
	checker   validations.Checker // once it was needed
	err       error
}

// SchemasInForce returns the DataSchemas in force among documents, in order of place. If several have the same name,
// the first is in force.
func SchemasInForce(documents []*revisions.Stored) (inForce []*revisions.Stored) {
	decided := map[string]bool{}
	for _, doc := range slices.SortedStableFunc(slices.Values(documents), revisions.ByPlace) {
		if validations.Registers(doc.Document) && !decided[doc.Name] {
			decided[doc.Name] = true
			inForce = append(inForce, doc)
		}
	}
	return inForce
}

// newRuleBook reads the DataSchemas in force among documents; digest identifies the data of each. byVersions asks
// which of them depend on client versions, also if the versions are not secret.
func (r Renderer) newRuleBook(ctx context.Context, documents []*revisions.Stored,
	digest func(*revisions.Stored) document.Digest, versions validations.ClientVersions, byVersions bool,
) (ruleBook, error) {
	book := ruleBook{
		rules:  validations.Rules{Registered: map[string]validations.Rule{}, ControlOnly: r.Compat},
		byRule: map[validations.Rule]*registered{}, unknown: map[string]bool{}, usable: map[*revisions.Stored]bool{},
	}
	schemas := map[string]validations.DataSchema{}
	for _, doc := range SchemasInForce(documents) {
		schemas[doc.Name] = validations.DataSchema{Digest: digest(doc), Text: doc.Data, Secret: r.ofSite(doc.Tainted)}
		book.schemas = append(book.schemas, &registered{Stored: doc, quoted: doc.Tainted, versions: versions})
	}
	var err error
	if book.registry, err = r.Engine.Registry(budget.NewMeter(ctx), schemas); err != nil {
		return book, budget.About(err, "read the DataSchemas")
	}
	err = budget.ForEach(ctx, len(book.schemas), func(meter *budget.Meter, i int) (err error) {
		s := book.schemas[i]
		own := r.meterFor(meter, s.Identity, s.Data)
		s.of = book.registry.DataSchema(schemas[s.Name].Digest, s.Name)
		s.rule, err = r.Engine.RuleOf(own, s.of, versions.Digest())
		if err == nil && (byVersions || versions.AreSecret()) {
			s.byVersions, err = r.Engine.NamesVersions(own, s.of)
		}
		s.secret = s.Tainted || s.byVersions && versions.AreSecret()
		return readingSchema(own.Done(err), s.Stored)
	})
	if err != nil {
		return book, fmt.Errorf("read the DataSchemas: %w", err)
	}
	for _, s := range book.schemas {
		book.rules.Registered[s.Name], book.byRule[s.rule] = s.rule, s
	}
	return book, nil
}

// readingSchema adds the name of a DataSchema to the error of an exhausted budget.
func readingSchema(err error, doc *revisions.Stored) error {
	return budget.About(err, "read the DataSchema %s", doc.Name)
}

// isSecret reports whether a rule depends on a secret.
func (b ruleBook) isSecret(rule validations.Rule) bool {
	schema := b.byRule[rule]
	return schema != nil && schema.secret
}

// dependingOnVersions returns the names of the DataSchemas that depend on client versions.
func (b ruleBook) dependingOnVersions() (names []string) {
	for _, s := range b.schemas {
		if s.byVersions {
			names = append(names, s.Name)
		}
	}
	return names
}

// checkerOf returns the checker of a rule, whose DataSchema is nil for a built-in one. ofSecret is set if what it
// checks has a secret. The error is the meter's, unwrapped.
func (r Renderer) checkerOf(meter *budget.Meter, rule validations.Rule, schema *registered, ofSecret bool) (
	validations.Checker, error,
) {
	if checker, isBuiltIn := r.Engine.BuiltIn(rule, r.ofSite(ofSecret)); isBuiltIn {
		return checker, nil
	}
	schema.compiling.Do(func() { // none is compiled where all checks are known to pass
		own := r.meterFor(meter, schema.Identity, schema.Data)
		checker, err := r.Engine.Compile(own, schema.of, schema.versions)
		schema.checker, schema.err = checker, own.Done(err)
	})
	return schema.checker, schema.err
}

// renderedRules returns the rules that rendered DataSchemas give.
func (r Renderer) renderedRules(ctx context.Context, rendered Computed) (ruleBook, error) {
	versions := r.readVersions(rendered.Documents, rendered.digest, false)
	withheld := slices.ContainsFunc(rendered.Withheld, givesVersions)
	missing := slices.IndexFunc(rendered.unrendered, func(doc unjudged) bool { return givesVersions(doc.Stored) })
	book, err := r.newRuleBook(ctx, rendered.Documents, rendered.digest, versions, withheld || missing >= 0)
	if err != nil {
		return book, err
	}
	err = budget.ForEach(ctx, len(book.schemas), func(meter *budget.Meter, i int) error {
		if schema := book.schemas[i]; schema.byVersions && missing >= 0 {
			schema.broken = rendered.unrendered[missing]
		}
		return r.examine(meter, book.schemas[i])
	})
	if err != nil {
		return book, fmt.Errorf("read the DataSchemas: %w", err)
	}
	for _, schema := range book.schemas {
		book.usable[schema.Stored] = schema.isUsable
	}
	var unknown []string
	for _, doc := range rendered.Withheld {
		if doc.Schema == validations.DataSchemaKind {
			unknown = append(unknown, doc.Name)
		}
	}
	if withheld {
		unknown = append(unknown, book.dependingOnVersions()...)
	}
	book.passOn(unknown, rendered.unrenderedSchemas())
	return book, nil
}

// passOn marks DataSchemas as secret, unknown or broken if they refer to one that is.
func (b ruleBook) passOn(unknown []string, unrendered map[string]unjudged) {
	var secret []string
	for _, s := range b.schemas {
		if s.Tainted {
			secret = append(secret, s.Name)
		}
	}
	broken := slices.SortedFunc(maps.Keys(unrendered), func(a, b string) int { return strings.Compare(b, a) })
	ofSecret, ofBroken := b.registry.Referring(secret), b.registry.Referring(broken)
	for _, s := range b.schemas {
		if _, is := ofSecret[s.Name]; is {
			s.secret, s.quoted = true, true
		}
		if name, is := ofBroken[s.Name]; is {
			s.broken = unrendered[name]
		}
	}
	for name := range b.registry.Referring(unknown) {
		b.unknown[name] = true
	}
}

// examine finds out whether a rendered DataSchema can be used.
func (r Renderer) examine(meter *budget.Meter, s *registered) (err error) {
	own := r.meterFor(meter, s.Identity, s.Data)
	s.isUsable, s.unresolved, err = r.Engine.IsUsable(own, s.of)
	if err == nil && !s.isUsable && !r.Compat {
		err = s.blame(own, r.Engine, r.ofSite(s.Tainted))
	}
	return readingSchema(own.Done(err), s.Stored)
}

// blame marks an unusable DataSchema as broken if its document fails. It does not if the schema is unusable only with
// those that it refers to.
func (s *registered) blame(meter *budget.Meter, engine *validations.Engine, secret string) error {
	alone, why, err := engine.IsUsable(meter, validations.DataSchema{Text: s.Data, Secret: secret})
	if err == nil && !alone {
		s.broken = unjudged{Stored: s.Stored, cause: unusable(s.Stored, why[0]), secret: s.secret}
	}
	return err
}

// pathOf returns the path of a finding in its document.
func pathOf(f validations.Finding) string {
	return strings.Join(append([]string{".data"}, f.Instance...), ".")
}

// unresolved returns a warning for each reference without a target.
func unresolved(schemas []*registered) warnings {
	return func(yield func(bool, func() fault.Message) bool) {
		for _, schema := range schemas {
			if schema.broken.cause != nil {
				continue // what it refers to may not be known because of that
			}
			for _, f := range schema.unresolved {
				if !yield(schema.quoted, func() fault.Message { return schema.leadsNowhere(f) }) {
					return
				}
			}
		}
	}
}

// leadsNowhere returns the warning about a reference.
func (s *registered) leadsNowhere(f validations.Finding) fault.Message {
	warning := fault.Message{
		Name: "UnresolvableReference", Level: "Warning", Kind: fault.WarningKind,
		Documents: []fault.Document{documentOf(s.Stored)}, Secret: s.quoted,
	}
	if s.quoted {
		warning.Message = fmt.Sprintf("A reference in the DataSchema %s leads nowhere; it is not quoted, because the "+
			"DataSchema contains a secret", s.Name)
		return warning
	}
	warning.Path, warning.Message = pathOf(f), fmt.Sprintf("A reference in the DataSchema %s leads nowhere, so documents "+
		"whose checks reach it fail: %s", s.Name, f.Message)
	return warning
}

// unrenderedSchemas returns the DataSchemas that do not render, by the schema of the documents that they are for.
func (c Computed) unrenderedSchemas() map[string]unjudged {
	schemas := map[string]unjudged{}
	for _, doc := range c.unrendered {
		if validations.Registers(doc.Document) {
			schemas[doc.Name] = doc
		}
	}
	return schemas
}
