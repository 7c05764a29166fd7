package changes

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/puppet"
	"purser/internal/rendering"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Use is a way in which a document depends on an encrypted document, or on what was taken from one.
type Use struct {
	By  *revisions.Stored
	How string
}

// usable is what can be used of the documents of a site before or after a change.
type usable struct {
	documents []*revisions.Stored
	of        map[document.Identity]*revisions.Stored // the documents by identity
	links     map[link]bool                           // between documents
	secret    map[document.Identity]bool              // encrypted documents, and those that take something from them
}

// link is a dependency of one document on another.
type link struct {
	from, to document.Identity
	kind     rendering.Relation
}

// mayAddUses reports whether a change may add uses of encrypted documents. It may not if it only rewrites the data of
// documents that do not decide about others, and adds such documents in the clear that take nothing from others. A
// document that is deleted may have hidden another one of its name.
func mayAddUses(diff revisions.Diff) bool {
	gone := make(map[document.Identity]*revisions.Stored, len(diff.Removed))
	for _, doc := range diff.Removed {
		gone[doc.Identity] = doc
	}
	for _, doc := range diff.Added {
		old, traits := gone[doc.Identity], doc.Traits()
		delete(gone, doc.Identity)
		switch {
		case doc.IsLayeringPolicy() || doc.Schema == validations.DataSchemaKind || doc.Schema == puppet.TypeKind:
			return true
		case old != nil && bytes.Equal(old.Metadata, doc.Metadata):
		case old != nil || !traits.Plain || traits.Replacement || traits.Encrypted:
			return true
		}
	}
	return len(gone) > 0
}

// addedUses returns the uses of encrypted documents that a change adds. The snapshot has all documents.
func (r Renderer) addedUses(ctx context.Context, snapshot revisions.Snapshot, diff revisions.Diff) ([]Use, error) {
	remaining := diff.After(snapshot.Documents)
	if !slices.ContainsFunc(remaining, isEncrypted) {
		return nil, nil
	}
	before, err := usableOf(ctx, WithPolicy(snapshot.Documents, snapshot.Fallback))
	if err != nil {
		return nil, err
	}
	after, err := usableOf(ctx, WithPolicy(remaining, snapshot.Fallback))
	if err != nil {
		return nil, err
	}
	added := map[document.Identity]bool{}
	for _, doc := range diff.Added {
		added[doc.Identity] = true
	}
	uses := append(addedLinks(before, after, added), addedTypes(before, after)...)
	checks, err := r.addedChecks(ctx, before, after)
	return append(uses, checks...), err
}

// usableOf finds how documents depend on each other.
func usableOf(ctx context.Context, documents []*revisions.Stored) (usable, error) {
	u := usable{
		documents: documents, of: make(map[document.Identity]*revisions.Stored, len(documents)), links: map[link]bool{},
		secret: map[document.Identity]bool{},
	}
	g, err := rendering.Dependencies(ctx, revisions.Contents(documents))
	if err != nil {
		return u, fmt.Errorf("find uses of encrypted documents: %w", err)
	}
	dependents := map[document.Identity][]document.Identity{}
	for _, edge := range g.Edges {
		from, to := g.Vertices[edge.From], g.Vertices[edge.To]
		if to.Missing == rendering.Present && !edge.Doubtful { // a document with doubtful parents does not render
			u.links[link{from.Identity, to.Identity, edge.Kind}] = true
			dependents[to.Identity] = append(dependents[to.Identity], from.Identity)
		}
	}
	var found []document.Identity
	for _, doc := range documents {
		if u.of[doc.Identity] = doc; doc.Traits().Encrypted {
			found = append(found, doc.Identity)
		}
	}
	for ; len(found) > 0; found = found[1:] {
		if id := found[0]; !u.secret[id] {
			u.secret[id] = true
			found = append(found, dependents[id]...)
		}
	}
	return u, nil
}

// addedLinks returns the substitutions and parents that a change adds or rewrites, of documents that depend on a
// secret. added are the documents that it adds or replaces. That a document comes to depend on an encrypted one only
// because that one is added is the decision of whoever adds it.
func addedLinks(before, after usable, added map[document.Identity]bool) (uses []Use) {
	for l := range after.links {
		by, known := after.of[l.from], before.links[l]
		switch {
		case !after.secret[l.to]:
		case known && (!added[l.from] || declared(before.of[l.from], l) == declared(by, l)):
		case !known && !added[l.from] && added[l.to] && after.of[l.to].Traits().Encrypted:
		case l.kind == rendering.Substitution:
			uses = append(uses, Use{by, "substitutes from one"})
		default:
			uses = append(uses, Use{by, "has one as its parent"})
		}
	}
	return uses
}

