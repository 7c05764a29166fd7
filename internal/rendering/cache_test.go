package rendering

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// everything is all that a rendering says.
type everything struct {
	Documents []string
	Warnings  []fault.Message
	Err       string
	Messages  []fault.Message
}

func everythingOf(ctx context.Context, documents []*document.Document, options Options) (all everything) {
	rendered, warnings, err := renderAll(ctx, documents, options)
	all.Warnings = warnings
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		all.Err, all.Messages = fmt.Sprintf("%s %d %v: %v", f.Type, f.Kind, f.Secret, err), f.Messages
	}
	for _, r := range rendered {
		text := r.Text
		if r.Computed && text == nil {
			text = document.AppendJSON(nil, r.Data)
			options.Cache.addTo(r, text)
		}
		all.Documents = append(all.Documents, fmt.Sprintf("%d %v %s %q %v", r.Index, r.Computed, text, r.Destinations, r.Secret))
	}
	return all
}

func (c *Cache) addTo(r Rendered, text []byte) {
	if c != nil {
		c.Add(r, text)
	}
}

// anyChange returns a set with a few changes.
func anyChange(t *rapid.T, lines []string) []string {
	lines = append([]string{}, lines...)
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		at := rapid.IntRange(0, len(lines)-1).Draw(t, "at")
		switch line := lines[at]; max(0, rapid.IntRange(-3, 5).Draw(t, "change")) {
		case 0:
			head, _, _ := strings.Cut(line, " | data ")
			lines[at] = head + " | data " + rapid.SampledFrom([]string{"{a: {x: R, y: P}, b: P}", "{}", "P text", "{a: {z: 1}, b: {q: P}}"}).Draw(t, "data")
		case 1:
			head, _, _ := strings.Cut(line, " | data ")
			lines[at] = head + " | encrypted | data " + rapid.SampledFrom([]string{"'secret://one'", "{a: {x: S}}"}).Draw(t, "secret")
		case 2:
			lines[at] = strings.ReplaceAll(line, " | encrypted", "")
		case 3:
			lines[at] = strings.ReplaceAll(line, " | abstract", "")
		case 4:
			lines[at] = strings.Replace(line, "merge .", "delete .a | merge .", 1)
		case 5:
			lines[at] = strings.Replace(line, "pattern: P", "pattern: (Z|Q)", 1)
		}
	}
	return lines
}

// Whatever was rendered before, rendering with a cache gives the same documents as without one.
func TestCache(t *testing.T) {
	t.Parallel()
	taken, warned, refused := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		kept := NewCache(rapid.SampledFrom([]int{0, 3_000, 1 << 20}).Draw(rt, "bytes"))
		lines := rapid.Custom(anySet).Filter(func(lines []string) bool {
			_, _, err := renderAll(rt.Context(), sketch(t, strings.Join(lines, "\n")), Options{})
			return err == nil
		}).Draw(rt, "set")
		for range rapid.IntRange(2, 5).Draw(rt, "renderings") {
			lines = anyChange(rt, lines)
			documents := sketch(t, strings.Join(lines, "\n"))
			secret := rapid.SampledFrom([]any{"one", "two", document.Mapping{{Key: "a", Value: "P"}}}).Draw(rt, "secret value")
			options := Options{
				Compat:   rapid.Bool().Draw(rt, "compat"),
				Withhold: rapid.IntRange(0, 3).Draw(rt, "withhold") == 0,
				Lenient:  rapid.IntRange(0, 5).Draw(rt, "lenient") == 0,
				Limit:    rapid.SampledFrom([]int64{0, 0, 0, 0, 0, 150, 250}).Draw(rt, "limit"),
				Resolve:  func(string) (any, bool) { return secret, true },
			}
			if from := rapid.IntRange(-5, 5).Draw(rt, "only from"); from > 0 {
				options.Only = func(d *document.Document) bool { return d.Name >= fmt.Sprintf("d%d", from) }
			}
			want := everythingOf(rt.Context(), documents, options)
			options.Cache = kept
			if diff := cmp.Diff(want, everythingOf(rt.Context(), documents, options)); diff != "" {
				rt.Fatalf("with the cache (-without +with)\n%s", diff)
			}
			again, _, _ := renderAll(rt.Context(), documents, options)
			for _, r := range again {
				if r.Secret && (!r.Key.IsZero() || r.Text != nil) {
					rt.Errorf("document %d depends on a secret and may be kept", r.Index)
				}
				if r.Text != nil {
					taken++
				}
			}
			warned += len(want.Warnings)
			if want.Err != "" {
				refused++
			}
			if size := kept.kept.Bytes(); size > 1<<20 {
				rt.Errorf("%d bytes are kept", size)
			}
		}
	})
	if t.Logf("%d taken, %d warnings, %d refused", taken, warned, refused); taken == 0 || warned == 0 || refused == 0 {
		t.Error("there should be some of each")
	}
}

