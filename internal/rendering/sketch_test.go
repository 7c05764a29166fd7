package rendering

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// budgeted returns a context with the budget of a request.
func budgeted(t testing.TB) context.Context {
	t.Helper()
	ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
	t.Cleanup(end)
	return ctx
}

// sketch writes documents down in short, one a line, below a LayeringPolicy of the layers global, type and site unless
// a line brings another one:
//
//	policy region, site
//	global p | abstract | labels {k: g} | data {a: 1}
//	site c | parent {k: g} | merge . | delete .a | sub src .v > .x | data {b: 2}
//
// "-" is no layer. The default schema is t/K/v1; schema t/L/v1 sets another. For what sub cannot express, use
// substitution:
// substitution {src: {name: src, path: .}, dest: {path: .x, pattern: P}}.
func sketch(t testing.TB, text string) (documents []*document.Document) {
	t.Helper()
	if !strings.Contains(text, "policy ") {
		documents = append(documents, policyOf("global, type, site"))
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if order, isPolicy := strings.CutPrefix(line, "policy "); isPolicy {
			documents = append(documents, policyOf(order))
		} else if line != "" {
			documents = append(documents, sketchOne(t, line))
		}
	}
	return documents
}

func policyOf(order string) *document.Document {
	var layers []any
	for layer := range strings.SplitSeq(order, ", ") {
		layers = append(layers, layer)
	}
	return newDocument("deckhand/LayeringPolicy/v1", document.Mapping{{Key: "layerOrder", Value: layers}}, document.Mapping{
		{Key: "schema", Value: "metadata/Control/v1"}, {Key: "name", Value: "policy"},
	})
}

func newDocument(schema string, data any, metadata document.Mapping) *document.Document {
	d, err := document.New(document.Entry{Value: document.Mapping{
		{Key: "schema", Value: schema}, {Key: "metadata", Value: metadata}, {Key: "data", Value: data},
	}})
	if err != nil {
		panic(err)
	}
	return d
}

func sketchOne(t testing.TB, line string) *document.Document {
	t.Helper()
	parts := strings.Split(line, " | ")
	layer, name, _ := strings.Cut(parts[0], " ")
	layering, metadata := document.Mapping{}, document.Mapping{{Key: "name", Value: name}}
	if layer != "-" {
		layering = layering.With("layer", layer)
	}
	schema, kind := "t/K/v1", "metadata/Document/v1"
	var data any
	var actions, substitutions []any
	for _, part := range parts[1:] {
		word, rest, _ := strings.Cut(part, " ")
		switch word {
		case "abstract":
			layering = layering.With("abstract", true)
		case "replacement":
			metadata = metadata.With("replacement", true)
		case "encrypted":
			metadata = metadata.With("storagePolicy", "encrypted")
		case "control":
			kind = "metadata/Control/v1"
		case "schema":
			schema = rest
		case "labels":
			metadata = metadata.With("labels", yamlOf(t, rest))
		case "parent":
			layering = layering.With("parentSelector", yamlOf(t, rest))
		case "merge", "replace", "delete":
			actions = append(actions, document.Mapping{{Key: "method", Value: word}, {Key: "path", Value: rest}})
		case "sub":
			from, to, _ := strings.Cut(rest, " > ")
			source, path, _ := strings.Cut(from, " ")
			substitutions = append(substitutions, document.Mapping{
				{Key: "src", Value: document.Mapping{{Key: "schema", Value: "t/K/v1"}, {Key: "name", Value: source}, {Key: "path", Value: path}}},
				{Key: "dest", Value: document.Mapping{{Key: "path", Value: to}}},
			})
		case "substitution":
			s := yamlOf(t, rest).(document.Mapping)
			src := s.At("src").(document.Mapping)
			if src.At("schema") == nil {
				s = s.With("src", src.With("schema", "t/K/v1"))
			}
			substitutions = append(substitutions, s)
		case "data":
			data = yamlOf(t, rest)
		default:
			t.Fatalf("%q in %q", word, line)
		}
	}
	if actions != nil {
		layering = layering.With("actions", actions)
	}
	if substitutions != nil {
		metadata = metadata.With("substitutions", substitutions)
	}
	return newDocument(schema, data, metadata.With("schema", kind).With("layeringDefinition", layering))
}

func yamlOf(t testing.TB, text string) any {
	t.Helper()
	value, err := document.ParseOne(t.Context(), []byte("value: "+text), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return value.(document.Mapping).At("value")
}

// shown writes rendered documents down, one a line, without the policy: site c {"b":2}.
func shown(t testing.TB, documents []*document.Document, rendered []Rendered) string {
	t.Helper()
	var lines []string
	for _, r := range rendered {
		d := documents[r.Index]
		if strings.HasPrefix(d.Schema, "deckhand/LayeringPolicy/") {
			continue
		}
		layer := d.Layer
		if layer == "" {
			layer = "-"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", layer, d.Name, document.AppendJSON(nil, dataOf(t, d, r))))
	}
	return strings.Join(lines, "\n")
}

func dataOf(t testing.TB, d *document.Document, r Rendered) any {
	t.Helper()
	if r.Computed {
		return r.Data
	}
	value, err := document.ParseJSON(d.Data)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// renderAll renders documents, and returns the first fault of one of them as an error.
func renderAll(ctx context.Context, documents []*document.Document, options Options) (
	[]Rendered, []fault.Message, error,
) {
	out, err := Render(ctx, documents, options)
	if err == nil && len(out.Faults) > 0 {
		err = out.Faults[0]
	}
	if err != nil {
		return nil, nil, err
	}
	return out.Documents, out.Warnings, nil
}

// rule is a set of documents with the expected result: the rendered ones, or the class and a part of the text of a
// fault.
type rule struct {
	name      string
	documents string
	want      string // lines of shown
	class     string
	says      string
}

func (r rule) run(t *testing.T) {
	t.Helper()
	t.Run(r.name, func(t *testing.T) {
		t.Parallel()
		documents := sketch(t, r.documents)
		rendered, _, err := renderAll(t.Context(), documents, Options{})
		if r.class != "" {
			f, ok := errors.AsType[*fault.Fault](err)
			if !ok || f.Type != r.class || !strings.Contains(f.Message, r.says) {
				t.Fatalf("got %v, want %s: %s", err, r.class, r.says)
			}
			if kind := f.Kind; kind != kindOfClass(f.Type) {
				t.Errorf("%s is of kind %d", f.Type, kind)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for line := range strings.Lines(r.want) {
			if line = strings.TrimSpace(line); line != "" {
				want = append(want, line)
			}
		}
		if got := shown(t, documents, rendered); got != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
	})
}

// kindOfClass is the kind that the status codes of Deckhand mean, those of Purser's own limits included.
func kindOfClass(class string) fault.Kind {
	switch class {
	case "LayeringPolicyNotFound", "SubstitutionSourceNotFound":
		return fault.Conflict
	case "HTTPPayloadTooLarge":
		return fault.TooLarge
	}
	return fault.Invalid
}
