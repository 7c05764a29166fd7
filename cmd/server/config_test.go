package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"purser/internal/wire"
	"purser/internal/words"
)

// --yaml=strict reaches the decoder of bodies.
func TestLimitFlags_yaml(t *testing.T) {
	t.Parallel()
	for value, strict := range map[string]bool{"fast": false, "strict": true} {
		if limits := (limitFlags{YAML: value}).document(); limits.Strict != strict {
			t.Errorf("--yaml=%s: strict is %t", value, limits.Strict)
		}
	}
}

func TestDays_UnmarshalText(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"7d": 7 * day, "168h": 7 * day, "90m": 90 * time.Minute, "106751d": 106751 * day,
		"": -1, "7": -1, "d": -1, "1.5d": -1, "106752d": -1, "99999999999d": -1,
	} {
		got := days(-1)
		if err := got.UnmarshalText([]byte(text)); got != days(want) || (err == nil) != (want > 0) {
			t.Errorf("%q is %v, %v, want %v", text, time.Duration(got), err, want)
		}
	}
}

// Names and addresses that a log quotes cannot control a terminal, and JSON keeps them.
func TestLogFlags_hostile(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;t\a\u009b31m\u0085\u2028\u202e\u200b\U000e0041"
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		logFlags{LogFormat: format}.logger(&out).Info(hostile, "error", errors.New(hostile))
		if text := out.String(); text != words.Printable(text) || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: %q", format, text)
		}
		var record map[string]any
		if format == "json" && (json.Unmarshal(out.Bytes(), &record) != nil || record["error"] != hostile) {
			t.Errorf("%s became %v", out.String(), record)
		}
	}
}

// Clients learn the issuer with --auth=oidc, and how the command signs in if there is a client for it.
func TestAuthFlags_resource(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]wire.Resource{
		"": {},
		"--auth oidc --oidc-issuer https://id --oidc-audience a": {Issuers: []string{"https://id"}},
		"--auth oidc --oidc-issuer https://id --oidc-audience a --oidc-device-client cli --oidc-device-scopes a,b": {
			Issuers: []string{"https://id"}, ClientID: "cli", Scopes: []string{"openid", "a", "b"},
		},
	} {
		var flags struct{ authFlags }
		parser, err := kong.New(&flags)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, flags.resource()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
	}
	without := authFlags{Auth: "tokens", TokensFile: "t", oidcFlags: oidcFlags{DeviceClient: "cli"}}
	if err := without.validate(); err == nil || !strings.HasPrefix(err.Error(), "--oidc-device-client has no effect with --auth=tokens") {
		t.Errorf("error %v", err)
	}
}
