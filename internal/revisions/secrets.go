package revisions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/secrets"
)

// Vault seals the data of encrypted documents. The documents themselves hold a reference in its place, so that nothing
// that reads, compares, checks or shows them can reveal more. A *secrets.Keyring is one.
type Vault interface {
	secrets.Sealer

	// Digest identifies contents of one place, and reveals nothing else about them.
	Digest(place secrets.Place, content []byte) document.Digest
	// Prefix is what every text begins with that is sealed now.
	Prefix(ctx context.Context) []byte
	// Reseal seals again what was sealed with an older key.
	Reseal(ctx context.Context, place secrets.Place, sealed []byte) ([]byte, error)
}

// site is the name of the one site that is served so far.
const site = "default"

func placeOf(id document.Identity) secrets.Place { return secrets.Place{Site: site, Identity: id} }

// conceal replaces the data of an encrypted document by a reference; the data stays beside it until it is sealed. Empty
// data is no secret (spec/api.md §9). A reference that the document was read with may be put back.
func (s *Service) conceal(entry document.Entry, doc *document.Document) (*document.Document, error) {
	value, err := document.ParseJSON(doc.Data)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read data of %s: %w", doc.Identity, err)
	case secrets.IsEmpty(value):
		return inClear(entry)
	case s.Vault == nil:
		return nil, encryptedFault(entry, doc)
	}
	hidden := *doc
	hidden.Segment, hidden.Notes = document.Digest{}, nil // either could reveal something
	place := placeOf(doc.Identity)
	reference := secrets.Reference(place, s.Vault.Digest(place, doc.Digest[:]))
	if secrets.IsReference(value) {
		given, _ := value.(string)
		if own := reference[:strings.LastIndexByte(reference, '/')+1]; !strings.HasPrefix(given, own) {
			return nil, foreignReference(entry, doc)
		}
		return &hidden, nil
	}
	hidden.Secret, hidden.Data = doc.Data, document.AppendJSON(nil, reference)
	hidden.Digest = document.DigestOf(reference)
	return &hidden, nil
}

// inClear makes a document whose secret is empty, which is stored like any other.
func inClear(entry document.Entry) (*document.Document, error) {
	root, _ := entry.Value.(document.Mapping)
	metadata, _ := root.At("metadata").(document.Mapping)
	entry.Value = root.With("metadata", metadata.With("storagePolicy", "cleartext"))
	return document.New(entry)
}

func encryptedFault(e document.Entry, doc *document.Document) error {
	return fault.New(fault.Unimplemented, "HTTPNotImplemented", "Document %s (document %d, from line %d) has "+
		"storagePolicy: encrypted, and this server has no keyset to seal it with: start it with --secrets-keyset. It "+
		"refuses secrets rather than store them in clear. Nothing was stored.", doc.Identity, e.Index, e.Line)
}

func foreignReference(e document.Entry, doc *document.Document) error {
	return fault.New(fault.Invalid, "HTTPBadRequest",
		"The data of document %s (document %d, from line %d) is the reference of another document's secret. Put the secret "+
			"itself there, or the reference that this document was read with. Nothing was stored.",
		doc.Identity, e.Index, e.Line)
}

// refers reports whether a document's data is a reference to a secret.
func refers(doc *Stored) bool {
	return bytes.HasPrefix(doc.Data, []byte(referencePrefix)) && doc.Traits().Encrypted
}

// distinct returns a cleartext document with a digest that no reference to a secret has: the store keeps one content
// for each digest.
func distinct(doc *document.Document) *document.Document {
	if !bytes.HasPrefix(doc.Data, []byte(referencePrefix)) {
		return doc
	}
	other := *doc
	other.Digest = sha256.Sum256(append([]byte("cleartext "), doc.Digest[:]...))
	return &other
}

// referencePrefix is how the data of a document begins that is a reference to a secret, or could be taken for one.
const referencePrefix = `"secret://`

