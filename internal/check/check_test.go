package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/check"
	"purser/internal/queries"
	"purser/internal/validations"
)

func file(name, text string) check.File {
	return check.File{Name: name, Text: []byte(text), Found: true}
}

func doc(schema, name, data string) string {
	return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Document/v1, name: %s, storagePolicy: cleartext, "+
		"layeringDefinition: {layer: site}}\ndata: %s\n", schema, name, data)
}

const (
	policy  = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: %s}\ndata: {layerOrder: [site]}\n"
	widgets = "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, name: acme/Widget/v1}\n" +
		"data: {$schema: 'http://json-schema.org/schema#', properties: {size: {type: integer, maximum: 100}}}\n"
)

var layers = fmt.Sprintf(policy, "lp")

func run(t *testing.T, checker *check.Checker, files ...check.File) check.Report {
	t.Helper()
	report, err := checker.Check(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// A key that appears twice is reported at its second place; that of an encrypted document is not named.
func TestCheck_duplicateKeys(t *testing.T) {
	t.Parallel()
	const text = "{ Hidden-key: 1,\n  b: {}, Hidden-key: 2}"
	secret := strings.Replace(doc("acme/Widget/v1", "s", text), "storagePolicy: cleartext", "storagePolicy: encrypted", 1)
	report := run(t, check.New(check.Options{}), file("c.yaml", doc("acme/Widget/v1", "c", text)), file("s.yaml", secret))
	want := []string{
		"c.yaml:5:10 warning duplicate-key: The key 'Hidden-key' appears twice in one mapping; the last one wins. < c.yaml:4",
		"s.yaml:5:10 warning duplicate-key: A key appears twice in one mapping; the last one wins. < s.yaml:4",
	}
	got := slices.DeleteFunc(lines(report), func(line string) bool { return !strings.Contains(line, "duplicate-key") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, f := range report.Findings {
		if f.File == "s.yaml" && strings.Contains(fmt.Sprintf("%+v", f), "Hidden") {
			t.Errorf("a secret is shown: %+v", f)
		}
	}
}

// lines returns a line for each finding with its place, level, rule and message.
func lines(report check.Report) (all []string) {
	for _, f := range report.Findings {
		line := fmt.Sprintf("%s:%d:%d %v %s: %s", f.File, f.Line, f.Column, f.Level, f.Rule, f.Message)
		parts := []string{line}
		for _, step := range f.Chain {
			parts = append(parts, fmt.Sprintf("%s:%d", step.File, step.Line))
		}
		all = append(all, strings.Join(parts, " < "))
	}
	return all
}

func TestCheck(t *testing.T) {
	t.Parallel()
	widget := doc("acme/Widget/v1", "w", "{size: 1}")
	site := file("site.yaml", layers+widgets)
	for name, c := range map[string]struct {
		files     []check.File
		documents int
		want      []string
	}{
		"nothing wrong":     {[]check.File{site, file("w.yaml", widget)}, 3, nil},
		"a document alone":  {[]check.File{file("w.yaml", doc("deckhand/Passphrase/v1", "p", "secret"))}, 1, []string{"w.yaml:3:"}},
		"without layers":    {[]check.File{file("w.yaml", widgets)}, 1, nil},
		"nothing":           {nil, 0, nil},
		"a list of JSON":    {[]check.File{file("w.json", `[{"schema": "a"}]`)}, 1, []string{"w.json:1:2 error frame: The document has no metadata", "w.json:1:13 error frame: 'a' does not match"}},
		"one of several":    {[]check.File{site, file("w.yaml", doc("acme/Widget/v1", "a", "\n  size: 1000")+widget+doc("acme/Widget/v1", "b", "{size: x}"))}, 5, []string{"w.yaml:5:9 error schema: 1000 is greater than the maximum of 100", "w.yaml:13:14 error schema: 'x' is not of type 'integer'"}},
		"several mistakes":  {[]check.File{site, file("w.yaml", "a: [\n"+doc("a/B/v1", "x", "{}")+"---\nschema: a/B/v1\nmetadata: {}\n---\n- x\n---\n")}, 6, []string{"w.yaml:1:4 error syntax: The bracket '[' that opens here", "w.yaml:8:11 error frame: 'name' is a required property", "w.yaml:8:11 error frame: 'schema' is a required property", "w.yaml:9:1 error frame: The document is a list"}},
		"empty ones":        {[]check.File{site, {Name: "w.yaml", Text: []byte("---\n---\n" + widget + "---\n# none\n---\n")}}, 3, nil},
		"an empty mapping":  {[]check.File{site, file("w.yaml", widget+"--- {}\n")}, 4, []string{"w.yaml:5:1 error frame: The document is an empty mapping"}},
		"only empty ones":   {[]check.File{{Name: "w.yaml", Text: []byte("---\n---\n")}}, 0, nil},
		"the same twice":    {[]check.File{site, file("a.yaml", widget), file("b.yaml", "# again\n"+widget)}, 4, []string{"b.yaml:2:1 error duplicate-document: Document [acme/Widget/v1, site] w appears twice: it is in a.yaml too < a.yaml:1"}},
		"two policies":      {[]check.File{site, file("z.yaml", fmt.Sprintf(policy, "other"))}, 3, []string{"z.yaml:1:1 error second-layering-policy: A singleton document [deckhand/LayeringPolicy/v1, None] lp already exists"}},
		"other YAML":        {[]check.File{site, file("compose.yaml", "services: {}\n"), file("k8s.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n"), file("empty.yaml", "# nothing\n")}, 2, nil},
		"named, other YAML": {[]check.File{{Name: "compose.yaml", Text: []byte("services: {}\n")}}, 1, []string{"compose.yaml:1:1 error frame: The document has no metadata", "compose.yaml:1:1 error frame: The document has no schema"}},
		"no schema":         {[]check.File{site, file("w.yaml", doc("acme/Wdget/v1", "w", "{}"))}, 3, []string{"w.yaml:2:9 warning no-schema: No DataSchema is named acme/Wdget/v1 (1 document; did you mean acme/Widget/v1?)"}},
		"cannot be read":    {[]check.File{site, {Name: "x.yaml", Broken: "It cannot be read: permission denied"}}, 2, []string{"x.yaml:0:0 error file: It cannot be read: permission denied"}},
		"not text":          {[]check.File{site, file("x.yaml", "schema: \xff\n")}, 2, []string{"x.yaml:1:9 error syntax: The byte 0xff is not UTF-8; save the text as UTF-8"}},
		"a byte order mark": {[]check.File{site, file("x.yaml", "\ufeff"+widget)}, 3, nil},
		"JSON in capitals":  {[]check.File{file("w.JSON", `[{"schema": "a"},]`)}, 0, []string{"w.JSON:1:18 error syntax: "}},
		"some unreadable":   {[]check.File{file("w.yaml", widget+widgets+"---\na: [\n")}, 3, []string{"w.yaml:10:4 error syntax: "}},
		"a reference":       {[]check.File{site, file("w.yaml", strings.Replace(doc("acme/W/v1", "x", "secret://"+strings.Repeat("a", 64)), "cleartext", "encrypted", 1))}, 3, []string{"w.yaml:"}},
		"no policy":         {[]check.File{file("w.yaml", widget+widgets)}, 2, []string{"w.yaml:3:"}},
		"an unknown layer":  {[]check.File{site, file("w.yaml", strings.Replace(widget, "layer: site", "layer: stie", 1))}, 3, []string{"w.yaml:3:"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := run(t, check.New(check.Options{}), c.files...)
			got := lines(report)
			if strings.Contains(fmt.Sprint(report.Findings), "stored") {
				t.Errorf("findings speak of a server: %v", report.Findings)
			}
			if report.Documents != c.documents || len(got) != len(c.want) {
				t.Fatalf("%d documents, want %d; findings\n%s\nwant\n%s", report.Documents, c.documents, strings.Join(got, "\n"),
					strings.Join(c.want, "\n"))
			}
			slices.Sort(got)
			for i, want := range slices.Sorted(slices.Values(c.want)) {
				if part, chain, _ := strings.Cut(want, " < "); !strings.HasPrefix(got[i], part) || !strings.HasSuffix(got[i], chain) {
					t.Errorf("got  %s\nwant %s", got[i], want)
				}
			}
		})
	}
}

// The advice about an invalid frame is about the invalid value.
func TestCheck_frameAdvice(t *testing.T) {
	t.Parallel()
	const head = "schema: acme/W/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: w\n"
	const end, layer = "data: {}\n", "  layeringDefinition: {layer: site}\n"
	for text, want := range map[string]string{
		strings.Replace(head, "W/v1", "W/1", 1) + "  storagePolicy: cleartext\n" + layer + end: "<namespace>/<kind>/v<n>",
		head + "  storagePolicy: plain\n" + layer + end:                                        "cleartext, or as encrypted",
		head + layer + end: "cleartext, or as encrypted",
		head + "  storagePolicy: cleartext\n  layeringDefinition: {layer: 1}\n" + end:                                                               "layerOrder",
		head + "  storagePolicy: cleartext\n  layeringDefinition: {layer: site, actions: [{method: merge, path: .}]}\n" + end:                       "parentSelector as a mapping",
		head + "  storagePolicy: cleartext\n  layeringDefinition: {layer: site, parentSelector: {a: b}, actions: [{method: add, path: .}]}\n" + end: "merge, replace or delete",
		head + "  storagePolicy: cleartext\n  Labels: {}\n" + layer + end:                                                                           "Remove the key",
		head + "  storagePolicy: cleartext\n  substitutions: [{src: {schema: a/B/v1, name: x, path: .}, dest: [{path: 1}]}]\n" + layer + end:        "Write dest as",
		strings.Replace(head, "name: w", "name: 17", 1) + "  storagePolicy: cleartext\n" + layer + end:                                              "in quotes",
		strings.Replace(head, "metadata/Document/v1", "metadata/Document", 1) + end:                                                                 "metadata/Document/v1",
		"schema: acme/W/v1\nmetadata: []\n" + end:                                                                                                   "Write metadata as a mapping",
	} {
		found := run(t, check.New(check.Options{}), file("w.yaml", text)).Findings
		if len(found) != 1 || found[0].Rule != "frame" || !strings.Contains(found[0].Advice, want) {
			t.Errorf("%s\n%+v\nwant the advice %q", text, found, want)
		}
	}
}

// A manifest of Kubernetes that is named as a file of documents is called one.
func TestCheck_manifest(t *testing.T) {
	t.Parallel()
	const manifest, schema = "docs/from-kubeconform.md says what does move", "<namespace>/<kind>/v<n>"
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: Pod\n":              manifest,
		"apiVersion: v1\n":                         schema,
		"kind: Pod\n":                              schema,
		"schema: pod\napiVersion: v1\nkind: Pod\n": schema,
	} {
		text += "metadata: {schema: metadata/Control/v1, name: w}\n"
		found := run(t, check.New(check.Options{}), check.File{Name: "w.yaml", Text: []byte(text)}).Findings
		if len(found) != 1 || found[0].Rule != "frame" || !strings.Contains(found[0].Advice, want) {
			t.Errorf("%s\n%+v\nwant the advice %q", text, found, want)
		}
	}
}

// Each document of a cycle is listed with its place; lines of an encrypted one are not quoted.
func TestCheck_cycle(t *testing.T) {
	t.Parallel()
	member := func(name, source, policy string) check.File {
		text := "schema: acme/Widget/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: %s\n  storagePolicy: %s\n" +
			"  layeringDefinition: {layer: site}\n  substitutions:\n  - {src: {schema: acme/Widget/v1, name: %s, path: .}, dest: {path: .a}}\ndata: {b: hunter2}\n"
		return file(name+".yaml", fmt.Sprintf(text, name, policy, source))
	}
	want := []string{"a.yaml:7", "b.yaml:7", "c.yaml:7"}
	for last, source := range map[string]string{"cleartext": "  substitutions:", "encrypted": ""} {
		report := run(t, check.New(check.Options{}), file("site.yaml", layers+widgets), member("a", "b", "cleartext"),
			member("b", "c", "cleartext"), member("c", "a", last))
		var got []string
		for _, f := range report.Findings {
			if f.Rule != "cycle" {
				continue
			}
			got = append(got, fmt.Sprintf("%s:%d", f.File, f.Line))
			if f.File != "c.yaml" || f.Source != source {
				t.Errorf("%s: the line %q of %s", last, f.Source, f.File)
			}
			for _, step := range f.Chain {
				got = append(got, fmt.Sprintf("%s:%d", step.File, step.Line))
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s\n%s", last, diff, strings.Join(lines(report), "\n"))
		}
	}
}

// The schemas of a SchemasOnly file are in force, and documents of other kinds in it are ignored.
func TestCheck_schemas(t *testing.T) {
	t.Parallel()
	beside := file("schemas.yaml", widgets+layers+doc("a/B/v1", "x", "{}")+"---\nschema: a/B/v1\nmetadata: {}\n")
	beside.SchemasOnly = true
	site := file("site.yaml", layers+doc("acme/Widget/v1", "w", "{size: 101}"))
	want := []string{"site.yaml:8:14 error schema: 101 is greater than the maximum of 100"}
	if diff := cmp.Diff(want, lines(run(t, check.New(check.Options{}), site, beside))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	site.Text = append(site.Text, widgets...)
	if diff := cmp.Diff(want, lines(run(t, check.New(check.Options{}), site, beside))); diff != "" {
		t.Errorf("with the schema in both (-want +got)\n%s", diff)
	}
}

// What may be a DataSchema in a SchemasOnly file and cannot be used is an error, also beside others that can.
func TestCheck_wrongSchemas(t *testing.T) {
	t.Parallel()
	site := file("site.yaml", layers+doc("acme/Widget/v1", "w", "{size: 1}"))
	const frame = "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, "
	for name, c := range map[string]struct{ text, want string }{
		"frame":        {frame + "nam: a/B/v1}\ndata: {}\n", "schemas.yaml:7:41 error frame: 'name' is a required property"},
		"schema":       {frame + "name: a/B/v1}\ndata: {type: objct}\n", "schemas.yaml:8:14 error schema: 'objct' is not valid under any of the given schemas"},
		"syntax":       {"---\nbroken: [\n", "schemas.yaml:6:9 error syntax: The bracket '[' that opens here is not closed"},
		"no schema":    {"---\nmetadata: {schema: metadata/Control/v1, name: a/B/v1}\ndata: {}\n", "schemas.yaml:6:1 error frame: The document has no schema"},
		"a second one": {widgets, "schemas.yaml:5:1 error duplicate-document: Document [deckhand/DataSchema/v1, None] acme/Widget/v1 appears twice: it is in schemas.yaml too < schemas.yaml:1"},
	} {
		beside := file("schemas.yaml", widgets+c.text)
		beside.SchemasOnly = true
		report := run(t, check.New(check.Options{}), site, beside)
		if diff := cmp.Diff([]string{c.want}, lines(report)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Validations of other services are needed if a policy requires them; the server's own are judged in any case.
func TestCheck_policies(t *testing.T) {
	t.Parallel()
	const ready = "---\nschema: deckhand/ValidationPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: ready}\n" +
		"data: {validations: [{name: x-validation}%s]}\n"
	orphan := strings.Replace(doc("acme/Gadget/v1", "g", "{}"), "layer: site", "layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}]", 1)
	site := layers + widgets + orphan
	for more, want := range map[string]string{"": "warning", ", {name: purser-coverage-validation}": "error"} {
		report := run(t, check.New(check.Options{}), file("s.yaml", site+fmt.Sprintf(ready, more)))
		if len(report.Needed) != 1 || report.Needed[0].Name != "x-validation" || report.Needed[0].Policy.Name != "ready" {
			t.Errorf("needed: %v", report.Needed)
		}
		levels := map[string]string{}
		for _, f := range report.Findings {
			levels[f.Rule] = f.Level.String()
		}
		if diff := cmp.Diff(map[string]string{"parent": "error", "no-schema": want}, levels); diff != "" {
			t.Errorf("%q (-want +got)\n%s", more, diff)
		}
	}
}

// A requirement applies if a document matches its condition. Where a document cannot be read, it may.
func TestCheck_conditions(t *testing.T) {
	t.Parallel()
	const ready = "---\nschema: deckhand/ValidationPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: ready}\n" +
		"data:\n  validations:\n  - {name: x-validation, when: {schemas: [acme/Widget/*]}, approvals: 2}\n" +
		"  - {name: y-validation, when: {layers: [type]}, advisory: true}\n" +
		"  - {name: purser-coverage-validation, when: {labels: {a: b}}}\n"
	site := layers + widgets + doc("acme/Widget/v1", "w", "{size: 1}") + doc("acme/Gadget/v1", "g", "{}") + ready
	says := func(text string) (needed, not []string) {
		report := run(t, check.New(check.Options{}), file("s.yaml", text))
		for _, n := range report.Needed {
			needed = append(needed, n.Text())
		}
		for _, n := range report.Inapplicable {
			not = append(not, n.Text())
		}
		for _, f := range report.Findings {
			if f.Rule == "no-schema" && f.Level.String() != "warning" {
				t.Errorf("%s: %s, although no document matches the condition", f.Rule, f.Level)
			}
		}
		return needed, not
	}
	const x, y, coverage = "x-validation (policy ready, 2 approvals)", "y-validation (policy ready, advisory)",
		"purser-coverage-validation (policy ready)"
	needed, not := says(site)
	if diff := cmp.Diff([][]string{{x}, {y, coverage}}, [][]string{needed, not}); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	needed, not = says(site + "---\nschema: 1\n")
	if diff := cmp.Diff([][]string{{x, y}, nil}, [][]string{needed, not}); diff != "" {
		t.Errorf("with a document that cannot be read (-want +got)\n%s", diff)
	}
	report := run(t, check.New(check.Options{}), file("s.yaml", strings.Replace(site, "layers: [type]", "layer: [type]", 1)))
	before, _, _ := strings.Cut(site, "layers: [type]")
	line := strings.Count(before, "\n") + 1
	if at := slices.IndexFunc(report.Findings, func(f check.Finding) bool { return f.Document.Name == "ready" }); at < 0 ||
		report.Findings[at].Line != line || !strings.Contains(report.Findings[at].Message, "layer") {
		t.Errorf("a broken condition in line %d: %+v", line, report.Findings)
	}
}

// The server's optional validations fail the site if a policy lists them, as on the server.
func TestCheck_optional(t *testing.T) {
	t.Parallel()
	const listing = "---\nschema: deckhand/ValidationPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: ready}\n" +
		"data: {validations: [{name: %s}]}\n"
	site := layers + doc("fuel/PuppetOverride/v1", "o", "{configuration: {nosuch: {a: {b: c}}}}") +
		doc("murano/Package/v1", "p", "{manifest: {Require: {other: '1'}}}") + doc("acme/Gadget/v1", "g", "{}")
	for listed, failing := range map[string]string{
		"x-validation": "", "puppet-override-validation": "puppet-override", "murano-package-validation": "murano-package",
		"purser-coverage-validation": "no-schema",
	} {
		want := map[string]string{"puppet-override": "warning", "murano-package": "warning", "no-schema": "warning"}
		if failing != "" {
			want[failing] = "error"
		}
		got := map[string]string{}
		for _, f := range run(t, check.New(check.Options{}), file("s.yaml", site+fmt.Sprintf(listing, listed))).Findings {
			got[f.Rule] = f.Level.String()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", listed, diff)
		}
	}
}

// A checker finds the same as a new one when it checks again.
func TestCheck_again(t *testing.T) {
	t.Parallel()
	checker := check.New(check.Options{})
	for i, texts := range [][]string{
		{widgets, doc("acme/Widget/v1", "w", "{size: 1}")},
		{widgets, doc("acme/Widget/v1", "w", "{size: 101}")},
		{"\n\n" + widgets, "# moved\n" + doc("acme/Widget/v1", "w", "{size: 101, size: 102}")},
		{widgets, "# moved again\n\n" + doc("acme/Widget/v1", "w", "{size: 101, size: 102}")},
		{strings.Replace(widgets, "100", "200", 1), doc("acme/Widget/v1", "w", "{size: 102}")},
		{"x: [", doc("acme/Widget/v1", "w", "{size: 102}")},
		{widgets, doc("acme/Widget/v1", "w", "{size: 1}")},
	} {
		files := []check.File{file("a.yaml", layers), file("b.yaml", texts[0]), file("c.yaml", texts[1])}
		if diff := cmp.Diff(lines(run(t, check.New(check.Options{}), files...)), lines(run(t, checker, files...))); diff != "" {
			t.Errorf("check %d (-new +again)\n%s", i, diff)
		}
	}
}

const withheld = "It fails; why is not shown, because an encrypted document, or what was taken from one, has a part in it"

// No finding reveals the content of an encrypted document, even if it or a document that uses its values is invalid.
func TestCheck_secrets(t *testing.T) {
	t.Parallel()
	secret := func(data string) string {
		return strings.Replace(doc("acme/Widget/v1", "s", data), "cleartext", "encrypted", 1)
	}
	takes := strings.Replace(doc("acme/Widget/v1", "t", "{}"), "layeringDefinition", "substitutions: [{src: "+
		"{schema: acme/Widget/v1, name: s, path: .size}, dest: {path: .size}}], layeringDefinition", 1)
	inherits := strings.Replace(doc("acme/Widget/v1", "i", "{}"), "layer: site", "layer: low, parentSelector: {is: s}, "+
		"actions: [{method: merge, path: .}]", 1)
	base := strings.Replace(layers, "[site]", "[site, low]", 1) + widgets
	override := doc("fuel/PuppetOverride/v1", "o", "{configuration: {service: {hunter2: {ensure: hunter2}}, hunter2: {a: {b: c}}}}")
	ofSecret := strings.Replace(layers, "[site]", "[site, low]", 1) + "---\nschema: deckhand/DataSchema/v1\n" +
		"metadata: {schema: metadata/Document/v1, name: acme/Other/v1, storagePolicy: cleartext, layeringDefinition: {layer: site}, " +
		"substitutions: [{src: {schema: acme/Widget/v1, name: s, path: .size}, dest: {path: .properties}}]}\n" +
		"data: {$schema: 'http://json-schema.org/schema#'}\n"
	for name, text := range map[string]string{
		"a wrong value":      base + secret("{size: hunter2}"),
		"a value taken over": base + secret("{size: 72727272}") + takes,
		"an inherited value": base + strings.Replace(secret("{size: 72727272}"), "name: s", "name: s, labels: {is: s}", 1) + inherits,
		"not YAML":           base + secret("\n  size: \"hunter2\n"),
		"an unknown alias":   base + secret("\n  size: *hunter2\n"),
		"no colon":           base + secret("\n  hunter2\n  size: 1\n"),
		"a key twice":        base + secret("{hunter2: 1, hunter2: 2}"),
		"wrong metadata":     base + strings.Replace(secret("{size: hunter2}"), "name: s, ", "", 1),
		"the document twice": base + secret("{size: hunter2}") + secret("{size: 72727272}"),
		"a schema of it":     ofSecret + secret("{size: {own: {properties: {hunter2: {type: string}}}}}") + strings.Replace(strings.Replace(takes, "acme/Widget/v1\nmeta", "acme/Other/v1\nmeta", 1), "data: {}", "data: {own: {hunter3: 1, hunter2: 1}}", 1),
		"an override":        base + strings.Replace(override, "cleartext", "encrypted", 1),
		"an override of it": base + secret("{size: hunter2}") + strings.NewReplacer("acme/Widget/v1\nmeta", "fuel/PuppetOverride/v1\nmeta",
			"path: .size}}]", "path: .configuration.service.x.ensure}}]").Replace(takes),
		"a path that is not":  base + secret("{hunter2: 1}") + takes,
		"a schema of its own": base + strings.Replace(widgets, "storagePolicy", "x", 1) + secret("{size: [72727272]}") + takes,
	} {
		report := run(t, check.New(check.Options{}), file("s.yaml", text))
		if len(report.Findings) == 0 && name != "a key twice" {
			t.Errorf("%s: nothing is found", name)
		}
		if all := fmt.Sprintf("%+v", report.Findings); strings.Contains(all, "hunter2") || strings.Contains(all, "72727272") {
			t.Errorf("%s: a secret is shown: %s", name, all)
		}
		for bucket, rendered := range report.Render() {
			if text := string(rendered); strings.Contains(text, "hunter2") || strings.Contains(text, "72727272") {
				t.Errorf("%s: a secret is rendered in bucket %s: %s", name, bucket, text)
			}
		}
	}
	oneLine := `[{"schema": "acme/Widget/v1", "metadata": {"schema": "metadata/Document/v1", "name": "s", ` +
		`"storagePolicy": "encrypted", "layeringDefinition": {"layer": "site"}}, "data": "hunter2"}, ` +
		`{"schema": "wrong", "metadata": {}, "data": 1}]`
	for _, list := range []string{oneLine, strings.Replace(oneLine, `"data"`, "\n\"data\"", 1)} {
		for _, name := range []string{"s.json", "s.yaml"} {
			report := run(t, check.New(check.Options{}), file(name, list))
			if all := fmt.Sprintf("%+v", report.Findings); len(report.Findings) == 0 || strings.Contains(all, "hunter2") {
				t.Errorf("%s: a line of two documents shows a secret, or nothing is found: %s", name, all)
			}
		}
	}
	both := strings.NewReplacer("data: {}", "data: {own: 101}", "path: .size}}]", "path: .taken}}]").Replace(takes)
	schema := strings.Replace(widgets, "{size: {type: integer", "{taken: {type: string}, own: {type: string}, size: {type: integer", 1)
	wrong := run(t, check.New(check.Options{}), file("s.yaml", layers+schema+secret("{size: 72}")), file("t.yaml", both))
	want := []string{
		"t.yaml:2:1 error rendered-schema: " + withheld,
		"t.yaml:4:13 error rendered-schema: " + validations.Unquoted(".properties.own.type"),
	}
	if diff := cmp.Diff(want, lines(wrong)); diff != "" {
		t.Errorf("one value is secret, and another is not (-want +got)\n%s", diff)
	}
	report := run(t, check.New(check.Options{}), file("s.yaml", layers+secret("{x: hunter2}")))
	if text := string(report.Render()["documents"]); !strings.Contains(text, "name: s") || strings.Contains(text, "hunter2") {
		t.Errorf("rendered: %s", text)
	}
}

// An invalid rendered value is reported where it was written.
func TestCheck_chain(t *testing.T) {
	t.Parallel()
	source := doc("acme/Source/v1", "s", "\n  deep:\n    size: 101\n    list: [1, 2, x]\n    odd:\n      x: 1")
	widget := strings.Join([]string{
		"---", "schema: acme/Widget/v1", "metadata:", "  schema: metadata/Document/v1", "  name: w", "  storagePolicy: cleartext",
		"  substitutions:", "  - src: {schema: acme/Source/v1, name: s, path: .deep}", "    dest: {path: .taken}",
		"  layeringDefinition: {layer: site}", "data: {}", "",
	}, "\n")
	schema := strings.Replace(widgets, "{size: {type: integer, maximum: 100}}", "{taken: {additionalProperties: false, "+
		"properties: {size: {maximum: 100}, list: {items: {type: integer}}}}}", 1)
	report := run(t, check.New(check.Options{}), file("a.yaml", layers+schema), file("b.yaml", "# here\n"+source), file("c.yaml", widget))
	want := []string{
		"b.yaml:7:11 error rendered-schema: 101 is greater than the maximum of 100 < c.yaml:8 < c.yaml:2",
		"b.yaml:8:18 error rendered-schema: 'x' is not of type 'integer' < c.yaml:8 < c.yaml:2",
		"b.yaml:9:5 error rendered-schema: Additional properties are not allowed ('odd' was unexpected) < c.yaml:8 < c.yaml:2",
	}
	got := slices.DeleteFunc(lines(report), func(line string) bool { return strings.Contains(line, "no-schema") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A baseline suppresses its findings after they move to other lines, each as often as it is listed.
func TestBaseline(t *testing.T) {
	t.Parallel()
	wrong := func(names ...string) string {
		var texts []string
		for _, name := range names {
			texts = append(texts, doc("acme/Widget/v1", name, "{size: 101, more: 1, more: 2}"))
		}
		return strings.Join(texts, "")
	}
	before := run(t, check.New(check.Options{}), file("s.yaml", layers+widgets+wrong("a", "b")))
	var b strings.Builder
	if err := before.Baseline().Write(&b); err != nil {
		t.Fatal(err)
	}
	read := func(text string) (check.Baseline, error) {
		path := filepath.Join(t.TempDir(), "baseline.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return check.ReadBaseline(t.Context(), path)
	}
	baseline, err := read(b.String())
	if err != nil {
		t.Fatal(err)
	}
	after := run(t, check.New(check.Options{}), file("s.yaml", "# moved\n\n"+layers+wrong("c", "a", "b")+widgets)).Without(baseline)
	if after.Known != 4 || len(after.Findings) != 2 || after.Findings[0].Document.Name != "c" {
		t.Errorf("%d known; left:\n%s", after.Known, strings.Join(lines(after), "\n"))
	}
	if !after.Fails(queries.LevelError) || before.Without(baseline).Fails(queries.LevelInfo) {
		t.Error("what is new does not fail, or what is known does")
	}
	if _, err := read("findngs: []"); err == nil {
		t.Error("a misspelt baseline is read")
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rule := range check.Rules() {
		if seen[rule.ID] || rule.Short == "" || !strings.HasSuffix(rule.Help, ".") {
			t.Errorf("rule %+v", rule)
		}
		seen[rule.ID] = true
	}
	if err := check.KnowsRules([]string{"schema", "shcema"}); err == nil || !strings.Contains(err.Error(), "did you mean schema?") {
		t.Errorf("a misspelt rule: %v", err)
	}
}

// Without a LayeringPolicy, the advice is to add one to the paths, because no server is involved.
func TestCheck_noLayeringPolicy(t *testing.T) {
	t.Parallel()
	report := run(t, check.New(check.Options{}), file("w.yaml", widgets+doc("acme/Widget/v1", "w", "{}")))
	if len(report.Findings) != 1 || report.Findings[0].Rule != "no-layering-policy" ||
		!strings.Contains(report.Findings[0].Advice, "the paths that are checked") {
		t.Errorf("findings %+v", report.Findings)
	}
}

// Errors of a rendering that are not listed are counted, also beside a baseline with all that are listed.
func TestCheck_unlisted(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: lp}\n" +
		"data: {layerOrder: [site]}\n---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, " +
		"name: acme/W/v1}\ndata: {$schema: 'http://json-schema.org/schema#'}\n")
	for i := range 300 {
		fmt.Fprintf(&text, "---\nschema: acme/W/v1\nmetadata: {schema: metadata/Document/v1, name: w%d, storagePolicy: cleartext, "+
			"layeringDefinition: {layer: site}, substitutions: [{src: {schema: acme/S/v1, name: gone, path: .}, dest: {path: .x}}]}\n"+
			"data: {}\n", i)
	}
	report := run(t, check.New(check.Options{}), file("a.yaml", text.String()))
	beside := report.Without(report.Baseline())
	var left []string
	for _, f := range beside.Findings {
		left = append(left, f.Rule+": "+f.Message)
	}
	want := []string{"unlisted: 100 more errors of the same validations, which are not listed"}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("beside the baseline (-want +got)\n%s", diff)
	}
}
