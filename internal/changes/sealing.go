package changes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/secrets"
)

// conceal replaces the data of an encrypted document with a reference; the data is kept in Secret until it is sealed.
// Empty data is not secret. A reference that was read with the document may be put back.
func (s *Service) conceal(entry document.Entry, doc *document.Document) (*document.Document, error) {
	root, _ := entry.Value.(document.Mapping)
	value := root.At("data")
	switch {
	case secrets.IsEmpty(value):
		return inClear(entry)
	case s.Vault == nil:
		return nil, encryptedFault(entry, doc)
	}
	hidden := *doc
	hidden.Notes = document.Unnamed(doc.Notes) // keys could reveal something
	place := s.place(doc.Identity)
	hidden.Segment = s.keyed(place, doc.Segment)
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

// keyed returns the digest of a text with a secret, from which nobody without the key can guess the text.
func (s *Service) keyed(place secrets.Place, text document.Digest) document.Digest {
	if text.IsZero() {
		return text
	}
	return s.Vault.Digest(place, append([]byte("text "), text[:]...))
}

// withSecrets returns a payload whose items know which encrypted document is in the same source.
func (s *Service) withSecrets(payload Payload) Payload {
	secret := map[*document.Source]*document.Identity{}
	for _, item := range payload.Items {
		of := item.Segment.Source
		if of != nil && secret[of] == nil && item.Document != nil && item.Document.Traits().Encrypted {
			secret[of] = &item.Document.Identity
		}
	}
	if len(secret) == 0 {
		return payload
	}
	payload.Items = slices.Clone(payload.Items)
	for i := range payload.Items {
		item := &payload.Items[i]
		item.Secret = secret[item.Segment.Source]
		if item.Secret != nil && item.Document != nil && !item.Document.Traits().Encrypted {
			beside := *item.Document
			beside.Segment = s.keyed(s.place(beside.Identity), item.Segment.Digest)
			item.Document = &beside
		}
	}
	return payload
}

// inClear returns a document with an empty secret as a cleartext document.
func inClear(entry document.Entry) (*document.Document, error) {
	root, _ := entry.Value.(document.Mapping)
	metadata, _ := root.At("metadata").(document.Mapping)
	entry.Value = root.With("metadata", metadata.With("storagePolicy", "cleartext"))
	entry.Notes = document.Unnamed(entry.Notes)
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

// distinct returns a cleartext document with a digest that no reference to a secret can have, because the store keeps
// only one content per digest.
func distinct(doc *document.Document) *document.Document {
	if !bytes.HasPrefix(doc.Data, []byte(referencePrefix)) {
		return doc
	}
	other := *doc
	other.Digest = sha256.Sum256(append([]byte("cleartext "), doc.Digest[:]...))
	return &other
}

// ContentDigest returns the digest of a document's content as it is stored, that of a secret after opening it: zero if
// it is missing, is not what was sealed, or is not the one that the document refers to.
func (r Renderer) ContentDigest(ctx context.Context, doc *revisions.Stored) (digest document.Digest, err error) {
	if Refers(doc) && doc.Sealed == nil {
		return digest, nil
	}
	text, err := r.Open(ctx, doc)
	if unopened, ok := errors.AsType[*secrets.Unopened](err); ok && unopened.Cause == secrets.Damaged {
		return digest, nil
	}
	if err != nil {
		return digest, err
	}
	value, err := document.ParseJSON(text)
	if err != nil {
		return digest, nil //nolint:nilerr // no document has such a content
	}
	found := document.Document{Data: doc.Data, Digest: document.DigestOf(value)}
	if !Refers(doc) {
		return distinct(&found).Digest, nil
	}
	place := r.place(doc.Identity)
	reference := secrets.Reference(place, r.Vault.Digest(place, found.Digest[:]))
	if !bytes.Equal(document.AppendJSON(nil, reference), doc.Data) {
		return digest, nil
	}
	return document.DigestOf(reference), nil
}

// seal returns a diff whose new secrets are sealed. The secrets of documents put back by reference must already be
// stored.
func (s *Service) seal(ctx context.Context, snapshot revisions.Snapshot, diff revisions.Diff) (revisions.Diff, error) {
	sealed := make(map[*revisions.Stored]*revisions.Stored, len(diff.Added))
	var fresh []*revisions.Stored
	for _, doc := range diff.Added {
		switch {
		case !Refers(doc) || doc.Sealed != nil:
		case doc.Secret != nil:
			fresh = append(fresh, doc)
		case snapshot.Contents[doc.Digest].Sealed == nil:
			return diff, fault.New(fault.Invalid, "HTTPBadRequest", "The data of document %s is a reference to a secret that "+
				"is not kept (any more). Put the secret itself there. Nothing was stored.", doc.Identity)
		default:
			text := *doc.Document
			text.Sealed = snapshot.Contents[doc.Digest].Sealed
			sealed[doc] = doc.With(text)
		}
	}
	texts := make([]document.Document, len(fresh))
	err := budget.ForEach(ctx, len(fresh), func(_ *budget.Meter, i int) (err error) {
		texts[i] = *fresh[i].Document
		texts[i].Sealed, err = s.Vault.Seal(ctx, s.place(fresh[i].Identity), fresh[i].Secret)
		return err
	})
	if err != nil {
		return diff, fmt.Errorf("seal secrets: %w", err)
	}
	for i, doc := range fresh {
		sealed[doc] = doc.With(texts[i])
	}
	return diff.Replacing(sealed), nil
}
