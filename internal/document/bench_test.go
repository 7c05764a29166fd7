package document

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"purser/internal/document/blockyaml"

	"gopkg.in/yaml.v3"
)

// site returns a body of documents like those of real sites.
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
	for file, body := range sites(b) {
		segments, err := Split(b.Context(), body, YAML, DefaultLimits())
		if err != nil {
			b.Fatal(err)
		}
		for name, read := range map[string]func(context.Context, Segment) error{
			"nodes": func(_ context.Context, s Segment) error {
				return yaml.NewDecoder(bytes.NewReader(s.Text)).Decode(new(yaml.Node))
			},
			"strict": func(ctx context.Context, s Segment) error { return decodeAndMake(ctx, s, true) },
			"fast":   func(ctx context.Context, s Segment) error { return decodeAndMake(ctx, s, false) },
		} {
			b.Run(file+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					for _, segment := range segments {
						if err := read(b.Context(), segment); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// sites returns a generated document and the bodies of the real sites.
func sites(b *testing.B) map[string][]byte {
	b.Helper()
	bodies := map[string][]byte{"one": site(1)}
	for file, body := range corpus(b, "*/documents.yaml") {
		bodies[filepath.Base(filepath.Dir(file))] = body
	}
	return bodies
}

func decodeAndMake(ctx context.Context, s Segment, strict bool) error {
	limits := DefaultLimits()
	limits.Strict = strict
	entry, err := Decode(ctx, s, limits)
	if err == nil {
		_, err = New(entry)
	}
	return err
}

func BenchmarkAppend(b *testing.B) {
	segments, _ := Split(b.Context(), site(1), YAML, DefaultLimits())
	entry, _ := Decode(b.Context(), segments[0], DefaultLimits())
	text := AppendJSON(nil, entry.Value)
	b.SetBytes(int64(len(text)))
	var out []byte
	for b.Loop() {
		out = blockyaml.Append(out[:0], text)
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
