package document

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	a := AppendFile(nil, File{Path: "a.yaml", Text: []byte("a: 1\nb: 2")})
	for name, c := range map[string]struct{ body, want string }{
		"no file":        {"--- # purser\na: 1\n", ""},
		"two":            {string(a) + string(a), ""},
		"cut":            {string(a[:len(a)-1]), ""},
		"too short":      {string(a[:len(a)-2]), "line 1: the comment before a file has more bytes than follow"},
		"more":           {string(a) + "# x\n", "line 4: the comment before a file must begin here"},
		"no JSON":        {string(a) + fileMark + "\n", "line 4: the comment before a file is not valid JSON"},
		"negative bytes": {fileMark + `"bytes":-1}` + "\n", "more bytes"},
		"large line":     {fileMark + `"bytes":0,"line":3000000000}` + "\n", "a line that no file has"},
		"negative line":  {fileMark + `"bytes":0,"line":-1}` + "\n", "a line that no file has"},
		"path":           {fileMark + `"bytes":0,"file":"../x.yaml"}` + "\n", "has a path"},
	} {
		_, _, err := Files([]byte(c.body), 9)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	if files, _, err := Files(slices.Concat(a, a, a), 2); len(files) != 2 || err != nil {
		t.Errorf("%d files, error %v, want as many as the limit", len(files), err)
	}
}

func TestCheckPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"a.yaml": true, "a/b c/ü.yaml": true, "#'\".yaml": true, strings.Repeat("é", 500): true, "...": true,
		"": false, "/a": false, "a/": false, "a//b": false, ".": false, "a/..": false, "./a": false, `a\b`: false, "a\nb": false,
		"a\u2028b": false, "\xff": false, strings.Repeat("é", 501): false,
	} {
		if got := CheckPath(path) == nil; got != want {
			t.Errorf("%q may be a path: %v, want %v", path, got, want)
		}
	}
}

// Empty documents of files are left out; whoever sends documents without files is told of them.
func TestSplitBody_empty(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "# c\n": 0, "---\n": 0, "a: 1\n---\n": 1, "---\n# c\n---\na: 1\n--- # c\n": 1, "~\n---\na: 1\n": 1, "--- null # c\n": 0,
		"--- null\n x\n": 1, "---null\n": 1, "null x\n": 1, "--- NULL\n# c\n...\n": 0, "nul\n": 1, "- a: 1\n-\n- ~\n": 1,
		"---\n- a: 1\n- b: 1\n---\n": 2, "[null, {}]": 1, "%TAG ! x\n---\n---\na: 1\n": 1, "--- ''\n": 1, "- a\n--- \n- b\n": 2,
	} {
		segments, err := SplitFile(t.Context(), File{Text: []byte(text)}, DefaultLimits())
		if err != nil || len(segments) != want {
			t.Errorf("%q: %d documents, error %v, want %d", text, len(segments), err, want)
		}
		body := AppendFile(nil, File{Text: []byte(text)})
		if sent, err := SplitBody(t.Context(), body, YAML, DefaultLimits(), false); err != nil || len(sent) != want {
			t.Errorf("%q sent: %d documents, error %v, want %d", text, len(sent), err, want)
		}
	}
}

// A directive that follows a document without an end marker belongs to it: neither is read alone.
func TestSplitFile_directives(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"%YAML 1.2\n---\na: 1\n...\n%YAML 1.2\n---\nb: 1\n": 2, "a: 1\n%YAML 1.2\n---\nb: 1\n": 1, "%TAG ! x\n---\na: 1\n---\nb: 1\n": 1,
	} {
		segments, err := SplitFile(t.Context(), File{Path: "x.yaml", Text: []byte(text)}, DefaultLimits())
		if err != nil || len(segments) != 2 {
			t.Fatalf("%q: %d documents, error %v", text, len(segments), err)
		}
		if got := len(slices.Compact([]*Source{segments[0].Source, segments[1].Source})); got != want {
			t.Errorf("%q: %d sources, want %d", text, got, want)
		}
	}
}

// Documents of a later file keep the numbers after those of earlier ones.
func TestSplitBody_numbers(t *testing.T) {
	t.Parallel()
	body := AppendFile(AppendFile(nil, File{Text: []byte("- a: 1\n-\n- b: 1")}), File{Text: []byte("---\n---\nc: 1\n")})
	segments, err := SplitBody(t.Context(), body, YAML, DefaultLimits(), true)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range segments {
		got = append(got, s.Place())
	}
	want := []string{"document 1 (from line 2)", "document 3 (from line 4)", "document 5 (from line 7)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What was appended as files is read as these files.
func TestAppendFile_laws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file := rapid.Custom(func(t *rapid.T) File {
			text := rapid.SliceOf(rapid.SampledFrom([]byte("a: 1\n\r#-\xff"))).Draw(t, "text")
			path := rapid.OneOf(rapid.Just("x.yaml"), rapid.String()).Filter(func(s string) bool { return CheckPath(s) == nil })
			return File{
				Path: rapid.OneOf(rapid.Just(""), path).Draw(t, "path"), Bucket: rapid.String().Draw(t, "bucket"),
				Line: rapid.IntRange(0, 9).Draw(t, "line"), JSON: rapid.Bool().Draw(t, "JSON"), Why: rapid.String().Draw(t, "why"),
				Bytes: len(text), Text: text,
			}
		})
		files := rapid.SliceOfN(file, 1, 5).Draw(t, "files")
		var body []byte
		var at []int
		for _, f := range files {
			body = AppendFile(body, f)
			at = append(at, len(body))
		}
		read, lines, err := Files(body, len(files)+1)
		if err != nil {
			t.Fatalf("%v\n%q", err, body)
		}
		if diff := cmp.Diff(files, read); diff != "" {
			t.Fatalf("files (-appended +read):\n%s", diff)
		}
		begin := 0
		for i, line := range lines {
			if want := 2 + bytes.Count(body[:begin], []byte("\n")); line != want {
				t.Fatalf("file %d begins at line %d, want %d", i+1, line, want)
			}
			begin = at[i]
		}
	})
}

