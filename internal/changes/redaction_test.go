package changes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/revisions/revisionstest"
	"purser/internal/secrets"
)

func TestRedacted(t *testing.T) {
	t.Parallel()
	const substitutions = "substitutions: [{src: {schema: s/S/v1, name: n, path: .a}, dest: {path: .b, pattern: P}}, " +
		"{src: {schema: s/S/v1, name: n, path: .}, dest: [{path: .c}, {path: .d}]}]"
	hash := func(path string) string { return `"` + secrets.Redacted(path) + `"` }
	src := func(path string) string { return `{"name":"n","path":` + hash(path) + `,"schema":"s/S/v1"}` }
	hashed := `"substitutions":[{"dest":{"path":` + hash(".b") + `,"pattern":"P"},"src":` + src(".a") +
		`},{"dest":[{"path":` + hash(".c") + `},{"path":` + hash(".d") + `}],"src":` + src(".") + `}]`
	docs := revisionstest.Parsed(t, revisionstest.Widget("encrypted", "{x: 1}", "storagePolicy: encrypted, "+substitutions)+
		revisionstest.Widget("tainted", "{x: 2}", revisionstest.Cleartext)+revisionstest.Widget("plain", "{x: 3}", revisionstest.Cleartext+", "+substitutions))
	docs[1].Tainted = true
	before := []string{string(docs[0].Data), string(docs[0].Metadata)}
	got := Redacted(docs)
	for i, want := range []any{
		secrets.Redacted(document.Mapping{{Key: "x", Value: document.Number("1")}}),
		secrets.Redacted(document.Mapping{{Key: "x", Value: document.Number("2")}}),
	} {
		if diff := cmp.Diff(string(document.AppendJSON(nil, want)), string(got[i].Data)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", got[i].Name, diff)
		}
		if !got[i].Traits().Encrypted || got[i].ID != docs[i].ID || got[i].Shared {
			t.Errorf("%s: metadata %s, id %d, shared %v", got[i].Name, got[i].Metadata, got[i].ID, got[i].Shared)
		}
	}
	if !strings.Contains(string(got[0].Metadata), hashed) {
		t.Errorf("metadata\n%s, want it to hold\n%s", got[0].Metadata, hashed)
	}
	if got[2] != docs[2] {
		t.Error("a document without a secret was redacted")
	}
	if diff := cmp.Diff(before, []string{string(docs[0].Data), string(docs[0].Metadata)}); diff != "" {
		t.Errorf("the document (-before +after)\n%s", diff)
	}
}

// Unreadable data is not shown.
func TestRedact_unreadable(t *testing.T) {
	t.Parallel()
	for _, text := range []struct{ data, metadata string }{{`{"x":`, "{}"}, {`"very secret"`, `{"name": `}} {
		doc := revisionstest.Parsed(t, revisionstest.Widget("w", "{}", revisionstest.Cleartext))[0]
		doc.Data, doc.Metadata = []byte(text.data), []byte(text.metadata)
		got := redact(doc)
		if string(got.Data) != `"`+secrets.Redacted(nil)+`"` || !got.Traits().Encrypted {
			t.Errorf("data %s, metadata %s", got.Data, got.Metadata)
		}
	}
}

// Documents stored by an older server may have substitutions of any form.
func TestHashPaths_oddForms(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `null`, `1`, `{"src":1,"dest":[1,null]}`, `{"dest":{"path":null}}`} {
		value, err := document.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := document.AppendJSON(nil, hashPaths(value)); !strings.Contains(string(got), `"dest"`) {
			t.Errorf("%s: %s", text, got)
		}
	}
}
