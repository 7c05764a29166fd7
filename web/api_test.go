package web

import (
	"context"
	"errors"
	"testing"

	"purser/internal/client"
	"purser/internal/wire"
)

func TestRefusal(t *testing.T) {
	t.Parallel()
	one := []wire.Identity{{Schema: "acme/Host/v1", Layer: "site", Name: "one"}}
	policy := []wire.Identity{{Schema: "deckhand/LayeringPolicy/v1", Name: "layers"}}
	for want, of := range map[string]refusal{
		"Not Found":     {Status: 404},
		"no such thing": {Message: "no such thing", messages: []client.Message{{Message: "no such thing"}}},
		"not valid. [acme/Host/v1, site] one: 'x' is not of type 'integer'. [deckhand/LayeringPolicy/v1] layers: It fails.": {
			Message:  "not valid",
			messages: []client.Message{{Message: "'x' is not of type 'integer'", Documents: one}, {Message: "It fails", Documents: policy}},
		},
		"[acme/Host/v1, site] one: not valid": {Message: "not valid", messages: []client.Message{{Message: "not valid", Documents: one}}},
		"no source of [acme/Host/v1, site] one": {
			Message: "no source", messages: []client.Message{{Message: "no source of [acme/Host/v1, site] one", Documents: one}},
		},
		"a. b! c.": {messages: []client.Message{{Message: "a"}, {Message: ""}, {Message: "b!"}, {Message: "c", Documents: append(one, policy...)}}},
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
	err := together(t.Context(), func(context.Context) error { return busy }, func(ctx context.Context) error {
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
