package cases_test

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering"
)

// decided lists, by number, the cases in which Purser decides differently from the reference.
var decided = map[string]struct {
	rule  string
	class string
	http  int
	says  string
}{
	// No service of Deckhand lets the engine go on without a source, and Purser does not have that option.
	"067": {"fail_on_missing_sub_src", "SubstitutionSourceNotFound", http.StatusConflict, "[example/Kind/v1] nowhere was not"},
	"068": {"fail_on_missing_sub_src", "SubstitutionSourceDataNotFound", http.StatusBadRequest, "not found at path .nope"},
	// The reference hides the cause. Purser has an error class for a pattern without text to match.
	"079": {"R9", "MissingDocumentPattern", http.StatusBadRequest, "[example/Kind/v1, site] dst"},
}

// TestRendering runs the recorded cases of the engine: those whose numbers begin with 0 or 1.
func TestRendering(t *testing.T) {
	t.Parallel()
	for _, name := range files(t, "cases/rendering/[01]*.yaml") {
		title := strings.TrimSuffix(filepath.Base(name), ".yaml")
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			c := renderingCase(t, name)
			seen, err := seenOf(t, c)
			if d, ok := decided[title[:len("000")]]; ok {
				t.Logf("%s decides otherwise than the reference", d.rule)
				checkFault(t, err, d.class, d.http, d.says)
				return
			}
			if want, ok := c.At("expected_error").(document.Mapping); ok {
				checkFault(t, err, text(want.At("class")), number(want.At("http")), text(want.At("message")))
				f, _ := errors.AsType[*fault.Fault](err)
				if got := text(want.At("message")); f.Message != got {
					t.Errorf("message\n%s, want\n%s", f.Message, got)
				}
				if f.Reason != text(want.At("reason")) {
					t.Errorf("reason %q, want %q", f.Reason, want.At("reason"))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(expectedOf(t, c), seen); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestRendering_corpus compares the rendered documents of whole sites with the recorded ones.
func TestRendering_corpus(t *testing.T) {
	t.Parallel()
	for _, name := range files(t, "corpus/*/rendered.yaml") {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			t.Parallel()
			documents := decodeFile(t, filepath.Join(filepath.Dir(name), "documents.yaml"))
			out, err := rendering.Render(t.Context(), documents, rendering.Options{})
			if err != nil || len(out.Faults) > 0 {
				t.Fatal(err, out.Faults)
			}
			got, order := map[string]any{}, []string{}
			for _, r := range out.Documents {
				d := documents[r.Index]
				order = append(order, d.Identity.String())
				got[d.Identity.String()] = normal(t, document.AppendJSON(nil, dataOf(t, d, r)))
			}
			want, wantOrder := map[string]any{}, []string{}
			for _, d := range decodeFile(t, name) {
				wantOrder = append(wantOrder, d.Identity.String())
				want[d.Identity.String()] = normal(t, d.Data)
			}
			if diff := gocmp.Diff(wantOrder, order); diff != "" {
				t.Errorf("order (-want +got)\n%s", diff)
			}
			for _, d := range deleted[filepath.Base(filepath.Dir(name))] {
				d.decide(t, want)
			}
			for _, id := range slices.Sorted(maps.Keys(want)) {
				if diff := gocmp.Diff(want[id], got[id]); diff != "" {
					t.Errorf("%s (-want +got)\n%s", id, diff)
				}
				delete(got, id)
			}
			if len(got) > 0 {
				t.Errorf("rendered, but should not be: %v", slices.Sorted(maps.Keys(got)))
			}
		})
	}
}

// deleted lists, by site, where the reference deleted the first member equal to the addressed one, instead of that one.
// Purser deletes what the path addresses.
var deleted = map[string][]deletion{
	"tm19-airskiff": {
		{"[armada/Chart/v1, type] openstack-mariadb", "prometheus_mysql_exporter", "server"},
		{"[armada/Chart/v1, type] openstack-rabbitmq", "prometheus_rabbitmq_exporter", "server"},
	},
}

// deletion is a deletion from .values.labels.
type deletion struct{ document, addressed, gone string }

// decide restores the member that is gone in want, and deletes the addressed one.
func (d deletion) decide(t *testing.T, want map[string]any) {
	t.Helper()
	values, _ := want[d.document].(map[string]any)["values"].(map[string]any)
	labels, _ := values["labels"].(map[string]any)
	equal, recorded := labels[d.addressed]
	if _, kept := labels[d.gone]; !recorded || kept {
		t.Errorf("%s: the record does not differ as it is listed: %v", d.document, labels)
		return
	}
	labels[d.gone] = equal
	delete(labels, d.addressed)
	t.Logf("%s: R2 decides: %s is deleted, not %s", d.document, d.addressed, d.gone)
}

// files lists the files of the shared folder that match a pattern.
func files(t *testing.T, pattern string) []string {
	t.Helper()
	if *shared == "" {
		t.Skip("no -shared folder given")
	}
	names, err := filepath.Glob(filepath.Join(*shared, filepath.FromSlash(pattern)))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(names), err)
	}
	return names
}

