package folder

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/check"
	"purser/internal/document"
)

// meta is the beginning of a document in block style.
func meta(name string) string { return "schema: acme/Host/v1\nmetadata: {name: " + name + "}\n" }

// features are files with everything that the reader accepts, by their paths.
var features = map[string]string{
	"comments.yaml": "# before\n\n" + host("c1") + "# after the first\n--- # of the second\n# more\n" + meta("c2") + "  # indented\n\n" +
		host("c3") + "# at the end\n\n# of all",
	"markers.yaml":      "---\n---\n# empty\n" + host("m1") + "---\n" + meta("m2") + "...\n# between\n...\n---\n" + meta("m3") + "---\n# nothing\n---\n",
	"null.yaml":         "~\n" + host("n1") + "--- null # nothing\n--- ~\n# c\n---\n" + meta("n2") + "---\nnull\n...\n",
	"no marker.yaml":    meta("p1") + "data: a--- b\n",
	"end.yaml":          meta("e1") + "...\n" + meta("e2") + "... # comment\n" + meta("e3") + "...",
	"directives.yaml":   "%YAML 1.2\n# c\n---\n" + meta("d1") + "...\n%YAML 1.1\n--- # next\n" + meta("d2"),
	"directive.yaml":    meta("g1") + "%YAML 1.2\n---\n" + meta("g2"),
	"tags.yaml":         "%TAG !e! tag:example.com,2000:\n%TAG ! tag:yaml.org,2002:\n---\n" + meta("t1") + "data: !str 1\n---\n" + meta("t2") + "# c\n",
	"unknown.yaml":      "%FOO bar\n---\n" + meta("u1"),
	"percent.yaml":      meta("u2") + "data: \"a\n%b\"\n",
	"anchors.yaml":      meta("a1") + "data:\n  base: &b {x: 1, y: [&i 2, *i]}\n  more:\n    <<: *b\n    z: 3\n  twice: {<<: [*b, {q: 1}]}\n" + host("a2") + "data: &b [&c x, *c]\n",
	"flow.yaml":         "--- {schema: acme/Host/v1, metadata: {name: f1},\n  data: [a, 'b', \"c\", {d: ~}, e: f,]} # end\n---\n{\"schema\": \"acme/Host/v1\", \"metadata\": {\"name\":\"f2\"}}\n",
	"scalars.yaml":      meta("s1") + "data:\n  keep: |+\n    a\n\n     b\n\n\n  strip: >-\n    c\n    d\n\n  clip: |2\n      e\n  --- : |\n    ---\n    ...\n    # no comment\n" + host("s2") + "data: |+\n  f\n\n\n",
	"tabs.yaml":         meta("b1") + "data:\t{a:\t1,\t# tab\n\tb: 2}\n---\t# tab\n" + meta("b2") + "data: \"a\tb\"\t\n",
	"crlf.yaml":         strings.ReplaceAll("# c\n"+host("w1")+"# d\n"+host("w2")+"data: |\n  x\n\n  y\n...\n"+host("w3"), "\n", "\r\n"),
	"mixed.yaml":        "---\r\n" + meta("x1") + "---\n" + strings.ReplaceAll(meta("x2"), "\n", "\r\n") + "data: 1\r\n---\n" + meta("x3") + "data: \"a\r\n  b\"",
	"mark.yaml":         "\ufeff" + host("k1") + host("k2"),
	"marks.yaml":        "\ufeff# c\n" + host("k3") + "...\n\ufeff---\n" + meta("k4") + "\n\ufeff---\n" + meta("k5"),
	"mark in text.yaml": meta("k6") + "data: \"a\ufeffb\"\n" + host("k7"),
	"breaks.yaml":       meta("l1") + "data: \"a\u2028b\u2029c\u0085d\"\n" + host("l2") + "data: 'x\u2028y'\n",
	"quoted.yaml":       "\"schema\": 'acme/Host/v1'\n\"met\\u0061data\": {name: 'it''s \"q\"'}\n? data\n: \"\\x41\\\n  b\\tc\"\n",
	"duplicates.yaml":   meta("y1") + "data: {a: 1, a: 2}\n" + host("y2") + "data:\n  b: 1\n  b: 2\n",
	"list.yaml":         "# l\n- " + strings.ReplaceAll(meta("i1"), "\nm", "\n  m") + "- {schema: acme/Host/v1, metadata: {name: i2}}\n-\n- null\n# end\n",
	"marked list.yaml":  "---\n- {schema: acme/Host/v1, metadata: {name: i3}}\n- {schema: acme/Host/v1, metadata: {name: i4}}\n---\n# nothing",
	"json.yaml":         " [{\"schema\": \"acme/Host/v1\", \"metadata\": {\"name\": \"j1\"}},\n\t{\"schema\": \"acme/Host/v1\", \"metadata\": {\"name\": \"j2\"}}, null]\n\n",
	"object.yaml":       "{\"schema\": \"acme/Host/v1\",\n\"metadata\": {\"name\": \"j3\"}}\n",
	"array.json":        "\ufeff[\n null, {\"schema\": \"acme/Host/v1\", \"metadata\": {\"name\": \"j4\"}} ,\r\n {\"schema\": \"acme/Host/v1\", \"metadata\": {\"name\": \"j5\"}}\n]\n\n",
	"object.json":       "{\"schema\": \"acme/Host/v1\", \"metadata\": {\"name\": \"j6\"}}",
	"status.yaml":       meta("z1") + "status: {bucket: other}\n",
	"secret.yaml":       host("v1") + secret("v2") + "data: s\n" + host("v3"),
	"only.yaml":         "# nothing\n---\n",
	"empty.yaml":        "",
	"null.json":         "null",

	"deep/er/a b.yml":         host("o1"),
	"deep/ü ☃.yaml":           host("o2"),
	"deep/#1 %2F.yaml":        host("o3"),
	"deep/it's \"q\" &<.yaml": host("o4"),
	"deep/it's {}[],:.yaml":   host("o5"),
	longPath(500):             host("o6"),
}

