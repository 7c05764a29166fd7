package rendering

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// heavy writes a document that takes about so many milliseconds of work. Work that takes too much is counted, not done.
func heavy(name string, milliseconds int) string {
	const each = 15_000 // steps for each character
	return "site " + name + " | substitution {src: {name: s, path: .v}, dest: {path: .t, pattern: '(x?){500}y'}} | data {t: " +
		strings.Repeat("x", milliseconds*(budget.Second/1000)/each) + "}"
}

// several writes a source and so many documents that each take work.
func several(n, milliseconds int) string {
	lines := []string{"site s | data {v: 1}"}
	for i := range n {
		lines = append(lines, heavy(fmt.Sprintf("d%d", i), milliseconds))
	}
	return strings.Join(lines, "\n")
}

// Whether a document takes too much work depends on nothing but itself and its sources: not on what was read, searched
// or compiled for others before, nor on the cache.
func TestRender_alone(t *testing.T) {
	t.Parallel()
	line := func(n int) string {
		return "site d" + strings.Repeat(" | sub s .k7 > .a | sub s .k1500 > .b", 20) + strings.Repeat(" | sub s .k7 > .l[*]", n) +
			" | data {l: [" + repeated(4_000, "%d", ", ") + "]}"
	}
	others := repeated(20, "site o%d | sub s .k7 > .a | sub s . > .all | substitution {src: {name: s, path: .t}, dest: {path: .x, pattern: y}} | data {x: a y}", "\n")
	source := "site s | data " + strings.TrimSuffix(wide(2_000), "}") + ", t: text}\n"
	fails := func(text string, kept *Cache) bool {
		out, err := Render(t.Context(), sketch(t, text), Options{Cache: kept})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Documents {
			if r.Computed && r.text == nil {
				_ = r.JSON()
			}
		}
		return len(out.Faults) > 0
	}
	least, most := 0, 400 // succeeds, fails
	for most-least > 1 {
		if n := (least + most) / 2; fails(source+line(n), nil) {
			most = n
		} else {
			least = n
		}
	}
	if least == 0 {
		t.Fatal("it always fails")
	}
	for n, want := range map[int]bool{least: false, most: true} {
		kept := NewCache(8 << 20)
		for _, text := range []string{source + line(n), others + "\n" + source + line(n), source + line(n) + "\n" + others} {
			if got := fails(text, nil); got != want {
				t.Errorf("%d times: fails %v, want %v", n, got, want)
			}
			for range 2 {
				if got := fails(text, kept); got != want {
					t.Errorf("%d times, with a cache: fails %v, want %v", n, got, want)
				}
			}
		}
	}
}

// A document that takes too much work is refused, with what depends on it. Others are rendered.
func TestRender_tooMuchWork(t *testing.T) {
	t.Parallel()
	documents := sketch(t, "site s | data {v: 1}\nsite e | sub d .t > .x | data {}\n"+heavy("d", 500)+"\nsite f | sub s .v > .x | data {}")
	want := "s f\nHTTPPayloadTooLarge d\ne because of d"
	kept := NewCache(1 << 20)
	for range 2 {
		if diff := cmp.Diff(want, strings.ReplaceAll(toldOf(t, documents, Options{Cache: kept}), " \n", "\n")); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// The request pays for documents that it brings, if they have to be computed.
func TestRender_own(t *testing.T) {
	t.Parallel()
	documents := sketch(t, several(4, 900))
	change := func(d *document.Document) bool { return d.Name[0] == 'd' }
	kept := NewCache(1 << 20)
	_, err := Render(budgeted(t), documents, Options{Cache: kept, Changed: change})
	if _, exceeded := errors.AsType[*budget.Exceeded](err); !exceeded || !strings.Contains(fmt.Sprint(err), "render document [t/K/v1, site] d") {
		t.Errorf("what it brings costs %v", err)
	}
	ctx := budgeted(t)
	if err := budget.NewMeter(ctx).Spend(2*budget.Second - budget.Second/1000); err != nil {
		t.Fatal(err)
	}
	// the rest of it, with a change that pays for one millisecond
	_, err = Render(ctx, documents, Options{Cache: kept, Changed: func(d *document.Document) bool { return d.Name == "s" }})
	if err != nil {
		t.Errorf("what was there before costs %v", err)
	}
}

// What was there before and is not kept is computed by several requests if that takes too long for one.
func TestRender_anew(t *testing.T) {
	t.Parallel()
	documents, kept := sketch(t, several(8, 900)), NewCache(1<<20)
	for attempt := 1; ; attempt++ {
		_, err := Render(budgeted(t), documents, Options{Cache: kept})
		if err == nil {
			if attempt != 2 {
				t.Errorf("the %d. request succeeded", attempt)
			}
			break
		}
		if f, ok := errors.AsType[*fault.Fault](err); !ok || f.Kind != fault.Unavailable || f.RetryAfter == 0 {
			t.Fatal(err)
		}
	}
}

// All documents that take more than their size allows are bounded together. Who brings one too many is refused; others
// are not. A large source does not count once for each document that takes from it.
func TestRender_excess(t *testing.T) {
	t.Parallel()
	large := "site s | data {v: 1, large: " + strings.Repeat("x", 400_000) + "}\n" +
		repeated(14, "site d%d"+strings.Repeat(" | sub s .v > .l[*]", 200)+" | data {l: ["+strings.Repeat("1, ", 6_000)+"]}", "\n")
	ordinary := "\nglobal p | labels {k: g} | data " + wide(2_000) + "\nsite child | parent {k: g} | merge . | data {a: 1}"
	for name, text := range map[string]string{"small source": several(25, 200), "large source": large} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			refusesExcess(t, sketch(t, text+ordinary))
		})
	}
}

func refusesExcess(t *testing.T, documents []*document.Document) {
	t.Helper()
	kept := NewCache(1 << 20)
	render := func(changed string) error {
		_, err := Render(budgeted(t), documents, Options{Cache: kept, Changed: func(d *document.Document) bool { return d.Name == changed }})
		return err
	}
	for err := render(""); fault.KindOf(err) == fault.Unavailable; { // until all are kept
		err = render("")
	}
	for changed, want := range map[string]bool{"": false, "s": false, "child": false, "d7": true} {
		err := render(changed)
		if _, exceeded := errors.AsType[*budget.Exceeded](err); exceeded != want || !want && err != nil {
			t.Errorf("with a change of %q: %v", changed, err)
		}
	}
}

// Work that all documents share blames none of them: it is done in several requests.
func TestRender_sharedTooMuch(t *testing.T) {
	t.Parallel()
	text := "site s | data {v: 1}\n" + repeated(200, "site d%[1]d | substitution {src: {name: s, path: .v}, "+
		"dest: {path: .t, pattern: '("+strings.Repeat(`\pL`, 48)+")x%[1]d'}} | data {t: x}", "\n")
	documents, kept := sketch(t, text), NewCache(1<<20)
	requests := 1
	out, err := Render(budgeted(t), documents, Options{Cache: kept})
	for ; fault.KindOf(err) == fault.Unavailable && requests < 20; requests++ {
		out, err = Render(budgeted(t), documents, Options{Cache: kept})
	}
	if err != nil || len(out.Faults) > 0 || requests < 2 {
		t.Errorf("after %d requests: %d faults, %v", requests, len(out.Faults), err)
	}
}
