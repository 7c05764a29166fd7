package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// Requests are made once, with the user's token, and their errors are refusals if the API has answered.
func TestAPI(t *testing.T) {
	t.Parallel()
	asked := 0
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Host != "purser.example" || r.URL.String() != "/api/v1.0/"+path.Base(r.URL.Path) ||
			r.Header.Get("Authorization") != "Bearer t" {
			t.Errorf("it asks %s %s as %q", r.Host, r.URL, r.Header.Get("Authorization"))
		}
		switch path.Base(r.URL.Path) {
		case "broken":
			panic(http.ErrAbortHandler)
		case "large":
			_, _ = w.Write(make([]byte, maxAnswer))
			_, _ = w.Write([]byte("x"))
		case "busy":
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Content-Type", "application/x-yaml")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("kind: Status\nmessage: later\n"))
		}
	})
	outer := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://purser.example/ui/", http.NoBody)
	for name, want := range map[string]*refusal{
		"fine": nil, "broken": nil, "": {Status: 400, Message: "A name is missing."},
		"busy": {Status: 503, Message: "later", After: 7},
		"large": {
			Status: 413, Message: "This is more than the 32 MiB that a page is made of. Ask for less of it, or use the API.",
		},
	} {
		asked = 0
		_, err := newAPI(handler, outer, "t", "").Text(t.Context(), client.YAML, nil, name)
		got, _ := errors.AsType[*refusal](err)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(refusal{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if (err == nil) != (name == "fine") || asked > 1 {
			t.Errorf("%s: error %v after %d requests", name, err, asked)
		}
	}
}
