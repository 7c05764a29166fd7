package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/api"
	"purser/internal/authz"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// writing is a text of one or several documents, as it was submitted, in the model of a site.
type writing struct {
	text      string
	json      bool
	documents int
	secret    bool // it has an encrypted document
	refers    bool // with the reference to its secret
	path      string
	line      int // of its first byte in the file
}

// kept is a version of a document in the model.
type kept struct {
	name, bucket string
	value        int
	place        int

	*origin
}

// origin is the text of a version, shared by all revisions that have the version.
type origin struct {
	of   *writing // nil if none is kept
	path string
	line int
}

func isSecret(name string) bool { return name[0] == 'k' }

// textModel models a site: which text each version of a document has.
type textModel struct {
	*rapid.T

	outer      *testing.T
	servers    [2]site
	execute    func(sql string)
	live       map[string]*kept
	revisions  map[int]map[string]*kept
	newest     int
	places     int
	references map[string]string // to secrets that were live, by name and value
}

// opened returns two servers on a database that has secrets. An admin sees these, a reader does not.
func opened(t *testing.T) (servers [2]site, url string) {
	t.Helper()
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	rule := fmt.Sprintf("%q: role:admin or role:reader\n", authz.ListCleartextDocuments)
	if err := os.WriteFile(policy, []byte(rule), 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := authz.Open(policy, authz.AdminsOnly, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	set := settings{
		url: storetest.URL(t), defaults: revisions.Defaults{validations.SchemaValidation}, vault: newVault(t),
	}
	for i := range servers {
		servers[i] = openSite(t, set, func(c *api.Config) {
			c.Access = api.Access{Authenticator: byRole{}, Rules: rules}
		})
	}
	return servers, set.url
}

// ask makes a request of an admin to one of the servers.
func (m *textModel) ask(method, path, body, kind string) response {
	server := rapid.IntRange(0, 1).Draw(m.T, "server")
	header := as("admin")
	if kind != "" {
		header = append(header, "Content-Type", kind)
	}
	got := m.servers[server].ask(m.outer, method, path, body, header...)
	if got.StatusCode >= http.StatusBadRequest {
		m.Fatalf("%s %s: %d\n%s\nsent:\n%s", method, path, got.StatusCode, got.text, body)
	}
	return got
}

// written is a document as it is about to be submitted.
type written struct {
	name      string
	value     int
	reference bool // instead of the secret
}

// dataOf writes the data of a document.
func (m *textModel) dataOf(w written) string {
	if w.reference {
		return strconv.Quote(m.references[fmt.Sprint(w.name, w.value)])
	}
	return fmt.Sprintf("{x: %d}", w.value)
}

// inStream writes a document of a stream in some form.
func (m *textModel) inStream(w written, alone bool) string {
	kind, policy := "acme/Widget/v1", "cleartext"
	if isSecret(w.name) {
		kind, policy = "acme/Key/v1", "encrypted"
	}
	block := fmt.Sprintf("schema: %s\nmetadata:\n  name: %s\n  schema: metadata/Document/v1\n  storagePolicy: %s\n"+
		"  layeringDefinition: {layer: site}\ndata: %s\n", kind, w.name, policy, m.dataOf(w))
	flow := fmt.Sprintf("{data: %s, schema: %s, metadata: {name: %s, schema: metadata/Document/v1, storagePolicy: %s, "+
		"layeringDefinition: {layer: site}}}\n", m.dataOf(w), kind, w.name, policy)
	comment := fmt.Sprintf("# %s is %d\n", w.name, w.value)
	forms := []string{
		"---\n" + block, "---\n" + comment + block, "--- # above\n" + block + "\n\n# below " + w.name + "\n",
		"---\r\n" + strings.ReplaceAll(block, "\n", "\r\n"), "---\n" + flow, "--- \n\n" + block + "  # end\n",
	}
	if alone {
		forms = append(forms, block, "# first\n---\n"+block, comment+flow, "\uFEFF"+block,
			"%YAML 1.2\n---\n"+flow)
	}
	return rapid.SampledFrom(forms).Draw(m.T, "form")
}

// inList writes a document of a list in JSON.
func (m *textModel) inList(w written) string {
	kind, policy := "acme/Widget/v1", "cleartext"
	if isSecret(w.name) {
		kind, policy = "acme/Key/v1", "encrypted"
	}
	return fmt.Sprintf(`{"schema": %q, "metadata": {"schema": "metadata/Document/v1", "name": %q, "storagePolicy": %q, `+
		`"layeringDefinition": {"layer": "site"}}, "data": %s}`, kind, w.name, policy, strings.Replace(m.dataOf(w), "x", `"x"`, 1))
}

// file writes documents into a file, and returns it with the writing of each document.
func (m *textModel) file(documents []written, marked bool) (f document.File, of []*writing) {
	if marked {
		f.Path = rapid.SampledFrom([]string{"", "racks.yaml", "deep/er/ü b.yml"}).Draw(m.T, "path")
		f.Line = rapid.SampledFrom([]int{0, 0, 7}).Draw(m.T, "line")
	}
	whole := func() []*writing {
		w := &writing{text: string(f.Text), json: f.JSON, documents: len(documents), path: f.Path, line: max(f.Line, 1)}
		return slices.Repeat([]*writing{w}, len(documents))
	}
	switch rapid.SampledFrom([]string{"stream", "stream", "list", "json", "directive"}).Draw(m.T, "kind") {
	case "stream":
		line := max(f.Line, 1)
		for i, doc := range documents {
			text := m.inStream(doc, i == 0)
			if i == len(documents)-1 {
				end := []string{"", "# the end\n", "\n\n"}
				if marked {
					end = append(end, "---\n# nothing\n")
				}
				text += rapid.SampledFrom(end).Draw(m.T, "end")
				if rapid.Bool().Draw(m.T, "no final newline") {
					text = strings.TrimSuffix(text, "\n")
				}
			}
			of = append(of, &writing{text: text, documents: 1, path: f.Path, line: line})
			line += strings.Count(text, "\n")
			f.Text = append(f.Text, text...)
		}
		return f, of
	case "list":
		text := rapid.SampledFrom([]string{"", "# a list\n", "---\n"}).Draw(m.T, "head")
		for _, doc := range documents {
			end := rapid.SampledFrom([]string{"\n", " # c\n", "\n\n"}).Draw(m.T, "after")
			text = fmt.Sprintf("%s- %s%s", text, m.inList(doc), end)
		}
		f.Text = []byte(text)
		return f, whole()
	case "directive":
		text := "%TAG ! x\n"
		for _, doc := range documents {
			text = fmt.Sprintf("%s---\n%s\n", text, m.inList(doc))
		}
		f.Text = []byte(text)
		return f, whole()
	}
	text, line := "[", max(f.Line, 1)
	for i, doc := range documents {
		if i > 0 {
			between := rapid.SampledFrom([]string{",", ",\n  ", " , "}).Draw(m.T, "between")
			text, line = text+between, line+strings.Count(between, "\n")
		}
		item := m.inList(doc)
		of = append(of, &writing{text: item, json: true, documents: 1, line: line})
		text += item
	}
	f.Text, f.JSON = []byte(text+rapid.SampledFrom([]string{"]", "]\n"}).Draw(m.T, "end")), true
	if f.Path != "" {
		return f, whole()
	}
	return f, of
}

// submit sends documents by bucket, each bucket as some files, and keeps what they say in the model.
func (m *textModel) submit(buckets map[string][]written, changeSet, dryRun bool) {
	var body []byte
	kind := "application/x-yaml"
	marked := changeSet || rapid.IntRange(0, 2).Draw(m.T, "marked") > 0
	type sent struct {
		written
		bucket string
		of     *writing
	}
	var all []sent
	names := slices.Sorted(maps.Keys(buckets))
	for _, bucket := range names {
		rest := rapid.Permutation(buckets[bucket]).Draw(m.T, "order")
		for len(rest) > 0 {
			n := len(rest)
			if marked {
				n = rapid.IntRange(1, len(rest)).Draw(m.T, "documents of the file")
			}
			file, of := m.file(rest[:n], marked)
			for i, doc := range rest[:n] {
				of[i].secret = of[i].secret || isSecret(doc.name)
				of[i].refers = of[i].refers || isSecret(doc.name) && doc.reference
				all = append(all, sent{doc, bucket, of[i]})
			}
			rest = rest[n:]
			if !marked {
				body = file.Text
				if file.JSON && rapid.Bool().Draw(m.T, "as JSON") {
					kind = "application/json"
				}
				continue
			}
			if changeSet {
				file.Bucket = bucket
			}
			if file.JSON && rapid.Bool().Draw(m.T, "JSON is YAML") {
				file.JSON = false
			}
			body = document.AppendFile(body, file)
		}
	}
	path := "buckets/" + names[0] + "/documents"
	if changeSet {
		path = "changesets?buckets=" + strings.Join(names, ",")
	}
	if dryRun {
		m.ask(http.MethodPut, path+map[bool]string{true: "&", false: "?"}[changeSet]+"dry-run=true", string(body), kind)
		return
	}
	got := m.ask(http.MethodPut, path, string(body), kind)
	revision, err := strconv.Atoi(got.Header.Get("Purser-Revision"))
	if err != nil {
		m.Fatal(err)
	}
	next, changes := map[string]*kept{}, false
	for name, doc := range m.live {
		if !slices.Contains(names, doc.bucket) {
			next[name] = doc
		}
	}
	differs, first, apart, given := map[*writing]bool{}, map[*writing]*kept{}, map[*writing]bool{}, map[*writing]bool{}
	for _, s := range all {
		before := m.live[s.name]
		putBack := s.reference && isSecret(s.name)
		if before == nil || before.bucket != s.bucket || before.value != s.value {
			differs[s.of] = true
			continue
		}
		if given[s.of] = given[s.of] || !putBack; !putBack && (before.of == nil || before.of.text != s.of.text) {
			differs[s.of] = true
		}
		if first[s.of] == nil {
			first[s.of] = before
		}
		apart[s.of] = apart[s.of] || first[s.of].of != before.of
	}
	for of := range apart {
		differs[of] = differs[of] || apart[of] && given[of]
	}
	for _, s := range all {
		before := m.live[s.name]
		doc := &kept{name: s.name, bucket: s.bucket, value: s.value, origin: &origin{}}
		switch {
		case before == nil:
			m.places++
			doc.place, changes = m.places, true
		case before.bucket == s.bucket && before.value == s.value:
			doc = before
		default:
			doc.place, changes = before.place, true
		}
		putBack := s.reference && isSecret(s.name)
		if differs[s.of] {
			doc.of = s.of
		}
		if differs[s.of] || !putBack {
			if doc.path, doc.line = s.of.path, s.of.line; doc.path == "" {
				doc.line = 0
			}
		}
		next[s.name] = doc
	}
	for name := range m.live {
		changes = changes || next[name] == nil
	}
	if changes != (revision > m.newest) {
		m.Fatalf("revision %d after %d, want a new one: %v\nsent as %s:\n%s", revision, m.newest, changes, kind, body)
	}
	m.now(revision, next)
	if again := m.ask(http.MethodPut, path, string(body), kind); again.Header.Get("Purser-Revision") != strconv.Itoa(revision) {
		m.Fatalf("the same body again makes revision %s\n%s", again.Header.Get("Purser-Revision"), body)
	}
}

// now makes documents the newest revision.
func (m *textModel) now(revision int, documents map[string]*kept) {
	m.newest, m.live = revision, documents
	if revision > 0 {
		m.revisions[revision] = documents
	}
	if len(documents) == 0 {
		return
	}
	got := m.servers[0].ask(m.outer, http.MethodGet, "revisions/latest/documents?schema=acme/Key/v1", "", as("admin", asJSON...)...)
	for _, doc := range got.documents(m.outer) {
		metadata, _ := doc["metadata"].(map[string]any)
		name := fmt.Sprint(metadata["name"])
		m.references[fmt.Sprint(name, documents[name].value)] = fmt.Sprint(doc["data"])
	}
}

// someOf draws documents for buckets from those that are not live elsewhere.
func (m *textModel) someOf(buckets ...string) map[string][]written {
	drawn := map[string][]written{}
	for _, bucket := range buckets {
		drawn[bucket] = nil
	}
	for _, name := range []string{"w0", "w1", "w2", "w3", "k0", "k1"} {
		before := m.live[name]
		if before != nil && !slices.Contains(buckets, before.bucket) {
			continue
		}
		if rapid.IntRange(0, 9).Draw(m.T, "sent") == 0 || before == nil && rapid.Bool().Draw(m.T, "left out") {
			continue
		}
		doc, bucket := written{name: name}, rapid.SampledFrom(buckets).Draw(m.T, "bucket")
		if before != nil {
			if rapid.IntRange(0, 4).Draw(m.T, "moved") > 0 {
				bucket = before.bucket
			}
			doc.value = before.value
		}
		if rapid.IntRange(0, 3).Draw(m.T, "data") == 0 {
			doc.value = rapid.IntRange(0, 2).Draw(m.T, "value")
		}
		if before != nil && before.value == doc.value && isSecret(name) {
			doc.reference = rapid.Bool().Draw(m.T, "reference")
		}
		drawn[bucket] = append(drawn[bucket], doc)
	}
	return drawn
}

// check compares what the servers say with the model.
func (m *textModel) check() {
	if m.newest == 0 {
		return
	}
	server := m.servers[rapid.IntRange(0, 1).Draw(m.T, "server")]
	older := rapid.SampledFrom(slices.Sorted(maps.Keys(m.revisions))).Draw(m.T, "older")
	name := rapid.SampledFrom([]string{"w0", "k0"}).Draw(m.T, "name")
	for _, s := range m.servers {
		m.compare(s, m.newest, "")
	}
	m.compare(server, older, "")
	m.compare(server, m.newest, "&metadata.name="+name)
	m.compare(server, older, fmt.Sprintf("&limit=%d&offset=%d", rapid.IntRange(0, 3).Draw(m.T, "limit"),
		rapid.IntRange(0, 2).Draw(m.T, "offset")))
	m.compare(server, m.newest, "&sort=metadata.name&status.bucket=b")
}

func (m *textModel) compare(s site, revision int, query string) {
	path := fmt.Sprintf("revisions/%d/documents?form=submitted%s", revision, query)
	for _, c := range []struct {
		role, query string
		secrets     bool
	}{{"admin", "", false}, {"admin", "&cleartext-secrets=true", true}, {"reader", "", false}} {
		listed := s.ask(m.outer, http.MethodGet, strings.Replace(path, "form=submitted", "", 1), "", as(c.role, asJSON...)...)
		got := s.ask(m.outer, http.MethodGet, path+c.query, "", as(c.role)...)
		if got.StatusCode != http.StatusOK || listed.StatusCode != http.StatusOK {
			m.Fatalf("%s: %d and %d\n%s\n%s", path, listed.StatusCode, got.StatusCode, listed.text, got.text)
		}
		files, _, err := document.Files([]byte(got.text), 1000)
		if err != nil {
			m.Fatalf("%s: %v\n%s", path, err, got.text)
		}
		var want []document.File
		var selected []*kept
		having := map[*writing]int{}
		for _, doc := range listed.documents(m.outer) {
			metadata, _ := doc["metadata"].(map[string]any)
			of := m.revisions[revision][fmt.Sprint(metadata["name"])]
			if of == nil {
				m.Fatalf("%s: %v is not in the model", path, metadata["name"])
			}
			selected = append(selected, of)
			having[of.of]++
		}
		shown := map[*writing]bool{}
		for _, doc := range selected {
			f := document.File{Path: doc.path, Bucket: doc.bucket, Line: doc.line}
			switch w := doc.of; {
			case w == nil:
				f.Why = "the server has no text of it"
			case c.secrets && w.refers && having[w] == w.documents:
				f.Why = "it was pushed with the reference to its secret"
			case (!w.secret || c.secrets) && having[w] == w.documents:
				if shown[w] {
					continue
				}
				shown[w] = true
				f.Text, f.JSON, f.Bytes = []byte(w.text), w.json, len(w.text)
			case isSecret(doc.name) && !c.secrets:
				f.Why = "its text has a secret"
			default:
				f.Why = "its text is of several documents"
			}
			want = append(want, f)
		}
		for i := range files {
			if f := &files[i]; f.Why != "" {
				why, _, _ := strings.Cut(f.Why, ":")
				why, _, _ = strings.Cut(why, ",")
				f.Why, f.Text, f.Bytes = why, nil, 0
			}
		}
		if diff := cmp.Diff(show(want), show(files)); diff != "" {
			m.Fatalf("%s as %s%s (-want +got)\n%s", path, c.role, c.query, diff)
		}
	}
}

func show(files []document.File) (lines []string) {
	for _, f := range files {
		lines = append(lines, fmt.Sprintf("%s/%s:%d json=%v why=%q bytes=%d %q", f.Bucket, f.Path, f.Line, f.JSON, f.Why, f.Bytes, f.Text))
	}
	return lines
}

// rollback rolls back to any revision.
func (m *textModel) rollback() {
	target := rapid.SampledFrom(slices.Sorted(maps.Keys(m.revisions))).Draw(m.T, "target")
	m.ask(http.MethodPost, fmt.Sprintf("rollback/%d", target), "", "")
	next := map[string]*kept{}
	for name, old := range m.revisions[target] {
		live := m.live[name]
		if live != nil && live.place == old.place && live.bucket == old.bucket && live.value == old.value {
			next[name] = live
			continue
		}
		restored := *old
		restored.origin = new(*old.origin)
		next[name] = &restored
	}
	m.now(m.newest+1, next)
}

// forget makes documents as an earlier version of the server has stored them.
func (m *textModel) forget() {
	if len(m.live) == 0 {
		return
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(m.live))).Draw(m.T, "document")
	for _, sql := range []string{
		"UPDATE documents SET text = NULL, path = NULL, line = NULL WHERE name = '" + name + "'",
		"UPDATE buckets SET reread = reread + 1",
	} {
		m.execute(sql)
	}
	for _, revision := range m.revisions {
		if doc := revision[name]; doc != nil {
			*doc.origin = origin{}
		}
	}
}

// A document comes back as it was submitted last, whatever happens between, from any server. A text of several documents
// comes back while all of them have it.
func TestHandler_submitted_laws(t *testing.T) {
	t.Parallel()
	servers, url := opened(t)
	conn := storetest.Connect(t, url)
	const drawnOf = 45 // each takes long; -rapid.checks=1000 asks for more
	draws, failed := 0, false
	rapid.Check(t, func(rt *rapid.T) {
		if draws++; draws%drawnOf != 1 && !failed { // failed cases are run again to shrink them
			return
		}
		defer func() { failed = failed || rt.Failed() }()
		m := &textModel{
			T: rt, outer: t, servers: servers, execute: func(sql string) { storetest.Execute(t, conn, sql) },
			live: map[string]*kept{}, revisions: map[int]map[string]*kept{}, references: map[string]string{},
		}
		purge := func() {
			m.ask(http.MethodDelete, "revisions", "", "")
			m.newest, m.live, m.revisions = 0, map[string]*kept{}, map[int]map[string]*kept{}
			clear(m.references)
		}
		purge()
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				bucket := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "bucket")
				m.submit(m.someOf(bucket), false, rapid.IntRange(0, 5).Draw(t, "dry run") == 0)
			},
			"change set": func(t *rapid.T) {
				m.submit(m.someOf("a", "b"), true, rapid.IntRange(0, 5).Draw(t, "dry run") == 0)
			},
			"rollback": func(*rapid.T) {
				if m.newest > 0 {
					m.rollback()
				}
			},
			"prune": func(t *rapid.T) {
				keep := rapid.IntRange(1, 3).Draw(t, "keep")
				if m.newest == 0 {
					return
				}
				m.ask(http.MethodPost, fmt.Sprintf("revisions/prune?keep=%d", keep), "", "")
				maps.DeleteFunc(m.revisions, func(revision int, _ map[string]*kept) bool { return revision <= m.newest-keep })
			},
			"forget": func(*rapid.T) { m.forget() },
			"purge": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					purge()
				}
			},
			"": func(*rapid.T) { m.check() },
		})
	})
}

