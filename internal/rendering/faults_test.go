package rendering

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/document"
	"purser/internal/fault"
)

// toldOf says, one a line, what a rendering gives: names of documents, faults, and documents with the names of those
// that keep them from being rendered.
func toldOf(t testing.TB, documents []*document.Document, options Options) string {
	t.Helper()
	out, err := Render(t.Context(), documents, options)
	if err != nil {
		t.Fatal(err)
	}
	var names, lines []string
	for _, r := range out.Documents {
		if name := documents[r.Index].Name; name != "policy" {
			names = append(names, name)
		}
	}
	lines = append(lines, strings.Join(names, " "))
	for _, f := range out.Faults {
		lines = append(lines, f.Type+" "+of(f)+" "+f.Messages[0].Path)
	}
	for _, u := range out.Unrendered {
		if !u.Failed {
			lines = append(lines, documents[u.Index].Name+" because of "+of(u.Cause))
		}
	}
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// of names the first document of a fault.
func of(f *fault.Fault) string {
	if len(f.Messages[0].Documents) == 0 {
		return "all"
	}
	return f.Messages[0].Documents[0].Name
}

// A fault keeps only those documents from being rendered that depend on its document. All faults that do not follow
// from others are reported, in the order of Deckhand.
func TestRender_faults(t *testing.T) {
	t.Parallel()
	const source = "site s | data {v: 1}\n"
	for name, c := range map[string]struct{ documents, want string }{
		"of independent documents": {
			source + "site a | sub gone .v > .x | data {}\nsite b | sub s .none > .x | data {}\nsite c | sub s .v > .x | data {}\n" +
				"global p | labels {k: p} | abstract | data {}\nsite d | parent {k: p} | merge .none | data {}",
			"s c\nMissingDocumentKey d .metadata.layeringDefinition.actions.0\n" +
				"SubstitutionSourceDataNotFound b .metadata.substitutions.0.src\n" +
				"SubstitutionSourceNotFound a .metadata.substitutions.0.src",
		},
		"of one document": {
			source + "site a | sub gone .v > .x | sub s .v > .y | sub gone .w > .z | sub s .none > .z | sub lost .v > .w | data {}",
			"s\nSubstitutionSourceNotFound a .metadata.substitutions.0.src\n" +
				"SubstitutionSourceDataNotFound a .metadata.substitutions.3.src\n" +
				"SubstitutionSourceNotFound a .metadata.substitutions.4.src",
		},
		"after a substitution that failed nothing is written": {
			source + "site a | sub gone .v > .t | substitution {src: {name: s, path: .v}, dest: {path: .t, pattern: X}} | data {}",
			"s\nSubstitutionSourceNotFound a .metadata.substitutions.0.src",
		},
		"of a parent": {
			source + "global p | labels {k: p} | sub gone .v > .x | data {}\nsite c | parent {k: p} | merge . | labels {k: c} | data {}\n" +
				"site d | sub c .v > .x | sub gone .v > .x | data {}\nsite e | sub s .v > .x | data {}",
			"s e\nSubstitutionSourceNotFound p .metadata.substitutions.0.src\nc because of p\nd because of p",
		},
		"of a parent that nothing is taken from": {
			"global p | labels {k: p} | sub gone .v > .x | data {}\nsite c | parent {k: p} | data {}",
			"c\nSubstitutionSourceNotFound p .metadata.substitutions.0.src",
		},
		"an unknown layer": {
			source + "lost p | labels {k: p} | data {v: 1}\nsite c | parent {k: p} | merge . | data {}\nsite d | sub p .v > .x | data {}\n" +
				"lost q | parent {k: none} | merge . | data {}\nsite e | data {}",
			"s e\nInvalidDocumentLayer p\nInvalidDocumentLayer q\nc because of p\nd because of p",
		},
		"no policy": {
			"policy none\n- p | schema t/L/v1 | data {}\nglobal p | labels {k: p} | data {v: 1}\nsite c | parent {k: p} | merge . | data {}\n" +
				"site d | sub gone .v > .x | data {}\nsite e | sub p .v > .x | data {}",
			"p e p\nLayeringPolicyNotFound all\nSubstitutionSourceNotFound d .metadata.substitutions.0.src\nc because of all",
		},
		"parents that cannot be": {
			"global p | labels {k: p} | data {}\nglobal q | labels {k: p} | data {}\nsite r | labels {r: r} | data {}\n" +
				"site a | parent {k: p} | merge . | data {}\ntype b | parent {r: r} | merge . | labels {b: b} | data {}\n" +
				"site c | parent {b: b} | merge . | data {}\nsite d | parent {k: p} | merge . | data {}",
			"p q r\nInvalidDocumentParent b\nIndeterminateDocumentParent a\nIndeterminateDocumentParent d\nc because of b",
		},
		"replacements": {
			"global p | labels {k: p} | data {v: 1}\nsite p | replacement | parent {k: none} | merge . | data {}\n" +
				"site u | sub p .v > .x | data {}\nglobal o | data {}\nsite o | data {}\nsite x | replacement | data {}\n" +
				"site ok | data {}",
			"ok\nInvalidDocumentReplacement p\nInvalidDocumentReplacement o\nInvalidDocumentReplacement x\n" +
				"p because of p\nu because of p\no because of o",
		},
		"a replacement that fails later": {
			"global p | labels {k: p} | data {v: 1}\nsite p | replacement | parent {k: p} | merge . | sub gone .v > .x | data {}\n" +
				"site u | sub p .v > .x | data {}",
			"\nSubstitutionSourceNotFound p .metadata.substitutions.0.src\nu because of p",
		},
		"cycles": {
			source + "site a | sub b .v > .x | data {v: 1}\nsite b | sub a .v > .x | sub s .v > .y | data {v: 1}\nsite c | sub c .v > .x | data {v: 1}\n" +
				"site d | sub a .v > .x | data {}\nsite e | sub s .v > .x | data {}\nsite f | sub g .v > .x | data {v: 1}\n" +
				"site g | sub f .v > .x | sub h .v > .y | data {v: 1}\nsite h | sub g .v > .x | data {v: 1}",
			"s e\nSubstitutionDependencyCycle b\nSubstitutionDependencyCycle c\nSubstitutionDependencyCycle g\n" +
				"d because of b\nh because of g",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents := slices.DeleteFunc(sketch(t, c.documents), func(d *document.Document) bool {
				return strings.Contains(string(d.Data), `"none"]`) // is no policy
			})
			if diff := cmp.Diff(c.want, toldOf(t, documents, Options{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The first of many faults are kept, with the number of the others. Secret ones are counted by themselves.
func TestRender_faultsAreBounded(t *testing.T) {
	t.Parallel()
	const most, open, secret = 200, 203, 201
	var lines []string
	for i := range open {
		lines = append(lines, fmt.Sprintf("site o%d | sub gone .v > .x | data {v: 1}", i))
	}
	for i := range secret {
		lines = append(lines, fmt.Sprintf("site e%d | encrypted | sub gone .v > .x | data {}", i))
	}
	out, err := Render(t.Context(), sketch(t, strings.Join(lines, "\n")), Options{})
	if err != nil || len(out.Faults) != 2*most+2 {
		t.Fatalf("%d faults, %v", len(out.Faults), err)
	}
	got := []string{}
	for _, f := range out.Faults[2*most:] {
		said := f.Messages[0]
		got = append(got, fmt.Sprintf("%v, %v: %s (%d)", f.Secret, said.Secret, said.Message, said.Unlisted))
	}
	want := []string{"false, false: More errors, not listed: 3 (3)", "true, true: More errors, not listed: 1 (1)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if last := out.Unrendered[open+secret-1]; !last.Failed || last.Cause.Type != MoreErrors || !last.Secret {
		t.Errorf("the last one has the cause %v", last.Cause)
	}
}

// Without the documents that do not render, the others render to the same.
func TestRender_faults_law(t *testing.T) {
	t.Parallel()
	broken := 0
	rapid.Check(t, func(rt *rapid.T) {
		lines := anySet(rt)
		for range rapid.IntRange(1, 3).Draw(rt, "mistakes") {
			i := rapid.IntRange(0, len(lines)-1).Draw(rt, "line")
			switch rapid.IntRange(0, 3).Draw(rt, "mistake") {
			case 0:
				lines[i] += " | sub gone . > .n"
			case 1:
				lines[i] += " | sub d0 .none.at.all > .m"
			case 2:
				lines[i] = "unknown" + lines[i]
			case 3:
				lines[i] += fmt.Sprintf(" | sub d%d . > .m", rapid.IntRange(0, len(lines)-1).Draw(rt, "source"))
			}
		}
		documents := sketch(t, strings.Join(lines, "\n"))
		out, err := Render(t.Context(), documents, Options{})
		must(rt, err)
		broken += len(out.Faults)
		for _, r := range out.Documents { // each renders with what it needs alone
			again, err := Render(t.Context(), documents, Options{Only: func(d *document.Document) bool { return d == documents[r.Index] }})
			must(rt, err)
			if len(again.Documents) != 1 || len(again.Unrendered) > 0 {
				rt.Errorf("%s alone: %d documents", documents[r.Index].Identity, len(again.Documents))
				continue
			}
			want, got := dataOf(t, documents[r.Index], r), dataOf(t, documents[r.Index], again.Documents[0])
			if diff := cmp.Diff(string(document.AppendJSON(nil, want)), string(document.AppendJSON(nil, got))); diff != "" {
				rt.Errorf("%s alone (-all +alone)\n%s", documents[r.Index].Identity, diff)
			}
		}
	})
	if broken == 0 {
		t.Error("no set had a fault")
	}
}

// Encrypted documents that no other one uses change nothing about the faults of the others, nor the order of these.
func TestRender_faultsBesideSecrets(t *testing.T) {
	t.Parallel()
	const policy = "policy global, region, site, node\n"
	const open = "site a | labels {k: a} | data {}\nsite b | labels {k: a} | data {}\nglobal g | labels {k: g} | data {}\n" +
		"global h | labels {k: g} | data {}\nnode c | parent {k: a} | merge . | data {}\n" +
		"site d | parent {k: g} | merge . | data {}\nglobal e | parent {k: c} | merge . | data {}\n" +
		"node f | labels {k: c} | data {}"
	said := func(text string) (messages []string) {
		out, err := Render(t.Context(), sketch(t, text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range out.Faults {
			if !f.Messages[0].Secret {
				messages = append(messages, f.Messages[0].Message)
			}
		}
		return messages
	}
	want := said(policy + open)
	if len(want) != 3 {
		t.Fatalf("faults: %q", want)
	}
	for _, layer := range []string{"global", "region", "site", "node"} {
		secret := layer + " secret | encrypted | labels {k: s} | data {}\n"
		for place, text := range map[string]string{"first": secret + open, "last": open + "\n" + secret} {
			if diff := cmp.Diff(want, said(policy+strings.TrimSpace(text))); diff != "" {
				t.Errorf("%s in layer %s (-without +with)\n%s", place, layer, diff)
			}
		}
	}
}
