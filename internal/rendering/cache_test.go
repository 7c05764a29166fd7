package rendering

import (
	"context"
	"fmt"
	"regexp"
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
	Documents  []string
	Unrendered []string
	Faults     []string
	Messages   [][]fault.Message // of the faults
	Warnings   []fault.Message
	Err        string
}

func everythingOf(ctx context.Context, documents []*document.Document, options Options) (all everything) {
	out, err := Render(ctx, documents, options)
	all.Warnings = out.Warnings
	if err != nil {
		all.Err = fmt.Sprintf("%d %v", fault.KindOf(err), err)
	}
	for _, f := range out.Faults {
		all.Faults = append(all.Faults, fmt.Sprintf("%s %d %v: %v", f.Type, f.Kind, f.Secret, f))
		all.Messages = append(all.Messages, f.Messages)
	}
	for _, u := range out.Unrendered {
		all.Unrendered = append(all.Unrendered, fmt.Sprintf("%d %v %v: %v", u.Index, u.Failed, u.Secret, u.Cause))
	}
	for _, r := range out.Documents {
		var text []byte
		if r.Computed {
			text = r.JSON()
		}
		all.Documents = append(all.Documents, fmt.Sprintf("%d %v %s %q %v", r.Index, r.Computed, text, r.Destinations, r.Secret))
	}
	return all
}

// secretOf is the secret that a reference stands for.
func secretOf(reference string) (any, bool) {
	switch reference {
	case "secret://gone":
		return nil, false
	case "secret://map":
		return document.Mapping{{Key: "a", Value: "P"}}, true
	}
	return reference[len("secret://"):], true
}

// dataPart is the data of a line.
var dataPart = regexp.MustCompile(` \| data .*`)

// anyChange returns a set with a few changes: of data, of secrets, to documents that fail, warn or take too much work.
func anyChange(t *rapid.T, lines []string) []string {
	lines = append([]string{}, lines...)
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		at := rapid.IntRange(0, len(lines)-1).Draw(t, "at")
		switch line := lines[at]; max(0, rapid.IntRange(-3, 9).Draw(t, "change")) {
		case 0:
			head, _, _ := strings.Cut(line, " | data ")
			lines[at] = head + " | data " + rapid.SampledFrom([]string{"{a: {x: R, y: P}, b: P}", "{}", "P text", "{a: {z: 1}, b: {q: P}}"}).Draw(t, "data")
		case 1:
			head, _, _ := strings.Cut(line, " | data ")
			lines[at] = head + " | encrypted | data " + rapid.SampledFrom([]string{"'secret://one'", "'secret://two'", "'secret://map'", "'secret://gone'", "{a: {x: S}}"}).Draw(t, "secret")
		case 2:
			lines[at] = strings.ReplaceAll(line, " | encrypted", "")
		case 3:
			lines[at] = strings.ReplaceAll(line, " | abstract", "")
		case 4:
			lines[at] = strings.Replace(line, "merge .", "delete .a | merge .", 1)
		case 5:
			lines[at] = strings.Replace(line, "pattern: P", "pattern: (Z|Q)", 1)
		case 6:
			lines[at] += rapid.SampledFrom([]string{" | sub gone . > .n", " | sub d0 .none.at > .m", " | merge .none", " | sub d0 . > .l[99999]"}).Draw(t, "mistake")
		case 7:
			lines[at] = dataPart.ReplaceAllString(line, " | data {t: "+strings.Repeat("x", 1<<14)+"}") +
				" | substitution {src: {name: d0, path: .}, dest: {path: .t, pattern: '(x?){500}y'}}"
		case 8:
			lines[at] += strings.Repeat(" | substitution {src: {name: d0, path: .}, dest: {path: ., pattern: ZZ, recurse: {depth: -1}}}", 60)
		case 9:
			for i := range 205 {
				lines[at] += fmt.Sprintf(" | sub gone%d . > .n", i)
			}
		}
	}
	return lines
}

// Whatever was rendered before, rendering with a cache gives the same documents as without one.
func TestCache(t *testing.T) {
	t.Parallel()
	taken, warned, refused, alone := 0, 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		kept := NewCache(rapid.SampledFrom([]int{0, 3_000, 1 << 20}).Draw(rt, "bytes"))
		lines := rapid.Custom(anySet).Filter(func(lines []string) bool {
			_, _, err := renderAll(rt.Context(), sketch(t, strings.Join(lines, "\n")), Options{})
			return err == nil
		}).Draw(rt, "set")
		for range rapid.IntRange(2, 5).Draw(rt, "renderings") {
			lines = anyChange(rt, lines)
			documents := sketch(t, strings.Join(lines, "\n"))
			options := Options{
				Compat:   rapid.Bool().Draw(rt, "compat"),
				Withhold: rapid.IntRange(0, 3).Draw(rt, "withhold") == 0,
				Limit:    rapid.SampledFrom([]int64{0, 0, 0, 0, 0, 150, 250}).Draw(rt, "limit"),
				Resolve:  secretOf,
			}
			if from := rapid.IntRange(-5, 5).Draw(rt, "only from"); from > 0 {
				options.Only = func(d *document.Document) bool { return d.Name >= fmt.Sprintf("d%d", from) }
			}
			want := everythingOf(rt.Context(), documents, options)
			options.Cache = kept
			if diff := cmp.Diff(want, everythingOf(rt.Context(), documents, options)); diff != "" {
				rt.Fatalf("with the cache (-without +with)\n%s", diff)
			}
			again, _ := Render(rt.Context(), documents, options)
			for _, r := range again.Documents {
				if r.Secret && options.Withhold && (r.Computed || !r.Key.IsZero()) {
					rt.Errorf("document %d depends on a secret and is not withheld", r.Index)
				}
				if r.text != nil {
					taken++
				}
			}
			warned += len(want.Warnings)
			refused += len(want.Faults)
			if strings.Contains(strings.Join(want.Faults, " "), "s of work") {
				alone++
			}
			if size := kept.kept.Bytes() + kept.costly.Bytes(); size > 1<<20 {
				rt.Errorf("%d bytes are kept", size)
			}
		}
	})
	t.Logf("%d taken, %d warnings, %d refused, %d times for too much work", taken, warned, refused, alone)
	if min(taken, warned, refused, alone) == 0 {
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
			if r.Computed && r.text == nil {
				computed++
				_ = r.JSON()
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
	if size := kept.kept.Bytes() + kept.costly.Bytes(); size > 8<<20 {
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
		if n := ordered; n.computed && n.text == nil {
			t.Errorf("%s is computed again", n.Identity)
		}
	}
}

// What was begun when a rendering ended is not kept.
func TestCache_ended(t *testing.T) {
	t.Parallel()
	documents := sketch(t, "site s | data {v: "+strings.Repeat("v", 500)+"}\nsite d | encrypted | sub s .v > .a | sub s .v > .b | data 'secret://map'")
	want := everythingOf(t.Context(), documents, Options{Resolve: secretOf})
	for limit := int64(100); limit < 2_200; limit += 100 {
		kept := NewCache(1 << 20)
		everythingOf(t.Context(), documents, Options{Resolve: secretOf, Limit: limit, Cache: kept})
		if diff := cmp.Diff(want, everythingOf(t.Context(), documents, Options{Resolve: secretOf, Cache: kept})); diff != "" {
			t.Errorf("after one with a limit of %d (-want +got)\n%s", limit, diff)
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
		if digest := r.digestOf(&node{document: d}); digest.IsZero() || seen[digest] {
			t.Errorf("%q: %s", parts, digest)
		} else {
			seen[digest] = true
		}
	}
}
