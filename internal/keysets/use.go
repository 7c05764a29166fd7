package keysets

import (
	"errors"
	"time"

	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
)

// Succession names the key of a keyset that is used in place of the primary one from a time on.
type Succession struct {
	Key  uint32    `json:"key"`
	From time.Time `json:"from"`
}

// Use is how a rotated keyset is used: as it is and, from a time on, with another primary key.
type Use[P any] struct {
	First  P
	Next   *Succession // nil if no key follows the first
	Second P           // with the key that Next names
}

// At returns how the keyset is used at a time.
func (u Use[P]) At(now time.Time) P {
	if u.Next != nil && !now.Before(u.Next.From) {
		return u.Second
	}
	return u.First
}

// ErrUnfitNext is the reason why a Succession cannot be used.
var ErrUnfitNext = errors.New(`"next" must name an enabled key of the keyset, and the time from which it is used`)

// UseOf returns the use of a keyset. with makes what uses it with one of its keys as the primary one.
func UseOf[P any](handle *keyset.Handle, next *Succession,
	with func(handle *keyset.Handle, primary uint32) (P, error),
) (
	use Use[P], err error,
) {
	if use.First, err = with(handle, handle.KeysetInfo().GetPrimaryKeyId()); err != nil || next == nil {
		return use, err
	}
	if use.Next = next; !Enabled(handle)[next.Key] || next.From.IsZero() {
		return use, ErrUnfitNext
	}
	use.Second, err = with(handle, next.Key)
	return use, err
}

// Enabled returns which keys of a keyset are enabled, by their ids.
func Enabled(handle *keyset.Handle) map[uint32]bool {
	enabled := map[uint32]bool{}
	for _, key := range handle.KeysetInfo().GetKeyInfo() {
		enabled[key.GetKeyId()] = key.GetStatus() == tinkpb.KeyStatusType_ENABLED
	}
	return enabled
}
