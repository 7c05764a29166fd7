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