// The text of an encrypted document, or of a list with one, is sealed in the database, has no digest that a guess could
// be compared with, and is in no answer to a caller without the right, and in no log.
func TestHandler_submitted_secrets(t *testing.T) {
	t.Parallel()
	servers, url := opened(t)
	s, conn := servers[0], storetest.Connect(t, url)
	const marker = "QXZJKVWQ"
	key := textOf("acme/Key/v1", "k0", encrypted, "{x: 1} # "+marker)
	list := "# " + marker + "\n- {schema: acme/Widget/v1, metadata: {name: w1, schema: metadata/Document/v1, storagePolicy: " +
		"cleartext, layeringDefinition: {layer: site}}, data: {x: 1}}\n- {schema: acme/Key/v1, metadata: {name: k1, schema: metadata/Document/v1, storagePolicy: " +
		"encrypted, layeringDefinition: {layer: site}}, data: {x: 1}}\n"
	directive := "%TAG ! " + marker + "\n" + textOf("acme/Key/v1", "k2", encrypted, "{x: 1}") + textOf("acme/Widget/v1", "w2", ", storagePolicy: cleartext", "{}")
	part := strings.NewReplacer("w1", "w3", "k1", "k3").Replace(strings.Replace(list, "\n- {schema: acme/W", "\n\n- {schema: acme/W", 1))
	items := `[` + strings.Join([]string{
		`{"schema": "acme/Key/v1", "metadata": {"name": "k4", "schema": "metadata/Document/v1", "storagePolicy": "encrypted", ` +
			`"layeringDefinition": {"layer": "site"}}, "data": {"` + marker + `": 1}}`,
		`{"schema": "acme/Widget/v1", "metadata": {"name": "w4", "schema": "metadata/Document/v1", "storagePolicy": "cleartext", ` +
			`"layeringDefinition": {"layer": "site"}}, "data": {}}`,
	}, ",") + `]`
	bodies := map[string]string{
		"a": key, "b": list, "c": directive,
		"d": string(document.AppendFile(nil, document.File{Path: "l.yaml", Text: []byte(part)})),
		"e": string(document.AppendFile(nil, document.File{Path: "l.json", Text: []byte(items), JSON: true})),
		"f": strings.NewReplacer("k4", "k5", "w4", "w5").Replace(items),
	}
	var told strings.Builder // answers to callers without the right, and answers that withhold texts
	note := func(got response) response {
		fmt.Fprintln(&told, got.path, got.Header, got.text)
		return got
	}
	for _, bucket := range slices.Sorted(maps.Keys(bodies)) {
		note(s.unchecked().put(t, bucket, bodies[bucket], as("admin")...).is(t, http.StatusOK))
		note(s.unchecked().put(t, bucket, strings.Replace(bodies[bucket], marker, marker+"A", 1), as("admin", "Accept", "text/plain")...)) // may be a bad mark
		note(s.unchecked().put(t, bucket, bodies[bucket]+"]]: "+marker, as("admin", asJSON...)...))
	}
	for _, query := range []string{"", "&cleartext-secrets=true", "&cleartext-secrets=false"} {
		got := note(s.get(t, "revisions/latest/documents?form=submitted"+query, as("reader")...).is(t, http.StatusOK))
		files, _, err := document.Files([]byte(got.text), 100)
		if err != nil || len(files) != 5 {
			t.Errorf("%d files, %v, want the cleartext documents of sources with secrets, and one of its own\n%s", len(files), err, got.text)
		}
		for _, file := range files {
			if (file.Why != "") != (file.Bucket != "f") {
				t.Errorf("a cleartext document in the file of a secret comes as %+v", file)
			}
		}
	}
	note(s.get(t, "revisions/latest/documents?form=submitted", as("admin")...).is(t, http.StatusOK))
	note(s.get(t, "revisions/latest/documents?form=submitted&metadata.name=k0", as("reader")...).is(t, http.StatusOK))
	for _, path := range []string{"revisions/latest/documents", "revisions/latest/rendered-documents", "revisions/latest/findings"} {
		note(s.get(t, path, as("admin", asJSON...)...))
	}
	if at := strings.Index(told.String(), marker); at >= 0 {
		t.Errorf("an answer tells a secret:\n%s", brief(told.String()[max(0, at-700):]))
	}
	if strings.Contains(s.log.String(), marker) {
		t.Errorf("the log tells a secret:\n%s", s.log)
	}
	whole := s.get(t, "revisions/latest/documents?form=submitted&cleartext-secrets=true", as("admin")...).is(t, http.StatusOK).text
	for bucket, body := range map[string]string{"a": key, "b": list, "c": directive, "d": part, "e": items} {
		if !strings.Contains(strings.ReplaceAll(whole, marker+"A", marker), body) {
			t.Errorf("the text of bucket %s does not come back to whoever may see it:\n%s", bucket, whole)
		}
	}
	for _, name := range []string{"gzip", "zstd"} { // a size would tell whether other texts resemble the secret
		got := s.get(t, "revisions/latest/documents?form=submitted&cleartext-secrets=true", as("admin", "Accept-Encoding", name)...)
		if got.Header.Get("Content-Encoding") != "" || got.Header.Get("ETag") != "" || len(got.text) < 2000 {
			t.Errorf("an answer with secrets of %d bytes has the headers %v", len(got.text), got.Header)
		}
	}
	for table, text := range storetest.Tables(t, conn) {
		if strings.Contains(text, marker) || strings.Contains(text, hex.EncodeToString([]byte(marker))) {
			t.Errorf("the table %s tells a secret", table)
		}
		for bucket, guesses := range map[string][]string{
			"a": {key}, "b": {list}, "c": {directive}, "d": {part}, "e": {items}, "f": {strings.Split(items[1:], ",{")[0]},
		} {
			for _, guess := range guesses {
				guess = strings.Replace(guess, marker, marker+"A", 1)
				for _, prefix := range []string{"", "JSON "} {
					whole := sha256.Sum256([]byte(prefix + guess))
					digests := [][32]byte{whole}
					for i := range byte(2) {
						digests = append(digests, sha256.Sum256(append([]byte{'p', 'a', 'r', 't', ' ', i, 0, 0}, whole[:]...)))
					}
					for _, digest := range digests {
						if strings.Contains(text, hex.EncodeToString(digest[:])) {
							t.Errorf("the table %s has a digest from which the text of bucket %s can be guessed", table, bucket)
						}
					}
				}
			}
		}
	}
}

