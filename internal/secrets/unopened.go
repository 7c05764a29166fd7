package secrets

import (
	"fmt"

	"purser/internal/fault"
)

// Cause is the reason why a sealed text does not open.
type Cause uint8

// The causes.
const (
	LostKey Cause = iota // the key it was sealed with is not in the keyset, or is disabled there
	Damaged              // Seal did not return it for this place
)

// Unopened is the error for a sealed text that does not open. It names the document and reveals nothing of its content.
type Unopened struct {
	Place Place
	Cause Cause
	Key   uint32 // the id of the lost key; 0 unless Cause is LostKey
}

func (u *Unopened) Error() string {
	if u.Cause == LostKey {
		return fmt.Sprintf("the secret of document %s cannot be opened: it was sealed with key %d, which the keyset does "+
			"not hold; bring back the keyset file that does", u.Place, u.Key)
	}
	return fmt.Sprintf("the secret of document %s cannot be opened: its sealed text was damaged, or moved there from "+
		"another document or site", u.Place)
}

// UnopenedType is the type of the fault of a secret that does not open.
const UnopenedType = "SecretUnopened"

// Unwrap returns the fault to answer with: an internal one, because the caller cannot do anything about it.
func (u *Unopened) Unwrap() error {
	return fault.New(fault.Internal, UnopenedType, "%s", u.Error())
}