// longPath returns a path of a number of characters, which file systems take.
func longPath(n int) string {
	return strings.Repeat(strings.Repeat("é", 100)+"/", 4) + strings.Repeat("m", n-404-len(".yaml")) + ".yaml"
}

// sent checks that a server reads the documents of a body as they are in its files, and returns what it answers with
// when it is asked for the texts of them.
func sent(t failing, body *Body) (parts []document.File) {
	t.Helper()
	var want, got []string
	for _, s := range body.sources {
		want = append(want, fmt.Sprintf("%s:%d %s", s.file, s.Line, document.AppendJSON(nil, s.Value)))
	}
	seen, digests := map[*document.Source]int{}, map[document.Digest]bool{}
	for _, segment := range sentIn(t, body.Text) {
		entry, err := document.Decode(t.Context(), segment, document.DefaultLimits())
		if err != nil {
			t.Fatalf("%v\n%s", err, body.Text)
		}
		got = append(got, fmt.Sprintf("%s %s", body.Place(entry.Line, 0), document.AppendJSON(nil, entry.Value)))
		if digests[segment.Digest] || entry.Segment != segment.Digest {
			t.Fatalf("document %s has the digest of another one, or two digests", got[len(got)-1])
		}
		digests[segment.Digest] = true
		of := segment.Source
		if seen[of]++; seen[of] > 1 {
			continue
		}
		part := document.File{Bucket: cmp.Or(segment.Bucket, "b"), Path: of.Path, JSON: of.JSON, Text: of.Text}
		if of.Path != "" {
			part.Line = of.Line
		}
		parts = append(parts, part)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("documents (-in files +sent):\n%s", diff)
	}
	for of, n := range seen {
		if n != of.Documents {
			t.Fatalf("%d documents have a text of %d:\n%s", n, of.Documents, of.Text)
		}
	}
	return parts
}