// A server that cannot open texts with secrets says what it lacks, and shows the others.
func TestHandler_submitted_unopened(t *testing.T) {
	t.Parallel()
	vault, url := newVault(t), storetest.URL(t)
	open := func(vault changes.Vault) site {
		return openSite(t, settings{url: url, vault: vault, defaults: revisions.Defaults{validations.SchemaValidation}})
	}
	const form = "revisions/latest/documents?form=submitted&status.bucket="
	s := open(vault)
	s.put(t, "keys", textOf("acme/Key/v1", "k", encrypted, "{x: 1}")).is(t, http.StatusOK)
	s.put(t, "site", widget("w", "{}")+"# here\n").is(t, http.StatusOK)
	for name, c := range map[string]struct {
		site site
		help string
	}{
		"without a keyset": {open(nil), "--secrets-keyset"}, "with another keyset": {open(newVault(t)), "keyset"},
	} {
		got := c.site.get(t, form+"keys&cleartext-secrets=true", asJSON...)
		got.isFault(t, http.StatusServiceUnavailable, "SecretUnopened", c.help, "[acme/Key/v1, site] k")
		if got := c.site.get(t, form+"keys").is(t, http.StatusOK); !strings.Contains(got.text, "its text has a secret") {
			t.Errorf("%s: %s", name, got.text)
		}
		if got := c.site.get(t, form+"site&cleartext-secrets=true").is(t, http.StatusOK); !strings.HasSuffix(got.text, "# here\n") {
			t.Errorf("%s: %s", name, got.text)
		}
	}
	storetest.Execute(t, storetest.Connect(t, url), `UPDATE texts SET body = CASE WHEN reference IS NULL THEN '\x01ff'
		ELSE overlay(body PLACING '\x00000000' FROM length(body) - 5) END`)
	s.get(t, form+"keys&cleartext-secrets=true", asJSON...).isFault(t, http.StatusInternalServerError, "SecretUnopened", "damaged")
	if got := s.get(t, form+"site", asJSON...); got.StatusCode != http.StatusInternalServerError || !strings.Contains(s.log.String(), "block") {
		t.Errorf("a damaged text: %d %s\n%s", got.StatusCode, got.text, s.log)
	}
	s.get(t, form+"keys").is(t, http.StatusOK)
}
