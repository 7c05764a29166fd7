package api_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/authz"
	"purser/internal/wire"
)

// children returns a global parent and n documents of the layer site that take its data.
func children(n int, parent string) string {
	var b strings.Builder
	b.WriteString(layeringPolicy("lp"))
	b.WriteString(inLayer("global, abstract: true", docWith("acme/Widget/v1", "base", parent, labelled("is: base"))))
	for i := range n {
		b.WriteString(under("is: base", "site", widget(fmt.Sprintf("w%04d", i), fmt.Sprintf("{own: %d}", i)), "merge ."))
	}
	return b.String()
}

// preview decodes the answer to a dry run.
func (s site) preview(t *testing.T, c change, header ...string) wire.Preview[wire.Checked] {
	t.Helper()
	r := c.request("?dry-run=true&rendered=true&diff=unified")
	r.header = slices.Concat(r.header, header, []string{"Accept", typeJSON})
	return s.send(t, r).is(t, http.StatusOK).preview(t)
}

func (r response) preview(t *testing.T) (preview wire.Preview[wire.Checked]) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.text), &preview); err != nil {
		t.Fatal(err)
	}
	return preview
}

func TestRendered_oneDifferenceOfManyDocuments(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", children(200, "{images: {api: 'a:1', web: 'w:1'}}"))
	got := s.preview(t, put("a", children(200, "{images: {api: 'a:2', web: 'w:1'}}"))).Rendered
	if len(got.Differences) != 1 || len(got.Differences[0].Documents) != 200 || got.Count != 200 || got.Modified != 200 {
		t.Fatalf("%d differences of %d documents", len(got.Differences), got.Count)
	}
	want := "@@ -1,3 +1,3 @@\n data:\n   images:\n-    api: a:1\n+    api: a:2\n"
	if diff := cmp.Diff(want, *got.Differences[0].Diff); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if first := got.Differences[0].Documents[0]; first.Name != "w0000" || first.Change != "modified" || first.Bucket != "a" {
		t.Errorf("first: %+v", first)
	}
}

// A dry run shows what deepdiff shows after the change, whatever the change is.
func TestRendered_isPredicted(t *testing.T) {
	t.Parallel()
	const image = "{images: {api: 'a:%d'}}"
	base := func(version int) string { return fmt.Sprintf(image, version) }
	substituting := func(path string) string {
		return docWith("acme/Widget/v1", "taker", "{}", substitutes(
			"{src: {schema: acme/Source/v1, name: src, path: "+path+"}, dest: {path: .taken}}"))
	}
	source := func(x string) string { return doc("acme/Source/v1", "src", "{x: "+x+", y: 7}") }
	replacing := under("is: base", "site", docWith("acme/Widget/v1", "base", "{z: 1}", ", replacement: true"), "merge .")
	replaceable := strings.Replace(children(3, base(1)), ", abstract: true", "", 1)
	moved := strings.Replace(children(2, base(3)), "global, abstract: true", "site, abstract: true", 1)
	for name, changes := range map[string][]change{
		"layering": {put("a", children(3, base(1))), put("a", children(3, base(2))), put("a", children(2, base(2))), put("a", moved)},
		"substitution": {
			put("a", layeringPolicy("lp")+source("1")), put("b", substituting(".x")), put("a", layeringPolicy("lp")+source("2")),
			put("b", substituting(".y")), put("a", layeringPolicy("lp")), put("a", layeringPolicy("lp")+source("[1, {k: v}]")), back("2"), back("5"),
		},
		"replacement":     {put("a", replaceable), put("b", replacing), put("b", ""), back("2"), back("0")},
		"layering policy": {put("a", children(2, base(1))), put("p", ""), put("a", strings.ReplaceAll(children(2, base(1)), "[global, site]", "[site, global]")), put("a", strings.Replace(children(2, base(1)), layeringPolicy("lp"), "", 1)), back("1")},
		"buckets":         {put("a", children(2, base(1))), set("?buckets=a", in("b", children(2, base(1)))), set("?buckets=b", in("c", children(2, base(2))))},
		"begins to fail": {
			put("s", dataSchema("acme/Widget/v1", "{properties: {images: {properties: {api: {pattern: 'a:[12]'}}}}}")),
			put("a", children(3, base(1))), put("a", children(3, base(3))), put("a", children(4, base(4))), put("s", ""), back("3"), back("4"),
		},
		"metadata": {put("a", layeringPolicy("lp")+widget("w", "{}")), put("a", layeringPolicy("lp")+docWith("acme/Widget/v1", "w", "{}", labelled("a: b")))},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			for i, c := range changes {
				before := s.head(t)
				said := s.send(t, c.request("?dry-run=true&rendered=true&diff=unified")).is(t, http.StatusOK).mapping(t)
				s.send(t, c.request(""))
				if s.isRenderedAs(t, before, s.head(t), said); t.Failed() {
					t.Fatalf("at change %d: %s %s\n%s", i+1, c.method, c.path, c.body)
				}
			}
		})
	}
}