// pulledBack pulls the documents of a body into a new folder below dir, in any order, and returns the files there.
func pulledBack(t failing, random *rand.Rand, dir string, body *Body) map[string]string {
	t.Helper()
	parts := sent(t, body)
	random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	into := filepath.Join(dir, fmt.Sprintf("pulled-%d", random.Int63()))
	plan, err := PlanPull(t.Context(), into, answered(parts...), all())
	if err != nil {
		t.Fatalf("%v", err)
	}
	if unrecorded, err := plan.Write(); err != nil || unrecorded != nil {
		t.Fatalf("%v, %v", err, unrecorded)
	}
	return inFolder(t, into)
}

// inside returns files by their paths with a folder.
func inside(folder string, files map[string]string) map[string]string {
	moved := map[string]string{}
	for name, text := range files {
		moved[folder+"/"+name] = text
	}
	return moved
}

// pushed returns the files that have documents.
func pushed(files map[string]string) map[string]string {
	files = maps.Clone(files)
	maps.DeleteFunc(files, func(name, _ string) bool {
		name = filepath.Base(name)
		return name == "only.yaml" || name == "empty.yaml" || name == "null.json"
	})
	return files
}

// Each file with documents comes back as it was pushed.
func TestRoundTrip_features(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	for name, text := range features {
		dir := tree(t, map[string]string{name: text})
		body, err := Read(t.Context(), []string{dir}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := pushed(map[string]string{name: text})
		if got := strings.Contains(string(body.Text), "acme/Host/v1"); got != (len(want) > 0) {
			t.Errorf("%s: it is pushed: %v", name, got)
			continue
		}
		if diff := gocmp.Diff(want, fromBucket(pulledBack(t, random, t.TempDir(), body))); diff != "" {
			t.Errorf("%s (-pushed +pulled):\n%s", name, diff)
		}
	}
}

// fromBucket returns the files of bucket b by the paths that they were pushed from.
func fromBucket(files map[string]string) map[string]string {
	in := map[string]string{}
	for name, text := range files {
		in[strings.TrimPrefix(name, "b/")] = text
	}
	return in
}

// However files are named, those below the folder that has them all come back.
func TestRoundTrip_named(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(2))
	dir := tree(t, map[string]string{"a/x.yaml": host("x"), "a/in/y.yaml": host("y") + host("yy"), "z.yaml": host("z")})
	stdin := host("s1") + "# c\n" + host("s2")
	for named, want := range map[string]map[string]string{
		"a":               {"x.yaml": host("x"), "in/y.yaml": host("y") + host("yy")},
		"a z.yaml":        {"a/x.yaml": host("x"), "a/in/y.yaml": host("y") + host("yy"), "z.yaml": host("z")},
		"z.yaml a/in":     {"a/in/y.yaml": host("y") + host("yy"), "z.yaml": host("z")},
		"a/in/y.yaml":     {"y.yaml": host("y") + host("yy")},
		"- z.yaml":        {"Host/s1.yaml": host("s1") + "# c\n", "Host/s2.yaml": host("s2"), "z.yaml": host("z")},
		"z.yaml ./z.yaml": {"z.yaml": host("z")},
	} {
		var paths []string
		for name := range strings.FieldsSeq(named) {
			if name != "-" {
				name = filepath.Join(dir, name)
			}
			paths = append(paths, name)
		}
		body, err := Read(t.Context(), paths, strings.NewReader(stdin))
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, fromBucket(pulledBack(t, random, t.TempDir(), body))); diff != "" {
			t.Errorf("push b %s (-pushed +pulled):\n%s", named, diff)
		}
	}
}

// All files of a change set come back together, and pushing them again sends the same body.
func TestRoundTrip_changeSet(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(3))
	files := inside("site", features)
	maps.Copy(files, inside("a%2Fb", map[string]string{"x.yaml": host("q1"), "in/x.yaml": host("q2")}))
	dir := tree(t, files)
	body, err := ReadChangeSet(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	into := t.TempDir()
	if diff := gocmp.Diff(pushed(files), pulledBack(t, random, into, body)); diff != "" {
		t.Fatalf("files (-pushed +pulled):\n%s", diff)
	}
	entries, err := os.ReadDir(into)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	again, err := ReadChangeSet(t.Context(), filepath.Join(into, entries[0].Name()))
	if err != nil || !bytes.Equal(again.Text, body.Text) {
		t.Errorf("pushed again it is another body, error %v (-before +after):\n%s", err, gocmp.Diff(string(body.Text), string(again.Text)))
	}
}

