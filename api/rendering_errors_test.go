package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unrenderable is a set of documents that cannot be rendered, with the expected error.
type unrenderable struct {
	documents string // with layers global, region, site
	status    int
	errorType string
	message   string
	about     []string // the names of the documents in the error
}

// Parts of the cases.
const (
	sizeOf       = "{src: {schema: acme/Widget/v1, name: %s, path: .}, dest: {path: .size}}"
	unknownError = "An unknown exception occurred while trying to perform substitution using source document [acme/Secret/v1, site] s " +
		"contained in document [acme/Widget/v1, site] w. Details: "
	missingKey = "Missing action path in {'method': '%s', 'path': '%s'} needed for layering from either the data section of the " +
		"parent [acme/Widget/v1, global] base or child [acme/Widget/v1, site] w document"
	missingValue = "Required substitution source secret was not found at path %s in source document [acme/Secret/v1, site] s which is " +
		"referenced by destination document [acme/Widget/v1, site] w under its `metadata.substitutions`"
	missingText = "The destination document's `data` section is missing the pattern TEXT specified under `substitutions.dest.pattern` " +
		"at path .t, specified under `substitutions.dest.path`. Details: no text to replace the pattern in: there is %s; the " +
		"destination document is [acme/Widget/v1, site] w"
	invalidParent      = "The document parent [%s] base is invalid for document [acme/Widget/v1] w. Reason: "
	invalidReplacement = "Replacement document [acme/Widget/v1, %s] %s is invalid. Reason: "
	cycle              = "Cannot determine substitution order as a dependency cycle exists for the following documents: "
	pathHelp           = "; a path is made of .key, .'quoted key', [2], [-1], .* and [*]"

	fewerSchemas = "Child has parentSelector which references parent, but their `schema`s do not match."
	higherLayer  = "Child has parentSelector which references parent, but the child layer %s must be lower than the parent layer %s " +
		"for layerOrder %s."
	needsParent = "Document replacement requires that the document with `replacement: true` have a parent."
	needsName   = "Document replacement requires that both documents have the same `schema` and `metadata.name`."
	namesake    = "Non-replacement documents cannot have the same `schema` and `metadata.name` as their parent. Either add " +
		"`replacement: true` to the document or give the document a different name."
	stands = "More than one document with the same name and schema was found, but none has `replacement: true`. Ensure that only 2 " +
		"documents exist for each replacement and that one has `replacement: true` and the other `replacement: false`."
	replacedTwice = "A replacement document cannot itself be replaced by another document."
)

