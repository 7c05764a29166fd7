package backend

import (
	"context"
	"errors"
	"testing"

	"purser/internal/wire"
)

func TestRefusal(t *testing.T) {
	t.Parallel()
	one := []wire.Identity{{Schema: "acme/Host/v1", Layer: "site", Name: "one"}}
	policy := []wire.Identity{{Schema: "deckhand/LayeringPolicy/v1", Name: "layers"}}
	for want, of := range map[string]Refusal{
		"Not Found":     {Status: 404},
		"no such thing": {Message: "no such thing", messages: []detail{{Message: "no such thing"}}},
		"not valid. [acme/Host/v1, site] one: 'x' is not of type 'integer'. [deckhand/LayeringPolicy/v1] layers: It fails.": {
			Message:  "not valid",
			messages: []detail{{"'x' is not of type 'integer'", one}, {"It fails", policy}},
		},
		"[acme/Host/v1, site] one: not valid": {Message: "not valid", messages: []detail{{"not valid", one}}},
		"no source of [acme/Host/v1, site] one": {
			Message: "no source", messages: []detail{{"no source of [acme/Host/v1, site] one", one}},
		},
		"a. b! c.": {messages: []detail{{Message: "a"}, {Message: ""}, {Message: "b!"}, {"c", append(one, policy...)}}},
	} {
		if got := of.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Requests that are no longer needed are cancelled.
func TestTogether(t *testing.T) {
	t.Parallel()
	busy := errors.New("busy")
	err := Together(t.Context(), func(context.Context) error { return busy }, func(ctx context.Context) error {
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			t.Errorf("it ends because of %v", cause)
		}
		return ctx.Err()
	})
	if !errors.Is(err, busy) {
		t.Errorf("error %v, want the first", err)
	}
}