func TestRendered_failing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "s", dataSchema("acme/Widget/v1", "{properties: {size: {maximum: 10}}}"))
	s.put(t, "a", children(3, "{size: 1}")+widget("bad", "{size: 11}"))
	preview := s.preview(t, put("a", children(3, "{size: 12}")+widget("bad", "{size: 13}")))
	want := &wire.Failing{Count: 3}
	for i := range 3 {
		want.Documents = append(want.Documents, wire.Identity{Schema: "acme/Widget/v1", Layer: "site", Name: fmt.Sprintf("w%04d", i), Bucket: "a"})
	}
	if diff := cmp.Diff(want, preview.BeginToFail); diff != "" {
		t.Errorf("what begins to fail (-want +got)\n%s", diff)
	}
}

// A side that does not render is named, with the reason.
func TestRendered_unrendered(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", children(2, "{}"))
	orphan := docWith("acme/Widget/v1", "x", "{}", substitutes("{src: {schema: acme/No/v1, name: none, path: .}, dest: {path: .a}}"))
	after := s.preview(t, put("b", orphan)).Rendered
	if len(after.Unrendered) != 1 || after.Count != 0 {
		t.Fatalf("%+v", after)
	}
	if side := after.Unrendered[0]; side.Side != "after" || side.Revision != 2 || !strings.Contains(string(side.Errors), "acme/No/v1") {
		t.Errorf("%+v %s", side, side.Errors)
	}
	s.put(t, "b", orphan)
	both := s.preview(t, put("c", widget("y", "{}"))).Rendered
	if len(both.Unrendered) != 2 || both.Unrendered[0].Side != "before" || both.Unrendered[0].Revision != 2 {
		t.Errorf("%+v", both)
	}
}

func TestRendered_parameters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", children(1, "{}"))
	for query, part := range map[string]string{
		"rendered=true":                            "It needs dry-run=true",
		"dry-run=true&diff=unified":                "It needs rendered=true",
		"dry-run=true&rendered=true&diff=patch":    "It can be unified",
		"dry-run=true&rendered=maybe":              `"rendered" parameter`,
		"dry-run=true&rendered=false&diff=unified": "It needs rendered=true",
	} {
		r := put("a", widget("w", "{}")).request("?" + query)
		s.unchecked().send(t, r).isFault(t, http.StatusBadRequest, "HTTPInvalidParam", part)
	}
	s.unchecked().get(t, "revisions/0/deepdiff/1?diff=unified").isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "It needs format=grouped")
	without := s.get(t, "revisions/0/deepdiff/1?format=grouped").is(t, http.StatusOK).mapping(t)
	differences, _ := without["differences"].([]any)
	if first, _ := differences[0].(map[string]any); len(differences) != 1 || first["diff"] != nil || without["created"] != 2 {
		t.Errorf("without diffs: %v", without)
	}
	submitted := s.get(t, "revisions/0/deepdiff/1?format=grouped&rendered=false&diff=unified").is(t, http.StatusOK).mapping(t)
	if submitted["created"] != 3 || !strings.Contains(fmt.Sprint(submitted["differences"]), "+    abstract: true") &&
		!strings.Contains(fmt.Sprint(submitted["differences"]), "abstract: true") {
		t.Errorf("submitted: %v", submitted)
	}
}

// At most 1,000 documents and 1 MiB of differences are listed, and the others are counted.
func TestRendered_bounds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	many := s.preview(t, put("a", children(999, "{}"))).Rendered // with the policy they are 1000
	if listed := listedIn(many); listed != 1000 || many.Unlisted != 0 || many.Count != 1000 {
		t.Errorf("1000 documents: %d listed, %d unlisted, %d in all", listed, many.Unlisted, many.Count)
	}
	many = s.preview(t, put("a", children(1000, "{}"))).Rendered
	if listed := listedIn(many); listed != 1000 || many.Unlisted != 1 || many.Count != 1001 || many.Created != 1001 {
		t.Errorf("1001 documents: %d listed, %d unlisted, %d in all", listed, many.Unlisted, many.Count)
	}
	s.put(t, "a", children(1000, "{}"))
	rest := s.get(t, "revisions/0/deepdiff/1?format=grouped&offset=1000").is(t, http.StatusOK).mapping(t)
	if rest["count"] != 1001 || rest["unlisted"] != 0 || !strings.Contains(fmt.Sprint(rest["differences"]), "LayeringPolicy") {
		t.Errorf("the rest: %v", rest)
	}

	large := func(bytes int) string { return widget("large", "{text: "+strings.Repeat("x", bytes)+"}") }
	before := len(*s.preview(t, put("b", large(1))).Rendered.Differences[0].Diff)
	for _, c := range []struct {
		bytes   int
		omitted bool
	}{{1<<20 - before + 1, false}, {1<<20 - before + 2, true}} {
		got := s.preview(t, put("b", large(c.bytes))).Rendered
		if only := got.Differences[0]; only.Omitted != c.omitted || c.omitted != (only.Diff == nil) || got.Count != 1 {
			t.Errorf("%d bytes: omitted %v, want %v", c.bytes, only.Omitted, c.omitted)
		}
	}
	got := s.preview(t, put("b", large(1<<20)+widget("small", "{}")+widget("small2", "{}"))).Rendered
	if got.Count != 3 || listedIn(got) != 3 || len(got.Differences) != 3 {
		t.Errorf("what fits is shown beside what does not: %d differences", len(got.Differences))
	}
}

