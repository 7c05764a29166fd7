package rendering

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"purser/internal/budget"
	"purser/internal/document"
)

// TestTree_laws does random work on a tree and, the slow and simple way, on a copy. Both must come to the same, the
// size must be right, and nothing that the tree was made of may have changed.
func TestTree_laws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := anyValue(3).Draw(t, "base")
		sources := rapid.SliceOfN(anyValue(2), 1, 3).Draw(t, "sources")
		before := slices.Concat(document.AppendJSON(nil, base), document.AppendJSON(nil, sources))

		memo := testMemo(t.Context())
		tree, model := newTree(memo, base, 1<<20, nil), base
		for range rapid.IntRange(1, 40).Draw(t, "changes") {
			p := memo.parsePath(rapid.SampledFrom(somePaths).Draw(t, "path"))
			value := rapid.SampledFrom(sources).Draw(t, "value")
			switch rapid.SampledFrom([]string{"put", "merge", "delete", "rewrite", "update"}).Draw(t, "change") {
			case "put":
				for _, s := range spotsOf(t, tree, p) {
					must(t, tree.put(s, value))
				}
				model = changed(model, p.steps, func(any) any { return value })
			case "merge":
				for _, s := range spotsOf(t, tree, p) {
					must(t, tree.merge(s, value, nil))
				}
				model = changed(model, p.steps, func(was any) any { return merged(was, value) })
			case "delete":
				if len(p.steps) > 0 {
					for _, s := range slices.Backward(spotsOf(t, tree, p)) {
						tree.remove(s)
					}
					model = deletedFrom(model, p.steps)
				}
			case "rewrite":
				many, err := memo.compile("x+")
				must(t, err)
				r := rewriting{tree: tree, pattern: many, written: "x", with: "yz", depth: 2}
				for _, s := range spotsOf(t, tree, p) {
					now, _, err := r.container(s.value(), nil, 0)
					must(t, err)
					s.in.set(s.at, now)
				}
				model = changed(model, p.steps, func(was any) any { return replaced(was, 2) })
			case "update":
				must(t, tree.writeRoot(value, nil))
				model = updated(model, value)
			}
		}
		result := tree.freeze()
		if got, want := string(document.AppendJSON(nil, result)), string(document.AppendJSON(nil, model)); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if want := testMemo(t.Context()).sizeOf(result); tree.size != want {
			t.Errorf("size %d, want %d", tree.size, want)
		}
		if after := slices.Concat(document.AppendJSON(nil, base), document.AppendJSON(nil, sources)); !bytes.Equal(after, before) {
			t.Errorf("what was\n%s\nis now\n%s", before, after)
		}
	})
}

func testMemo(ctx context.Context) *memo {
	return newMemo(newMeter(budget.NewMeter(ctx)))
}

func spotsOf(t *rapid.T, tree *tree, p *dataPath) []spot {
	t.Helper()
	spots, err := tree.spots(p.steps)
	must(t, err)
	return spots
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var somePaths = []string{".", ".a", ".b", ".a.b", ".a.*", ".*", ".l", ".l[0]", ".l[-1].a", ".l[*]", ".l[*].b", ".*.*", ".k3", ".k7.a", ".a.k9"}

// anyValue generates values of some depth, among them mappings that are large enough to be indexed.
func anyValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := []string{"null", "text", "number", "mapping", "mapping", "wide", "list"}
		if depth == 0 {
			kinds = kinds[:3]
		}
		switch rapid.SampledFrom(kinds).Draw(t, "kind") {
		case "text":
			return rapid.SampledFrom([]string{"", "x", "axxb", "plain"}).Draw(t, "text")
		case "number":
			return document.Number(rapid.SampledFrom([]string{"0", "1", "1.5"}).Draw(t, "number"))
		case "mapping":
			var m document.Mapping
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "l", "c"}), 0, 4, rapid.ID).Draw(t, "keys") {
				m = append(m, document.Member{Key: key, Value: anyValue(depth-1).Draw(t, key)})
			}
			return m
		case "wide":
			m := document.Mapping{}
			for i := range rapid.IntRange(minIndexed-1, minIndexed+5).Draw(t, "width") {
				m = append(m, document.Member{Key: fmt.Sprintf("k%d", i), Value: anyValue(0).Draw(t, "member")})
			}
			return m
		case "list":
			return rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "list")
		}
		return nil
	})
}

// changed returns a copy of a value with the value at a path changed.
func changed(value any, steps []pathStep, change func(any) any) any {
	if len(steps) == 0 {
		return change(value)
	}
	s := steps[0]
	switch v := value.(type) {
	case document.Mapping:
		m := slices.Clone(v)
		for i := range m {
			if s.kind == anyKey || s.kind == byKey && s.key == m[i].Key {
				m[i].Value = changed(m[i].Value, steps[1:], change)
			}
		}
		return m
	case []any:
		l := slices.Clone(v)
		from, to := s.items(len(l))
		for i := from; i < to; i++ {
			l[i] = changed(l[i], steps[1:], change)
		}
		return l
	}
	return value
}

func deletedFrom(value any, steps []pathStep) any {
	last := steps[len(steps)-1]
	return changed(value, steps[:len(steps)-1], func(was any) any {
		switch v := was.(type) {
		case document.Mapping:
			return slices.DeleteFunc(slices.Clone(v), func(m document.Member) bool {
				return last.kind == anyKey || last.kind == byKey && last.key == m.Key
			})
		case []any:
			from, to := last.items(len(v))
			return slices.Delete(slices.Clone(v), from, to)
		}
		return was
	})
}

func merged(was, over any) any {
	m, isMapping := was.(document.Mapping)
	o, isOver := over.(document.Mapping)
	if !isMapping || !isOver {
		return over
	}
	for _, member := range o {
		if known, there := m.Lookup(member.Key); there {
			m = m.With(member.Key, merged(known, member.Value))
		} else {
			m = m.With(member.Key, member.Value)
		}
	}
	return m
}

func updated(was, over any) any {
	m, isMapping := was.(document.Mapping)
	o, isOver := over.(document.Mapping)
	if !isMapping || !isOver {
		return over
	}
	for _, member := range o {
		m = m.With(member.Key, member.Value)
	}
	return m
}

// replaced replaces x+ by yz in the texts below a value.
func replaced(value any, depth int) any {
	if depth == 0 {
		return value
	}
	member := func(value any) any {
		if s, ok := value.(string); ok {
			for strings.Contains(s, "xx") {
				s = strings.ReplaceAll(s, "xx", "x")
			}
			return strings.ReplaceAll(s, "x", "yz")
		}
		return replaced(value, depth-1)
	}
	switch v := value.(type) {
	case document.Mapping:
		m := slices.Clone(v)
		for i := range m {
			m[i].Value = member(m[i].Value)
		}
		return m
	case []any:
		l := slices.Clone(v)
		for i := range l {
			l[i] = member(l[i])
		}
		return l
	}
	return value
}
