package rendering

import (
	"errors"
	"strings"
	"testing"

	"purser/internal/fault"
)

func TestRender_policy(t *testing.T) {
	t.Parallel()
	for _, r := range []rule{
		{
			name:      "layers without documents do not count",
			documents: "policy a, global, b, site, z\nglobal g | labels {k: g} | data {g: 1}\nsite s | parent {k: g} | merge . | data {s: 1}",
			want:      "global g {\"g\":1}\nsite s {\"g\":1,\"s\":1}",
		},
		{
			name:      "the first policy counts",
			documents: "policy global, site\n- x | control | schema deckhand/LayeringPolicy/v1 | data {layerOrder: [x]}\nsite s | data {s: 1}",
			want:      `site s {"s":1}`,
		},
		{
			name:      "a layer that it does not know",
			documents: "policy global, site\nregion s | data {s: 1}",
			class:     "InvalidDocumentLayer",
			says:      "Invalid layer 'region' for document [t/K/v1] s was not found in layerOrder: global, site for provided LayeringPolicy: policy",
		},
		{
			name:      "of a control document too",
			documents: "policy global, site\nregion s | control | schema t/L/v1 | data {s: 1}",
			class:     "InvalidDocumentLayer",
		},
		{
			name:      "a schema that only begins like a policy's",
			documents: "- x | control | schema deckhand/LayeringPolicyDraft/v1 | data {layerOrder: [x]}\npolicy global, site\nglobal s | data {s: 1}",
			want:      "- x {\"layerOrder\":[\"x\"]}\nglobal s {\"s\":1}",
		},
		{
			name:      "a policy that says nothing",
			documents: "- p | schema deckhand/LayeringPolicy/v1 | data [policy ]\nsite s | data {s: 1}",
			class:     "InvalidDocumentLayer",
		},
	} {
		r.run(t)
	}
	_, _, err := renderAll(t.Context(), sketch(t, "site s | data 1")[1:], Options{})
	if err == nil || err.Error() != "Required LayeringPolicy was not found for layering" {
		t.Error(err)
	}
}

