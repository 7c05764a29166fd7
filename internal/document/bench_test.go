package document

import (
	"fmt"
	"strings"
	"testing"
)

// site writes documents as sites do.
func site(documents int) []byte {
	const lines = 25
	var b strings.Builder
	for i := range documents {
		fmt.Fprintf(&b, "---\nschema: acme/Host/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: host-%d\n", i)
		b.WriteString("  storagePolicy: cleartext\n  layeringDefinition: {abstract: false, layer: site}\ndata:\n")
		fmt.Fprintf(&b, "  address: 10.0.0.%d\n  rack: %d\n  interfaces:\n", i%250, i%40)
		for n := range lines {
			fmt.Fprintf(&b, "  - name: eth%d\n    mtu: 9000\n    networks:\n    - oam\n    - \"vlan %d\"\n", n, i*n)
		}
	}
	return []byte(b.String())
}

func BenchmarkSplit(b *testing.B) {
	body := site(1000)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := Split(b.Context(), body, YAML, DefaultLimits()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	body := site(1)
	segments, _ := Split(b.Context(), body, YAML, DefaultLimits())
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		entry, err := Decode(b.Context(), segments[0], DefaultLimits())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := New(entry); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendYAML(b *testing.B) {
	segments, _ := Split(b.Context(), site(1), YAML, DefaultLimits())
	entry, _ := Decode(b.Context(), segments[0], DefaultLimits())
	text := AppendJSON(nil, entry.Value)
	b.SetBytes(int64(len(text)))
	var out []byte
	for b.Loop() {
		out = AppendYAML(out[:0], text)
	}
}

func BenchmarkParseJSON(b *testing.B) {
	segments, _ := Split(b.Context(), site(1), YAML, DefaultLimits())
	entry, _ := Decode(b.Context(), segments[0], DefaultLimits())
	text := AppendJSON(nil, entry.Value)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ParseJSON(text); err != nil {
			b.Fatal(err)
		}
	}
}