// unrenderables returns cases of all classes of errors that documents can cause, by error.
func unrenderables() map[string]unrenderable {
	const bad, conflict = http.StatusBadRequest, http.StatusConflict
	base := inLayer("global", docWith("acme/Widget/v1", "base", "{a: {b: 1}, t: text, l: [1]}", labelled("k: base")))
	child := func(data, action string) string { return under("k: base", "site", widget("w", data), action) }
	replacement := func(name, layer, label, more string) string {
		return under(label, layer, docWith("acme/Widget/v1", name, "{}", more+replacing), "merge .")
	}
	s := secret("s", "{pw: hidden, none: null, list: [hidden]}")
	w := func(data string, substitutions ...string) string {
		return s + docWith("acme/Widget/v1", "w", data, substitutes(substitutions...))
	}
	size := func(name, source string) string {
		return docWith("acme/Widget/v1", name, "{}", substitutes(fmt.Sprintf(sizeOf, source)))
	}
	both := []string{"w", "s"}
	return map[string]unrenderable{
		"layer":                   {inLayer("nowhere", widget("w", "{}")), bad, "InvalidDocumentLayer", "Invalid layer 'nowhere' for document [acme/Widget/v1] w was not found in layerOrder: global, region, site for provided LayeringPolicy: lp", []string{"w"}},
		"layer of control":        {inLayer("'no where'", asControl(widget("w", "{}"))), bad, "InvalidDocumentLayer", "Invalid layer 'no where' for document [acme/Widget/v1] w was not found in layerOrder: global, region, site for provided LayeringPolicy: lp", []string{"w"}},
		"layer of two":            {base + inLayer("x", widget("w1", "{}")) + inLayer("y", widget("w2", "{}")), bad, "InvalidDocumentLayer", "Invalid layer 'x' for document [acme/Widget/v1] w1 was not found in layerOrder: global, region, site for provided LayeringPolicy: lp", []string{"w1", "w2"}},
		"parent's schema":         {strings.Replace(base, "acme/Widget/v1", "acme/Other/v1", 1) + child("{}", "merge ."), bad, "InvalidDocumentParent", fmt.Sprintf(invalidParent, "acme/Other/v1") + fewerSchemas, []string{"w", "base"}},
		"parent's layer, same":    {inLayer("site", strings.Replace(base, "global", "site", 1)) + child("{}", "merge ."), bad, "InvalidDocumentParent", fmt.Sprintf(invalidParent, "acme/Widget/v1") + fmt.Sprintf(higherLayer, "site", "site", "site"), []string{"w", "base"}},
		"parent's layer, lower":   {strings.Replace(base, "global", "site", 1) + under("k: base", "global", widget("w", "{}"), "merge ."), bad, "InvalidDocumentParent", fmt.Sprintf(invalidParent, "acme/Widget/v1") + fmt.Sprintf(higherLayer, "global", "site", "global, site"), []string{"w", "base"}},
		"two parents":             {base + strings.Replace(base, "base,", "more,", 1) + child("{}", "merge ."), bad, "IndeterminateDocumentParent", "Too many parent documents found for document [acme/Widget/v1, site] w. Found: 2. Expected: 1", []string{"w"}},
		"two parents, far":        {base + strings.Replace(base, "base,", "more,", 1) + inLayer("region", docWith("acme/Widget/v1", "near", "{}", labelled("k: base"))) + child("{}", "merge ."), bad, "IndeterminateDocumentParent", "Too many parent documents found for document [acme/Widget/v1, site] w. Found: 2. Expected: 1", []string{"w"}},
		"replaces nothing":        {docWith("acme/Widget/v1", "w", "{}", replacing), bad, "InvalidDocumentReplacement", fmt.Sprintf(invalidReplacement, "site", "w") + needsParent, []string{"w"}},
		"replaces another":        {base + replacement("w", "site", "k: base", ""), bad, "InvalidDocumentReplacement", fmt.Sprintf(invalidReplacement, "site", "w") + needsName, []string{"w", "base"}},
		"does not replace":        {base + under("k: base", "site", widget("base", "{}"), "merge ."), bad, "InvalidDocumentReplacement", fmt.Sprintf(invalidReplacement, "site", "base") + namesake, []string{"base", "base"}},
		"stands twice":            {base + widget("base", "{}"), bad, "InvalidDocumentReplacement", fmt.Sprintf(invalidReplacement, "site", "base") + stands, []string{"base", "base"}},
		"is replaced twice":       {base + replacement("base", "region", "k: base", labelled("k: mid")) + replacement("base", "site", "k: mid", ""), bad, "InvalidDocumentReplacement", fmt.Sprintf(invalidReplacement, "region", "base") + replacedTwice, []string{"base", "base"}},
		"merge nothing":           {base + child("{}", "merge .c"), bad, "MissingDocumentKey", fmt.Sprintf(missingKey, "merge", ".c"), []string{"w", "base"}},
		"merge null":              {base + child("{c: null}", "merge .c"), bad, "MissingDocumentKey", fmt.Sprintf(missingKey, "merge", ".c"), []string{"w", "base"}},
		"replace nothing":         {base + child("{}", "replace .a"), bad, "MissingDocumentKey", fmt.Sprintf(missingKey, "replace", ".a"), []string{"w", "base"}},
		"delete nothing":          {base + child("{c: 1}", "delete .c"), bad, "MissingDocumentKey", fmt.Sprintf(missingKey, "delete", ".c"), []string{"w", "base"}},
		"delete beyond":           {base + child("{}", "delete '.l[1]'"), bad, "MissingDocumentKey", fmt.Sprintf(missingKey, "delete", ".l[1]"), []string{"w", "base"}},
		"action's path":           {base + child("{}", "merge '.c['"), bad, "MissingDocumentKey", fmt.Sprintf(missingKey, "merge", ".c[") + ". Details: the path '.c[' cannot be read at character 4: a key is expected" + pathHelp, []string{"w", "base"}},
		"action into a text":      {base + child("{t: {x: 1}}", "merge .t.x"), bad, "MissingDocumentKey", fmt.Sprintf(missingKey, "merge", ".t.x") + ". Details: .t is a string, which has no .x", []string{"w", "base"}},
		"parent's parent":         {base + under("k: base", "region", docWith("acme/Widget/v1", "mid", "{}", labelled("k: mid")), "merge .") + under("k: mid", "site", widget("w", "{}"), "delete .c"), bad, "MissingDocumentKey", fmt.Sprintf(missingKey, "delete", ".c"), []string{"w", "base"}},
		"no source":               {size("w", "gone"), conflict, "SubstitutionSourceNotFound", "Required substitution source document [acme/Widget/v1] gone was not found, yet is referenced by [acme/Widget/v1] w", []string{"w"}},
		"abstract source":         {base + abstract(widget("gone", "{}")) + size("w", "gone"), conflict, "SubstitutionSourceNotFound", "Required substitution source document [acme/Widget/v1] gone was not found, yet is referenced by [acme/Widget/v1] w. Details: document [acme/Widget/v1, global] gone is abstract, and only concrete documents are sources", []string{"w"}},
		"no value":                {w("{}", from("s", ".gone", "{path: .x}")), bad, "SubstitutionSourceDataNotFound", fmt.Sprintf(missingValue, ".gone"), both},
		"null value":              {w("{}", from("s", ".none", "{path: .x}")), bad, "SubstitutionSourceDataNotFound", fmt.Sprintf(missingValue, ".none"), both},
		"source's path":           {w("{}", from("s", "'.a['", "{path: .x}")), bad, "SubstitutionSourceDataNotFound", fmt.Sprintf(missingValue, ".a[") + ". Details: the path '.a[' cannot be read at character 4: a key is expected" + pathHelp, both},
		"no text":                 {w("{}", from("s", ".pw", "{path: .t, pattern: TEXT}")), bad, "MissingDocumentPattern", fmt.Sprintf(missingText, "nothing at that path"), both},
		"a list for text":         {w("{t: [TEXT]}", from("s", ".pw", "{path: .t, pattern: TEXT}")), bad, "MissingDocumentPattern", fmt.Sprintf(missingText, "a list"), both},
		"a number for text":       {w("{t: 5}", from("s", ".pw", "{path: .t, pattern: TEXT, recurse: {depth: -1}}")), bad, "MissingDocumentPattern", fmt.Sprintf(missingText, "a number"), both},
		"destination's path":      {w("{}", from("s", ".pw", "{path: x}")), bad, "UnknownSubstitutionError", unknownError + "the path 'x' of a destination must begin with a dot", both},
		"destination in a text":   {w("{t: hidden}", from("s", ".pw", "{path: .t.x}")), bad, "UnknownSubstitutionError", unknownError + ".t is a string, which has no .x", both},
		"destination in null":     {w("null", from("s", ".pw", "{path: .x}")), bad, "UnknownSubstitutionError", unknownError + ". is null, which has no .x", both},
		"index of a mapping":      {w("{m: {}}", from("s", ".pw", "{path: '.m[0]'}")), bad, "UnknownSubstitutionError", unknownError + ".m is a mapping, which has no [0]", both},
		"index far below":         {w("{l: [1]}", from("s", ".pw", "{path: '.l[-5]'}")), bad, "UnknownSubstitutionError", unknownError + ".l is a list of length 1, which has no [-5]", both},
		"second of destinations":  {w("{l: [1]}", from("s", ".pw", "[{path: .ok}, {path: .ok.x}]")), bad, "UnknownSubstitutionError", unknownError + ".ok is a string, which has no .x", both},
		"pattern of a list":       {w("{}", "{src: {schema: acme/Secret/v1, name: s, path: .list, pattern: x}, dest: {path: .x}}"), bad, "UnknownSubstitutionError", unknownError + "src.pattern needs a string, but at .list there is a list", both},
		"group of a pattern":      {w("{}", "{src: {schema: acme/Secret/v1, name: s, path: .pw, pattern: '(h)', match_group: 2}, dest: {path: .x}}"), bad, "UnknownSubstitutionError", unknownError + "src.match_group 2 is not one of the 1 groups of the pattern", both},
		"cycle of two":            {size("v", "w") + size("w", "v"), bad, "SubstitutionDependencyCycle", cycle + "[(('acme/Widget/v1', 'site', 'w'), ('acme/Widget/v1', 'site', 'v'), 'reverse'), (('acme/Widget/v1', 'site', 'v'), ('acme/Widget/v1', 'site', 'w'), 'reverse')]", []string{"w", "v"}},
		"cycle of one":            {size("w", "w"), bad, "SubstitutionDependencyCycle", cycle + "[(('acme/Widget/v1', 'site', 'w'), ('acme/Widget/v1', 'site', 'w'), 'reverse')]", []string{"w"}},
		"cycle of parents":        {inLayer("global", docWith("acme/Widget/v1", "base", "{}", labelled("k: base")+substitutes(fmt.Sprintf(sizeOf, "w")))) + child("{}", "merge ."), bad, "SubstitutionDependencyCycle", cycle + "[(('acme/Widget/v1', 'site', 'w'), ('acme/Widget/v1', 'global', 'base'), 'reverse'), (('acme/Widget/v1', 'global', 'base'), ('acme/Widget/v1', 'site', 'w'), 'reverse')]", []string{"w", "base"}},
		"cycle of a replacement":  {inLayer("global", docWith("acme/Widget/v1", "base", "{}", labelled("k: base")+substitutes(fmt.Sprintf(sizeOf, "base")))) + replacement("base", "site", "k: base", ""), bad, "SubstitutionDependencyCycle", cycle + "[(('acme/Widget/v1', 'site', 'base'), ('acme/Widget/v1', 'global', 'base'), 'reverse'), (('acme/Widget/v1', 'global', 'base'), ('acme/Widget/v1', 'site', 'base'), 'reverse')]", []string{"base", "base"}},
		"layers before parents":   {strings.Replace(base, "acme/Widget/v1", "acme/Other/v1", 1) + child("{}", "merge .") + inLayer("x", widget("l", "{}")), bad, "InvalidDocumentLayer", "Invalid layer 'x' for document [acme/Widget/v1] l was not found in layerOrder: global, region, site for provided LayeringPolicy: lp", []string{"l", "w", "base"}},
		"parents before cycles":   {strings.Replace(base, "acme/Widget/v1", "acme/Other/v1", 1) + child("{}", "merge .") + size("c", "c"), bad, "InvalidDocumentParent", fmt.Sprintf(invalidParent, "acme/Other/v1") + fewerSchemas, []string{"w", "base", "c"}},
		"cycles before documents": {size("a", "gone") + size("w", "w"), bad, "SubstitutionDependencyCycle", cycle + "[(('acme/Widget/v1', 'site', 'w'), ('acme/Widget/v1', 'site', 'w'), 'reverse')]", []string{"w", "a"}},
	}
}

