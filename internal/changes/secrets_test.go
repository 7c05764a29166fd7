package changes

import (
	"errors"
	"testing"

	"purser/internal/fault"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	s, m := service()
	s.Vault = fakeVault{}
	put(t, s, "a", secret("s1", "very")+widget("w", "{x: 1}"))
	opened, err := Open(t.Context(), s.Vault, m.live[0])
	if err != nil || string(opened) != `"very"` {
		t.Errorf("opened %s, %v", opened, err)
	}
	if plain, err := Open(t.Context(), nil, m.live[1]); err != nil || string(plain) != `{"x":1}` {
		t.Errorf("opened %s, %v", plain, err)
	}
	_, err = Open(t.Context(), nil, m.live[0])
	wantFault(t, err, fault.Unavailable, "this server has no keyset")
	_, err = Open(t.Context(), fakeVault{errors.New("out of order")}, m.live[0])
	wantFault(t, err, fault.Internal, "open a secret: out of order")
}
