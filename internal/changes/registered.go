package changes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// registered is a DataSchema in force with its rule.
type registered struct {
	*revisions.Stored

	of       validations.DataSchema
	rule     validations.Rule
	isUsable bool
	// unresolved are the references in it that have no target.
	unresolved []validations.Finding
	secret     bool // it contains a secret, or it names client versions that do
	quoted     bool // it contains a secret, or refers to a DataSchema that does
	unknown    bool // it names client versions, and some of these are withheld
	versions   validations.ClientVersions
	// broken is why it checks nothing: it is unusable, or something that it needs does not render. Its cause is nil if it
	// is not broken, or if each document that it should check fails by itself.
	broken unjudged

	compiling sync.Once
	checker   validations.Checker // once it was needed
	err       error
}

// compiled returns the checker. Only the first call compiles it, and none is made where all checks are known to pass.
func (s *registered) compiled(meter *budget.Meter, r Renderer) (validations.Checker, error) {
	s.compiling.Do(func() {
		s.checker, s.err = r.Engine.Compile(r.meterFor(meter, s.Identity, s.Data), s.of, s.versions)
	})
	return s.checker, s.err
}

// passOn marks DataSchemas as secret, unknown or broken if they refer to one that is.
func passOn(registry validations.Registry, schemas []*registered, withheld []*revisions.Stored,
	unrendered map[string]unjudged,
) {
	var secret, unknown []string
	for _, schema := range schemas {
		if schema.Tainted {
			secret = append(secret, schema.Name)
		}
	}
	for _, doc := range withheld {
		if doc.Schema == validations.DataSchemaKind {
			unknown = append(unknown, doc.Name)
		}
	}
	broken := slices.SortedFunc(maps.Keys(unrendered), func(a, b string) int { return strings.Compare(b, a) })
	ofSecret, ofUnknown, ofBroken := registry.Referring(secret), registry.Referring(unknown), registry.Referring(broken)
	for _, schema := range schemas {
		_, isSecret := ofSecret[schema.Name]
		_, isUnknown := ofUnknown[schema.Name]
		schema.secret, schema.quoted = schema.secret || isSecret, schema.quoted || isSecret
		schema.unknown = schema.unknown || isUnknown
		if name, is := ofBroken[schema.Name]; is {
			schema.broken = unrendered[name]
		}
	}
}

// registered returns the DataSchemas in force among rendered documents.
func (r Renderer) registered(ctx context.Context, rendered Computed) (schemas []*registered, err error) {
	versions := r.ReadClientVersions(rendered.Documents, rendered.digest)
	digest := versions.Digest()
	for _, doc := range Registering(rendered.Documents) {
		schemas = append(schemas, &registered{Stored: doc, secret: doc.Tainted, quoted: doc.Tainted, versions: versions})
	}
	withheld := slices.ContainsFunc(rendered.Withheld, NamesVersions)
	missing := slices.IndexFunc(rendered.unrendered, func(doc unrendered) bool { return NamesVersions(doc.Stored) })
	registry, err := r.registryOf(budget.NewMeter(ctx), Registering(rendered.Documents), rendered.digest)
	if err != nil {
		return nil, err
	}
	err = budget.ForEach(ctx, len(schemas), func(meter *budget.Meter, i int) error {
		schema := schemas[i]
		meter = r.meterFor(meter, schema.Identity, schema.Data)
		var names bool
		var err error
		schema.of = registry.DataSchema(rendered.digest(schema.Stored), schema.Name)
		if schema.rule, names, err = r.ruleOf(meter, schema.of, versions, digest, withheld || missing >= 0); err != nil {
			return readingSchema(err, schema.Stored)
		}
		if names && missing >= 0 {
			schema.broken = rendered.unrendered[missing].unjudged()
		}
		schema.secret, schema.unknown = schema.secret || names && versions.AreSecret(), names && withheld
		schema.isUsable, schema.unresolved, err = r.Engine.IsUsable(meter, schema.of)
		if err == nil && !schema.isUsable && !r.Compat {
			err = schema.blame(meter, r.Engine)
		}
		return readingSchema(meter.Done(err), schema.Stored)
	})
	if err != nil {
		return nil, fmt.Errorf("read the DataSchemas: %w", err)
	}
	passOn(registry, schemas, rendered.Withheld, rendered.unrenderedSchemas())
	return schemas, nil
}

// blame marks an unusable DataSchema as broken if its document fails. It does not if the schema is unusable only with
// those that it refers to.
func (s *registered) blame(meter *budget.Meter, engine *validations.Engine) error {
	alone, why, err := engine.IsUsable(meter, validations.DataSchema{Text: s.Data})
	if err == nil && !alone {
		s.broken = unjudged{s.Identity, unusable(s.Stored, why[0]), s.secret}
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
			schemas[doc.Name] = doc.unjudged()
		}
	}
	return schemas
}
