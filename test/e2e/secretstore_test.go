package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"purser/internal/store/storetest"
)

// disguises returns the forms in which parts of text may be stored: verbatim, in hexadecimal, in base64 at any offset,
// and with all characters escaped as in JSON.
func disguises(mark string) (forms [][]byte) {
	const length = 6
	for _, part := range []string{mark[:length], mark[len(mark)-length:]} {
		escaped := regexp.MustCompile(`.`).ReplaceAllStringFunc(part, func(char string) string { return fmt.Sprintf(`\u%04x`, char[0]) })
		digits := hex.EncodeToString([]byte(part))
		forms = append(forms, []byte(part), []byte(digits), []byte(strings.ToUpper(digits)), []byte(escaped), []byte(strings.ToUpper(escaped)))
		for before := range 3 {
			// The first and last characters also encode bits of the surrounding text, so they are left out.
			text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("-", before) + part + "---"))
			from, to := (8*before+5)/6, 8*(before+length)/6
			forms = append(forms, []byte(text[from:to]), []byte(strings.NewReplacer("+", "-", "/", "_").Replace(text[from:to])))
		}
	}
	return forms
}

// find returns the first of forms that text contains, with its context; nil if it contains none.
func find(text []byte, forms [][]byte) []byte {
	for _, form := range forms {
		if i := bytes.Index(text, form); i >= 0 {
			return text[max(0, i-100):min(len(text), i+100)]
		}
	}
	return nil
}

// kept returns all stored data of a site, by place: the tables, decompressed; the files of the database and its
// write-ahead log, if they are readable; the server's log; and the given files.
func (g guarded) kept(t *testing.T, given ...string) map[string][]byte {
	t.Helper()
	kept := map[string][]byte{"the log": []byte(g.log.text())}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	compressed := regexp.MustCompile(`\\\\?x28b52ffd[0-9a-f]+`)
	for table, rows := range dump(t, g.database) {
		kept["the table "+table] = []byte(rows)
		for _, frame := range compressed.FindAllString(rows, -1) {
			packed, err := hex.DecodeString(strings.TrimLeft(frame, `\x`))
			if err != nil {
				t.Fatal(err)
			}
			text, err := decoder.DecodeAll(packed, nil)
			if err != nil {
				t.Fatal(err)
			}
			kept["the table "+table] = append(kept["the table "+table], text...)
		}
	}
	conn := storetest.Connect(t, g.database)
	var data, oid string
	if _, err := conn.Exec(t.Context(), "CHECKPOINT"); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), "SELECT current_setting('data_directory'), oid::text FROM pg_database WHERE datname = current_database()").Scan(&data, &oid); err != nil {
		t.Fatal(err)
	}
	for _, dir := range append(given, filepath.Join(data, "pg_wal"), filepath.Join(data, "base", oid)) {
		_ = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return nil //nolint:nilerr // it may be gone by now, or on another machine
			}
			if text, err := os.ReadFile(path); err == nil {
				kept[filepath.Base(dir)] = append(kept[filepath.Base(dir)], text...)
			}
			return nil
		})
	}
	return kept
}

// sendInvalid sends invalid requests and dry runs that contain a secret.
func (s *story) sendInvalid(secret string) {
	const json = "application/json"
	pw := passphrase("blunder", secret)
	for _, c := range []struct{ path, body, kind string }{
		{"buckets/b/documents?dry-run=true", pw, ""},
		{"buckets/b/documents", pw + pw, ""},
		{"buckets/b/documents", strings.Replace(pw, "name: blunder", "nome: blunder", 1), ""},
		{"buckets/b/documents", strings.Replace(pw, "data: \"", "data: {\"", 1), ""},
		{"buckets/b/documents", strings.Replace(pw, "encrypted", "scrambled", 1), ""},
		{"buckets/b/documents", strings.Replace(pw, "layeringDefinition", "substitutions: [{src: {path: "+secret[:4]+"}}], layeringDefinition", 1), ""},
		{"buckets/b/documents", `[{"schema": "a/B/v1", "data": ` + fmt.Sprintf("%q", secret), json},
		{"changesets", pw, ""},
		{"changesets?dry-run=true", pw + "status: {bucket: b}\n", ""},
	} {
		header := []string{"Content-Type", "application/x-yaml"}
		if c.kind != "" {
			header[1] = c.kind
		}
		for _, user := range []string{"admin", "writer", "creator"} {
			s.ask(user, http.MethodPut, c.path, c.body, header...)
		}
	}
}

// A site stores secrets only encrypted: not in cleartext in the database and its files, the audit, the log or other
// files.
func TestLaws_secretsAreKeptSealed(t *testing.T) {
	t.Parallel()
	const mark, control = "WVKQXZJWQV", "VQJXWZKQVX"
	flags, k := guardedFlags(t)
	g := guarded{startAs(t, lean, patientClient(), storetest.URL(t), flags...), k}
	rapid.Check(t, few(20, func(t *rapid.T) {
		p := anySecretSite(t)
		s := &story{T: t, guarded: g}
		secrets := anySecrets(t, 2*p.secrets, "secrets", "", mark)
		reads := []read{
			{"revisions/latest/rendered-documents", ""},
			{"revisions/latest/validations/detail", ""},
			{"revisions/latest/schemas/acme/Widget/v1/docs", ""},
			{"revisions/latest/documents?form=submitted", ""},
		}
		s.play(p, [][]string{secrets[:p.secrets], secrets[p.secrets:]}, reads)
		for _, r := range reads {
			s.ask("admin", http.MethodGet, r.path, "")
		}
		s.sendInvalid(secrets[0])
		s.must(s.ask("admin", http.MethodPost, "rollback/2", ""))
		s.must(s.ask("admin", http.MethodPost, "revisions/prune?keep=2", ""))
	}))
	g.puts(t, "admin", "control", widget("w", "{x: "+control+"}")).is(t, http.StatusOK)
	g.send(t, request{method: http.MethodGet, path: "/" + control, header: k.as("admin")})
	eventually(t, "all is logged", func() bool { return strings.Contains(g.log.text(), control) })
	found := map[string]bool{}
	for place, text := range g.kept(t, filepath.Dir(k.file)) {
		if around := find(text, disguises(mark)); around != nil {
			t.Errorf("%s tells a secret: %q", place, around)
		}
		found[place] = find(text, disguises(control)) != nil
	}
	if !found["the table contents"] || !found["the log"] {
		t.Errorf("what is in clear was found there: %v", found)
	}
	t.Logf("What is in clear was found there: %v", found)
}

// find recognises a secret in all its forms.
func TestDisguises(t *testing.T) {
	t.Parallel()
	const mark = "WVKQXZJWQV"
	for before := range 4 {
		text := []byte(strings.Repeat("?", before) + mark + "?>~")
		for _, form := range []string{
			string(text), hex.EncodeToString(text), fmt.Sprintf("%X", text), base64.StdEncoding.EncodeToString(text),
			base64.RawURLEncoding.EncodeToString(text), fmt.Sprintf(`"\u%04x\u%04x\u%04x\u%04x\u%04x\u%04x"`, mark[0], mark[1], mark[2], mark[3], mark[4], mark[5]),
		} {
			if find([]byte(form), disguises(mark)) == nil {
				t.Errorf("it is not found in %s", form)
			}
		}
	}
	if found := find([]byte("wvkqxzjwqv and WVKQX-ZJWQV"), disguises(mark)); found != nil {
		t.Errorf("it is found in %s", found)
	}
}
