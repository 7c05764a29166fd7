package changes

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

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

// place returns the place of a document, which its secret is bound to.
func (r Renderer) place(id document.Identity) secrets.Place {
	return secrets.Place{Site: r.Site, Identity: id}
}

// Refers reports whether a document's data is a reference to a secret.
func Refers(doc *revisions.Stored) bool {
	return bytes.HasPrefix(doc.Data, []byte(referencePrefix)) && doc.Traits().Encrypted
}

// referencePrefix is the prefix of data that is, or looks like, a reference to a secret.
const referencePrefix = `"secret://`

// Open returns the cleartext data of a document.
func (r Renderer) Open(ctx context.Context, doc *revisions.Stored) ([]byte, error) {
	switch {
	case !Refers(doc):
		return doc.Data, nil
	case doc.Secret != nil:
		return doc.Secret, nil
	case doc.Sealed == nil:
		return nil, fault.New(fault.Internal, secretLost, "The secret of document %s is not kept: the database has only "+
			"the reference to it; store the document again with the secret itself", doc.Identity)
	case r.Vault == nil:
		return nil, fmt.Errorf("open a secret: %w", secrets.WithoutKeyset(r.place(doc.Identity), doc.Sealed))
	}
	text, err := r.Vault.Open(ctx, r.place(doc.Identity), doc.Sealed)
	if err != nil {
		return nil, fmt.Errorf("open a secret: %w", err)
	}
	return text, nil
}

// OpenText returns a text that was sealed for the place in a reference.
func (r Renderer) OpenText(ctx context.Context, reference string, sealed []byte) ([]byte, error) {
	place, ok := secrets.PlaceOf(reference)
	switch {
	case !ok:
		return nil, fault.New(fault.Internal, secretLost, "The text of a document is sealed for no place")
	case r.Vault == nil:
		return nil, fmt.Errorf("open a text: %w", secrets.WithoutKeyset(place, sealed))
	}
	text, err := r.Vault.Open(ctx, place, sealed)
	if err != nil {
		return nil, fmt.Errorf("open a text: %w", err)
	}
	return text, nil
}

// secretLost is the fault type for a secret that is not in the database.
const secretLost = "SecretLost"

// resolver returns the function that rendering calls to open the secrets behind references, nil if documents have none.
// failure returns the error of the first secret that could not be opened; no others are tried then.
func (r Renderer) resolver(ctx context.Context, documents []*revisions.Stored) (
	resolve func(reference string) (any, bool), failure func() error,
) {
	var failed error
	failure = func() error { return failed }
	if !slices.ContainsFunc(documents, Refers) {
		return nil, failure
	}
	byReference := sync.OnceValue(func() map[string]*revisions.Stored { return referring(documents) })
	return func(reference string) (value any, ok bool) {
		doc := byReference()[reference]
		if doc == nil || failed != nil {
			return nil, false
		}
		text, err := r.Open(ctx, doc)
		if err == nil {
			value, err = document.ParseJSON(text)
		}
		failed = err
		return value, err == nil
	}, failure
}

// referring returns the documents whose data is a reference to a secret, by reference.
func referring(documents []*revisions.Stored) map[string]*revisions.Stored {
	byReference := map[string]*revisions.Stored{}
	for _, doc := range documents {
		if Refers(doc) {
			value, _ := document.ParseJSON(doc.Data) // stored text is valid JSON
			reference, _ := value.(string)
			byReference[reference] = doc
		}
	}
	return byReference
}