// A body is split without a panic, whatever is in it. The sources of a file make up the file, and each is read alone as
// it was in the file. Errors name a place in the body.
func FuzzFiles(f *testing.F) {
	for _, text := range []string{
		"# c\n---\na: 1\n---\nb: 2", "%YAML 1.2\n---\na: 1\n...\n%TAG ! x\n---\nb: 1\n", "- a: 1\n- b: 1\n---\n", "[{\"a\": 1}, null]",
		"\ufeffa: 1\n...\n\ufeff---\nb: 1\n", "a: 1\r\n---\r\nb: |+\r\n  c\r\n\r\n", "a: [\n", "a: 1\n%YAML 1.2\n---\nb: 1\n", "~\n--- null\n",
		"a: 1\n...\n---\n# c\n", "--- # purser: {\"bytes\":3}\na:\n", "a: \"\u2028\"\r# x\r", "...\n...\na: 1\n... # c\n",
	} {
		f.Add([]byte(text), "x.yaml", false)
		f.Add([]byte(text), "", true)
		f.Add(AppendFile(nil, File{Path: "y.yaml", Text: []byte(text)}), "", false)
	}
	limits := DefaultLimits()
	f.Fuzz(func(t *testing.T, text []byte, path string, isJSON bool) {
		checkPlaces(t, text, limits)
		if path != "" && CheckPath(path) != nil {
			return
		}
		file := File{Path: path, JSON: isJSON, Text: text, Bytes: len(text)}
		body := AppendFile(AppendFile(nil, File{Text: []byte("first: 1")}), file)
		files, lines, err := Files(body, 3)
		if err != nil || len(files) != 2 || lines[1] != 4 || cmp.Diff(file, files[1]) != "" {
			t.Fatalf("%v, lines %v, error %v, want %v", files, lines, err, file)
		}
		checkPlaces(t, body, limits)
		segments, err := SplitBody(t.Context(), body, YAML, limits, true)
		if err != nil || len(segments) < 2 {
			return
		}
		checkSources(t, file, segments[1:], limits)
	})
}

// checkPlaces checks the lines of the documents and the error of a body.
func checkPlaces(t *testing.T, body []byte, limits Limits) {
	t.Helper()
	last := 1 + bytes.Count(body, []byte("\n"))
	segments, err := SplitBody(t.Context(), body, YAML, limits, true)
	for i := 0; i < len(segments) && err == nil; i++ {
		if line := segments[i].Line; line < 1 || line > last {
			t.Fatalf("document %d is at line %d of %d:\n%q", i, line, last, body)
		}
		_, err = Decode(t.Context(), segments[i], limits)
	}
	if mistake, ok := errors.AsType[*Mistake](err); ok && (mistake.At.Line < 0 || mistake.At.Line > last) {
		t.Fatalf("%v, but there are %d lines:\n%q", err, last, body)
	}
}

// checkSources checks the sources of a file.
func checkSources(t *testing.T, file File, segments []Segment, limits Limits) {
	t.Helper()
	var sources []*Source
	for _, s := range segments {
		if len(sources) == 0 || sources[len(sources)-1] != s.Source {
			sources = append(sources, s.Source)
		}
	}
	var whole []byte
	line := 1
	for _, s := range sources {
		if s.Path != file.Path || s.Path != "" && s.Line != line {
			t.Fatalf("a source is at %s:%d, want %s:%d", s.Path, s.Line, file.Path, line)
		}
		line += bytes.Count(s.Text, []byte("\n"))
		whole = append(whole, s.Text...)
	}
	if isList := file.Path == "" && sources[0].JSON; !isList && !bytes.Equal(whole, file.Text) {
		t.Fatalf("the sources are %q, the file is %q", whole, file.Text)
	}
	for _, source := range sources {
		together := slices.DeleteFunc(slices.Clone(segments), func(s Segment) bool { return s.Source != source })
		alone, err := SplitFile(t.Context(), File{JSON: source.JSON, Text: source.Text}, limits)
		if len(together) == 1 && isListEntry(t, together[0], limits) { // no document; alone, it counts as its items
			continue
		}
		if err != nil || len(alone) != source.Documents || len(together) != source.Documents {
			t.Fatalf("a source of %d documents has %d, and %d alone, error %v:\n%q", source.Documents, len(together), len(alone), err, source.Text)
		}
		for i := range alone {
			entry, err := Decode(t.Context(), alone[i], limits)
			in, inFile := Decode(t.Context(), together[i], limits)
			if (err == nil) != (inFile == nil) {
				t.Fatalf("alone %v, in the file %v:\n%q", err, inFile, source.Text)
			}
			if err == nil && !bytes.Equal(AppendJSON(nil, entry.Value), AppendJSON(nil, in.Value)) {
				t.Fatalf("alone %s, in the file %s:\n%q", AppendJSON(nil, entry.Value), AppendJSON(nil, in.Value), source.Text)
			}
		}
	}
}

// isListEntry reports whether a segment is a list, which a file may have only as a whole.
func isListEntry(t *testing.T, s Segment, limits Limits) bool {
	t.Helper()
	entry, err := Decode(t.Context(), s, limits)
	_, isList := entry.Value.([]any)
	return err == nil && isList
}
