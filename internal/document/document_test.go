package document

import (
	"runtime"
	"strings"
	"testing"
)

// A document retains none of the text that it was read from.
func TestNew_memory(t *testing.T) { //nolint:paralleltest // it measures memory
	const documents, size = 16, 1 << 20
	text := "schema: s\nmetadata:\n  name: n\n  labels: {a: b}\n  layeringDefinition: {layer: l}\n" +
		"  substitutions:\n  - dest: {path: .a}\ndata:\n" + strings.Repeat("# comment\n", size/10) + "  a: b\n"
	held := func() int64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := held()
	made := make([]*Document, documents)
	for i := range made {
		segments, err := Split(t.Context(), []byte(text), YAML, DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		entry, err := Decode(t.Context(), segments[0], DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if made[i], err = New(entry); err != nil {
			t.Fatal(err)
		}
	}
	if grown := held() - before; grown > size {
		t.Errorf("%d documents of %d bytes of data hold %d bytes", documents, len(made[0].Data), grown)
	}
	runtime.KeepAlive(made)
}

// In messages, documents without a layer are named without the None of the reference, and nothing else changes.
func TestWithoutNone(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"[acme/Host/v1, None] h is used by [acme/Rack/v1.0, None] r", "[acme/Host/v1] h is used by [acme/Rack/v1.0] r"},
		{"[acme/Host/v1, site] h", "[acme/Host/v1, site] h"},
		{"[1, None] is not of type 'string'", "[1, None] is not of type 'string'"},
		{"['acme/Host/v1', None] is too short", "['acme/Host/v1', None] is too short"},
		{"None is not of type 'string'", "None is not of type 'string'"},
	} {
		if got := WithoutNone(c[0]); got != c[1] {
			t.Errorf("%s becomes %s, want %s", c[0], got, c[1])
		}
		if id := (Identity{Schema: "acme/Host/v1", Name: "h"}); WithoutNone(id.String()) != id.Known() {
			t.Errorf("%s becomes %s", id, WithoutNone(id.String()))
		}
	}
}
