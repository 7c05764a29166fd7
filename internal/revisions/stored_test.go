package revisions

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"purser/internal/document"
)

// Size does not underestimate the memory of any kind of document.
//
//nolint:paralleltest // it measures the memory of the process
func TestSize(t *testing.T) {
	many := func(format string) string {
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, format, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	for name, metadata := range map[string]string{
		"labels":       `{"labels":{` + many(`"%d":"",`) + `}}`,
		"destinations": `{"substitutions":[{"dest":[` + many(`{"path":".%d"},`) + `]}]}`,
		"text":         `{"labels":{"a":"` + many("%d") + `"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			doc := &document.Document{Data: []byte("{}"), Metadata: []byte(metadata)}
			doc.DecodeTraits()
			runtime.GC()
			runtime.ReadMemStats(&after)
			size, used := Size(doc), int(after.HeapAlloc-before.HeapAlloc)
			if t.Logf("%d bytes, %d estimated", used, size); used > 3*size/2 {
				t.Errorf("%d bytes, of which only %d are estimated", used, size)
			}
			runtime.KeepAlive(doc)
		})
	}
}
