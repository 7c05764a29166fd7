package rendering

import (
	"context"
	"errors"
	"strings"
	"testing"

	"purser/internal/document"
	"purser/internal/fault"
)

// into substitutes from a source of some data into a document of other data.
func into(source, substitution, data string) string {
	return "site s | data " + source + "\nsite d | " + substitution + " | data " + data
}

// rewritten returns the rendered document into; the source comes first.
func rewritten(source, d string) string { return "site s " + source + "\nsite d " + d }

func TestRender_substitution(t *testing.T) {
	t.Parallel()
	for _, r := range []rule{
		{
			name:      "to a new path",
			documents: into("{v: {w: 5}}", "sub s .v.w > .x.y.z", "{keep: 1}"),
			want:      rewritten(`{"v":{"w":5}}`, `{"keep":1,"x":{"y":{"z":5}}}`),
		},
		{
			name:      "over what is there",
			documents: into("{v: new}", "sub s .v > .x", "{x: {old: 1}}"),
			want:      rewritten(`{"v":"new"}`, `{"x":"new"}`),
		},
		{
			name:      "a path in the source needs no dot",
			documents: into("{v: {w: 1}}", "sub s v.w > .x", "{}"),
			want:      rewritten(`{"v":{"w":1}}`, `{"x":1}`),
		},
		{
			name:      "of a scalar the path does not matter, not even a bad one",
			documents: into("text", "sub s .a[ > .x", "{}"),
			want:      rewritten(`"text"`, `{"x":"text"}`),
		},
		{
			name:      "nor of a list",
			documents: into("[1, 2]", "sub s .[0] > .x", "{}"),
			want:      rewritten(`[1,2]`, `{"x":[1,2]}`),
		},
		{
			name:      "an item, counted from either end, and a character",
			documents: into("{l: [1, 2], t: aäb}", "sub s .l[0] > .a | sub s .l.[-1] > .b | sub s .t[1] > .c", "{}"),
			want:      rewritten(`{"l":[1,2],"t":"aäb"}`, `{"a":1,"b":2,"c":"ä"}`),
		},
		{
			name:      "the first of several",
			documents: into("{m: {a: {x: 1}, b: {y: 2, x: 3}}, l: [{}, {z: 4}]}", "sub s .m.*.x > .a | sub s .m.*.y > .b | sub s .l[*].z > .c", "{}"),
			want:      rewritten(`{"m":{"a":{"x":1},"b":{"y":2,"x":3}},"l":[{},{"z":4}]}`, `{"a":1,"b":2,"c":4}`),
		},
		{
			name:      "a digit key and quoted keys",
			documents: into("{'3': a, 'x y': b, 'p.q': c}", `sub s .3 > .a | sub s .'x y' > ."b c" | sub s ["p.q"] > .c.'a.b'`, "{c: {a.b: 1}}"),
			want:      rewritten(`{"3":"a","x y":"b","p.q":"c"}`, `{"c":{"a.b":"c"},"a":"a","b c":"b"}`),
		},
		{
			name:      "into an item",
			documents: into("{v: N}", "sub s .v > .l[-1] | sub s .v > .m[2].k | sub s .v > .n[1]", "{l: [1, 2], m: [{}]}"),
			want:      rewritten(`{"v":"N"}`, `{"l":[1,"N"],"m":[{},{},{"k":"N"}],"n":[{},"N"]}`),
		},
		{
			name:      "R5: a list into an item stays whole",
			documents: into("{v: [1, 2], e: []}", "sub s .v > .l[0] | sub s .e > .l[1]", "{l: [a, b]}"),
			want:      rewritten(`{"v":[1,2],"e":[]}`, `{"l":[[1,2],[]]}`),
		},
		{
			name:      "into all members and items",
			documents: into("{v: N}", "sub s .v > .m.* | sub s .v > .l[*].x", "{m: {a: 1, b: 2}, l: [{x: 1}, {x: 2}]}"),
			want:      rewritten(`{"v":"N"}`, `{"m":{"a":"N","b":"N"},"l":[{"x":"N"},{"x":"N"}]}`),
		},
		{
			name:      "into all members of an empty mapping",
			documents: into("{v: N}", "sub s .v > .m.*", "{}"),
			want:      rewritten(`{"v":"N"}`, `{"m":{"*":"N"}}`),
		},
		{
			name:      "of a mapping into the root: over its members",
			documents: into("{v: {a: {x: 1}, b: 2}}", "sub s .v > .", "{a: {y: 1}, c: 3}"),
			want:      rewritten(`{"v":{"a":{"x":1},"b":2}}`, `{"a":{"x":1},"c":3,"b":2}`),
		},
		{
			name:      "R6: anything else into the root, as a whole",
			documents: into("{t: text, e: '', z: 0, f: false, l: [], m: {}}", "sub s .t > . | sub s .e > . | sub s .z > $ | sub s .f > . | sub s .l > . | sub s .m > .", "{a: 1}"),
			want:      rewritten(`{"t":"text","e":"","z":0,"f":false,"l":[],"m":{}}`, `{}`),
		},
		{
			name:      "several destinations",
			documents: into("{v: 5}", "substitution {src: {name: s, path: .v}, dest: [{path: .a}, {path: $.b.c}]}", "{}"),
			want:      rewritten(`{"v":5}`, `{"a":5,"b":{"c":5}}`),
		},
		{
			name:      "later ones see what earlier ones did",
			documents: into("{url: u:PW@h, pw: s3}", "sub s .url > .url | substitution {src: {name: s, path: .pw}, dest: {path: .url, pattern: PW}}", "{}"),
			want:      rewritten(`{"url":"u:PW@h","pw":"s3"}`, `{"url":"u:s3@h"}`),
		},
		{
			name: "a chain, whatever the order of the documents",
			documents: `
				site c | sub b .w > .w | data {}
				site b | sub a .w > .w | data {}
				site a | data {w: 42}`,
			want: "site a {\"w\":42}\nsite b {\"w\":42}\nsite c {\"w\":42}",
		},
		{
			name: "from a lower layer, into an abstract document, on to its children",
			documents: `
				site s | data {v: 1}
				global p | abstract | labels {k: g} | sub s .v > .v | data {}
				site c | parent {k: g} | merge . | data {z: 1}`,
			want: "site s {\"v\":1}\nsite c {\"v\":1,\"z\":1}",
		},
		{
			name: "control documents are sources, but never destinations",
			documents: `
				- k | control | sub s .v > .v | data {v: 2}
				site s | data {v: 1}
				site d | sub k .v > .x | data {}`,
			want: "site s {\"v\":1}\n- k {\"v\":2}\nsite d {\"x\":2}",
		},
		{
			name: "R1: a later write does not show in the source, nor in other destinations",
			documents: `
				site pw | data {p: secret}
				site s | data {o: {n: {v: 1}, l: [a]}}
				site d | sub s .o > .o | sub pw .p > .o.n.v | sub pw .p > .o.l[0] | data {}
				site e | sub s .o > .o | data {}
				site f | substitution {src: {name: d, path: .o, deepcopy: true}, dest: {path: .}} | sub pw .p > .n.w | data {}`,
			want: `
				site pw {"p":"secret"}
				site s {"o":{"n":{"v":1},"l":["a"]}}
				site d {"o":{"n":{"v":"secret"},"l":["secret"]}}
				site f {"n":{"v":"secret","w":"secret"},"l":["secret"]}
				site e {"o":{"n":{"v":1},"l":["a"]}}`,
		},
		{
			name:      "from nowhere",
			documents: "site d | sub nowhere .v > .x | data {}",
			class:     "SubstitutionSourceNotFound",
			says:      "Required substitution source document [t/K/v1] nowhere was not found, yet is referenced by [t/K/v1] d",
		},
		{
			name:      "from an abstract document",
			documents: "site s | abstract | data 1\nsite d | sub s .v > .x | data {}",
			class:     "SubstitutionSourceNotFound",
		},
		{
			name:      "from a path that is not there",
			documents: into("{v: 1}", "sub s .nope > .x", "{}"),
			class:     "SubstitutionSourceDataNotFound",
			says:      "Required substitution source secret was not found at path .nope in source document [t/K/v1, site] s which is referenced by destination document [t/K/v1, site] d under its `metadata.substitutions`",
		},
		{
			name:      "null is nothing",
			documents: into("null", "sub s . > .x", "{}"),
			class:     "SubstitutionSourceDataNotFound",
		},
		{
			name:      "R11: from a path that says nothing",
			documents: into("{v: 1}", "sub s .v..w > .x", "{}"),
			class:     "SubstitutionSourceDataNotFound",
			says:      "under its `metadata.substitutions`. Details: the path '.v..w' cannot be read at character 4: a key is expected",
		},
		{
			name:      "R9: to a path without a dot",
			documents: into("{v: 1}", "sub s .v > x", "{}"),
			class:     "UnknownSubstitutionError",
			says:      "using source document [t/K/v1, site] s contained in document [t/K/v1, site] d. Details: the path 'x' of a destination must begin with a dot",
		},
		{
			name:      "R11: to a path that says nothing",
			documents: into("{v: 1}", "sub s .v > .a,b", "{}"),
			class:     "UnknownSubstitutionError",
			says:      "the path '.a,b' cannot be read at character 3",
		},
		{
			name:      "R11: through a string",
			documents: into("{v: 1}", "sub s .v > .a.b", "{a: text}"),
			class:     "UnknownSubstitutionError",
			says:      "Details: .a is a string, which has no .b",
		},
		{
			name:      "R11: through null",
			documents: into("{v: 1}", "sub s .v > .a.b", "{a: null}"),
			class:     "UnknownSubstitutionError",
			says:      ".a is null",
		},
		{
			name:      "R11: a key in a list",
			documents: into("{v: 1}", "sub s .v > .a.0", "{a: [1]}"),
			class:     "UnknownSubstitutionError",
			says:      ".a is a list of length 1, which has no .0",
		},
		{
			name:      "R11: an index in a mapping",
			documents: into("{v: 1}", "sub s .v > .a[0]", "{a: {}}"),
			class:     "UnknownSubstitutionError",
			says:      ".a is a mapping, which has no [0]",
		},
		{
			name:      "an index of an item that is not there",
			documents: into("{v: 1}", "sub s .v > .a[0][1]", "{}"),
			class:     "UnknownSubstitutionError",
			says:      ".a[0] is a mapping, which has no [1]",
		},
		{
			name:      "a key with a dot is not created",
			documents: into("{v: 1}", "sub s .v > .a.'b.c'", "{}"),
			class:     "UnknownSubstitutionError",
			says:      ".a.'b.c' does not exist, and a key with a dot in it is not created",
		},
	} {
		r.run(t)
	}
}