//nolint:paralleltest,tparallel // one after the other: they read the newest revision
func TestRendering_refuses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, c := range unrenderables() {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			s.purge(t) // documents keep the order in which they were first stored
			// The documents are stored like any others.
			s.put(t, "site", layers("lp", "global", "region", "site")+c.documents).is(t, http.StatusOK)
			s.get(t, "revisions/latest/documents").is(t, http.StatusOK)
			got := s.get(t, "revisions/latest/rendered-documents")
			got.isFault(t, c.status, c.errorType)
			body := got.mapping(t)
			if diff := cmp.Diff(c.message, body["message"]); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			reason := "Unspecified"
			if _, after, found := strings.Cut(c.message, "Reason: "); found {
				reason = after
			}
			if diff := cmp.Diff([]any{reason, false}, []any{body["reason"], body["retry"]}); diff != "" {
				t.Errorf("reason and retry (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.about, about(body)); diff != "" {
				t.Errorf("documents that it is about (-want +got):\n%s", diff)
			}
			if strings.Contains(got.text, "hidden") {
				t.Errorf("the value of the source is shown:\n%s", got.text)
			}
			// The error is the same for all selections, formats and comparisons.
			for _, path := range []string{
				"revisions/latest/rendered-documents?metadata.name=none&limit=0", "revisions/latest/rendered-documents",
				"revisions/0/deepdiff/latest", "revisions/latest/deepdiff/0?format=json-patch", "revisions/latest/deepdiff/latest?format=unified",
			} {
				if diff := cmp.Diff(got.text, s.get(t, path).is(t, c.status).text); diff != "" {
					t.Errorf("%s (-want +got):\n%s", path, diff)
				}
			}
		})
	}
	t.Run("and goes on", func(t *testing.T) {
		s.put(t, "site", layeringPolicy("lp")+widget("w", "{}")).is(t, http.StatusOK)
		s.get(t, "revisions/latest/rendered-documents?schema=acme").is(t, http.StatusOK)
	})
}