func TestRender_parents(t *testing.T) {
	t.Parallel()
	for _, r := range []rule{
		{
			name: "the nearest layer",
			documents: `
				global g | labels {k: g} | data {v: g}
				type t | labels {k: g} | data {v: t}
				site s | parent {k: g} | merge . | data {s: 1}`,
			want: "type t {\"v\":\"t\"}\nsite s {\"v\":\"t\",\"s\":1}\nglobal g {\"v\":\"g\"}",
		},
		{
			name: "the next but one",
			documents: `
				site s | parent {k: g} | merge . | data {s: 1}
				type t | labels {k: t} | data {v: t}
				global g | labels {k: g} | data {v: g}`,
			want: "global g {\"v\":\"g\"}\nsite s {\"v\":\"g\",\"s\":1}\ntype t {\"v\":\"t\"}",
		},
		{
			name: "every label of the selector must match, the parent may have more",
			documents: `
				global g | labels {a: x, b: y, c: z} | data {g: 1}
				global h | labels {a: x} | data {h: 1}
				site s | parent {b: y, a: x} | merge . | data {s: 1}`,
			want: "global g {\"g\":1}\nsite s {\"g\":1,\"s\":1}\nglobal h {\"h\":1}",
		},
		{
			name:      "nobody is his own parent",
			documents: "site s | labels {k: g} | parent {k: g} | merge . | data {s: 1}",
			want:      `site s {"s":1}`,
		},
		{
			name: "labels keep their types, but 1, 1.0 and true are the same",
			documents: `
				global a | labels {k: 1} | data {a: 1}
				global b | labels {l: 1.0} | data {b: 1}
				site s | parent {k: "1"} | merge . | data {s: 1}
				site t | parent {l: true} | merge . | data {t: 1}
				site u | parent {k: 1.5} | merge . | data {u: 1}`,
			want: "global b {\"b\":1}\nsite t {\"b\":1,\"t\":1}\nglobal a {\"a\":1}\nsite s {\"s\":1}\nsite u {\"u\":1}",
		},
		{
			name: "R11: labels of any kind compare by what they say",
			documents: `
				global a | labels {k: {x: [1, a], y: null}} | data {a: 1}
				site s | parent {k: {y: null, x: [true, a]}} | merge . | data {s: 1}`,
			want: "global a {\"a\":1}\nsite s {\"a\":1,\"s\":1}",
		},
		{
			name: "null selects who lacks the label, if another label matched",
			documents: `
				global a | labels {k: g} | data {a: 1}
				global b | labels {k: g, l: x} | data {b: 1}
				global c | labels {m: null} | data {c: 1}
				site s | parent {k: g, l: null} | merge . | data {s: 1}
				site t | parent {l: null} | merge . | data {t: 1}
				site u | parent {l: null, m: null} | merge . | data {u: 1}`,
			want: "global c {\"c\":1}\nglobal a {\"a\":1}\nsite u {\"c\":1,\"u\":1}\nsite s {\"a\":1,\"s\":1}\nglobal b {\"b\":1}\nsite t {\"t\":1}",
		},
		{
			name: "documents without a layer take no part",
			documents: `
				- g | labels {k: g} | data {g: 1}
				- s | parent {k: t} | merge . | data {s: 1}
				site t | labels {k: t} | parent {k: g} | merge . | data {t: 1}`,
			want: "- g {\"g\":1}\n- s {\"s\":1}\nsite t {\"t\":1}",
		},
		{
			name: "another schema",
			documents: `
				global g | schema t/L/v1 | labels {k: g} | data {g: 1}
				site s | parent {k: g} | merge . | data {s: 1}`,
			class: "InvalidDocumentParent",
			says: "The document parent [t/L/v1] g is invalid for document [t/K/v1] s. Reason: Child has parentSelector which references parent, " +
				"but their `schema`s do not match.",
		},
		{
			name: "a lower layer, even if there is a better one",
			documents: `
				policy region, global, type, site
				- o | data {}
				site s | labels {k: g} | data {s: 1}
				type t | parent {k: g} | merge . | data {t: 1}
				global g | labels {k: g} | data {g: 1}`,
			class: "InvalidDocumentParent",
			says:  "The document parent [t/K/v1] s is invalid for document [t/K/v1] t. Reason: Child has parentSelector which references parent, but the child layer type must be lower than the parent layer site for layerOrder global, type, site.",
		},
		{
			name: "the same layer",
			documents: `
				site s | labels {k: g} | data {s: 1}
				site t | parent {k: g} | merge . | data {t: 1}`,
			class: "InvalidDocumentParent",
			says:  "the child layer site must be lower than the parent layer site for layerOrder site.",
		},
		{
			name: "the first that does not fit is told, from the top layer down",
			documents: `
				site a | parent {k: g} | merge . | data {s: 1}
				site b | parent {k: h} | merge . | data {s: 1}
				site s | labels {k: g} | data {s: 1}
				global g | schema t/L/v1 | labels {k: h} | data {g: 1}`,
			class: "InvalidDocumentParent",
			says:  "The document parent [t/L/v1] g is invalid for document [t/K/v1] b.",
		},
		{
			name: "two candidates",
			documents: `
				global g | labels {k: g} | data {g: 1}
				global h | labels {k: g} | data {g: 1}
				site s | parent {k: g} | merge . | data {s: 1}`,
			class: "IndeterminateDocumentParent",
			says:  "Too many parent documents found for document [t/K/v1, site] s. Found: 2. Expected: 1",
		},
		{
			name: "R3: two candidates in a far layer",
			documents: `
				global g | labels {k: g} | data {g: 1}
				global h | labels {k: g} | data {g: 1}
				global i | labels {k: g} | data {g: 1}
				type t | labels {k: g} | data {g: 1}
				site s | parent {k: g} | merge . | data {s: 1}`,
			class: "IndeterminateDocumentParent",
			says:  "document [t/K/v1, site] s. Found: 3. Expected: 1",
		},
		{
			name: "the first ambiguity is told, by when layers appear",
			documents: `
				type o | data {}
				site s | parent {k: g} | merge . | data {s: 1}
				type t | parent {k: g} | merge . | data {s: 1}
				type u | parent {k: g} | merge . | data {s: 1}
				global g | labels {k: g} | data {g: 1}
				global h | labels {k: g} | data {g: 1}`,
			class: "IndeterminateDocumentParent",
			says:  "document [t/K/v1, type] t.",
		},
	} {
		r.run(t)
	}
}

