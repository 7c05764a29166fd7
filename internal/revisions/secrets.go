package revisions

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/secrets"
	"purser/internal/validations"
)

// Vault keeps what encrypted documents say. The documents themselves say a reference in its place, so that nothing that
// reads, compares, checks or shows them can tell more. A *secrets.Keyring is one.
type Vault interface {
	secrets.Sealer

	// Digest tells contents of one place apart, and nothing else about them.
	Digest(place secrets.Place, content []byte) document.Digest
	// Prefix is what every text begins with that is sealed now.
	Prefix(ctx context.Context) []byte
	// Reseal seals again what was sealed with an older key.
	Reseal(ctx context.Context, place secrets.Place, sealed []byte) ([]byte, error)
}

// site is the name of the one site that is served so far.
const site = "default"

func placeOf(id document.Identity) secrets.Place { return secrets.Place{Site: site, Identity: id} }

// conceal puts a reference in the place of what an encrypted document says, which stays beside it until it is sealed.
// Nothing in it is no secret (spec/api.md §9). What was read of the document may be put back.
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
	doc.Segment, doc.Notes = document.Digest{}, nil // neither may tell of what is hidden
	place := placeOf(doc.Identity)
	reference := secrets.Reference(place, s.Vault.Digest(place, doc.Digest[:]))
	if secrets.IsReference(value) {
		given, _ := value.(string)
		if own := reference[:strings.LastIndexByte(reference, '/')+1]; !strings.HasPrefix(given, own) {
			return nil, foreignReference(entry, doc)
		}
		return doc, nil
	}
	doc.Secret = doc.Data
	doc.Data = document.AppendJSON(nil, reference)
	doc.Digest = document.DigestOf(reference)
	return doc, nil
}

// inClear is a document whose secret is empty, and which is stored like any other.
func inClear(entry document.Entry) (*document.Document, error) {
	root, _ := entry.Value.(document.Mapping)
	metadata, _ := root.At("metadata").(document.Mapping)
	entry.Value = root.With("metadata", metadata.With("storagePolicy", "cleartext"))
	return document.New(entry)
}

func foreignReference(e document.Entry, doc *document.Document) error {
	return fault.New(fault.Invalid, "HTTPBadRequest",
		"The data of document %s (document %d, from line %d) is the reference of another document's secret. Put the secret "+
			"itself there, or the reference that this document was read with. Nothing was stored.",
		doc.Identity, e.Index, e.Line)
}

// refers tells whether a document's data is a reference to what it says.
func refers(doc *Stored) bool {
	return bytes.HasPrefix(doc.Data, []byte(`"secret://`)) && doc.Traits().Encrypted
}

// seal seals what a change brings in. Of documents that were put back by reference the secret must be there.
func (s *Service) seal(ctx context.Context, change *Change) error {
	var fresh, known []*Stored
	for _, doc := range change.Added {
		switch {
		case !refers(doc) || doc.Sealed != nil:
		case doc.Secret != nil:
			fresh = append(fresh, doc)
		default:
			known = append(known, doc)
		}
	}
	errs := make([]error, len(fresh))
	err := s.forEach(ctx, len(fresh), func(i int) {
		fresh[i].Sealed, errs[i] = s.Vault.Seal(ctx, placeOf(fresh[i].Identity), fresh[i].Secret)
	})
	for _, failed := range errs {
		if err == nil {
			err = failed
		}
	}
	if err != nil {
		return fmt.Errorf("seal secrets: %w", err)
	}
	return s.checkKnown(ctx, known)
}

func (s *Service) checkKnown(ctx context.Context, documents []*Stored) error {
	sealed, err := s.sealedOf(ctx, documents)
	if err != nil {
		return err
	}
	for _, doc := range documents {
		if sealed[doc.Digest] == nil {
			return fault.New(fault.Invalid, "HTTPBadRequest", "The data of document %s is a reference to a secret that is not "+
				"kept (any more). Put the secret itself there. Nothing was stored.", doc.Identity)
		}
	}
	return nil
}

// sealedOf reads the sealed texts of documents, by the digest of their contents.
func (s *Service) sealedOf(ctx context.Context, documents []*Stored) (map[document.Digest][]byte, error) {
	digests := make([]document.Digest, 0, len(documents))
	for _, doc := range documents {
		digests = append(digests, doc.Digest)
	}
	sealed, err := s.Store.Sealed(ctx, digests)
	if err != nil {
		return nil, fmt.Errorf("read sealed secrets: %w", err)
	}
	return sealed, nil
}

// opener opens secrets that were read beforehand.
type opener struct {
	vault  Vault
	sealed map[document.Digest][]byte
}

// openerOf reads what is needed to open the secrets of documents.
func (s *Service) openerOf(ctx context.Context, documents []*Stored) (*opener, error) {
	var stored []*Stored
	for _, doc := range documents {
		if refers(doc) && doc.Secret == nil && doc.Sealed == nil {
			stored = append(stored, doc)
		}
	}
	sealed, err := s.sealedOf(ctx, stored)
	return &opener{s.Vault, sealed}, err
}

// open returns what a document says, in clear.
func (o *opener) open(ctx context.Context, doc *Stored) ([]byte, error) {
	sealed := doc.Sealed
	switch {
	case !refers(doc):
		return doc.Data, nil
	case doc.Secret != nil:
		return doc.Secret, nil
	case sealed == nil:
		sealed = o.sealed[doc.Digest]
	}
	if o.vault == nil || sealed == nil {
		return nil, fault.New(fault.Internal, "SecretUnopened",
			"The secret of document %s cannot be opened: this server has no keyset (--secrets-keyset)", doc.Identity)
	}
	text, err := o.vault.Open(ctx, placeOf(doc.Identity), sealed)
	if err != nil {
		return nil, fmt.Errorf("open a secret: %w", err)
	}
	return text, nil
}

// resolver gives the values that references in documents stand for. What could not be opened is told by failed.
func (s *Service) resolver(ctx context.Context, documents []*Stored) (
	resolve func(reference string) (any, bool), failed func() error, err error,
) {
	byReference := map[string]*Stored{}
	for _, doc := range documents {
		if refers(doc) {
			reference, err := document.ParseJSON(doc.Data)
			if text, ok := reference.(string); ok && err == nil {
				byReference[text] = doc
			}
		}
	}
	if len(byReference) == 0 {
		return nil, func() error { return nil }, nil
	}
	o, err := s.openerOf(ctx, documents)
	if err != nil {
		return nil, nil, err
	}
	var failure error
	resolve = func(reference string) (any, bool) {
		doc := byReference[reference]
		if doc == nil {
			return nil, false
		}
		text, err := o.open(ctx, doc)
		var value any
		if err == nil {
			value, err = document.ParseJSON(text)
		}
		if err != nil {
			failure = err
			return nil, false
		}
		return value, true
	}
	return resolve, func() error { return failure }, nil
}

// check checks what a document says; of one that is encrypted nothing is told but that it fails a rule.
func (o *opener) check(ctx context.Context, meter *budget.Meter, checker validations.Checker, doc *Stored) (
	[]validations.Finding, error,
) {
	if !refers(doc) {
		return checker.Check(meter, doc.Data)
	}
	text, err := o.open(ctx, doc)
	if err != nil {
		unopened := validations.Finding{Message: validations.Unopened, Instance: []string{}, SchemaPath: "."}
		return []validations.Finding{unopened}, nil //nolint:nilerr // it is a finding
	}
	findings, err := checker.Check(meter, text)
	return validations.Concealed(findings), err
}