// about returns the names of the documents in an error.
func about(body map[string]any) []string {
	found := []string{}
	details, _ := body["details"].(map[string]any)
	list, _ := details["messageList"].([]any)
	for _, item := range list {
		message, _ := item.(map[string]any)
		documents, _ := message["documents"].([]any)
		for _, item := range documents {
			document, _ := item.(map[string]any)
			found = append(found, fmt.Sprint(document["name"]))
		}
	}
	return found
}

// Cases in which the reference fails or decides differently.
func TestRendering_decisions(t *testing.T) {
	t.Parallel()
	base := func(labels string) string {
		return inLayer("global", docWith("acme/Widget/v1", "base", "{a: x, b: {a: x}, l: [x, y, x]}", labelled(labels)))
	}
	child := func(label, data string, actions ...string) string {
		return under(label, "site", widget("w", data), actions...)
	}
	for name, c := range map[string]struct {
		documents string
		want      any
	}{
		"R2 the place is deleted, not its equal": {
			base("k: v") + child("k: v", "{}", "delete .b.a", "delete '.l[2]'"), map[string]any{"a": "x", "b": map[string]any{}, "l": []any{"x", "y"}},
		},
		"R4 .database is no .data": {
			base("k: v") + child("k: v", "{database: 1, a: 2, b: 3}", "merge .database", "replace .data.a", "replace $.data.b"),
			map[string]any{"a": 2, "b": 3, "l": []any{"x", "y", "x"}, "database": 1},
		},
		"R4 $ is the root": {base("k: v") + child("k: v", "{z: 1}", "replace $"), map[string]any{"z": 1}},
		"R5 a list at an index": {
			secret("s", "[1, 2]") + docWith("acme/Widget/v1", "w", "{l: [a, b]}", substitutes(from("s", ".", "{path: '.l[1]'}"))), map[string]any{"l": []any{"a", []any{1, 2}}},
		},
		"R6 a falsy value at the root": {secret("s", "0") + docWith("acme/Widget/v1", "w", "{a: 1}", substitutes(from("s", ".", "{path: .}"))), 0},
		"R7 text is no template": {
			secret("s", `'\1\g<0>$1\n'`) + docWith("acme/Widget/v1", "w", "{t: aXXb}", substitutes(from("s", ".", "{path: .t, pattern: 'X(X)'}"))),
			map[string]any{"t": `a\1\g<0>$1\nb`},
		},
		"R8 recursion looks for the pattern's text": {
			secret("s", "new") + docWith("acme/Widget/v1", "w", "{m: {a: XX, b: X+, l: [[X+]]}}", substitutes(from("s", ".", "{path: .m, pattern: X+, recurse: {depth: -1}}"))),
			map[string]any{"m": map[string]any{"a": "XX", "b": "new+", "l": []any{[]any{"new+"}}}},
		},
		"R11 labels of any kind": {base("k: [1, {x: null}]") + child("k: [1, {x: null}]", "{z: 1}", "replace ."), map[string]any{"z": 1}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.put(t, "a", layeringPolicy("lp")+c.documents).is(t, http.StatusOK)
			if diff := cmp.Diff(c.want, s.get(t, "revisions/1/rendered-documents").data(t)["w"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("R1 nothing is shared", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		taker := func(name, password string) string {
			return docWith("acme/Widget/v1", name, "{}", substitutes(from("account", ".", "{path: .o}"), from(password, ".", "{path: .o.n.pw}")))
		}
		s.put(t, "a", layeringPolicy("lp")+secret("account", "{n: {pw: none}}")+secret("pw1", "one")+secret("pw2", "two")+taker("w1", "pw1")+taker("w2", "pw2")).is(t, http.StatusOK)
		got := s.get(t, "revisions/1/rendered-documents").data(t)
		with := func(pw string) any { return map[string]any{"n": map[string]any{"pw": pw}} }
		want := []any{with("none"), map[string]any{"o": with("one")}, map[string]any{"o": with("two")}}
		if diff := cmp.Diff(want, []any{got["account"], got["w1"], got["w2"]}); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// invalid returns the D002 messages of an answer: "name: message", in order.
func (r response) invalid(t *testing.T) []string {
	t.Helper()
	r.isFault(t, http.StatusBadRequest, "InvalidDocumentFormat", "The provided documents failed schema validation")
	body := r.mapping(t)
	if body["reason"] != "Validation" {
		t.Errorf("reason %v", body["reason"])
	}
	details, _ := body["details"].(map[string]any)
	list, _ := details["messageList"].([]any)
	found := []string{}
	for _, item := range list {
		message, _ := item.(map[string]any)
		if message["name"] != "D002" || message["level"] != "Error" || message["kind"] != "ValidationMessage" || message["error"] != true {
			t.Errorf("no D002: %v", message)
		}
		found = append(found, fmt.Sprintf("%s: %v", strings.Join(about(map[string]any{"details": map[string]any{"messageList": []any{item}}}), " "), message["message"]))
	}
	return found
}

func (s site) isInvalid(t *testing.T, revision string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.get(t, "revisions/"+revision+"/rendered-documents").invalid(t)); diff != "" {
		t.Errorf("findings about revision %s as it is rendered (-want +got):\n%s", revision, diff)
	}
}

func TestRendering_violations(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	parent := inLayer("global", docWith("acme/Widget/v1", "base", "{size: 12}", labelled("k: base")))
	tall := under("k: base", "site", widget("tall", "{size: 177, list: [1]}"), "merge .")
	s.put(t, "site", layeringPolicy("lp")+sizes()+parent+tall+under("k: base", "site", widget("odd", "{size: text}"), "merge .")+widget("fits", "{size: 3}")).is(t, http.StatusOK)
	s.isOutcomes(t, "1", "success", "success", "success", "success", "success", "success") // layered documents are not final, so the PUT does not check them
	got := s.get(t, "revisions/1/rendered-documents")
	want := []string{"tall: 177 is greater than the maximum of 100", "odd: 'text' is not of type 'integer'"}
	found := got.invalid(t)
	slices.Sort(want)
	slices.Sort(found)
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A selection or a repeated request gives the same error, but comparisons succeed.
	for _, query := range []string{"?metadata.name=fits", "?limit=0", ""} {
		if diff := cmp.Diff(got.text, s.get(t, "revisions/1/rendered-documents"+query).is(t, http.StatusBadRequest).text); diff != "" {
			t.Errorf("with %q (-want +got):\n%s", query, diff)
		}
	}
	s.get(t, "revisions/0/deepdiff/1").is(t, http.StatusOK)
	s.get(t, "revisions/1/rendered-documents?metadata.name=fits").is(t, http.StatusBadRequest)

	s.put(t, "site", layeringPolicy("lp")+sizes()+parent+tall).is(t, http.StatusOK)
	details, _ := s.get(t, "revisions/2/rendered-documents", "Accept", typeJSON).mapping(t)["details"].(map[string]any)
	list, _ := details["messageList"].([]any)
	wanted := []any{map[string]any{
		"message": "177 is greater than the maximum of 100", "error": true, "name": "D002", "level": "Error", "kind": "ValidationMessage",
		"documents": []any{map[string]any{"schema": "acme/Widget/v1", "name": "tall", "layer": "site"}},
		"diagnostic": map[string]any{
			"schema_path":   ".properties.size.maximum",
			"error_section": map[string]any{"size": 177.0, "list": []any{1.0}},
			"validation_schema": map[string]any{
				"type": "object", "properties": map[string]any{"size": map[string]any{"type": "integer", "maximum": 100.0}},
			},
		},
	}}
	if diff := cmp.Diff(wanted, list); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	// Only documents in the answer are checked: neither abstract nor replaced ones.
	s.put(t, "site", layeringPolicy("lp")+sizes()+abstract(docWith("acme/Widget/v1", "base", "{size: 177}", labelled("k: base")))+
		under("k: base", "site", widget("w", "{size: 1}"), "merge .")+
		inLayer("global", docWith("acme/Widget/v1", "r", "{size: 177}", labelled("k: r")))+
		under("k: r", "site", docWith("acme/Widget/v1", "r", "{size: 2}", replacing), "merge .")).is(t, http.StatusOK)
	s.get(t, "revisions/3/rendered-documents?schema=acme&sort=name").isNames(t, "r@3", "w@3")
}

// The DataSchemas of the rendered revision are in force.
func TestRendering_dataSchemasInForce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "site", layeringPolicy("lp")+widget("w", "{size: 177}")).is(t, http.StatusOK)
	s.put(t, "schemas", sizes()).is(t, http.StatusOK)
	s.put(t, "schemas", strings.Replace(sizes(), "100", "180", 1)).is(t, http.StatusOK)
	s.put(t, "schemas", "").is(t, http.StatusOK)
	for range 2 {
		for _, revision := range []string{"1", "3", "4"} {
			s.get(t, "revisions/"+revision+"/rendered-documents?metadata.name=w").isNames(t, "w@1")
		}
		s.isInvalid(t, "2", "w: 177 is greater than the maximum of 100")
	}
	s.rollback(t, "2").is(t, http.StatusCreated)
	s.isInvalid(t, "latest", "w: 177 is greater than the maximum of 100")
	s.get(t, "revisions/1/rendered-documents?metadata.name=w").isNames(t, "w@1")
}

func TestRendering_schemas(t *testing.T) {
	t.Parallel()
	source := secret("s", "{list: [text], map: {k: text}, schema: {type: object}}")
	takes := func(schema, path string) string {
		return source + docWith(schema, "p", "text", substitutes(from("s", path, "{path: .}")))
	}
	for name, c := range map[string]struct {
		documents string
		want      []string
	}{
		"built-in, violated once rendered": {takes("deckhand/Passphrase/v1", ".list"), []string{"p: ['text'] is not of type 'string'"}},
		"built-in, violated by layering": {
			inLayer("global", docWith("deckhand/Passphrase/v1", "base", "text", labelled("k: base"))) +
				under("k: base", "site", doc("deckhand/Passphrase/v1", "p", "{}"), "delete ."),
			[]string{"p: {} is not of type 'string'"},
		},
		"no schema": {takes("acme/Unknown/v1", ".list"), nil},
		"any version": {
			dataSchema("acme/Widget/v7", sizesText) + doc("acme/Widget/v7", "w", "{size: 177}") + doc("acme/Widget/v1", "other", "{size: 177}"),
			[]string{"w: 177 is greater than the maximum of 100"},
		},
		"always Draft 4": {
			dataSchema("acme/Widget/v1", "{$schema: 'http://json-schema.org/schema#', const: 1, properties: {a: {format: ipv4}}}") + widget("w", "{a: b}"), nil,
		},
		"a template is none":         {dataSchema("acme-widget", "{type: 5}") + widget("w", "{}"), nil},
		"dangling, not reached":      {dataSchema("acme/Widget/v1", "{properties: {u: {$ref: '#/definitions/u'}}}") + widget("w", "{}"), nil},
		"dangling, reached":          {dataSchema("acme/Widget/v1", "{properties: {u: {$ref: '#/definitions/u'}}}") + widget("w", "{u: 1}"), []string{"w: Unresolvable JSON pointer: 'definitions/u'"}},
		"built-in before registered": {dataSchema("deckhand/Passphrase/v1", "{type: object}") + doc("deckhand/Passphrase/v1", "p", "text"), nil},
		"unusable": {
			dataSchema("acme/Widget/v1", "{properties: {size: {type: 5}}}") + widget("w", "{size: 1}"),
			[]string{
				"acme/Widget/v1: 5 is not valid under any of the given schemas",
			},
		},
		"several": {
			sizes() + widget("w1", "{size: 200}") + widget("w2", "[]") + widget("w3", "{size: 1.5}"),
			[]string{"w1: 200 is greater than the maximum of 100", "w2: [] is not of type 'object'", "w3: 1.5 is not of type 'integer'"},
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.put(t, "a", layeringPolicy("lp")+c.documents).is(t, http.StatusOK)
			if c.want == nil {
				s.get(t, "revisions/1/rendered-documents").is(t, http.StatusOK)
				return
			}
			s.isInvalid(t, "1", c.want...)
		})
	}
}

// Values that substitutions take from encrypted documents do not appear in errors.
func TestRendering_secretsAreNotTold(t *testing.T) {
	t.Parallel()
	const marker = "oNlYiNsEcReTs"
	source := strings.Replace(secret("s", "{pw: "+marker+", list: ["+marker+"], map: {"+marker+": "+marker+"}}"), "cleartext", "encrypted", 1)
	strict := dataSchema("acme/Widget/v1", "{type: object, additionalProperties: false, properties: {n: {type: integer}, short: {maxLength: 2}, "+
		"l: {items: {type: integer}}, one: {enum: [1]}, m: {additionalProperties: false}, fits: {pattern: '^a*$'}}}")
	w := func(data, path, dest string) string {
		return docWith("acme/Widget/v1", "w", data, substitutes(from("s", path, dest)))
	}
	parent := func(more string) string {
		return inLayer("global"+more, docWith("acme/Widget/v1", "base", "{}", labelled("k: base")+substitutes(from("s", ".pw", "{path: .short}"))))
	}
	for name, documents := range map[string]string{
		"type":                   w("{}", ".pw", "{path: .n}"),
		"length":                 w("{}", ".pw", "{path: .short}"),
		"one of several":         w("{one: 2}", ".pw", "[{path: .n}, {path: .short}, {path: .one}, {path: .fits}]"),
		"enum":                   w("{}", ".pw", "{path: .one}"),
		"enum of a list":         w("{}", ".list", "{path: .one}"),
		"keys":                   w("{}", ".map", "{path: .m}"),
		"inside":                 w("{}", ".map", "{path: .n}"),
		"root":                   w("{}", ".map", "{path: .}"),
		"text for a mapping":     w("{}", ".pw", "{path: .}"),
		"index":                  w("{l: [1, 2]}", ".pw", "{path: '.l[1]'}"),
		"index from the end":     w("{l: [1, 2]}", ".pw", "{path: '.l[-1]'}"),
		"all items":              w("{l: [1, 2]}", ".pw", "{path: '.l[*]'}"),
		"all keys":               w("{n: 1, short: a}", ".pw", "{path: '.*'}"),
		"path from $":            w("{}", ".pw", "{path: $.short}"),
		"quoted key":             w("{}", ".pw", `{path: ".'short'"}`),
		"key in brackets":        w("{}", ".pw", `{path: ".['short']"}`),
		"path with spaces":       w("{}", ".pw", "{path: '. short'}"),
		"pattern":                w("{short: aXX}", ".pw", "{path: .short, pattern: XX}"),
		"recursive pattern":      w("{l: [X, {x: X}], short: XX}", ".pw", "{path: ., pattern: X, recurse: {depth: -1}}"),
		"a violation beside it":  w("{n: x, short: xxx}", ".pw", "{path: .one}"),
		"by the parent":          parent(", abstract: true") + under("k: base", "site", widget("w", "{}"), "merge ."),
		"by the parent and more": parent("") + under("k: base", "site", docWith("acme/Widget/v1", "w", "{}", substitutes(from("s", ".pw", "{path: .one}"))), "merge ."),
		"by a replacement":       parent("") + under("k: base", "site", docWith("acme/Widget/v1", "base", "{}", replacing), "merge ."),
		"by the parent, built-in": strings.ReplaceAll(parent(", abstract: true")+under("k: base", "site", widget("w", "{x: 1}"), "merge ."),
			"acme/Widget/v1", "deckhand/Passphrase/v1"),
		"by another document": strings.Replace(w("{}", ".pw", "{path: .short}"), "acme/Widget/v1", "acme/Other/v1", 1) +
			docWith("acme/Widget/v1", "v", "{}", substitutes("{src: {schema: acme/Other/v1, name: w, path: .short}, dest: {path: .short}}")),
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := sealedSite(t)
			s.put(t, "a", layeringPolicy("lp")+strict+source+documents).is(t, http.StatusOK)
			for _, kind := range []string{typeXYAML, typeJSON} {
				got := s.get(t, "revisions/1/rendered-documents", "Accept", kind)
				got.invalid(t)
				if strings.Contains(got.text, marker) {
					t.Errorf("the secret is told:\n%s", got.text)
				}
			}
			if strings.Contains(s.log.String(), marker) {
				t.Error("the secret is logged")
			}
		})
	}
}

