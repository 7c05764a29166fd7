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
	opened, err := s.Renderer().Open(t.Context(), m.live[0])
	if err != nil || string(opened) != `"very"` {
		t.Errorf("opened %s, %v", opened, err)
	}
	if plain, err := (Renderer{}).Open(t.Context(), m.live[1]); err != nil || string(plain) != `{"x":1}` {
		t.Errorf("opened %s, %v", plain, err)
	}
	_, err = Renderer{}.Open(t.Context(), m.live[0])
	wantFault(t, err, fault.Unavailable, "this server has no keyset")
	_, err = Renderer{Site: s.Site, Vault: fakeVault{errors.New("out of order")}}.Open(t.Context(), m.live[0])
	wantFault(t, err, fault.Internal, "open a secret: out of order")
}
