package document

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"purser/internal/document/blockyaml"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// values draws values that a document may hold, with strings that YAML parsers tend to misread.
func values() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any { return draw(t, 4) })
}

func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[ -~\n\t]{0,12}`), rapid.StringMatching(`[-?:,#&*!|>'"%@ \n0-9a-zA-Z.~=<\[\]{}/$^\\]{0,6}`),
		rapid.StringMatching(`[0-9.][-0-9./:_ TZe+xob]{0,10}`), rapid.String(),
		rapid.SampledFrom([]string{"yes", "No", "null", "~", "1e3", "0o7", ".5", "---", "...", "<<", "=", "\u2028", "\U0001f600", "\u0085", "\x7f"}),
	)
}

func draw(t *rapid.T, depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "truth")
	case 2:
		n, _ := integer(rapid.StringMatching(`-?[1-9][0-9]{0,17}`).Draw(t, "integer"))
		return n
	case 3:
		return FormatFloat(rapid.Float64().Draw(t, "float"))
	case 4:
		return texts().Draw(t, "text")
	case 5:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return draw(t, depth-1) }), 0, 4).Draw(t, "list")
	}
	m := Mapping{}
	for _, key := range rapid.SliceOfNDistinct(texts(), 0, 4, rapid.ID).Draw(t, "keys") {
		m = append(m, Member{key, draw(t, depth-1)})
	}
	return m
}

// Written YAML reads back as the same value, in this package and in a YAML 1.2 parser.
func TestDecode_written(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := Mapping{{"v", values().Draw(t, "value")}}
		for range rapid.SampledFrom([]int{0, 98, 200}).Draw(t, "levels") {
			value = Mapping{{"v", value}}
		}
		text := blockyaml.Append(nil, AppendJSON(nil, value))
		back, err := ParseOne(t.Context(), text, YAML, unlimited)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !reflect.DeepEqual(any(value), back) { // cmp's time doubles with each level
			t.Fatalf("%s is read as %s\n%s", AppendJSON(nil, value), AppendJSON(nil, back), text)
		}
		if err := yaml.Unmarshal(text, new(any)); err != nil {
			t.Fatalf("another parser: %v\n%s", err, text)
		}
	})
}

func TestParseJSON_readsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := values().Draw(t, "value")
		back, err := ParseJSON(AppendJSON(nil, value))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(value, back); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// The order of keys does not affect the digest.
func TestDigestOf_order(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := Mapping{}
		for _, key := range rapid.SliceOfNDistinct(texts(), 0, 6, rapid.ID).Draw(t, "keys") {
			m = append(m, Member{key, values().Draw(t, "value")})
		}
		shuffled := rapid.Permutation(m).Draw(t, "order")
		if DigestOf(m) != DigestOf(shuffled) {
			t.Fatalf("%s and %s differ", Canonical(m), Canonical(shuffled))
		}
		if len(m) > 0 && DigestOf(m) == DigestOf(m[1:]) {
			t.Fatalf("%s and %s have one digest", Canonical(m), Canonical(m[1:]))
		}
	})
}

// No body makes the decoder panic, and a decoded value can be written and decoded again.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"---\na: 1\n...\n", "a: &x [1, *x]", "<<: {a: b}", "? [a]\n: b", "%YAML 1.1\n---\n!!int 3", "a: |+\n  x\n\n", "\ta: b",
		"- - - a", "{a: {b: ", "'a\n\n b'", "a: 1:30.5\n0x_: 0b_", "--- >\n folded\n---\n", "[{\"a\":1e5}]",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, asJSON bool) {
		media := YAML
		if asJSON {
			media = JSON
		}
		segments, err := Split(t.Context(), body, media, DefaultLimits())
		if err != nil {
			return
		}
		for _, segment := range segments {
			entry, err := Decode(t.Context(), segment, DefaultLimits())
			if err != nil {
				continue
			}
			text := blockyaml.Append(nil, AppendJSON(nil, entry.Value))
			back, err := ParseOne(t.Context(), bytes.Join([][]byte{[]byte("---\n"), text}, nil), YAML, unlimited)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if diff := cmp.Diff(entry.Value, back); diff != "" {
				t.Fatalf("(-want +got)\n%s\n%s", diff, text)
			}
		}
	})
}

// unlimited are limits that no test exceeds.
var unlimited = Limits{
	Documents: math.MaxInt - 1, Size: math.MaxInt, Depth: math.MaxInt, Values: math.MaxInt / maxMarksPerValue,
}
