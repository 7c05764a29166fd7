package changes

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/secrets"
	"purser/internal/validations"
)

// givesVersions reports whether a document gives versions of client plugins.
func givesVersions(doc *revisions.Stored) bool { return doc.Schema == validations.ClientVersionsKind }

// givingVersions returns the documents that give client versions.
func givingVersions(documents []*revisions.Stored) (giving []*revisions.Stored) {
	for _, doc := range documents {
		if givesVersions(doc) {
			giving = append(giving, doc)
		}
	}
	return giving
}

// layered reports whether the contents of any document are known only after rendering.
func layered(documents []*revisions.Stored) bool {
	return slices.ContainsFunc(documents, func(doc *revisions.Stored) bool {
		traits := doc.Traits()
		return !traits.Final() && !traits.Abstract
	})
}

// clientVersions returns the client versions to judge the new revision with, and whether some are withheld.
func (v Validator) clientVersions(ctx context.Context, snapshot revisions.Snapshot, diff revisions.Diff) (
	versions validations.ClientVersions, withheld bool, err error,
) {
	documents := givingVersions(diff.After(snapshot.ClientVersions))
	if layered(documents) {
		documents = WithPolicy(diff.After(snapshot.Documents), snapshot.Fallback)
	}
	return v.ClientVersions(ctx, documents)
}

// ClientVersions returns the client versions that the documents of a revision give, and whether some are withheld. It
// renders the documents that give them if one of them needs rendering; if rendering fails, only documents that do not
// need it count.
func (r Renderer) ClientVersions(ctx context.Context, documents []*revisions.Stored) (
	versions validations.ClientVersions, withheld bool, err error,
) {
	giving := givingVersions(documents)
	final := slices.DeleteFunc(slices.Clone(giving), func(doc *revisions.Stored) bool { return !doc.Traits().Final() })
	if !layered(giving) {
		return r.readVersions(final, Computed{}.digest, false), false, nil
	}
	rendered, err := r.RenderOnly(ctx, documents, func(doc *document.Document) bool {
		return doc.Schema == validations.ClientVersionsKind
	})
	if problem, ok := errors.AsType[*fault.Fault](err); ok && isOfDocuments(problem) {
		// That it does not render may depend on a secret, so what is checked without it does, too.
		return r.readVersions(final, Computed{}.digest, rendered.dependsOnSecrets()), false, nil
	}
	return r.readVersions(rendered.Documents, rendered.digest, false), len(rendered.Withheld) > 0, err
}

// isOfDocuments reports whether a rendering fault was caused by the documents, not by what the request may take.
func isOfDocuments(problem *fault.Fault) bool {
	if _, exceeded := errors.AsType[*budget.Exceeded](problem); exceeded {
		return false
	}
	switch problem.Kind {
	case fault.Unavailable:
		return false
	case fault.Internal:
		return problem.Type == secretLost || problem.Type == secrets.UnopenedType
	default:
		return true
	}
}

// readVersions returns the client versions that documents give. If several documents give versions of a plugin, the
// first in order of place counts. key returns what identifies a document's data. The versions are secret if that is
// given, or if one of the documents was rendered with a secret.
func (r Renderer) readVersions(documents []*revisions.Stored, key func(*revisions.Stored) document.Digest, secret bool,
) validations.ClientVersions {
	giving := slices.SortedStableFunc(slices.Values(givingVersions(documents)), revisions.ByPlace)
	secret = secret || slices.ContainsFunc(giving, isTainted)
	sum := sha256.New()
	for _, doc := range giving {
		digest := key(doc)
		_, _ = sum.Write(digest[:]) // a hash returns no error
	}
	all := r.keyOf("client versions", document.Digest(sum.Sum(nil)), secret)
	versions, known := derived[validations.ClientVersions](r.Documents, all)
	if known {
		return versions
	}
	if versions = validations.ReadClientVersions(revisions.Contents(giving), r.Defaults); secret {
		versions = r.ofSecret(versions)
	}
	r.Documents.remember(all, versions, sizeOfVersions(versions))
	return versions
}

func sizeOfVersions(versions validations.ClientVersions) (size int) {
	const each = 64
	for plugin, version := range versions.ByPlugin {
		size += each + len(plugin) + len(version)
	}
	return size
}

// ofSecret marks client versions as depending on a secret.
func (r Renderer) ofSecret(versions validations.ClientVersions) validations.ClientVersions {
	if r.Vault == nil {
		return versions
	}
	digest := versions.Digest()
	of := document.Identity{Schema: validations.ClientVersionsKind}
	return versions.OfSecret(r.Vault.Digest(r.place(of), digest[:]))
}

// dependsOnSecrets reports whether the rendering of any of the documents depends on secrets.
func (c Computed) dependsOnSecrets() bool {
	return slices.ContainsFunc(c.Documents, isTainted) ||
		slices.ContainsFunc(c.unrendered, func(doc unjudged) bool { return doc.secret })
}

func isTainted(doc *revisions.Stored) bool { return doc.Tainted }

// RenderOnly renders some of the documents and their dependencies. Faults: those of rendering, if one of the documents
// does not render.
func (r Renderer) RenderOnly(ctx context.Context, documents []*revisions.Stored, only func(*document.Document) bool) (
	Computed, error,
) {
	computed, err := r.compute(ctx, documents, only)
	if err == nil && len(computed.unrendered) > 0 {
		err = computed.unrendered[0].cause
	}
	return computed, err
}
