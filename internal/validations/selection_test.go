package validations

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// parsed returns the value of a YAML text.
func parsed(t *testing.T, text string) any {
	t.Helper()
	value, err := document.ParseOne(t.Context(), []byte(text), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestParseSelection(t *testing.T) {
	t.Parallel()
	items := func(n int) string { return "[" + strings.Repeat("a, ", n-1) + "b]" }
	labels := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "l%d: v, ", i)
		}
		return "{" + b.String() + "}"
	}
	long := strings.Repeat("é", maxSelectionItem)
	for text, wrong := range map[string]string{
		"{schemas: [a]}":                          "",
		"{buckets: [a], layers: [b, c]}":          "",
		"{labels: {a: ''}}":                       "",
		"{schemas: " + items(100) + "}":           "",
		"{schemas: " + items(101) + "}":           "schemas is not a list of 1 to 100 items",
		"{labels: " + labels(20) + "}":            "",
		"{labels: " + labels(21) + "}":            "labels is not a mapping of 1 to 20 labels",
		"{layers: [" + long + "]}":                "",
		"{layers: [" + long + "x]}":               "layers[0] is not a text of 1 to 255 characters",
		"{labels: {" + long + ": " + long + "}}":  "",
		"{labels: {a: " + long + "x}}":            "the label a is not",
		"{labels: {" + long + "x: a}}":            "is not a text of at most 255 characters",
		"{}":                                      "it selects nothing",
		"[]":                                      "it is not a mapping",
		"x":                                       "it is not a mapping",
		"null":                                    "it is not a mapping",
		"{schemas: []}":                           "schemas is not a list",
		"{schemas: a}":                            "schemas is not a list",
		"{schemas: [1, '']}":                      "schemas[0] is not a text of 1 to 255 characters; schemas[1] is not",
		"{labels: {}}":                            "labels is not a mapping",
		"{labels: [a]}":                           "labels is not a mapping",
		"{labels: {'': a}}":                       "",
		"{labels: {a: 1}}":                        "the label a is not a text",
		"{schema: [a], layer: [b], schemas: [a]}": "the key schema is unknown (did you mean schemas?); the key layer is unknown (did you mean layers?)",
		"{schemas: null}":                         "schemas is not a list",
	} {
		_, err := ParseSelection("inputs", parsed(t, text))
		switch {
		case wrong == "" && err != nil:
			t.Errorf("%.60s: %v", text, err)
		case wrong != "" && (err == nil || fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "inputs is wrong: ") ||
			!strings.Contains(err.Error(), wrong)):
			t.Errorf("%.60s: %v, want %s", text, err, wrong)
		}
		if accepts := len(selectionFindings(t, parsed(t, text))) == 0; accepts != (wrong == "") {
			t.Errorf("%.60s: the schema accepts it: %v", text, accepts)
		}
	}
}