func renderingCase(t *testing.T, name string) document.Mapping {
	t.Helper()
	value, err := document.ParseOne(t.Context(), fileText(t, name), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	c, _ := value.(document.Mapping)
	return c
}

// view is the part of a document that services see.
type view struct{ Schema, Name, Layer, Data, Metadata string }

// seenOf decodes the documents of a case like any body, and renders them.
func seenOf(t *testing.T, c document.Mapping) (seen []view, err error) {
	t.Helper()
	options, _ := c.At("options").(document.Mapping)
	secrets, _ := options.At("encryption_sources").(document.Mapping)
	documents := decode(t, document.AppendJSON(nil, c.At("documents")), document.JSON)
	out, err := rendering.Render(t.Context(), documents, rendering.Options{
		Compat:  true,
		Resolve: secrets.Lookup,
	})
	if len(out.Faults) > 0 {
		return nil, out.Faults[0]
	}
	for _, r := range out.Documents {
		d := documents[r.Index]
		data := string(document.AppendJSON(nil, dataOf(t, d, r)))
		seen = append(seen, view{d.Schema, d.Name, d.Layer, data, string(d.Metadata)})
	}
	return seen, err
}

// expectedOf returns the documents that a case expects, with the default metadata added on ingest.
func expectedOf(t *testing.T, c document.Mapping) (want []view) {
	t.Helper()
	expected, _ := c.At("expected").([]any)
	for _, item := range expected {
		m, _ := item.(document.Mapping)
		d, err := document.New(document.Entry{Value: m})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, view{
			text(m.At("schema")), text(m.At("name")), text(m.At("layer")), string(d.Data), string(d.Metadata),
		})
	}
	return want
}

func decodeFile(t *testing.T, name string) []*document.Document {
	t.Helper()
	return decode(t, fileText(t, name), document.YAML)
}

func fileText(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decode(t *testing.T, body []byte, media document.Media) (documents []*document.Document) {
	t.Helper()
	segments, err := document.Split(t.Context(), body, media, document.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for _, segment := range segments {
		entry, err := document.Decode(t.Context(), segment, document.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if entry.Value == nil {
			continue
		}
		d, err := document.New(entry)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, d)
	}
	return documents
}

func dataOf(t *testing.T, d *document.Document, r rendering.Rendered) any {
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

func checkFault(t *testing.T, err error, class string, code int, says string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok {
		t.Fatalf("got %v, want %s", err, class)
	}
	kinds := map[int]fault.Kind{http.StatusBadRequest: fault.Invalid, http.StatusConflict: fault.Conflict}
	if kind, known := kinds[code]; !known || f.Kind != kind || f.Type != class || !strings.Contains(f.Message, says) {
		t.Errorf("got kind %d, %s: %s, want %d %s: %s", f.Kind, f.Type, f.Message, code, class, says)
	}
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

func number(value any) int {
	n, _ := value.(document.Number)
	i, _ := strconv.Atoi(string(n))
	return i
}