// After a change, only documents that depend on it are computed again, which takes a fraction of the steps.
func TestCache_change(t *testing.T) {
	t.Parallel()
	kept := NewCache(8 << 20)
	render := func(documents []*document.Document) (computed int, steps int64) {
		ctx := budgeted(t)
		rendered, _, err := renderAll(ctx, documents, Options{Cache: kept})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rendered {
			if r.Computed && r.Text == nil {
				computed++
				kept.Add(r, document.AppendJSON(nil, r.Data))
			}
		}
		steps, _ = budget.From(ctx).Spent()
		return computed, steps
	}
	documents := layered(t, 1_000)
	all, first := render(documents)
	if none, again := render(documents); none != 0 || again*3 > first {
		t.Errorf("of %d documents %d are computed again, in %d steps of %d", all, none, again, first)
	}
	text := *documents[1]
	text.Data = []byte(`{"a":{"x":7,"y":2},"l":[1,2]}`)
	documents[1] = &text // an abstract parent of one child, on which eight depend
	if some, again := render(documents); some != 9 || again*3 > first {
		t.Errorf("after a change %d of %d documents are computed again, in %d steps of %d", some, all, again, first)
	}
	if size := kept.kept.Bytes(); size > 8<<20 {
		t.Errorf("%d bytes are kept", size)
	}
}

// Concurrent renderings share the cache.
func TestCache_shared(t *testing.T) {
	t.Parallel()
	kept, documents := NewCache(1<<20), layered(t, 100)
	want := everythingOf(t.Context(), documents, Options{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 {
				if diff := cmp.Diff(want, everythingOf(t.Context(), documents, Options{Cache: kept})); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	all.Wait()
}

// Documents that only others depend on are not computed again either.
func TestCache_unseen(t *testing.T) {
	t.Parallel()
	kept, documents := NewCache(1<<20), sketch(t, `
		global g | labels {is: g} | data {a: 1}
		type t | abstract | labels {is: t} | parent {is: g} | merge . | data {b: 2}
		site s | parent {is: t} | merge . | data {c: 3}`)
	want := everythingOf(t.Context(), documents, Options{})
	if diff := cmp.Diff(want, everythingOf(t.Context(), documents, Options{Cache: kept})); diff != "" {
		t.Error(diff)
	}
	r := newRun(t.Context(), documents, Options{Cache: kept})
	order, err := r.render(documents)
	if err != nil {
		t.Fatal(err)
	}
	for _, ordered := range order {
		if n := r.of(ordered); n.computed && n.text == nil {
			t.Errorf("%s is computed again", n.Identity)
		}
	}
}

// Documents that differ in anything have different digests.
func TestRun_digestOf(t *testing.T) {
	t.Parallel()
	r := newRun(t.Context(), nil, Options{Cache: NewCache(0)})
	seen := map[document.Digest]bool{}
	for _, parts := range [][3]string{{"s", "m", "d"}, {"t", "m", "d"}, {"s", "n", "d"}, {"s", "m", "e"}, {"s", "md", ""}, {"sm", "", "d"}} {
		d := &document.Document{Identity: document.Identity{Schema: parts[0]}, Metadata: []byte(parts[1]), Data: []byte(parts[2])}
		if digest := r.digestOf(d); digest.IsZero() || seen[digest] {
			t.Errorf("%q: %s", parts, digest)
		} else {
			seen[digest] = true
		}
	}
}
