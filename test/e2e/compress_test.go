package e2e_test

import (
	"net/http"
	"strings"
	"testing"
)

// Answers with secrets are not compressed, because their size would reveal text next to a secret.
func TestCompressed_secrets(t *testing.T) {
	t.Parallel()
	s := startSealed(t)
	text := strings.Repeat("purser ", 1000)
	s.put(t, "site", layeringPolicy("lp")+passphrase("pw", "hunter2")+doc("acme/Widget/v1", "open", "{text: "+text+"}")+
		docWith("acme/Widget/v1", "w", "{text: "+text+"}", substitutes(fromPassphrase("{path: .password}")))+
		dataSchema("acme/Open/v1", "{description: "+text+"}")+
		docWith("deckhand/DataSchema/v1", "acme/Secret/v1", "{description: "+text+"}", substitutes(fromPassphrase("{path: .title}")))).is(t, http.StatusOK)
	for path, want := range map[string]bool{
		"documents":                                                     true, // contains only a reference
		"documents?metadata.name=w":                                     true,
		"rendered-documents":                                            false,
		"rendered-documents?metadata.name=w":                            false,
		"rendered-documents?metadata.name=open":                         true,
		"rendered-documents?cleartext-secrets=false":                    true,
		"rendered-documents?metadata.name=open&cleartext-secrets=false": true,
		"schemas/acme/Open/v1":                                          true,
		"schemas/acme/Secret/v1":                                        false,
		"schemas/acme/Secret/v1/docs":                                   false,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1.0/revisions/1/"+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r) // the transport accepts gzip
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		control := got.Header.Get("Cache-Control")
		if got.StatusCode != http.StatusOK || got.Uncompressed != want || (control == "no-transform") == want {
			t.Errorf("%s: %s, compressed %v, want %v; Cache-Control %q", path, got.Status, got.Uncompressed, want, control)
		}
	}
}