// drawFile draws a text of a file from pieces of files, and returns how many documents it was given at most.
func drawFile(t *rapid.T, number *int) string {
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{
		"", "", "", "# c\n", "\ufeff", "---\n", "%YAML 1.2\n---\n", "%TAG !e! tag:e\n---\n", "\n\n", "\ufeff# c\n", "...\n",
	}).Draw(t, "beginning"))
	for range rapid.IntRange(0, 4).Draw(t, "documents") {
		*number++
		name := fmt.Sprintf("n%d", *number)
		text := rapid.SampledFrom([]string{
			meta(name), "# c\n" + meta(name) + "data: |+\n  a\n\n", meta(name) + "data: \"\u2028 x\n%y\"\n", secret(name),
			"{schema: acme/Host/v1, metadata: {name: " + name + "}, data: [1,\n2]}\n",
			`{"schema": "acme/Host/v1", "metadata": {"name": "` + name + "\"}}\n", meta(name) + "data: 'a\n\n  b'\n# after\n",
			meta(name) + "data: &a {b: 1}\nextra: {<<: *a}\n", "- {schema: acme/Host/v1, metadata: {name: " + name + "}}\n", "null\n", "",
			meta(name) + "data: x", meta(name) + "data: \ufeffx\n",
		}).Draw(t, "document")
		if rapid.IntRange(0, 5).Draw(t, "crlf") == 0 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		b.WriteString(text)
		b.WriteString(rapid.SampledFrom([]string{
			"---\n", "---\n", "--- # c\n", "...\n", "...\n---\n", "# c\n---\n", "", "\n", "... # c\n", "---\n\ufeff---\n", "...\n\ufeff",
			"%YAML 1.2\n---\n", "...\n%YAML 1.1\n---\n", "\r\n---\r\n", "---\n---\n", "---\n# c\n",
		}).Draw(t, "end"))
	}
	return b.String()
}

// Whatever files are accepted, a server reads the same documents in them, and they come back as they were.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		from, err := os.MkdirTemp(dir, "") //nolint:usetesting // rapid would keep all until the end
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(from)
		number, want := 0, map[string]string{}
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
			"a/x.yaml", "a/y.yaml", "a/in/x.yaml", "b/x.yaml", "b/a b.yml", "b/ü/#.yaml", "c%2Fd/x.yaml",
		}), 1, 3, rapid.ID).Draw(t, "names")
		pushed := filepath.Join(from, "pushed")
		for _, name := range names {
			text := drawFile(t, &number)
			at := filepath.Join(pushed, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			sources, err := parseSources(t.Context(), name, []byte(text))
			meant := func(s source) bool { return !check.IsForeign(s.Value) }
			if err == nil && slices.ContainsFunc(sources, meant) { // others are skipped
				want[name] = text
			}
		}
		body, err := ReadChangeSet(t.Context(), pushed)
		if err != nil {
			t.Skip(err) // a file cannot be read
		}
		for _, s := range body.sources {
			if !s.IsDocument() {
				t.Skip("a server refuses it")
			}
		}
		random := rand.New(rand.NewSource(rapid.Int64().Draw(t, "order")))
		if diff := gocmp.Diff(want, pulledBack(t, random, from, body)); diff != "" {
			t.Fatalf("files (-pushed +pulled):\n%s", diff)
		}
	})
}

// Standard input and files are read once each, and a text that is too long for a path is in no file.
func TestRead_stdin(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{longPath(501): host("x")})
	body, err := Read(t.Context(), []string{"-", dir, "-"}, io.MultiReader(strings.NewReader(host("y"))))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range sent(t, body) {
		if part.Path != "" || part.Line != 0 {
			t.Errorf("%s is in %q, from line %d", part.Text, part.Path, part.Line)
		}
	}
	if len(body.sources) != 2 {
		t.Errorf("%d documents", len(body.sources))
	}
}
