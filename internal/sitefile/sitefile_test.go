package sitefile_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/sitefile"
)

// manifest is one of the tables a, b and c.
func manifest() sitefile.Manifest {
	return sitefile.Manifest{
		Format: sitefile.Format, Site: "x", Schema: 1, At: time.Unix(0, 0).UTC(), By: "1", Keys: []uint32{7},
		Tables: []sitefile.Table{{Name: "a", Columns: []string{"n"}, Rows: 2}, {Name: "b"}, {Name: "c"}},
	}
}

// written returns a file.
func written(t testing.TB, tables map[string]string) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := sitefile.NewWriter(&file, manifest())
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range manifest().Tables {
		if err := w.Begin(table.Name); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, tables[table.Name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// read reads a file to its end.
func read(file io.Reader) (m sitefile.Manifest, tables map[string]string, err error) {
	r, err := sitefile.NewReader(file)
	if err != nil {
		return m, nil, err
	}
	tables = map[string]string{}
	for _, table := range manifest().Tables {
		text, err := io.ReadAll(r.Table(table.Name))
		if err != nil {
			return m, nil, err
		}
		tables[table.Name] = string(text)
	}
	return r.Manifest, tables, r.Close()
}

// Tables of any size, at and around that of a part, are read as they were written.
func TestReader(t *testing.T) {
	t.Parallel()
	const part = 4 << 20
	for _, size := range []int{0, 1, part - 1, part, part + 1, 3*part + 5} {
		want := map[string]string{"a": strings.Repeat("x", size), "b": "", "c": strings.Repeat("y", 7)}
		m, got, err := read(bytes.NewReader(written(t, want)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(manifest(), m); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s has %d bytes, want %d", name, len(got[name]), len(text))
			}
		}
	}
}

// A file of which anything is missing or different is refused, wherever that is.
func TestReader_broken(t *testing.T) {
	t.Parallel()
	file := written(t, map[string]string{"a": "1\n2\n", "c": "3\n"})
	const block, digest = 512, 65
	end := bytes.LastIndex(file, []byte("sha256")) + block + digest // zeros follow
	for at := 0; at < end; at += 3 {
		if _, _, err := read(bytes.NewReader(file[:at])); err == nil {
			t.Errorf("%d of %d bytes are a file", at, len(file))
		}
	}
	if _, _, err := read(bytes.NewReader(append(bytes.Clone(file[:len(file)-2*block]), file[:block]...))); err == nil {
		t.Error("something may follow")
	}
	for what, at := range map[string]int{"row": bytes.Index(file, []byte("1\n2\n")), "digest": bytes.Index(file, []byte("sha256")) + block} {
		changed := bytes.Clone(file)
		changed[at] ^= 1
		if _, _, err := read(bytes.NewReader(changed)); err == nil || !strings.Contains(err.Error(), "damaged or changed") {
			t.Errorf("%s: %v", what, err)
		}
	}
	swapped := bytes.Replace(file, []byte("a/00000001"), []byte("b/00000001"), 1)
	if _, _, err := read(bytes.NewReader(swapped)); err == nil {
		t.Error("a table may have another name")
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a\n": "x\ta\n", "a\tb\n\nc\n": "x\ta\tb\nx\t\nx\tc\n", //nolint:dupword // columns
	} {
		for how, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "by bytes": iotest.OneByteReader(strings.NewReader(text)),
			"with the end": iotest.DataErrReader(strings.NewReader(text)),
		} {
			lines := sitefile.NewLines(r, "x")
			got, err := io.ReadAll(iotest.OneByteReader(lines))
			if err != nil || lines.Err() != nil || string(got) != want {
				t.Errorf("%q %s: %q, %v", text, how, got, err)
			}
			if lines.Count != int64(strings.Count(text, "\n")) || lines.Bytes != int64(len(text)) {
				t.Errorf("%q: %d rows, %d bytes", text, lines.Count, lines.Bytes)
			}
		}
	}
	broken := errors.New("broken")
	for text, r := range map[string]io.Reader{
		"carriage return": strings.NewReader("a\r\n"), "does not end": strings.NewReader("a\nb"),
		"broken": iotest.ErrReader(broken),
	} {
		lines := sitefile.NewLines(r, "x")
		if _, err := io.ReadAll(lines); err == nil || !strings.Contains(err.Error(), text) || !errors.Is(lines.Err(), err) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Whatever a file has, reading it ends without more memory than parts take, and what is accepted can be written again.
func FuzzReader(f *testing.F) {
	file := written(f, map[string]string{"a": "1\n2\n", "c": "3\n"})
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, tables, err := read(bytes.NewReader(file))
		if err != nil {
			return
		}
		if m.Format != sitefile.Format {
			t.Errorf("format %d", m.Format)
		}
		size := 0
		for _, table := range tables {
			size += len(table)
		}
		if size > len(file) {
			t.Errorf("%d bytes give %d", len(file), size)
		}
	})
}
