package check_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/check"
)

// substituted returns a widget whose size comes from another document.
func substituted(name, source, path string) string {
	return strings.Replace(doc("acme/Widget/v1", name, "{}"), "layeringDefinition",
		"substitutions: [{src: {schema: acme/Source/v1, name: "+source+", path: "+path+"}, dest: {path: .size}}],\n  layeringDefinition", 1)
}

// One check reports all errors that do not follow from others, whatever else is wrong, and names the documents that are
// not judged because of them after their cause.
func TestCheck_faults(t *testing.T) {
	t.Parallel()
	site := file("site.yaml", layers+widgets+strings.ReplaceAll(widgets, "Widget", "Source"))
	source := doc("acme/Source/v1", "s", "{v: 177, list: [1]}")
	child := strings.Replace(doc("acme/Widget/v1", "child", "{}"), "{layer: site}",
		"{layer: site, parentSelector: {k: p}, actions: [{method: merge, path: .}]}", 1)
	global := func(document string) string { return strings.Replace(document, "layer: site", "layer: global", 1) }
	parent := strings.Replace(doc("acme/Widget/v1", "p", "{}"), "name: p,", "name: p, labels: {k: p},", 1)
	external := strings.Replace(widgets, "size: {type: integer, maximum: 100}", "\n  tool: {$ref: 'https://x.example/y'}", 1)
	for name, c := range map[string]struct {
		files []check.File
		want  []string
	}{
		"independent errors": {
			[]check.File{site, file("w.yaml", source+substituted("a", "gone", ".v")+substituted("b", "s", ".none")+
				substituted("c", "s", ".list")+substituted("d", "s", ".v")+doc("acme/Widget/v1", "e", "{size: x}"))},
			[]string{
				"w.yaml:4:11 error rendered-schema: 177 is greater than the maximum of 100 < w.yaml:22 < w.yaml:21",
				"w.yaml:4:22 error rendered-schema: [1] is not of type 'integer' < w.yaml:17 < w.yaml:16",
				"w.yaml:7:99 error substitution-source: Required substitution source document [acme/Source/v1] gone was not found, yet is referenced by [acme/Widget/v1] a",
				"w.yaml:12:99 error substitution-path: Required substitution source secret was not found at path .none in source document [acme/Source/v1, site] s which is referenced by destination document [acme/Widget/v1, site] b under its `metadata.substitutions`",
				"w.yaml:28:14 error schema: 'x' is not of type 'integer'",
			},
		},
		"a lost layer": {
			[]check.File{site, file("w.yaml", global(parent)+child+global(source)+substituted("d", "s", ".v")+doc("acme/Widget/v1", "e", "{size: 101}"))},
			[]string{
				"w.yaml:3:121 error unknown-layer: Invalid layer 'global' for document [acme/Widget/v1] p was not found in layerOrder: site for provided LayeringPolicy: lp",
				"w.yaml:3:121 info unknown-layer: Not checked, because document [acme/Widget/v1, global] p fails (InvalidDocumentLayer): document [acme/Widget/v1, site] child",
				"w.yaml:11:105 error unknown-layer: Invalid layer 'global' for document [acme/Source/v1] s was not found in layerOrder: site for provided LayeringPolicy: lp",
				"w.yaml:11:105 info unknown-layer: Not checked, because document [acme/Source/v1, global] s fails (InvalidDocumentLayer): document [acme/Widget/v1, site] d",
				"w.yaml:21:14 error schema: 101 is greater than the maximum of 100",
			},
		},
		"a DataSchema that cannot be used": {
			[]check.File{
				file("site.yaml", layers+strings.Replace(widgets, "type: integer", "type: 5", 1)+strings.ReplaceAll(widgets, "Widget", "Source")),
				file("w.yaml", doc("acme/Widget/v1", "e", "{size: 101}")+doc("acme/Widget/v1", "f", "{}")+doc("acme/Source/v1", "g", "{size: 101}")),
			},
			[]string{
				"site.yaml:8:77 error schema: 5 is not valid under any of the given schemas",
				"site.yaml:8:77 info rendering: Not checked, because document [deckhand/DataSchema/v1, None] acme/Widget/v1 fails (InvalidDocumentFormat): 2 documents: [acme/Widget/v1, site] e, [acme/Widget/v1, site] f",
				"w.yaml:12:14 error schema: 101 is greater than the maximum of 100",
			},
		},
		"a DataSchema that does not render": {
			[]check.File{site, file("t.yaml", strings.Replace(doc("deckhand/DataSchema/v1", "acme/Thing/v1", "{type: object}"), "storagePolicy",
				"substitutions: [{src: {schema: acme/Source/v1, name: gone, path: .}, dest: {path: .x}}], storagePolicy", 1)+
				strings.ReplaceAll(widgets, "acme/Widget", "acme/Other")+
				doc("acme/Thing/v1", "thing", "{}")+doc("acme/Other/v1", "other", "{size: 101}"))},
			[]string{
				"t.yaml:3:85 error substitution-source: Required substitution source document [acme/Source/v1] gone was not found, yet is referenced by [deckhand/DataSchema/v1] acme/Thing/v1",
				"t.yaml:3:85 info substitution-source: Not checked, because document [deckhand/DataSchema/v1, site] acme/Thing/v1 fails (SubstitutionSourceNotFound): document [acme/Thing/v1, site] thing",
				"t.yaml:16:14 error schema: 101 is greater than the maximum of 100",
			},
		},
		"a reference that no check reaches": {
			[]check.File{file("site.yaml", layers+external), file("w.yaml", doc("acme/Widget/v1", "e", "{}"))},
			[]string{"site.yaml:9:16 warning schema-reference: A reference in the DataSchema acme/Widget/v1 leads nowhere, so documents whose checks reach it fail: 'https://x.example/y' points outside the schema: a DataSchema may only refer to itself, with a $ref that starts with #, or to another one by its name, as in acme/Address/v1#/definitions/street"},
		},
		"a reference that a check reaches": {
			[]check.File{file("site.yaml", layers+external), file("w.yaml", doc("acme/Widget/v1", "e", "{}")+doc("acme/Widget/v1", "f", "\n  tool: 1"))},
			[]string{
				"site.yaml:9:16 warning schema-reference: A reference in the DataSchema acme/Widget/v1 leads nowhere, so documents whose checks reach it fail: 'https://x.example/y' points outside the schema: a DataSchema may only refer to itself, with a $ref that starts with #, or to another one by its name, as in acme/Address/v1#/definitions/street",
				"w.yaml:9:9 error schema: 'https://x.example/y' points outside the schema: a DataSchema may only refer to itself, with a $ref that starts with #, or to another one by its name, as in acme/Address/v1#/definitions/street",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, lines(run(t, check.New(check.Options{}), c.files...))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