func listedIn(rendered *wire.Rendered) (listed int) {
	for _, d := range rendered.Differences {
		listed += len(d.Documents)
	}
	return listed
}

// Who may not see encrypted documents learns nothing of them: neither of those that take something from one, nor that
// one begins or ceases to. Who may is told that they change, and no data.
func TestRendered_secrets(t *testing.T) {
	t.Parallel()
	s := guarded(t, "'purser:use_encrypted_documents': role:admin or role:writer\n")
	key := func(value string) string { return textOf("t/Key/v1", "key", encrypted, value) }
	send := func(role string, c change) {
		r := c.request("")
		r.header = slices.Concat(r.header, as(role))
		s.send(t, r).is(t, http.StatusOK)
	}
	send("admin", put("k", layeringPolicy("lp")+key("s3cret")))
	send("admin", put("a", textOf("t/Open/v1", "taker", takesKey, "{y: 1}")+widget("plain", "{v: 1}")))

	admin := s.preview(t, put("k", layeringPolicy("lp")+key("0ther")), as("admin")...).Rendered
	if admin.Modified != 2 || len(admin.Differences) != 1 || !admin.Differences[0].Encrypted || *admin.Differences[0].Diff != "" {
		t.Errorf("admin: %+v", admin)
	}
	for name, body := range map[string]string{
		"a document beside":      textOf("t/Open/v1", "taker", takesKey, "{y: 2}") + widget("plain", "{v: 2}"),
		"it ceases to take":      textOf("t/Open/v1", "taker", ", storagePolicy: cleartext", "{y: 2}") + widget("plain", "{v: 2}"),
		"the taker is deleted":   widget("plain", "{v: 2}"),
		"another begins to take": textOf("t/Open/v1", "taker", takesKey, "{y: 1}") + textOf("t/Open/v1", "new", takesKey, "{y: 2}") + widget("plain", "{v: 2}"),
	} {
		r := put("a", body).request("?dry-run=true&rendered=true&diff=unified")
		r.header = slices.Concat(r.header, as("writer", "Accept", typeJSON))
		answer := s.send(t, r).is(t, http.StatusOK)
		got := answer.preview(t).Rendered
		if got.Count != 1 || len(got.Unrendered) > 0 || got.Differences[0].Documents[0].Name != "plain" {
			t.Errorf("%s: %+v", name, got)
		}
		if strings.Contains(answer.text, "s3cret") {
			t.Errorf("%s: the secret is shown:\n%s", name, answer.text)
		}
	}
	// As deepdiff does, grouped makes the site without encrypted documents for the writer: it says so if that fails.
	grouped := s.get(t, "revisions/1/deepdiff/2?format=grouped&diff=unified", as("writer")...).is(t, http.StatusOK)
	if !strings.Contains(grouped.text, "unrendered") || strings.Contains(grouped.text, "s3cret") {
		t.Errorf("grouped for the writer:\n%s", grouped.text)
	}
	s.get(t, "revisions/1/deepdiff/2", as("writer")...).is(t, http.StatusConflict)
	shown := s.get(t, "revisions/1/deepdiff/2?format=grouped&diff=unified", as("admin")...).is(t, http.StatusOK)
	if strings.Contains(shown.text, "s3cret") {
		t.Errorf("grouped shows the data of a secret:\n%s", shown.text)
	}
}

// Only callers who may compare revisions are shown rendered documents.
func TestRendered_right(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policy, []byte("'deckhand:create_cleartext_documents': role:writer\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := authz.Open(policy, authz.AdminsOnly, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := openSite(t, settings{}, func(c *api.Config) { c.Access = api.Access{Authenticator: byRole{}, Rules: rules} })
	r := put("a", widget("w", "{}")).request("?dry-run=true&rendered=true")
	r.header = slices.Concat(r.header, as("writer"))
	s.send(t, r).is(t, http.StatusForbidden)
	r = put("a", widget("w", "{}")).request("?dry-run=true")
	r.header = slices.Concat(r.header, as("writer"))
	s.send(t, r).is(t, http.StatusOK)
}
