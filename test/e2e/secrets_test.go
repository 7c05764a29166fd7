package e2e_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/secrets"
	"purser/internal/store/storetest"
)

// newKeyset creates a keyset file.
func newKeyset(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keyset.json")
	if err := secrets.Create(path, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// encrypted changes the storage policy of a document to encrypted.
func encrypted(document string) string {
	return strings.Replace(document, "storagePolicy: cleartext", "storagePolicy: encrypted", 1)
}

func passphrase(name, secret string) string {
	return encrypted(doc("deckhand/Passphrase/v1", name, fmt.Sprintf("%q", secret)))
}

// fromPassphrase returns a substitution from the passphrase pw.
func fromPassphrase(dest string) string {
	return "{src: {schema: deckhand/Passphrase/v1, name: pw, path: .}, dest: " + dest + "}"
}

// hashed returns the form of a value with cleartext-secrets=false, for values that JSON and Python format alike.
func hashed(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

//nolint:paralleltest,tparallel // one after the other
func TestSecrets(t *testing.T) {
	t.Parallel()
	s := startSealed(t)
	reference := "secret://" + siteName() + "/deckhand%2FPassphrase%2Fv1/site/pw/"
	put := s.put(t, "site", layeringPolicy("lp")+passphrase("pw", "hunter2")+
		docWith("acme/Widget/v1", "w", "{x: 1}", substitutes(fromPassphrase("{path: .db.password}")))).is(t, http.StatusOK)
	stored := s.get(t, "revisions/1/documents").data(t)
	if got := fmt.Sprint(stored["pw"]); !strings.HasPrefix(got, reference) || !strings.Contains(put.text, got) {
		t.Errorf("the document shows %s, want a reference", got)
	}
	s.isRendered(t, "1", map[string]any{
		"lp": map[string]any{"layerOrder": []any{"global", "site"}}, "pw": "hunter2",
		"w": map[string]any{"x": 1, "db": map[string]any{"password": "hunter2"}},
	})
	t.Run("redacted", func(t *testing.T) {
		got := s.get(t, "revisions/1/rendered-documents?cleartext-secrets=false&sort=metadata.name").is(t, http.StatusOK).documents(t)
		w := map[string]any{"x": 1, "db": map[string]any{"password": "hunter2"}}
		pw, widget := got[1], got[2]
		// Python preserves the written order: {"x": 1, "db": ...}.
		sum := sha256.Sum256([]byte(`{"x": 1, "db": {"password": "hunter2"}}`))
		if pw["data"] != hashed(t, "hunter2") || widget["data"] != hex.EncodeToString(sum[:]) {
			t.Errorf("shown: %v and %v, of hunter2 and %v", pw["data"], widget["data"], w)
		}
		metadata, _ := widget["metadata"].(map[string]any)
		want := []any{map[string]any{
			"src":  map[string]any{"schema": "deckhand/Passphrase/v1", "name": "pw", "path": hashed(t, ".")},
			"dest": map[string]any{"path": hashed(t, ".db.password")},
		}}
		if diff := cmp.Diff(want, metadata["substitutions"]); diff != "" || metadata["storagePolicy"] != "encrypted" {
			t.Errorf("storagePolicy %v, substitutions (-want +got):\n%s", metadata["storagePolicy"], diff)
		}
		if got := s.get(t, "revisions/1/documents?cleartext-secrets=false&metadata.name=pw").data(t)["pw"]; got != hashed(t, stored["pw"]) {
			t.Errorf("the stored document shows %v", got)
		}
	})
	t.Run("put back", func(t *testing.T) {
		s.put(t, "site", s.get(t, "revisions/1/documents").text).is(t, http.StatusOK)
		s.put(t, "site", put.text).is(t, http.StatusOK)
		if newest := s.get(t, "revisions/latest").mapping(t)["id"]; newest != 1 {
			t.Errorf("what was read and put back made revision %v", newest)
		}
		s.put(t, "other", encrypted(doc("deckhand/Passphrase/v1", "else", fmt.Sprintf("%q", stored["pw"])))).
			fails(t, http.StatusBadRequest, "HTTPBadRequest", "another document's secret", "else")
		s.put(t, "other", encrypted(doc("deckhand/Passphrase/v1", "else", "'"+strings.Replace(reference, "/pw/", "/else/", 1)+"0123456789abcdef'"))).
			fails(t, http.StatusBadRequest, "HTTPBadRequest", "not kept", "else")
	})
	t.Run("changed and brought back", func(t *testing.T) {
		s.put(t, "secrets", passphrase("second", "one")).is(t, http.StatusOK)
		s.put(t, "secrets", passphrase("second", "two")).is(t, http.StatusOK)
		before := s.get(t, "revisions/2/documents?metadata.name=second").data(t)["second"]
		after := s.get(t, "revisions/3/documents?metadata.name=second").data(t)["second"]
		if before == after {
			t.Error("another secret has the same reference")
		}
		diff := s.get(t, "revisions/2/deepdiff/3?format=unified").is(t, http.StatusOK).text
		if strings.Contains(diff, "one") || !strings.Contains(diff, "Encrypted data of") {
			t.Errorf("the diff says\n%s", diff)
		}
		s.send(t, request{method: http.MethodPost, path: "rollback/2"}).is(t, http.StatusCreated)
		if got := s.get(t, "revisions/4/rendered-documents?metadata.name=second").data(t)["second"]; got != "one" {
			t.Errorf("rolled back to %v", got)
		}
	})
	t.Run("empty", func(t *testing.T) {
		for i, empty := range []string{"''", "{}", "[]", "null"} {
			got := s.put(t, "empty", encrypted(widget("e", empty))+encrypted(widget("f", strconv.Itoa(i)))).is(t, http.StatusOK).documents(t)
			e, _ := got[0]["metadata"].(map[string]any)
			f, _ := got[1]["metadata"].(map[string]any)
			if e["storagePolicy"] != "cleartext" || f["storagePolicy"] != "encrypted" {
				t.Errorf("%s is kept %v, and %d %v", empty, e["storagePolicy"], i, f["storagePolicy"])
			}
		}
	})
}

// Secrets appear in no answer, no line of the log and no row of the database.
func TestSecrets_leakNowhere(t *testing.T) {
	t.Parallel()
	const marker = "MaRkEr4711"
	s := startFresh(t, "--secrets-keyset", newKeyset(t), "--log-level", "debug")
	site := layeringPolicy("lp") +
		control("deckhand/ValidationPolicy/v1", "vp", "{validations: [{name: deckhand-schema-validation}, {name: deckhand-policy-validation}, {name: deckhand-rendering-validation}]}") +
		abstract(docWith("acme/Other/v1", "base", "{}", labelled("other: base")+substitutes(fromPassphrase("{path: .from.base}")))) +
		under("other: base", "site", doc("acme/Other/v1", "heir", "{x: 1}"), "merge .") +
		dataSchema("acme/Widget/v1", "{type: object, properties: {n: {type: integer}, list: {maxItems: 1}, short: {maxLength: 3}, known: {enum: [a]}}, additionalProperties: false}") +
		passphrase("pw", marker) +
		encrypted(widget("wrong", "{n: "+marker+", list: ["+marker+", "+marker+"], short: "+marker+", "+marker+": 1, known: "+marker+"}")) +
		docWith("acme/Other/v1", "takes", "{text: 'a P b'}", substitutes(fromPassphrase("{path: .text, pattern: P}"), fromPassphrase("{path: .deep.down}"))) +
		docWith("acme/Widget/v1", "fails", "{}", substitutes(fromPassphrase("{path: .n}"), fromPassphrase("{path: .short}")))
	answers := []answer{
		s.send(t, request{method: http.MethodPut, path: "buckets/site/documents?dry-run=true", body: site, header: yamlBody()}),
		s.put(t, "site", site).is(t, http.StatusOK),
		s.put(t, "site", strings.ReplaceAll(site, marker, marker+"x")),
		s.putBad(t, "bad", strings.Replace(passphrase("odd", marker), "name: odd", "nome: odd", 1)),
		s.putBad(t, "bad", passphrase("odd", marker)+passphrase("odd", marker)),
		s.send(t, request{method: http.MethodPost, path: "rollback/1"}),
	}
	for _, path := range []string{
		"revisions", "revisions/1", "revisions/1/documents", "revisions/1/status", "revisions/1/diff/2", "revisions/1/deepdiff/2",
		"revisions/1/deepdiff/2?format=unified", "revisions/1/deepdiff/2?format=json-patch", "revisions/0/deepdiff/2?format=json-patch",
		"revisions/1/rendered-documents", "revisions/1/rendered-documents?cleartext-secrets=false", "revisions/1/graph", "revisions/1/graph?format=dot",
		"revisions/1/schemas", "revisions/1/validations", "revisions/1/validations/detail", "revisions/1/validations/deckhand-schema-validation",
		"revisions/1/validations/deckhand-rendering-validation/entries/0", "/metrics",
		explainPath("1", "acme/Other/v1", "takes"), explainPath("1", "acme/Other/v1", "heir"), explainPath("1", "deckhand/Passphrase/v1", "pw"), explainPath("1", "acme/Widget/v1", "wrong"),
	} {
		answers = append(answers, s.get(t, path), s.get(t, path, "Accept", "text/plain"))
	}
	for i := range 9 {
		answers = append(answers, s.get(t, fmt.Sprintf("revisions/1/validations/deckhand-schema-validation/entries/%d", i)))
	}
	for _, a := range answers {
		if strings.Contains(a.text, marker) {
			t.Errorf("%s %s tells a secret:\n%s", a.method, a.path, brief(a.text[strings.Index(a.text, marker)-min(200, strings.Index(a.text, marker)):]))
		}
	}
	if text := s.log.text(); strings.Contains(text, marker) {
		t.Errorf("the log tells a secret:\n%s", text)
	}
	for table, rows := range dump(t, s.database) {
		if strings.Contains(rows, marker) || strings.Contains(rows, hex.EncodeToString([]byte(marker))) {
			t.Errorf("the table %s tells a secret", table)
		}
	}
	// Documents that inherit from one with a secret do not reveal it either.
	heirs := layeringPolicy("lp") + passphrase("pw", marker) +
		abstract(docWith("acme/Other/v1", "base", "{}", labelled("other: base")+substitutes(fromPassphrase("{path: .from.base}"))))
	for _, x := range []string{"1", "2"} {
		s.put(t, "site", heirs+under("other: base", "site", doc("acme/Other/v1", "heir", "{x: "+x+"}"), "merge .")).is(t, http.StatusOK)
	}
	newest := fmt.Sprint(s.get(t, "revisions/latest").mapping(t)["id"])
	number, err := strconv.Atoi(newest)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		fmt.Sprintf("revisions/%d/deepdiff/%d?format=unified", number-1, number), "revisions/0/deepdiff/latest?format=json-patch",
		fmt.Sprintf("revisions/%d/deepdiff/%d", number-1, number), "revisions/latest/rendered-documents?cleartext-secrets=false",
		explainPath("latest", "acme/Other/v1", "heir"),
	} {
		if text := s.get(t, path).is(t, http.StatusOK).text; strings.Contains(text, marker) {
			t.Errorf("%s tells what is inherited of a secret:\n%s", path, brief(text))
		}
	}
	// Callers who may see the secret see it after the site becomes renderable.
	s.put(t, "site", layeringPolicy("lp")+passphrase("pw", marker)).is(t, http.StatusOK)
	if got := s.get(t, "revisions/latest/rendered-documents").data(t)["pw"]; got != marker {
		t.Errorf("rendered: %v", got)
	}
}

// dump returns the rows of all tables as text.
func dump(t *testing.T, database string) map[string]string {
	t.Helper()
	conn := storetest.Connect(t, database)
	rows, err := conn.Query(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{}
	for _, name := range names {
		var text string
		err := conn.QueryRow(t.Context(), "SELECT coalesce(string_agg(t::text, E'\n'), '') FROM "+pgx.Identifier{name}.Sanitize()+" t").Scan(&text)
		if err != nil {
			t.Fatal(err)
		}
		tables[name] = text
	}
	if len(tables["contents"]) == 0 {
		t.Fatal("the dump is empty")
	}
	return tables
}

// execute executes SQL in a database.
func execute(t *testing.T, database, sql string) {
	t.Helper()
	conn := storetest.Connect(t, database)
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// Keys are rotated while the server runs. Everything is encrypted again, and a missing key is reported clearly.
//
//nolint:paralleltest,tparallel // one after the other
func TestSecrets_rotation(t *testing.T) {
	t.Parallel()
	keyset := newKeyset(t)
	database := storetest.URL(t)
	t.Run("rotate", func(t *testing.T) {
		s := startOn(t, database, "--secrets-keyset", keyset, "--webhook-allow", "*.example")
		s.put(t, "site", layeringPolicy("lp")+passphrase("a", "one")+passphrase("b", "two")+"# about b\n").is(t, http.StatusOK)
		hook, _ := s.hook(t, "{url: 'http://x.example', enabled: false}")
		const other = "{url: 'http://x.example', enabled: false, secret: whsec_QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJC}"
		s.send(t, request{method: "PUT", path: hook, body: other, header: yamlBody()}).is(t, http.StatusOK)
		s.get(t, "revisions/1/rendered-documents").is(t, http.StatusOK)
		before := dump(t, database)["contents"]
		if said, err := command(t, "secrets", "rotate", "--activate", "--secrets-keyset", keyset); err != nil || !strings.Contains(said, "are encrypted with key") {
			t.Fatalf("secrets rotate: %v\n%s", err, said)
		}
		eventually(t, "all secrets are sealed again", func() bool { return strings.Contains(s.log.text(), `"secrets":5`) }) // with two texts
		var same bool
		const keys = `SELECT bool_and(substring(w.secret, 1, 5) = substring(c.sealed, 1, 5) AND substring(w.previous, 1, 5) = substring(c.sealed, 1, 5)
			AND substring(t.body, 1, 5) = substring(c.sealed, 1, 5))
			FROM webhooks w, contents c, texts t WHERE c.sealed IS NOT NULL AND t.reference IS NOT NULL`
		if err := storetest.Connect(t, database).QueryRow(t.Context(), keys).Scan(&same); err != nil || !same {
			t.Errorf("the secrets of a webhook have the newest key: %v, %v", same, err)
		}
		if dump(t, database)["contents"] == before {
			t.Error("the database says the same as before")
		}
		s.put(t, "more", passphrase("c", "three")).is(t, http.StatusOK)
		s.put(t, "site", layeringPolicy("lp")+passphrase("a", "one")+passphrase("b", "two")).is(t, http.StatusOK)
		if newest := s.get(t, "revisions/latest").mapping(t)["id"]; newest != 2 {
			t.Errorf("the same secrets made revision %v", newest)
		}
		if got := s.get(t, "revisions/2/rendered-documents").data(t); got["a"] != "one" || got["c"] != "three" {
			t.Errorf("rendered: %v", got)
		}
		// No secret needs the old key any more, also not one that the server has in memory.
		removeOldKeys(t, keyset)
		eventually(t, "the server has the new key only", func() bool {
			s.put(t, "more", passphrase("c", "three")).is(t, http.StatusOK)
			return strings.Contains(s.log.text(), `"keys":1}`)
		})
		s.put(t, "fine", widget("w", "{x: 0}")).is(t, http.StatusOK)
		if got := s.get(t, "revisions/3/rendered-documents").data(t); got["a"] != "one" {
			t.Errorf("rendered without the old key: %v", got)
		}
		if got := s.get(t, "revisions/3/documents?form=submitted&cleartext-secrets=true").is(t, http.StatusOK); !strings.Contains(got.text, `"one"`) {
			t.Errorf("texts without the old key: %v", got)
		}
	})
	t.Run("lost", func(t *testing.T) {
		s := startOn(t, database, "--secrets-keyset", newKeyset(t))
		eventually(t, "the log has the number of secrets, with four texts, one of which was replaced", func() bool {
			return strings.Contains(s.log.text(), `"the keyset lacks the keys of secrets in the database`) && strings.Contains(s.log.text(), `"secrets":7`)
		})
		s.get(t, "revisions/2/rendered-documents").fails(t, http.StatusServiceUnavailable, "SecretUnopened", "cannot be opened", "keyset")
		s.get(t, "revisions/2/documents?form=submitted&cleartext-secrets=true").fails(t, http.StatusServiceUnavailable, "SecretUnopened", "keyset")
		s.get(t, "revisions/2/documents").is(t, http.StatusOK)
		s.get(t, "revisions/2/status").is(t, http.StatusOK)
		// Its verdict would be about a site that was not looked at.
		s.put(t, "fine", widget("w", "{}")).fails(t, http.StatusServiceUnavailable, "SecretUnopened", "keyset", "nothing was stored")
	})
	t.Run("without", func(t *testing.T) {
		s := startOn(t, database)
		eventually(t, "the log has the number of secrets", func() bool {
			return strings.Contains(s.log.text(), "this server has no keyset") && strings.Contains(s.log.text(), `"secrets":3`)
		})
		s.get(t, "revisions/2/rendered-documents").fails(t, http.StatusServiceUnavailable, "SecretUnopened", "--secrets-keyset")
		s.put(t, "more", passphrase("d", "four")).fails(t, http.StatusNotImplemented, "HTTPNotImplemented", "--secrets-keyset")
	})
	t.Run("moved", func(t *testing.T) {
		s := startOn(t, database, "--secrets-keyset", keyset)
		execute(t, database, `UPDATE contents c SET sealed = o.sealed FROM contents o WHERE c.sealed IS NOT NULL AND o.sealed IS NOT NULL AND c.digest < o.digest
			AND c.site = o.site`)
		s.put(t, "fine", widget("w", "{x: 1}")).is(t, http.StatusOK)
		s.get(t, "revisions/latest/rendered-documents").fails(t, http.StatusInternalServerError, "SecretUnopened", "damaged, or moved")
		s.get(t, explainPath("latest", "acme/Widget/v1", "w")).is(t, http.StatusOK)
		s.get(t, "revisions/latest/documents").is(t, http.StatusOK)
	})
	t.Run("replaced", func(t *testing.T) { // all in one change, after the keyset was lost for good
		s := startOn(t, database, "--secrets-keyset", newKeyset(t))
		in := func(bucket, document string) string { return document + "status: {bucket: " + bucket + "}\n" }
		body := in("site", layeringPolicy("lp")) + in("site", passphrase("a", "new")) + in("site", passphrase("b", "new")) +
			in("more", passphrase("c", "new"))
		s.send(t, request{method: http.MethodPut, path: "changesets", body: body, header: yamlBody()}).is(t, http.StatusOK)
		if got := s.get(t, "revisions/latest/rendered-documents").data(t); got["a"] != "new" || got["c"] != "new" {
			t.Errorf("rendered: %v", got)
		}
		s.put(t, "fine", widget("w", "{x: 2}")).is(t, http.StatusOK)
	})
}

// Two servers have copies of a keyset. A key that was added to one copy is not used before the other has it; if it is
// used too early, the other server says what it lacks until it has the file, and makes no verdict without it.
func TestSecrets_copies(t *testing.T) {
	t.Parallel()
	here, there, database := newKeyset(t), filepath.Join(t.TempDir(), "copy.json"), storetest.URL(t)
	copyKeyset := func() {
		t.Helper()
		text, err := os.ReadFile(here)
		if err == nil {
			err = os.WriteFile(there, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	copyKeyset()
	a, b := startOn(t, database, "--secrets-keyset", here), startOn(t, database, "--secrets-keyset", there)
	a.put(t, "site", layeringPolicy("lp")+passphrase("pw", "one")).is(t, http.StatusOK)
	said, err := command(t, "secrets", "rotate", "--secrets-keyset", here, "--secrets-activate-after", "1h")
	if err != nil || !strings.Contains(said, "added key") || !strings.Contains(said, "copy the file") {
		t.Fatalf("secrets rotate: %v\n%s", err, said)
	}
	eventually(t, "the file is read again", func() bool {
		a.put(t, "site", layeringPolicy("lp")+passphrase("pw", rand.Text())).is(t, http.StatusOK)
		return strings.Contains(a.log.text(), `"next_key":`)
	})
	b.get(t, "revisions/latest/rendered-documents").is(t, http.StatusOK)
	b.put(t, "other", widget("w", "{}")).is(t, http.StatusOK)
	if said, err = command(t, "secrets", "rotate", "--secrets-keyset", here, "--activate"); err != nil {
		t.Fatalf("secrets rotate --activate: %v\n%s", err, said)
	}
	key := regexp.MustCompile(`with key (\d+) from now on`).FindStringSubmatch(said)[1]
	eventually(t, "the new key is used", func() bool {
		a.put(t, "site", layeringPolicy("lp")+passphrase("pw", rand.Text())).is(t, http.StatusOK)
		return b.get(t, "revisions/latest/rendered-documents").status != http.StatusOK
	})
	newest := a.get(t, "revisions/latest").mapping(t)["id"]
	for _, ask := range []func() answer{
		func() answer { return b.get(t, "revisions/latest/rendered-documents") },
		func() answer { return b.get(t, fmt.Sprintf("revisions/1/deepdiff/%v", newest)) },
		func() answer { return b.get(t, explainPath("latest", "deckhand/Passphrase/v1", "pw")) },
		func() answer { return b.put(t, "other", widget("w", "{x: 1}")) },
		func() answer {
			return b.send(t, request{method: http.MethodPut, path: "buckets/other/documents?dry-run=true", body: widget("w", "{x: 1}"), header: yamlBody()})
		},
	} {
		got := ask()
		got.fails(t, http.StatusServiceUnavailable, "SecretUnopened", "sealed with key "+key, "copy the newest keyset file", "pw")
		if after := got.got.Get("Retry-After"); after != "10" {
			t.Errorf("%s %s: Retry-After: %q", got.method, got.path, after)
		}
	}
	b.get(t, "revisions/latest/documents").is(t, http.StatusOK)
	b.get(t, "revisions/latest/status").is(t, http.StatusOK)
	copyKeyset()
	b.get(t, "revisions/latest/rendered-documents").is(t, http.StatusOK)
	b.put(t, "other", widget("w", "{x: 1}")).is(t, http.StatusOK)
}

// removeOldKeys removes all keys but the primary one from a keyset file.
func removeOldKeys(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var keyset map[string]map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&keyset); err != nil {
		t.Fatal(err)
	}
	keys, _ := keyset["aead"]["key"].([]any)
	keyset["aead"]["key"] = slices.DeleteFunc(keys, func(key any) bool {
		fields, _ := key.(map[string]any)
		return fields["keyId"] != keyset["aead"]["primaryKeyId"]
	})
	if text, err = json.Marshal(keyset); err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestSecrets_keysetOfOthers(t *testing.T) {
	t.Parallel()
	path := newKeyset(t)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	said, err := command(t, "serve", "--listen", "127.0.0.1:0", "--database-url", storetest.URL(t), "--secrets-keyset", path)
	if err == nil || !strings.Contains(said, "chmod 600") {
		t.Errorf("a keyset that others can read: %v\n%s", err, said)
	}
	if said, err := command(t, "secrets", "new", "--secrets-keyset", path); err == nil {
		t.Errorf("a keyset was written over: %s", said)
	}
}
