package rendering

import "testing"

// parented puts a child of some data below an abstract parent of other data.
func parented(parent, actions, child string) string {
	return "global p | abstract | labels {k: g} | data " + parent + "\nsite c | parent {k: g} | " + actions + " | data " + child
}

func TestRender_layering(t *testing.T) {
	t.Parallel()
	for _, r := range []rule{
		{
			name:      "merge lays the child over the parent",
			documents: parented("{a: {x: 1, y: 2}, c: 9}", "merge .", "{a: {x: 7, z: 3}, b: 4}"),
			want:      `site c {"a":{"x":7,"y":2,"z":3},"c":9,"b":4}`,
		},
		{
			name:      "merge at a path takes nothing else of the child",
			documents: parented("{a: {x: 1}, c: 9}", "merge .a", "{a: {z: 3}, b: 4}"),
			want:      `site c {"a":{"x":1,"z":3},"c":9}`,
		},
		{
			name:      "merge at a path that only the child has",
			documents: parented("{c: 9}", "merge .a.b", "{a: {b: {z: 3}, d: 1}}"),
			want:      `site c {"c":9,"a":{"b":{"z":3}}}`,
		},
		{
			name:      "lists and scalars are taken whole, so is what clashes",
			documents: parented("{l: [1, 2], s: a, m: {x: 1}, n: {x: 1}, k: 5}", "merge .", "{l: [3], s: b, m: [1], n: null, k: {y: 1}}"),
			want:      `site c {"l":[3],"s":"b","m":[1],"n":null,"k":{"y":1}}`,
		},
		{
			name:      "merge at an index",
			documents: parented("{l: [{a: 1}, {b: 2}]}", "merge .l[0]", "{l: [{z: 9}]}"),
			want:      `site c {"l":[{"a":1,"z":9},{"b":2}]}`,
		},
		{
			name:      "merge at a negative index",
			documents: parented("{l: [{a: 1}, {b: 2}]}", "merge .l[-1]", "{l: [{z: 9}]}"),
			want:      `site c {"l":[{"a":1},{"b":2,"z":9}]}`,
		},
		{
			name:      "merge of scalars",
			documents: parented("text", "merge .", "other"),
			want:      `site c "other"`,
		},
		{
			name:      "merge over null",
			documents: parented("null", "merge .", "{a: 1}"),
			want:      `site c {"a":1}`,
		},
		{
			name:      "merge of an empty mapping",
			documents: parented("{a: {b: 1}}", "merge .", "{a: {}}"),
			want:      `site c {"a":{"b":1}}`,
		},
		{
			name:      "replace",
			documents: parented("{a: {x: 1}, c: 9}", "replace .a", "{a: {z: 3}, b: 4}"),
			want:      `site c {"a":{"z":3},"c":9}`,
		},
		{
			name:      "replace all",
			documents: parented("{a: {x: 1}, c: 9}", "replace .", "{b: 4}"),
			want:      `site c {"b":4}`,
		},
		{
			name:      "replace at all items writes the first to each",
			documents: parented("{l: [{x: 1}, {x: 2}]}", "replace .l[*].x", "{l: [{x: A}, {x: B}]}"),
			want:      `site c {"l":[{"x":"A"},{"x":"A"}]}`,
		},
		{
			name:      "merge at all members, none of which shares what another one changes",
			documents: parented("{m: {a: {x: 1}, b: {y: 2}}}", "merge .m.* | merge .m.a", "{m: {a: {z: {q: 3}}}}"),
			want:      `site c {"m":{"a":{"x":1,"z":{"q":3}},"b":{"x":1,"z":{"q":3}}}}`,
		},
		{
			name:      "delete",
			documents: parented("{a: {x: 1, y: 2}, c: 9}", "delete .a.x | delete .c", "{a: {x: 3}}"),
			want:      `site c {"a":{"y":2}}`,
		},
		{
			name:      "delete all",
			documents: parented("{a: 1}", "delete .", "{b: 1}"),
			want:      `site c {}`,
		},
		{
			name:      "R2: delete takes what the path addresses, not the first equal value",
			documents: parented("{a: {v: 1}, b: {v: 1}, l: [1, 2, 1]}", "delete .b | delete .l[2]", "{z: 1}"),
			want:      `site c {"a":{"v":1},"l":[1,2]}`,
		},
		{
			name:      "delete several items",
			documents: parented("{l: [1, 2, 3], m: {x: 1}}", "delete .l[*] | delete .m.*", "{z: 1}"),
			want:      `site c {"l":[],"m":{}}`,
		},
		{
			name:      "delete, then merge puts it at the end",
			documents: parented("{a: {x: 1}, c: 9}", "delete .a | merge .a", "{a: {z: 3}}"),
			want:      `site c {"c":9,"a":{"z":3}}`,
		},
		{
			name:      "R4: .data begins a path only before a step; $ is all",
			documents: parented("{a: {x: 1}, base: {x: 1}, database: {x: 1}}", "merge .data.a | merge $.data.a | delete .database.x | replace data", "{a: {y: 2}, data: 5}"),
			want:      `site c {"a":{"x":1,"y":2},"base":{"x":1},"database":{},"data":5}`,
		},
		{
			name:      "R4: $ and .data are all, a path needs no dot",
			documents: parented("{a: {x: 1}}", "merge $ | merge .data | merge a | merge $.a | merge .data['a']", "{a: {y: 2}}"),
			want:      `site c {"a":{"x":1,"y":2}}`,
		},
		{
			name:      "a list is filled up with empty mappings",
			documents: parented("{}", "merge .l[2].x", "{l: [0, 0, {x: 1}]}"),
			want:      `site c {"l":[{},{},{"x":1}]}`,
		},
		{
			name: "a chain",
			documents: `
				global g | abstract | labels {k: g} | data {a: {x: 1, y: 2}}
				type t | abstract | labels {k: t} | parent {k: g} | merge . | data {a: {z: 3}}
				site s | parent {k: t} | merge . | delete .a.x | data {b: 4}`,
			want: `site s {"a":{"y":2,"z":3},"b":4}`,
		},
		{
			name: "a parent without actions gives nothing",
			documents: `
				global g | abstract | labels {k: g} | data {a: 1}
				site s | parent {k: g} | data {b: 4}`,
			want: `site s {"b":4}`,
		},
		{
			name:      "without a parent, actions do not matter",
			documents: `site s | parent {k: g} | merge .nowhere[ | data {b: 4}`,
			want:      `site s {"b":4}`,
		},
		{
			name:      "what the child does not have",
			documents: parented("{c: 1}", "merge .c", "{a: 1}"),
			class:     "MissingDocumentKey",
			says:      "Missing action path in {'method': 'merge', 'path': '.c'} needed for layering from either the data section of the parent [t/K/v1, global] p or child [t/K/v1, site] c document",
		},
		{
			name:      "null in the child is nothing",
			documents: parented("{c: 1}", "replace .c", "{c: null}"),
			class:     "MissingDocumentKey",
		},
		{
			name:      "delete what is not there",
			documents: parented("{c: 1}", "delete .a", "{a: 1}"),
			class:     "MissingDocumentKey",
		},
		{
			name:      "delete null",
			documents: parented("{n: null}", "delete .n", "{a: 1}"),
			class:     "MissingDocumentKey",
		},
		{
			name:      "delete below what is deleted",
			documents: parented("{a: {x: 1}}", "delete .a | delete .a.x", "{a: 1}"),
			class:     "MissingDocumentKey",
			says:      "'path': '.a.x'",
		},
		{
			name:      "R11: a path through a scalar",
			documents: parented("{a: 5}", "merge .a.b", "{a: {b: 1}}"),
			class:     "MissingDocumentKey",
			says:      "Details: .a is a number, which has no .b",
		},
		{
			name:      "R11: a far negative index",
			documents: parented("{l: [1]}", "merge .l[-2]", "{l: [1, 2]}"),
			class:     "MissingDocumentKey",
			says:      "Details: .l is a list of length 1, which has no [-2]",
		},
		{
			name:      "R11: a path that says nothing",
			documents: parented("{a: 5}", "merge .a/b", "{a: {b: 1}}"),
			class:     "MissingDocumentKey",
			says:      "Details: the path '.a/b' cannot be read at character 3: a '.' or '[' is expected; a path is made of .key",
		},
		{
			name: "the document that a message calls parent is the one that wrote the data",
			documents: `
				global g | abstract | labels {k: g} | data {a: 1}
				type t | abstract | labels {k: t} | parent {k: g} | merge . | data {a: 2}
				site s | parent {k: t} | merge .b | data {a: 2}`,
			class: "MissingDocumentKey",
			says:  "of the parent [t/K/v1, global] g or child [t/K/v1, site] s document",
		},
	} {
		r.run(t)
	}
}

func TestRender_unknownMethod(t *testing.T) {
	t.Parallel()
	documents := sketch(t, parented("{a: 1}", "merge .", "{b: 1}"))
	documents[2].Metadata = []byte(`{"layeringDefinition":{"actions":[{"method":"burn","path":"."}],"layer":"site","parentSelector":{"k":"g"}},"name":"c"}`)
	_, _, err := renderAll(t.Context(), documents, Options{})
	want := "Method in {'method': 'burn', 'path': '.'} is invalid for document [t/K/v1, site] c"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
