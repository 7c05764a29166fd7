package changes

import (
	"context"
	"fmt"
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/puppet"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// puppetResult validates that the overrides of Puppet resources can be applied: their types and parameters exist, and
// their values match the types. It uses rendered documents, because overrides are layered, and ignores documents of
// other kinds. withheld reports whether some of them are withheld.
func (r Renderer) puppetResult(ctx context.Context, documents []*revisions.Stored, fallback *revisions.Stored) (
	result RevisionResult, withheld bool, err error,
) {
	documents = WithPolicy(documents, fallback)
	result.Name = validations.PuppetValidation
	isPuppet := func(doc *document.Document) bool { return puppet.IsPuppet(doc.Identity) }
	if !slices.ContainsFunc(revisions.Contents(documents), isPuppet) {
		return result, false, nil
	}
	computed, err := r.compute(ctx, documents, isPuppet)
	if err != nil {
		result, err = unfinished(result.Name, err)
		return result, false, err
	}
	result = revisionResult(result.Name, computed.faults...)
	if withheld = len(computed.Withheld) > 0; computed.lacksTypes() {
		return result, withheld, nil
	}
	hidden := slices.ContainsFunc(computed.Documents, func(doc *revisions.Stored) bool {
		return isType(doc) && (doc.Tainted || isEncrypted(doc))
	}) // if such a type did not render, nothing would be checked
	ordered := puppet.Ordered(puppetDocuments(computed.Documents, computed.digest), layerOrder(documents))
	problems, err := r.checkOverrides(budget.NewMeter(ctx), ordered)
	if err != nil {
		return result, withheld, fmt.Errorf("check overrides: %w", err)
	}
	for _, message := range OverrideMessages(ordered, problems) {
		if message.Secret {
			message.Message = unquotedOverride
		}
		message.Secret = message.Secret || hidden
		result.Messages = append(result.Messages, message)
	}
	return result, withheld, nil
}

// lacksTypes reports whether types of Puppet resources are withheld or do not render, so that others may seem to be
// missing.
func (c Computed) lacksTypes() bool {
	return slices.ContainsFunc(c.Withheld, isType) ||
		slices.ContainsFunc(c.unrendered, func(doc unjudged) bool { return isType(doc.Stored) })
}

func isType(doc *revisions.Stored) bool { return doc.Schema == puppet.TypeKind }

// unquotedOverride replaces messages that may quote a secret, because findings end up in logs.
const unquotedOverride = "The override cannot be applied; the reason is not quoted, because it may hold a secret: " +
	"correct the value at this path; purser puppet apply shows the reason to users who may see secrets"

// puppetDocuments returns the rendered documents with overrides of Puppet resources and with types. key returns what
// identifies a document's data.
func puppetDocuments(rendered []*revisions.Stored, key func(*revisions.Stored) document.Digest) (of []puppet.Document) {
	for _, doc := range rendered {
		if traits := doc.Traits(); puppet.IsPuppet(doc.Identity) && !traits.Abstract {
			of = append(of, puppet.Document{
				Identity: doc.Identity, Data: doc.Data, Key: key(doc), Labels: traits.Labels,
				Secret: doc.Tainted || traits.Encrypted, Encrypted: traits.Encrypted,
			})
		}
	}
	return of
}

// GatherOverrides returns the overrides of Puppet resources in rendered documents, all of them or those for a node. The
// first LayeringPolicy of the revision's documents orders them. The error is the meter's.
func GatherOverrides(meter *budget.Meter, rendered, documents []*revisions.Stored, node *puppet.Node) (
	puppet.Overrides, error,
) {
	overrides, err := puppet.Gather(meter, puppetDocuments(rendered, Computed{}.digest), layerOrder(documents), node)
	if err != nil {
		return overrides, fmt.Errorf("read overrides: %w", err)
	}
	return overrides, nil
}

// layerOrder returns the layers of the first LayeringPolicy in documents, the most general first.
func layerOrder(documents []*revisions.Stored) (layers []string) {
	at := slices.IndexFunc(documents, (*revisions.Stored).IsLayeringPolicy)
	if at < 0 {
		return nil
	}
	value, _ := document.ParseJSON(documents[at].Data) // a malformed policy gives no order
	data, _ := value.(document.Mapping)
	order, _ := data.At("layerOrder").([]any)
	for _, item := range order {
		layer, _ := item.(string)
		layers = append(layers, layer)
	}
	return layers
}

// OverrideMessages converts problems to messages that name their documents.
func OverrideMessages(documents []puppet.Document, problems []puppet.Problem) (messages []fault.Message) {
	for _, problem := range problems {
		doc := documents[problem.Instance]
		messages = append(messages, fault.Message{
			Message: problem.Message, Error: true, Name: "PuppetOverride", Level: "Error", Kind: "ValidationMessage",
			Documents: []fault.Document{{Schema: doc.Schema, Name: doc.Name, Layer: doc.Layer, Encrypted: doc.Encrypted}},
			Path:      problem.Place(), Secret: problem.Secret,
		})
	}
	return messages
}