// A pattern that cannot be used is refused when it is put.
func TestPatterns_refused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for pattern, where := range map[string]string{
		"((a{100}){100}){100}": ".metadata.substitutions.0.dest.pattern", "(": ".metadata.substitutions.0.dest.pattern",
		"(?=a)": ".metadata.substitutions.0.dest.pattern", strings.Repeat("a", 4_097): ".metadata.substitutions.0.dest.pattern",
	} {
		documents := docWith("acme/Widget/v1", "w", "{}", substitutes(from("s", ".", "{path: .v, pattern: '"+pattern+"'}")))
		s.put(t, "a", documents).isFault(t, http.StatusBadRequest, "InvalidDocumentFormat", "D001", where, "pattern")
	}
	source := "{src: {schema: acme/Secret/v1, name: s, path: ., pattern: '['}, dest: [{path: .v}, {path: .w, pattern: ')'}]}"
	s.put(t, "a", docWith("acme/Widget/v1", "w", "{}", substitutes(source))).
		isFault(t, http.StatusBadRequest, "InvalidDocumentFormat", "0.src.pattern", "0.dest.pattern")
	s.isRevision(t, 0)
}

// A few kilobytes of substitutions far past the ends of lists cost very little: they are refused, whatever format is
// requested.
func TestRendering_farIndexes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var substitutions []string
	for i := range 60 {
		substitutions = append(substitutions, from("s", ".v", fmt.Sprintf("{path: '.a%d[999999]'}", i)))
	}
	s.put(t, "site", layeringPolicy("lp")+secret("s", "{v: 1}")+docWith("acme/Widget/v1", "w", "{}", substitutes(substitutions...))).is(t, http.StatusOK)
	for _, path := range []string{
		"revisions/1/rendered-documents", explainPath("1", "acme/Widget/v1", "w"), "revisions/0/deepdiff/1",
	} {
		got := s.get(t, path)
		got.isFault(t, http.StatusBadRequest, "UnknownSubstitutionError")
		want := "document [acme/Widget/v1, site] w. Details: .a0 holds a list of 0, and [999999] is more than 10000 beyond its end"
		if message := fmt.Sprint(got.mapping(t)["message"]); !strings.Contains(message, want) {
			t.Errorf("%s: %s, want %s", path, message, want)
		}
	}
	// Indexes within the bound are rendered until the budget is spent.
	for i := range substitutions {
		substitutions[i] = from("s", ".v", fmt.Sprintf("{path: '.a%d[10000]'}", i))
	}
	s.put(t, "site", layeringPolicy("lp")+secret("s", "{v: 1}")+docWith("acme/Widget/v1", "w", "{}", substitutes(substitutions...))).is(t, http.StatusOK)
	s.get(t, "revisions/2/rendered-documents?metadata.name=none").is(t, http.StatusOK)
	s.get(t, explainPath("2", "acme/Widget/v1", "w")).isFault(t, http.StatusRequestEntityTooLarge, "HTTPPayloadTooLarge", "ask for a part of them")
}