// seal returns a diff whose new secrets are sealed. The secrets of documents that were put back by reference must be in
// the store.
func (s *Service) seal(ctx context.Context, snapshot Snapshot, diff Diff) (Diff, error) {
	sealed := make(map[*Stored]*Stored, len(diff.Added))
	var fresh []*Stored
	for _, doc := range diff.Added {
		switch {
		case !refers(doc) || doc.Sealed != nil:
		case doc.Secret != nil:
			fresh = append(fresh, doc)
		case snapshot.Contents[doc.Digest].Sealed == nil:
			return diff, fault.New(fault.Invalid, "HTTPBadRequest", "The data of document %s is a reference to a secret that "+
				"is not kept (any more). Put the secret itself there. Nothing was stored.", doc.Identity)
		default:
			text := *doc.Document
			text.Sealed = snapshot.Contents[doc.Digest].Sealed
			sealed[doc] = doc.with(text)
		}
	}
	texts := make([]document.Document, len(fresh))
	err := forEach(ctx, len(fresh), func(_ *budget.Meter, i int) (err error) {
		texts[i] = *fresh[i].Document
		texts[i].Sealed, err = s.Vault.Seal(ctx, placeOf(fresh[i].Identity), fresh[i].Secret)
		return err
	})
	if err != nil {
		return diff, fmt.Errorf("seal secrets: %w", err)
	}
	for i, doc := range fresh {
		sealed[doc] = doc.with(texts[i])
	}
	return diff.replacing(sealed), nil
}

// withoutSecrets returns the diff without the secrets in clear.
func (d Diff) withoutSecrets() Diff {
	sealed := map[*Stored]*Stored{}
	for _, doc := range d.Added {
		if doc.Secret != nil {
			text := *doc.Document
			text.Secret = nil
			sealed[doc] = doc.with(text)
		}
	}
	return d.replacing(sealed)
}

// open returns the data of a document in clear.
func open(ctx context.Context, vault Vault, doc *Stored) ([]byte, error) {
	switch {
	case !refers(doc):
		return doc.Data, nil
	case doc.Secret != nil:
		return doc.Secret, nil
	case doc.Sealed == nil:
		return nil, fault.New(fault.Internal, secretLost, "The secret of document %s is not kept: the database has only "+
			"the reference to it. PUT the document again with the secret itself", doc.Identity)
	case vault == nil:
		return nil, fault.New(fault.Internal, secrets.UnopenedType,
			"The secret of document %s cannot be opened: this server has no keyset (--secrets-keyset)", doc.Identity)
	}
	text, err := vault.Open(ctx, placeOf(doc.Identity), doc.Sealed)
	if err != nil {
		return nil, fmt.Errorf("open a secret: %w", err)
	}
	return text, nil
}

// secretLost is the type of the fault of a secret that the database does not have.
const secretLost = "SecretLost"

// resolver opens the secrets that references in documents stand for, each when it is asked for.
type resolver struct {
	ctx         context.Context //nolint:containedctx // it lives as long as one rendering
	vault       Vault
	byReference map[string]*Stored
	failure     error // of the last secret that could not be opened
}

func newResolver(ctx context.Context, vault Vault, documents []*Stored) *resolver {
	r := &resolver{ctx: ctx, vault: vault, byReference: map[string]*Stored{}}
	for _, doc := range documents {
		if !refers(doc) {
			continue
		}
		reference, err := document.ParseJSON(doc.Data)
		if text, ok := reference.(string); ok && err == nil {
			r.byReference[text] = doc
		}
	}
	return r
}

// resolve returns the function that rendering calls, nil if there is nothing to resolve.
func (r *resolver) resolve() func(reference string) (any, bool) {
	if len(r.byReference) == 0 {
		return nil
	}
	return func(reference string) (any, bool) {
		doc := r.byReference[reference]
		if doc == nil {
			return nil, false
		}
		text, err := open(r.ctx, r.vault, doc)
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
