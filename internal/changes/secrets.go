package changes

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/secrets"
)

// Vault seals the data of encrypted documents. The documents contain a reference instead, so that code that reads,
// compares, checks or shows them cannot reveal more. *secrets.Keyring implements it.
type Vault interface {
	secrets.Sealer

	// Digest identifies contents of a place without revealing anything else about them.
	Digest(place secrets.Place, content []byte) document.Digest
	// Prefix is the prefix of everything that is sealed with the current key.
	Prefix(ctx context.Context) []byte
	// Reseal reseals a secret that was sealed with an older key.
	Reseal(ctx context.Context, place secrets.Place, sealed []byte) ([]byte, error)
}

// placeOfSecret returns the place of a document, which its secret is bound to.
func placeOfSecret(id document.Identity) secrets.Place {
	return secrets.Place{Site: revisions.DefaultSite, Identity: id}
}

// Refers reports whether a document's data is a reference to a secret.
func Refers(doc *revisions.Stored) bool {
	return bytes.HasPrefix(doc.Data, []byte(referencePrefix)) && doc.Traits().Encrypted
}

// referencePrefix is the prefix of data that is, or looks like, a reference to a secret.
const referencePrefix = `"secret://`

// Open returns the cleartext data of a document.
func Open(ctx context.Context, vault Vault, doc *revisions.Stored) ([]byte, error) {
	switch {
	case !Refers(doc):
		return doc.Data, nil
	case doc.Secret != nil:
		return doc.Secret, nil
	case doc.Sealed == nil:
		return nil, fault.New(fault.Internal, secretLost, "The secret of document %s is not kept: the database has only "+
			"the reference to it. PUT the document again with the secret itself", doc.Identity)
	case vault == nil:
		return nil, fmt.Errorf("open a secret: %w", secrets.WithoutKeyset(placeOfSecret(doc.Identity), doc.Sealed))
	}
	text, err := vault.Open(ctx, placeOfSecret(doc.Identity), doc.Sealed)
	if err != nil {
		return nil, fmt.Errorf("open a secret: %w", err)
	}
	return text, nil
}

// secretLost is the fault type for a secret that is not in the database.
const secretLost = "SecretLost"

// resolver opens the secrets behind references in documents on demand.
type resolver struct {
	ctx         context.Context //nolint:containedctx // it lives as long as one rendering
	vault       Vault
	documents   []*revisions.Stored
	byReference map[string]*revisions.Stored // nil until the first reference is resolved
	failure     error                        // of the first secret that could not be opened; no others are tried then
}

func newResolver(ctx context.Context, vault Vault, documents []*revisions.Stored) *resolver {
	return &resolver{ctx: ctx, vault: vault, documents: documents}
}

// find returns the document whose data is a reference, nil if there is none.
func (r *resolver) find(reference string) *revisions.Stored {
	if r.byReference == nil {
		r.byReference = map[string]*revisions.Stored{}
		for _, doc := range r.documents {
			if !Refers(doc) {
				continue
			}
			reference, err := document.ParseJSON(doc.Data)
			if text, ok := reference.(string); ok && err == nil {
				r.byReference[text] = doc
			}
		}
	}
	return r.byReference[reference]
}

// resolve returns the function that rendering calls to open secrets, nil if there are none.
func (r *resolver) resolve() func(reference string) (any, bool) {
	if !slices.ContainsFunc(r.documents, Refers) {
		return nil
	}
	return func(reference string) (any, bool) {
		doc := r.find(reference)
		if doc == nil || r.failure != nil {
			return nil, false
		}
		text, err := Open(r.ctx, r.vault, doc)
		var value any
		if err == nil {
			value, err = document.ParseJSON(text)
		}
		if err != nil {
			r.failure = err
			return nil, false
		}
		return value, true
	}
}