func TestRender_patterns(t *testing.T) {
	t.Parallel()
	dest := func(path, pattern, more string) string {
		return "substitution {src: {name: s, path: .}, dest: {path: " + path + ", pattern: '" + pattern + "'" + more + "}}"
	}
	src := func(pattern, more string) string {
		return "substitution {src: {name: s, path: .v, pattern: '" + pattern + "'" + more + "}, dest: {path: .x}}"
	}
	for _, r := range []rule{
		{
			name:      "every match",
			documents: into("pw", dest(".url", "INSERT_[A-Z]+_HERE", ""), "{url: 'u:INSERT_PW_HERE@INSERT_B_HERE'}"),
			want:      rewritten(`"pw"`, `{"url":"u:pw@pw"}`),
		},
		{
			name:      "no match is no error",
			documents: into("pw", dest(".url", "ZZZ", ""), "{url: u}"),
			want:      rewritten(`"pw"`, `{"url":"u"}`),
		},
		{
			name:      "an empty pattern is none",
			documents: into("pw", dest(".url", "", ", recurse: {depth: 1}"), "{url: u}"),
			want:      rewritten(`"pw"`, `{"url":"pw"}`),
		},
		{
			name:      "R7: the text is literal",
			documents: into(`'\1 $1 ${0} \n'`, dest(".url", "(P)W", ""), "{url: u:PW}"),
			want:      rewritten(`"\\1 $1 ${0} \\n"`, `{"url":"u:\\1 $1 ${0} \\n"}`),
		},
		{
			name:      "what is no text is written as Python prints it",
			documents: into("{n: [5, 1.5, 1.0e+16, true, null, {k: it's}], q: 'a\"'}", dest(".t", "P", ""), "{t: <P>}"),
			want:      rewritten(`{"n":[5,1.5,1e+16,true,null,{"k":"it's"}],"q":"a\""}`, `{"t":"<{'n': [5, 1.5, 1e+16, True, None, {'k': \"it's\"}], 'q': 'a\"'}>"}`),
		},
		{
			name:      "the root of a text",
			documents: into("pw", dest(".", "P", ""), "<P>"),
			want:      rewritten(`"pw"`, `"<pw>"`),
		},
		{
			name:      "several places get what the first one becomes",
			documents: into("pw", dest(".*", "P", ""), "{a: <P>, b: 1}"),
			want:      rewritten(`"pw"`, `{"a":"<pw>","b":"<pw>"}`),
		},
		{
			name:      "recursive, without end",
			documents: into("pw", dest(".", "P", ", recurse: {depth: -1}"), "{a: P, l: [P, {b: xP, c: 5, d: null}], k: {}}"),
			want:      rewritten(`"pw"`, `{"a":"pw","l":["pw",{"b":"xpw","c":5,"d":null}],"k":{}}`),
		},
		{
			name:      "recursive, to a depth",
			documents: into("pw", dest(".v", "P", ", recurse: {depth: 1}")+" | "+dest(".w", "P", ", recurse: {depth: 0}"), "{v: {a: P, l: [P]}, w: {a: P}}"),
			want:      rewritten(`"pw"`, `{"v":{"a":"pw","l":["P"]},"w":{"a":"P"}}`),
		},
		{
			name:      "R8: recursive, only texts that hold the pattern as it is written",
			documents: into("pw", dest(".v", "P[A-Z]+", ", recurse: {depth: -1}"), "{v: {a: PASS, b: 'P[A-Z]+ PASS'}}"),
			want:      rewritten(`"pw"`, `{"v":{"a":"PASS","b":"P[A-Z]+ pw"}}`),
		},
		{
			name:      "recursive on a text",
			documents: into("pw", dest(".v", "P", ", recurse: {depth: 0}"), "{v: P}"),
			want:      rewritten(`"pw"`, `{"v":"pw"}`),
		},
		{
			name:      "recursive where nothing is",
			documents: into("pw", dest(".v", "P", ", recurse: {depth: 1}"), "{}"),
			want:      rewritten(`"pw"`, `{"v":{}}`),
		},
		{
			name:      "an empty recurse is none",
			documents: into("pw", dest(".v", "P", ", recurse: {}"), "{v: {a: P}}"),
			class:     "MissingDocumentPattern",
			says:      "there is a mapping",
		},
		{
			name:      "a part of the source",
			documents: into("{v: 'docker.io/lib/img:1.2'}", src("^(.*):(.*)$", ", match_group: 2"), "{}"),
			want:      rewritten(`{"v":"docker.io/lib/img:1.2"}`, `{"x":"1.2"}`),
		},
		{
			name:      "all that matches",
			documents: into("{v: a/b}", src("[^/]+$", ""), "{}"),
			want:      rewritten(`{"v":"a/b"}`, `{"x":"b"}`),
		},
		{
			name:      "a part that is not there is the whole",
			documents: into("{v: a/b}", src("zz", ""), "{}"),
			want:      rewritten(`{"v":"a/b"}`, `{"x":"a/b"}`),
		},
		{
			name:      "a group that took no part",
			documents: into("{v: b}", src("(a)|b", ", match_group: 1"), "{}"),
			want:      rewritten(`{"v":"b"}`, `{"x":null}`),
		},
		{
			name:      "R9: a pattern where nothing is",
			documents: into("pw", dest(".zz", "P", ""), "{}"),
			class:     "MissingDocumentPattern",
			says:      "The destination document's `data` section is missing the pattern P specified under `substitutions.dest.pattern` at path .zz, specified under `substitutions.dest.path`. Details: no text to replace the pattern in: there is nothing at that path; the destination document is [t/K/v1, site] d",
		},
		{
			name:      "R9: a pattern in a number",
			documents: into("pw", dest(".n", "P", ", recurse: {depth: 1}"), "{n: 5}"),
			class:     "MissingDocumentPattern",
			says:      "there is a number",
		},
		{
			name:      "R7: a pattern that RE2 does not know",
			documents: into("pw", dest(".n", "(?=P)", ""), "{n: P}"),
			class:     "UnknownSubstitutionError",
			says:      "Details: the pattern '(?=P)' is not valid RE2 (https://github.com/google/re2/wiki/Syntax): ",
		},
		{
			name:      "a part of what is no text",
			documents: into("{v: 5}", src("a", ""), "{}"),
			class:     "UnknownSubstitutionError",
			says:      "src.pattern needs a string, but at .v there is a number",
		},
		{
			name:      "a group that is not in the pattern",
			documents: into("{v: a}", src("(a)", ", match_group: 2"), "{}"),
			class:     "UnknownSubstitutionError",
			says:      "src.match_group 2 is not one of the 1 groups of the pattern",
		},
	} {
		r.run(t)
	}
}

