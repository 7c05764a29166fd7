package authn

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckToken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ token, reason string }{
		"usual":    {"prs_abc.DEF-123~+/=", ""},
		"longest":  {strings.Repeat("a", maxToken), ""},
		"empty":    {"", "no token"},
		"too long": {strings.Repeat("a", maxToken+1), "16 KiB"},
		"blank":    {"two words", "characters"},
		"newline":  {"a\r\nX-Roles: admin", "characters"},
		"NUL":      {"a\x00", "characters"},
		"accent":   {"tokén", "characters"},
		"delete":   {"a\x7f", "characters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkToken(c.token)
			if c.reason != "" {
				wantRejected(t, err, c.reason, c.token)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCheckCaller(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		caller Caller
		reason string
	}{
		"usual":          {Caller{UserID: "u-1", UserName: "Zoë Ångström", Roles: []string{"admin"}}, ""},
		"nobody":         {Caller{UserName: "u"}, "not name a user"},
		"line break":     {Caller{UserID: "u\nX"}, "unprintable"},
		"role":           {Caller{UserID: "u", Roles: []string{"a\x1b[31m"}}, "unprintable"},
		"not UTF-8":      {Caller{UserID: "u", ProjectID: "\xff"}, "unprintable"},
		"turned around":  {Caller{UserID: "u\u202e"}, "unprintable"},
		"too long":       {Caller{UserID: strings.Repeat("u", maxText+1)}, "too long"},
		"as long as can": {Caller{UserID: strings.Repeat("u", maxText)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := checkCaller(c.caller)
			if c.reason != "" {
				wantRejected(t, err, c.reason, "")
				return
			}
			if diff := cmp.Diff(c.caller, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestNoAuth_Authenticate(t *testing.T) {
	t.Parallel()
	want := Caller{UserID: "noauth", UserName: "noauth", ProjectID: "noauth", Roles: []string{"admin"}}
	for _, token := range []string{"", "anything", "a\nb"} {
		got, err := NoAuth{}.Authenticate(t.Context(), token)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
}

func TestFromCertificate(t *testing.T) {
	t.Parallel()
	uri, _ := url.Parse("spiffe://site/ns/default/sa/deployer")
	for name, c := range map[string]struct {
		certificate x509.Certificate
		want        Caller
		reason      string
	}{
		"common name": {
			certificate: x509.Certificate{
				Subject: pkix.Name{CommonName: "alice", OrganizationalUnit: []string{"role:admin", "admin", "role:", "role:viewer"}},
				URIs:    []*url.URL{uri},
			},
			want: Caller{UserID: "alice", UserName: "alice", Roles: []string{"admin", "viewer"}},
		},
		"URI": {
			certificate: x509.Certificate{URIs: []*url.URL{uri}, DNSNames: []string{"host"}},
			want:        Caller{UserID: uri.String(), UserName: uri.String()},
		},
		"DNS name": {
			certificate: x509.Certificate{DNSNames: []string{"host.example", "other"}},
			want:        Caller{UserID: "host.example", UserName: "host.example"},
		},
		"nobody":  {certificate: x509.Certificate{}, reason: "not name a user"},
		"control": {certificate: x509.Certificate{Subject: pkix.Name{CommonName: "a\nb"}}, reason: "unprintable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := FromCertificate(&c.certificate)
			if c.reason != "" {
				wantRejected(t, err, c.reason, "")
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	err := unavailable(errors.New("dial tcp: refused"), "Keystone does not respond")
	wantUnavailable(t, err)
	if err.Error() != "Keystone does not respond" {
		t.Error("the cause is shown:", err)
	}
}