// That a selector selects too many documents, and how many, is a secret where some of them are encrypted.
func TestRender_ambiguitySecret(t *testing.T) {
	t.Parallel()
	const child = "\nsite s | parent {k: g} | merge . | data {s: 1}"
	for documents, secret := range map[string]bool{
		"global g | labels {k: g} | data {}\nglobal h | labels {k: g} | data {}\nglobal e | encrypted | data {}":           false,
		"global g | labels {k: g} | data {}\nglobal e | encrypted | labels {k: g} | data {}":                               true,
		"global e | encrypted | labels {k: g} | data {}\nglobal f | encrypted | labels {k: g} | data {}\ntype o | data {}": true,
	} {
		_, _, err := renderAll(t.Context(), sketch(t, documents+child), Options{})
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok || f.Type != "IndeterminateDocumentParent" || f.Secret != secret || f.Messages[0].Secret != secret {
			t.Errorf("%s: %+v, want secret %v", documents, f, secret)
		}
	}
}

func TestRender_replacement(t *testing.T) {
	t.Parallel()
	const x = "global x | labels {k: g} | data {a: 1, b: 2}\n"
	for _, r := range []rule{
		{
			name:      "in place of its parent",
			documents: x + "site x | replacement | parent {k: g} | merge . | data {b: 3}",
			want:      `site x {"a":1,"b":3}`,
		},
		{
			name:      "of an abstract parent",
			documents: "global x | abstract | labels {k: g} | data {a: 1}\nsite x | replacement | parent {k: g} | merge . | data {b: 3}",
			want:      `site x {"a":1,"b":3}`,
		},
		{
			name:      "as a source",
			documents: x + "site x | replacement | parent {k: g} | merge . | data {b: 3}\nglobal d | sub x .b > .v | data {}",
			want:      "site x {\"a\":1,\"b\":3}\nglobal d {\"v\":3}",
		},
		{
			name:      "as the parent of other children, even of one above it",
			documents: x + "site x | replacement | parent {k: g} | merge . | data {b: 3}\ntype c | parent {k: g} | merge . | data {z: 1}",
			want:      "site x {\"a\":1,\"b\":3}\ntype c {\"a\":1,\"b\":3,\"z\":1}",
		},
		{
			name:      "selected by its own labels",
			documents: x + "type x | replacement | labels {k: t} | parent {k: g} | merge . | data {b: 3}\nsite c | parent {k: t} | merge . | data {z: 1}",
			want:      "type x {\"a\":1,\"b\":3}\nsite c {\"a\":1,\"b\":3,\"z\":1}",
		},
		{
			name: "the replaced is substituted first, then the replacement layers, then its own substitutions",
			documents: `
				site s | data {v: S, w: W}
				global x | labels {k: g} | sub s .v > .a | data {a: 1, b: 1}
				site x | replacement | parent {k: g} | merge . | sub s .w > .b | data {c: 5}`,
			want: "site s {\"v\":\"S\",\"w\":\"W\"}\nsite x {\"a\":\"S\",\"b\":\"W\",\"c\":5}",
		},
		{
			name: "an abstract replacement is a source still",
			documents: x + `
				site x | abstract | replacement | parent {k: g} | merge . | data {b: 3}
				site d | sub x .b > .v | data {}`,
			want: `site d {"v":3}`,
		},
		{
			name: "an abstract replacement may be replaced",
			documents: x + `
				type x | abstract | replacement | labels {k: t} | parent {k: g} | merge . | data {b: 3}
				site x | replacement | parent {k: t} | merge . | data {c: 4}
				site d | sub x .c > .v | data {}`,
			want: "site x {\"a\":1,\"b\":3,\"c\":4}\nsite d {\"v\":4}",
		},
		{
			name: "R1: of two replacements the more specific one counts, whatever their order",
			documents: `
				site x | replacement | parent {k: g} | merge . | data {a: 3}
				type x | replacement | parent {k: g} | merge . | data {a: 2, t: 1}
				global x | labels {k: g} | data {a: 1}
				site d | sub x .a > .v | data {}`,
			want: "site x {\"a\":3}\nsite d {\"v\":3}\ntype x {\"a\":2,\"t\":1}",
		},
		{
			name:      "without a parent",
			documents: "site x | replacement | data {}",
			class:     "InvalidDocumentReplacement",
			says:      "Replacement document [t/K/v1, site] x is invalid. Reason: Document replacement requires that the document with `replacement: true` have a parent.",
		},
		{
			name:      "of another name",
			documents: x + "site y | replacement | parent {k: g} | merge . | data {}",
			class:     "InvalidDocumentReplacement",
			says:      "requires that both documents have the same `schema` and `metadata.name`.",
		},
		{
			name:      "of the same name, but no replacement",
			documents: x + "site x | parent {k: g} | merge . | data {}",
			class:     "InvalidDocumentReplacement",
			says:      "Reason: Non-replacement documents cannot have the same",
		},
		{
			name:      "the same name twice, one of them abstract",
			documents: "global x | abstract | data {}\nsite x | data {}",
			class:     "InvalidDocumentReplacement",
			says:      "Replacement document [t/K/v1, site] x is invalid. Reason: More than one document with the same name and schema was found",
		},
		{
			name:      "the same name twice is nothing to control documents",
			documents: "global x | control | data 1\nsite x | control | data 2\nsite d | sub x . > .v | data {}",
			want:      "site x 2\nsite d {\"v\":2}\nglobal x 1",
		},
		{
			name: "of a replacement",
			documents: x + `
				type x | replacement | labels {k: t} | parent {k: g} | merge . | data {b: 3}
				site x | replacement | parent {k: t} | merge . | data {c: 4}`,
			class: "InvalidDocumentReplacement",
			says:  "Replacement document [t/K/v1, type] x is invalid. Reason: A replacement document cannot itself be replaced by another document.",
		},
	} {
		r.run(t)
	}
}

func TestRender_reasonAndDocuments(t *testing.T) {
	t.Parallel()
	_, _, err := renderAll(t.Context(), sketch(t, "site x | replacement | data {}"), Options{})
	f := faultOf(t, err)
	if !strings.HasPrefix(f.Reason, "Document replacement requires that the document") {
		t.Errorf("reason %q", f.Reason)
	}
	if len(f.Messages) != 1 || f.Messages[0].Message != f.Message || len(f.Messages[0].Documents) != 1 {
		t.Fatalf("messages %+v", f.Messages)
	}
	if d := f.Messages[0].Documents[0]; d.Schema != "t/K/v1" || d.Layer != "site" || d.Name != "x" {
		t.Errorf("document %+v", d)
	}
}

// Two documents of one identity cannot be in a revision. Should they be, the first one counts.
func TestRender_duplicates(t *testing.T) {
	t.Parallel()
	documents := sketch(t, "site a | data 1\nsite a | data 2\nsite b | data 3")
	rendered, _, err := renderAll(t.Context(), documents, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shown(t, documents, rendered), "site a 1\nsite b 3"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