// selectionFindings returns what the built-in schema of a policy finds in a selection.
func selectionFindings(t rapid.TB, value any) []Finding {
	policy := document.Mapping{{Key: "validations", Value: []any{document.Mapping{
		{Key: "name", Value: "a-validation"}, {Key: "when", Value: value},
	}}}}
	findings, err := policySchema(false).compiled().Check(budget.NewMeter(context.Background()), document.AppendJSON(nil, policy))
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// drawSelection draws a value that is, or nearly is, a selection.
func drawSelection(t *rapid.T) any {
	word := func(name string) any {
		return rapid.OneOf(
			rapid.SampledFrom([]any{"a", "a*", "*", "", "é*", document.Number("1"), nil, true}),
			rapid.Map(rapid.IntRange(254, 256), func(n int) any { return strings.Repeat("ü", n) }),
		).Draw(t, name)
	}
	list := func(name string) any {
		items := make([]any, 0)
		for range rapid.SampledFrom([]int{0, 1, 2, 3, 100, 101}).Draw(t, name) {
			items = append(items, word("item"))
		}
		return items
	}
	labels := func() any {
		made := document.Mapping{}
		for i := range rapid.SampledFrom([]int{0, 1, 2, 20, 21}).Draw(t, "labels") {
			name := rapid.SampledFrom([]string{"l", "é\n", strings.Repeat("é", 253), strings.Repeat("é", 254)}).Draw(t, "name")
			made = append(made, document.Member{Key: fmt.Sprintf("%s%d", name, i), Value: word("label")})
		}
		return made
	}
	var made document.Mapping
	for _, key := range []string{"schemas", "buckets", "layers", "labels", "other"} {
		switch kind := rapid.IntRange(0, 7).Draw(t, key); {
		case kind == 0:
			made = append(made, document.Member{Key: key, Value: word("value")})
		case kind == 1 && key == "labels":
			made = append(made, document.Member{Key: key, Value: labels()})
		case kind == 1 && key != "other":
			made = append(made, document.Member{Key: key, Value: list(key)})
		}
	}
	return made
}

// The schema of policies accepts exactly the selections that are parsed, and the text of a selection is one of the same.
func TestParseSelection_properties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := drawSelection(t)
		selection, err := ParseSelection("when", value)
		if accepts := len(selectionFindings(t, value)) == 0; accepts != (err == nil) {
			t.Fatalf("%s: the schema accepts it: %v; parsed: %v", document.AppendJSON(nil, value), accepts, err)
		}
		if err != nil {
			return
		}
		text := selection.Text()
		again, err := document.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		read, err := ParseSelection("when", again)
		if err != nil || read.Text() != text {
			t.Fatalf("%s is read as %s: %v", text, read.Text(), err)
		}
		for _, doc := range []document.Document{
			{Metadata: []byte(`{}`)},
			{Identity: document.Identity{Schema: "a", Layer: "a"}, Metadata: []byte(`{"labels":{"l0":"a"}}`)},
		} {
			if selection.Matches(&doc, "a") != read.Matches(&doc, "a") {
				t.Fatalf("%s selects other documents than what it is the text of", text)
			}
		}
	})
}

func TestSelection_Text(t *testing.T) {
	t.Parallel()
	selection, err := ParseSelection("when", parsed(t, "{schemas: [b, a, b], labels: {y: '1', x: '2'}, buckets: [c]}"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"buckets":["c"],"schemas":["a","b"],"labels":{"x":"2","y":"1"}}`
	if diff := cmp.Diff(want, selection.Text()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSelection_Matches(t *testing.T) {
	t.Parallel()
	if (Selection{}).Matches(&document.Document{}, "") {
		t.Error("a selection of nothing selects a document")
	}
	doc := &document.Document{
		Identity: document.Identity{Schema: "drydock/Network/v1", Layer: "site", Name: "n"},
		Metadata: []byte(`{"labels":{"role":"network","rack":"1"}}`),
	}
	for text, selects := range map[string]bool{
		"{schemas: [drydock/Network/v1]}":      true,
		"{schemas: [other/*, drydock/*]}":      true,
		"{schemas: ['*']}":                     true,
		"{schemas: [drydock/Network]}":         false,
		"{schemas: ['*/Network/v1']}":          false, // a * elsewhere stands for itself
		"{buckets: [network]}":                 true,
		"{buckets: [net]}":                     false,
		"{layers: [site, type]}":               true,
		"{layers: [type]}":                     false,
		"{labels: {role: network}}":            true,
		"{labels: {role: network, rack: '1'}}": true,
		"{labels: {role: network, rack: '*'}}": false,
		"{labels: {other: ''}}":                false,
		"{schemas: [drydock/*], layers: [site], buckets: [n*], labels: {rack: '1'}}": true,
		"{schemas: [drydock/*], layers: [type]}":                                     false,
	} {
		selection, err := ParseSelection("when", parsed(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if selection.Matches(doc, "network") != selects {
			t.Errorf("%s selects it: %v", text, !selects)
		}
		abstract := &document.Document{
			Identity: doc.Identity, Metadata: []byte(`{"labels":{"role":"network","rack":"1"},"layeringDefinition":{"abstract":true}}`),
		}
		if selection.Matches(abstract, "network") {
			t.Errorf("%s selects an abstract document", text)
		}
	}
}