func TestRender_encrypted(t *testing.T) {
	t.Parallel()
	const reference = "http://h/v1/secrets/0d3f1a2b-4c5d-4e6f-8a9b-0c1d2e3f4a5b"
	documents := sketch(t, `
		global p | encrypted | abstract | labels {k: g} | data `+reference+`
		site c | parent {k: g} | merge . | data {z: 1}
		site e | encrypted | data `+reference+`
		site f | encrypted | data plain
		site g | data `+reference+`
		site d | sub e .s > .x | sub f . > .y | data {}`)
	secret := func(asked string) (any, bool) {
		return document.Mapping{{Key: "s", Value: "secret"}}, asked == reference
	}
	rendered, _, err := renderAll(t.Context(), documents, Options{Resolve: secret})
	if err != nil {
		t.Fatal(err)
	}
	want := `site f "plain"
site e {"s":"secret"}
site d {"x":"secret","y":"plain"}
site c {"s":"secret","z":1}
site g "` + reference + `"`
	if got := shown(t, documents, rendered); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	_, _, err = renderAll(t.Context(), documents, Options{Resolve: func(string) (any, bool) { return nil, false }})
	f := faultOf(t, err)
	if f.Type != "EncryptionSourceNotFound" || !strings.HasSuffix(f.Message, "Ref: "+reference+". Referenced by: [t/K/v1, site] e") {
		t.Error(f.Type, f.Message)
	}
	if _, _, err = renderAll(t.Context(), documents[:len(documents)-1], Options{}); err != nil {
		t.Error("nothing is encrypted without Resolve:", err)
	}
}

func TestRender_cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the client went away")
	cancel(gone)
	if _, _, err := renderAll(ctx, sketch(t, "site s | data 1"), Options{}); !errors.Is(err, gone) {
		t.Error(err)
	}
}

func faultOf(t testing.TB, err error) *fault.Fault {
	t.Helper()
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok {
		t.Fatalf("%v is no fault", err)
	}
	return f
}
