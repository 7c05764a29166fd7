package secrets

import (
	"fmt"
	"time"

	"purser/internal/fault"
)

// Cause is the reason why a sealed text does not open.
type Cause uint8

// The causes.
const (
	LostKey  Cause = iota // the key it was sealed with is not in the keyset, or is disabled there
	NoKeyset              // the server has no keyset
	Damaged               // Seal did not return it for this place
)

// Unopened is the error for a sealed text that does not open. It names the document and reveals nothing of its content.
type Unopened struct {
	Place Place
	Cause Cause
	Key   uint32 // the id of the missing key; 0 if Cause is Damaged
}

// WithoutKeyset returns the error for a text that is to be opened without a keyset.
func WithoutKeyset(place Place, sealed []byte) error {
	key, _ := KeyOf(sealed)
	return &Unopened{place, NoKeyset, key}
}

func (u *Unopened) Error() string {
	return fmt.Sprintf("the secret of document %s cannot be opened: %s", u.Place, u.reason())
}

func (u *Unopened) reason() string {
	switch u.Cause {
	case LostKey:
		return fmt.Sprintf("it was sealed with key %d, which the keyset of this server does not hold; copy the newest "+
			"keyset file, which holds it, to this server", u.Key)
	case NoKeyset:
		return fmt.Sprintf("it was sealed with key %d, and this server has no keyset; start it with the --secrets-keyset of "+
			"the other servers", u.Key)
	case Damaged:
	}
	return "its sealed text was damaged, or moved there from another document or site"
}

// UnopenedType is the type of the fault of a secret that does not open.
const UnopenedType = "SecretUnopened"

// patience is how long a client waits before it tries again what needs a missing key.
const patience = 10 * time.Second

// Unwrap returns the fault to answer with. A missing key is not a fault of the document: another server may have it,
// and this one may get it. The caller cannot do anything about a damaged text either.
func (u *Unopened) Unwrap() error {
	if u.Cause == Damaged {
		return fault.New(fault.Internal, UnopenedType, "%s", u.Error())
	}
	missing := fault.New(fault.Unavailable, UnopenedType, "A secret cannot be opened: %s", u.reason())
	missing.RetryAfter = patience
	missing.Messages = []fault.Message{{Message: missing.Message, Error: true}, {
		Message: fmt.Sprintf("It is the secret of document %s", u.Place), Error: true, Secret: true,
		Documents: []fault.Document{{Schema: u.Place.Schema, Name: u.Place.Name, Layer: u.Place.Layer, Encrypted: true}},
	}}
	return missing
}
