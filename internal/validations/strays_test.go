package validations

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// Keys that are lost or have no effect are named, with the key that was probably meant, except in encrypted documents.
func TestStrays(t *testing.T) {
	t.Parallel()
	const control = "schema: a/B/v1\nmetadata: {schema: metadata/Control/v1, name: n%s}\n"
	controlWith := func(more string) string { return fmt.Sprintf(control, more) }
	var many strings.Builder
	for i := range 12 {
		fmt.Fprintf(&many, "k%d: 1\n", i)
	}
	const rest = " is not kept: a document has only schema, metadata and data"
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"none":            {framed(""), nil},
		"as read":         {framed("") + "id: 7\nstatus: {bucket: b, revision: 2}\n", nil},
		"top level":       {framed("") + "datta: {a: hidden}\nspec: hidden\n", []string{".datta The key 'datta'" + rest + "; did you mean data?", ".spec The key 'spec'" + rest}},
		"many":            {framed("") + many.String(), nil},
		"free":            {controlWith(", owner: me, description: x, annotations: {a: b}"), nil},
		"policy":          {controlWith(", storagePolcy: encrypted"), []string{".metadata.storagePolcy The key 'storagePolcy' has no effect; did you mean storagePolicy?"}},
		"layering":        {controlWith(", layeringDefinition: {abstact: true, actions: [{mehod: merge, path: .}]}"), []string{".metadata.layeringDefinition.abstact The key 'abstact' has no effect; did you mean abstract?", ".metadata.layeringDefinition.actions.0.mehod The key 'mehod' has no effect; did you mean method?"}},
		"substitutions":   {controlWith(", substitutions: [{}, {scr: {}, dest: [{}, {pth: .}], src: {nam: x}}]"), []string{".metadata.substitutions.1.scr The key 'scr' has no effect; did you mean src?", ".metadata.substitutions.1.dest.1.pth The key 'pth' has no effect; did you mean path?", ".metadata.substitutions.1.src.nam The key 'nam' has no effect; did you mean name?"}},
		"recursion":       {framed(", substitutions: [{src: {schema: a/B/v1, name: n, path: .}, dest: {path: .a, recurse: {depth: 1, deepth: 2}}}]"), []string{".metadata.substitutions.0.dest.recurse.deepth The key 'deepth' has no effect; did you mean depth?"}},
		"encrypted":       {strings.Replace(framed(""), "cleartext", "encrypted", 1) + "hidden: 1\ndatta: 2\n", []string{" A key is not kept, or has no effect; it is not named here, because the document is encrypted"}},
		"encrypted, null": {"schema: a/B/v1\nmetadata: {storagePolicy: encrypted}\ndata: null\nhidden: 1\n", []string{" A key is not kept, or has no effect; it is not named here, because the document is encrypted"}},
		"long":            {framed("") + strings.Repeat("k", 300) + ": 1\n", []string{" The key '" + strings.Repeat("k", 255) + "…'" + rest}},
	} {
		notes := Strays(entry(t, c.body).Value.(document.Mapping))
		if name == "many" {
			if len(notes) != maxStrays+1 || notes[maxStrays].Message != "More keys are not kept, or have no effect" {
				t.Errorf("many: %v", notes)
			}
			continue
		}
		var got []string
		for _, note := range notes {
			if got = append(got, note.Path+" "+note.Message); !IsStray(note) || strings.Contains(note.Message, "hidden") {
				t.Errorf("%s: %+v", name, note)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// What a document's frame lacks is said in plain words, at the key to correct, and data under another key is refused,
// without naming the key in an encrypted document. With compat the messages are Deckhand's, and it is not refused.
func TestSanity_places(t *testing.T) {
	t.Parallel()
	block := "schema: a/B/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: n\n  storagePolicy: cleartext\n" +
		"  layeringDefinition:\n    layer: site\ndata: {}\n"
	secret := strings.Replace(block, "cleartext", "encrypted", 1)
	for name, c := range map[string]struct{ body, old, with, want, compat string }{
		"no data":           {block, "\ndata:", "\ndta:", ".data (line 8, column 1) The document has no data, but a key 'dta', which would not be kept: The key 'dta' is probably a misspelt 'data'.", ""},
		"no data, no name":  {block, "\ndata:", "\n'':", ".data (line 8, column 1) The document has no data, but a key '', which would not be kept: Put the data under the key data; write data: {} if the document has none.", ""},
		"no name":           {block, "  name: n", "  name: n\n  '': 1", ".metadata. (line 5, column 3) Additional properties are not allowed ('' was unexpected): Remove the key, or correct its name and its indentation.", ".metadata. Additional properties are not allowed ('' was unexpected)"},
		"no data, no guess": {block, "\ndata:", "\nid: 1\nspec:", ".data (line 9, column 1) The document has no data, but a key 'spec', which would not be kept: Put the data under the key data; write data: {} if the document has none.", ""},
		"no secret":         {secret, "\ndata:", "\ndta:", ".data (line 8, column 1) The document has no data, but a key that would not be kept; it is not named here, because the document is encrypted: The key at this place is probably a misspelt 'data'.", ""},
		"nothing lost":      {block, "\ndata: {}\n", "\nid: 1\nstatus: {}\n", "", ""},
		"no schema":         {block, "schema: a", "shema: a", ".schema (line 1, column 1) The document has no schema: The key 'shema' is probably a misspelt 'schema'.", ".schema None is not of type 'string'"},
		"schema is null":    {block, "schema: a/B/v1", "schema:", ".schema (line 1, column 8) schema has no value: " + schemaAdvice, ".schema None is not of type 'string'"},
		"no metadata":       {block, "metadata:\n", "metadta:\n", ".metadata (line 2, column 1) The document has no metadata: The key 'metadta' is probably a misspelt 'metadata'.", ".metadata None is not of type 'object'"},
		"policy is null":    {block, "storagePolicy: cleartext", "storagePolicy:", ".metadata.storagePolicy (line 5, column 17) metadata.storagePolicy has no value: Write storagePolicy as cleartext, or as encrypted for a document that holds secrets.", ".metadata.storagePolicy None is not one of ['encrypted', 'cleartext']"},
		"unknown key":       {block, "  name: n", "  name: n\n  x: {y: 1}", ".metadata.x (line 5, column 3) Additional properties are not allowed ('x' was unexpected): Remove the key, or correct its name and its indentation.", ".metadata.x Additional properties are not allowed ('x' was unexpected)"},
		"odd key":           {block, "    layer", "    \"it's\":\n      1\n    layer", ".metadata.layeringDefinition.it's (line 7, column 5) Additional properties are not allowed (\"it's\" was unexpected): Remove the key, or correct its name and its indentation.", ".metadata.layeringDefinition.it's Additional properties are not allowed (\"it's\" was unexpected)"},
	} {
		e := entry(t, strings.Replace(c.body, c.old, c.with, 1))
		for compat, want := range map[bool]string{false: c.want, true: c.compat} {
			got := ""
			if err, refused := Sanity(budget.NewMeter(t.Context()), e, compat).(*fault.Fault); refused { //nolint:errorlint // not wrapped
				said, _ := err.Messages[0].Diagnostic.(string)
				place, advice, _ := strings.Cut(strings.TrimPrefix(said, "At "), " of document 1, which begins at line 1. ")
				if got = place + " " + err.Messages[0].Message + ": " + advice; compat {
					got = strings.Fields(place)[0] + " " + err.Messages[0].Message
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, compat %v (-want +got)\n%s", name, compat, diff)
			}
		}
	}
}

// A key that is probably a misspelling of a missing one is one violation, which names both and is at the key. Other
// unknown keys, and keys that are allowed, are violations of their own or none.
func TestSanity_misspelt(t *testing.T) {
	t.Parallel()
	const (
		block = "schema: a/B/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: n\n  storagePolicy: cleartext\n" +
			"  layeringDefinition:\n    layer: site\n  substitutions:\n  - src: {schema: a/B/v1, name: n, path: .}\n" +
			"    dest: {path: .}\ndata: {}\n"
		control = "schema: a/B/v1\nmetadata: {schema: metadata/Control/v1, name: n}\n"
		unknown = "Additional properties are not allowed ("
		remove  = "Remove the key, or correct its name and its indentation."
	)
	lacks := func(at, missing, advice string) string {
		return at + " '" + missing + "' is a required property: " + advice
	}
	key := func(at, missing, key string) string {
		return lacks(at, missing, "The key '"+key+"' is probably a misspelt '"+missing+"'.")
	}
	for name, c := range map[string]struct {
		body, old, with string
		want            []string
	}{
		"policy": {block, "storagePolicy", "storagePolcy", []string{key(".metadata (line 5, column 3)", "storagePolicy", "storagePolcy")}},
		"policy of a secret": {block, "storagePolicy: cleartext", "storagePolcy: encrypted", []string{
			lacks(".metadata (line 5, column 3)", "storagePolicy", "The key at this place is probably a misspelt 'storagePolicy'."),
		}},
		"layer":   {block, "layer:", "laier:", []string{key(".metadata.layeringDefinition (line 7, column 5)", "layer", "laier")}},
		"path":    {block, "n, path", "n, paht", []string{key(".metadata.substitutions.0.src (line 9, column 36)", "path", "paht")}},
		"dest":    {block, "    dest", "    dst", []string{key(".metadata.substitutions.0 (line 10, column 5)", "dest", "dst")}},
		"control": {control, "name", "nam", []string{key(".metadata (line 2, column 41)", "name", "nam")}},
		"two": {block, "storagePolicy:", "x: 1\n  storagePolcy:", []string{
			key(".metadata (line 6, column 3)", "storagePolicy", "storagePolcy"),
			".metadata.x (line 5, column 3) " + unknown + "'x', 'storagePolcy' were unexpected): " + remove,
		}},
		"another": {block, "storagePolicy:", "x:", []string{
			lacks(".metadata (line 2, column 1)", "storagePolicy", frameAdvices[".metadata.storagePolicy"]),
			".metadata.x (line 5, column 3) " + unknown + "'x' was unexpected): " + remove,
		}},
		"beside it": {block, "storagePolicy:", "storagePolcy: x\n  storagePolicy:", []string{
			".metadata.storagePolcy (line 5, column 3) " + unknown + "'storagePolcy' was unexpected): " + remove,
		}},
	} {
		var got []string
		f, _ := errors.AsType[*fault.Fault](Sanity(budget.NewMeter(t.Context()), entry(t, strings.Replace(c.body, c.old, c.with, 1)), false))
		for _, message := range f.Messages {
			said, _ := message.Diagnostic.(string)
			place, advice, _ := strings.Cut(strings.TrimPrefix(said, "At "), " of document 1, which begins at line 1. ")
			got = append(got, place+" "+message.Message+": "+advice)
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Refusals of a document that says it is encrypted, or was meant to, quote neither values nor unknown keys of its frame,
// but say where they are and what is right. @ stands for the secret.
func TestSanity_encrypted(t *testing.T) {
	t.Parallel()
	const (
		begin  = "schema: a/B/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: n\n"
		policy = "  storagePolicy: encrypted\n"
		layer  = "  layeringDefinition: {layer: site}\n"
		frame  = begin + policy + layer
		value  = "The value is invalid; it is not quoted, because the document is encrypted"
		key    = "Additional properties are not allowed (one is not named, because the document is encrypted)"
		remove = "Remove the key, or correct its name and its indentation."
		source = "{schema: a/B/v1, name: n, path: .}"
	)
	for body, want := range map[string][]string{
		frame + "  @: 1\n":         {".metadata (line 7, column 3) " + key + ": " + remove},
		frame + "  '1234@.a': 1\n": {".metadata (line 7, column 3) " + key + ": " + remove},
		frame + "  lables: @\n": {
			".metadata (line 7, column 3)" +
				" Additional properties are not allowed (one is probably a misspelt 'labels'): " + remove,
		},
		frame + "  labels: @\n": {
			".metadata.labels (line 7, column 11) " + value + ": " + frameAdvices[".metadata.labels"],
		},
		frame + "  labels: {@: {@: 1}}\n": nil, // as in Deckhand
		frame + "  replacement: '@'\n": {
			".metadata.replacement (line 7, column 16) " + value + ": " + booleanAdvice,
		},
		frame + "  substitutions: [{@: '@'}]\n": {
			".metadata.substitutions.0 (line 7, column 20) " + key + ": " + remove,
			".metadata.substitutions.0 (line 7, column 19) 'dest' is a required property: " + destAdvice,
			".metadata.substitutions.0 (line 7, column 19) 'src' is a required property: " +
				frameAdvices[substitutionsPath+".src"],
		},
		frame + "  substitutions: [{src: " + source + ", dest: {'@': 1}}]\n": {
			".metadata.substitutions.0.dest (line 7, column 67) " + value + ": " + destAdvice,
		},
		frame + "  substitutions: [{src: {schema: '@', name: a, path: .}, dest: {path: .}}]\n": {
			".metadata.substitutions.0.src.schema (line 7, column 34) " + value + ": " + schemaAdvice,
		},
		frame + "  substitutions: [{src: " + source + ", dest: {path: ., pattern: '(@'}}]\n": {
			".metadata.substitutions.0.dest.pattern (line 7, column 86) " + value + ": " + patternAdvice,
		},
		begin + policy + "  layeringDefinition: {layer: site, @: 1}\n": {
			".metadata.layeringDefinition (line 6, column 37) " + key + ": " + remove,
		},
		begin + policy + "  layeringDefinition: {layer: [@]}\n": {
			".metadata.layeringDefinition.layer (line 6, column 31) " + value + ": " + frameAdvices[layeringPath+".layer"],
		},
		begin + "  storagePolicy: Encrypted\n" + layer + "  '@': 1\n": {
			".metadata (line 7, column 3) " + key + ": " + remove,
			".metadata.storagePolicy (line 5, column 18) " + value + ": " + frameAdvices[".metadata.storagePolicy"],
		},
		begin + "  storagePolcy: encrypted\n" + layer + "  '@': 1\n": {
			".metadata (line 5, column 3) Additional properties are not allowed (one is probably a misspelt 'storagePolicy'): " +
				remove,
			".metadata (line 5, column 3) 'storagePolicy' is a required property: The key at this place is probably a misspelt 'storagePolicy'.",
		},
		strings.Replace(frame, "a/B/v1", "'@'", 1): {".schema (line 1, column 9) " + value + ": " + schemaAdvice},
		"shema@: 1\n" + strings.Replace(frame, "schema: a/B/v1\n", "", 1): {
			".schema (line 1, column 1) The document has no schema: " + schemaAdvice,
		},
		"schema: a/B/v1\nmetadata: {schema: metadata/Control/v1, name: n, storagePolicy: encrypted, labels: {@: [@]}}\n": {
			".metadata.labels (line 2, column 92) " + value + ": " + frameAdvices[".metadata.labels"],
		},
		"schema: a/B/v1\nmetadata: {schema: metadata/Document/v77, name: n, storagePolicy: encrypted}\n": {
			".metadata.schema (line 2, column 20) " + value + ": " + frameAdvices[".metadata.schema"],
		},
		"schema: a/B/v1\nmetadata: {schema: \"metadata/Document/v1\\n\", " +
			"name: n, storagePolicy: encrypted, layeringDefinition: 1}\n": {
			".metadata.schema (line 2, column 20) " + value + ": " + frameAdvices[".metadata.schema"],
		},
	} {
		for _, compat := range []bool{false, true} {
			e := entry(t, strings.ReplaceAll(body, "@", "QXZJK")+"data: {}\n")
			var got []string
			if err, ok := errors.AsType[*fault.Fault](Sanity(budget.NewMeter(t.Context()), e, compat)); ok {
				for _, m := range err.Messages {
					said, _ := m.Diagnostic.(string)
					place, advice, _ := strings.Cut(strings.TrimPrefix(said, "At "), " of document 1, which begins at line 1. ")
					got = append(got, place+" "+m.Message+": "+advice)
				}
				if all := fmt.Sprint(err, got, err.Messages); strings.Contains(all, "QXZJK") {
					t.Errorf("%s, compat %v: it tells %s", body, compat, all)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" && !compat {
				t.Errorf("%s (-want +got)\n%s", body, diff)
			}
		}
	}
}

// A key that is too long for a path has the path of its mapping.
func TestStrayPath(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", MaxName+1)
	for text, want := range map[string][]string{
		"{schema: a, data: {}}":           nil,
		"{schema: a, dta: {}}":            {"dta", document.AtKey},
		"{schema: a, " + long + ": 1}":    {},
		"{metadata: {lables: {a: b}}}":    {"metadata", "lables", document.AtKey},
		"{x: 1, " + long + ": 1}":         {"x", document.AtKey},
		"{metadata: {" + long + "a: {}}}": nil,
	} {
		if diff := cmp.Diff(want, StrayPath(entry(t, text).Value.(document.Mapping))); diff != "" {
			t.Errorf("%.40s (-want +got)\n%s", text, diff)
		}
	}
}