// declared returns the part of a document's metadata that declares a link.
func declared(doc *revisions.Stored, l link) string {
	value, _ := document.ParseJSON(doc.Metadata) // stored text is valid JSON
	metadata, _ := value.(document.Mapping)
	if l.kind != rendering.Substitution {
		return string(document.AppendJSON(nil, metadata.At("layeringDefinition")))
	}
	substitutions, _ := metadata.At("substitutions").([]any)
	var text []byte
	for _, item := range substitutions {
		substitution, _ := item.(document.Mapping)
		source, _ := substitution.At("src").(document.Mapping)
		if source.At("schema") == l.to.Schema && source.At("name") == l.to.Name {
			text = document.AppendJSON(text, substitution)
		}
	}
	return string(text)
}

// addedTypes returns the PuppetTypes that a change adds or rewrites while overrides depend on secrets.
func addedTypes(before, after usable) (uses []Use) {
	isOverride := func(id document.Identity) bool { return id.Schema == puppet.OverrideKind }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(after.secret)), isOverride) {
		return nil
	}
	for _, doc := range after.documents {
		old := before.of[doc.Identity]
		if doc.Schema == puppet.TypeKind && (old == nil || old.Digest != doc.Digest) {
			uses = append(uses, Use{doc, "checks overrides that depend on one"})
		}
	}
	return uses
}

// addedChecks returns the DataSchemas that a change registers or rewrites, themselves or in what they refer to, and
// that check documents that depend on secrets or use client versions that do.
func (r Renderer) addedChecks(ctx context.Context, before, after usable) (uses []Use, err error) {
	kinds := map[string]bool{}
	for id := range after.secret {
		kinds[id.Schema] = kinds[id.Schema] || !after.of[id].Traits().Abstract
	}
	was, err := r.newRuleBook(ctx, before.documents, Computed{}.digest, validations.ClientVersions{}, false)
	if err != nil {
		return nil, err
	}
	is, err := r.newRuleBook(ctx, after.documents, Computed{}.digest, validations.ClientVersions{}, true)
	if err != nil {
		return nil, err
	}
	for _, schema := range is.schemas {
		checks := kinds[schema.Name] || schema.byVersions && kinds[validations.ClientVersionsKind]
		if rule, known := was.rules.Registered[schema.Name]; checks && (!known || rule != schema.rule) {
			uses = append(uses, Use{schema.Stored, "checks documents that depend on one"})
		}
	}
	return uses, nil
}

// String says how the document uses encrypted ones.
func (u Use) String() string { return u.By.Identity.String() + " " + u.How }

// checkUses refuses a change that adds a use of encrypted documents. Fault: Forbidden.
func (s *Service) checkUses(ctx context.Context, from source, snapshot revisions.Snapshot, diff revisions.Diff,
	options revisions.Options,
) error {
	uses, err := s.newValidator(options).bringing(diff.Added).addedUses(ctx, snapshot, diff)
	if err != nil || len(uses) == 0 {
		return err
	}
	place := func(document.Identity) string { return "The document" }
	if of, isBody := from.(payloadSource); isBody {
		place = of.payload.placeOf
	}
	return mayNotUse(uses, place)
}

// mayNotUse returns the fault for a caller who may not add uses of encrypted documents. place says where a document is
// in the body.
func mayNotUse(uses []Use, place func(document.Identity) string) error {
	const most = 10
	slices.SortFunc(uses, func(a, b Use) int { return strings.Compare(a.String(), b.String()) })
	uses = slices.CompactFunc(uses, func(a, b Use) bool { return a.String() == b.String() })
	f := fault.New(fault.Forbidden, "HTTPForbidden",
		"Policy doesn't allow %s to be performed: the change would make documents depend on encrypted ones, or check "+
			"them. Nothing was changed. Leave out what the list names, or have somebody with this right make the change",
		authz.UseEncryptedDocuments).Lacking(authz.UseEncryptedDocuments)
	for _, u := range uses[:min(len(uses), most)] {
		f.Messages = append(f.Messages, fault.Message{
			Message: place(u.By.Identity) + ": " + u.String(), Error: true, Documents: []fault.Document{documentOf(u.By)},
			Secret: isEncrypted(u.By),
		})
	}
	if more := len(uses) - most; more > 0 {
		f.Messages = append(f.Messages, fault.Message{Message: fmt.Sprintf("And %d more", more), Error: true})
	}
	return f
}
