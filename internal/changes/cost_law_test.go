package changes

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// contents are what somebody keeps in a site: the bodies of buckets, and how many documents these have together.
type contents struct {
	bodies    []string
	documents int
}

// burden is a kind of documents that is costly to judge. Its site has at most n documents. listed is how many faults
// and warnings about them are worded at each change: an outcome lists 200 and 50, and PolicyValidation has 200 of its
// own.
type burden struct {
	name   string
	listed int
	site   func(n int) contents
}

// burdens are all kinds of them. New ones belong here.
func burdens() []burden {
	return []burden{
		{"patterns that occur nowhere", 50, fewOf(func(i int) string {
			return taking(i, "source", 20, "path: .t, pattern: NOWHERE, recurse: {depth: -1}", "{t: ["+numbered(200, "text %d")+"]}")
		})},
		{"thousands of warnings", 50, fewOf(func(i int) string {
			return taking(i, "source", 60, "path: .t, pattern: NOWHERE", "{t: text}")
		})},
		{"patterns of sources that match nothing", 50, eachOf(func(i int) string {
			return substituting(i, "{src: {schema: acme/Widget/v1, name: source, path: .text, pattern: NOWHERE}, dest: {path: .t}}", "{}")
		})},
		{"sources without the value", 200, eachOf(func(i int) string {
			return substituting(i, "{src: {schema: acme/Widget/v1, name: source, path: .none}, dest: {path: .t}}", "{}")
		})},
		{"sources that do not exist", 400, eachOf(func(i int) string { return taking(i, "gone", 3, "path: .t", "{}") })},
		{"what depends on documents that fail", 3, eachOf(func(i int) string {
			if i == 0 {
				return taking(i, "gone", 1, "path: .t", "{x: 1}")
			}
			return taking(i, "d0", 1, "path: .t", "{}")
		})},
		{"secrets", 0, eachOf(func(i int) string {
			return secret(fmt.Sprintf("d%d", i), fmt.Sprintf("{x: %d, l: [%s]}", i, numbered(50, "v%d")))
		})},
		{"what takes from secrets", 0, fewOf(func(i int) string { return taking(i, "secret", 5, "path: .t", "{l: ["+numbered(50, "v%d")+"]}") })},
		{"warnings that depend on secrets", 50, fewOf(func(i int) string {
			return taking(i, "secret", 20, "path: .t, pattern: NOWHERE", "{t: text}")
		})},
		{"selectors that select nothing", 250, eachOf(func(i int) string { return child(i, "k: none") })},
		{"unknown layers", 400, eachOf(func(i int) string {
			return strings.Replace(taking(i, "source", 1, "path: .t", "{}"), "layer: site", "layer: lost", 1)
		})},
		{"one name in all layers", 400, eachOf(func(i int) string {
			return strings.Replace(strings.Replace(child(0, "k: none"), "layer: site", fmt.Sprintf("layer: l%d", i), 1), "labels: {c: c0}", "labels: {c: c}", 1)
		})},
		{"parents that are ambiguous", 400, eachOf(func(i int) string {
			if i%2 == 0 {
				return strings.Replace(widget(fmt.Sprintf("p%d", i), "{x: 1}", "labels: {all: x}"), "layer: site", "layer: global", 1)
			}
			return child(i, fmt.Sprintf("all: x, l%d: null", i))
		})},
		{"a document that takes too much work", 1, func(int) contents {
			places := "{l: [" + numbered(45_000, "%d") + "]}"
			return contents{[]string{taking(0, "source", 500, "path: '.l[*]'", places)}, 1}
		}},
	}
}

// numbered writes n items of a list, each with its number.
func numbered(n int, item string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = strings.ReplaceAll(item, "%d", strconv.Itoa(i))
	}
	return strings.Join(items, ", ")
}

// eachOf returns a site of n documents in a few buckets.
func eachOf(document func(i int) string) func(n int) contents {
	return func(n int) contents {
		const buckets = 4
		texts := make([]strings.Builder, buckets)
		for i := range n {
			texts[i%buckets].WriteString(document(i))
		}
		made := contents{documents: n}
		for i := range texts {
			made.bodies = append(made.bodies, texts[i].String())
		}
		return made
	}
}

// fewOf is eachOf with a tenth of the documents, for those that are large.
func fewOf(document func(i int) string) func(n int) contents {
	return func(n int) contents { return eachOf(document)(n / 10) }
}

// substituting returns a document with substitutions.
func substituting(i int, substitutions, data string) string {
	return widget(fmt.Sprintf("d%d", i), data, "substitutions: ["+substitutions+"]")
}

// taking returns a document that takes from another one, in so many substitutions with a destination each.
func taking(i int, source string, substitutions int, destination, data string) string {
	one := "{src: {schema: acme/Widget/v1, name: " + source + ", path: .x}, dest: {" + destination + "}}"
	return substituting(i, strings.Repeat(one+", ", substitutions-1)+one, data)
}

// child returns a document that selects a parent.
func child(i int, selector string) string {
	text := widget(fmt.Sprintf("c%d", i), "{y: 1}", fmt.Sprintf("labels: {c: c%d}", i))
	return strings.Replace(text, "{layer: site}", "{layer: site, parentSelector: {"+selector+"}, actions: [{method: merge, path: .}]}", 1)
}

// harmless returns a site of as many documents with as many selectors and substitutions, which succeed.
func harmless(like contents) contents {
	var made contents
	for _, body := range like.bodies {
		text := ""
		for _, part := range strings.Split(body, "---\n")[1:] {
			data := "{x: 1}"
			switch count := strings.Count(part, "{src:"); {
			case count > 0:
				text += taking(made.documents, "source", count, "path: .t", data)
			case strings.Contains(part, "parentSelector"):
				text += child(made.documents, "is: parent")
			default:
				text += widget(fmt.Sprintf("d%d", made.documents), data)
			}
			made.documents++
		}
		made.bodies = append(made.bodies, text)
	}
	return made
}

// neighbour is somebody who shares a site with others, and changes a document that is not theirs.
type neighbour struct {
	m       *memory
	service *Service
	changes int
}

// neighbourOf fills a site, and begins anew with empty caches.
func neighbourOf(t testing.TB, of contents) *neighbour {
	t.Helper()
	n := &neighbour{m: newMemory()}
	n.restart()
	parent := strings.Replace(widget("parent", "{x: 1}", "labels: {is: parent}"), "layer: site", "layer: global", 1)
	n.put(t, "base", layeringPolicy("policy")+parent+widget("source", "{x: 1, text: a text}")+secret("secret", "{x: 1}"))
	for i, body := range of.bodies {
		n.put(t, fmt.Sprintf("b%d", i), body)
	}
	n.restart()
	return n
}

func (n *neighbour) restart() {
	const cacheSize = 64 << 20
	s, _ := service()
	s.Store, s.Vault, s.Documents = n.m, fakeVault{}, NewDocumentCache(cacheSize)
	s.DefaultValidations = append(revisions.Defaults{validations.SchemaValidation}, RevisionValidations()...)
	n.service = s
}

// put fills a bucket within the budget of a request, and returns the steps that it took.
func (n *neighbour) put(t testing.TB, bucket, body string) int64 {
	t.Helper()
	steps, err := n.tryPut(t, bucket, body)
	if err != nil {
		t.Fatalf("put %s: %v", bucket, err)
	}
	return steps
}

func (n *neighbour) tryPut(t testing.TB, bucket, body string) (steps int64, err error) {
	t.Helper()
	ctx, end := budget.NewPool(4, time.Minute).Begin(t.Context())
	defer end()
	_, err = n.service.Put(ctx, bucket, []byte(body), document.YAML, revisions.Options{})
	steps, _ = budget.From(ctx).Spent()
	return steps, err
}

// change makes a small change of the neighbour's own document.
func (n *neighbour) change(t testing.TB) int64 {
	t.Helper()
	n.changes++
	return n.put(t, "mine", widget("mine", fmt.Sprintf("{x: %d}", n.changes)))
}

// A small change beside costly documents of others takes about as much work as one beside harmless documents, from the
// second one after a restart. What is listed is worded again, but that is bounded.
func TestCost_beside_law(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		of := rapid.SampledFrom(burdens()).Draw(rt, "burden")
		compareBeside(t, of, rapid.IntRange(200, 400).Draw(rt, "documents"))
	})
}

// Each of the burdens.
func TestCost_beside(t *testing.T) {
	t.Parallel()
	for _, of := range burdens() {
		t.Run(strings.ReplaceAll(of.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			compareBeside(t, of, 400)
		})
	}
}

// wording is the cost of wording a fault or a warning, in steps.
const wording = 3000

// compareBeside compares the cost of changes.
func compareBeside(t testing.TB, of burden, documents int) {
	t.Helper()
	made := of.site(documents)
	costly, cheap := neighbourOf(t, made), neighbourOf(t, harmless(made))
	compareCosts(t, of.name, int64(of.listed*wording), func() int64 { return costly.change(t) },
		func() int64 { return cheap.change(t) })
}

// compareCosts compares the steps of small changes beside costly documents and beside harmless ones, from the second
// change on. The former may take 1.3 times as many, and a number in addition.
func compareCosts(t testing.TB, name string, more int64, costly, cheap func() int64) {
	t.Helper()
	first, _ := costly(), cheap()
	for range 2 {
		steps, usual := costly(), cheap()
		t.Logf("%s: %d steps, %d at first; beside harmless documents %d", name, steps, first, usual)
		if 10*(steps-more) > 13*usual {
			t.Errorf("%s: a change takes %d steps, and %d beside harmless documents", name, steps, usual)
		}
	}
}

// heavy writes documents that each take nearly a second of work, which is counted but not done.
func heavy(from, n int) string {
	return each(n, func(i int) string {
		return taking(from+i, "source", 1, "path: .t, pattern: '(x?){500}y'", "{t: "+strings.Repeat("x", 60_000)+"}")
	})
}

// What is not in memory after a restart, or because of a change, and takes too long for one request is done by several.
// None of them is refused for it, and all are answered soon.
func TestPut_anew(t *testing.T) {
	t.Parallel()
	n := neighbourOf(t, contents{[]string{heavy(0, 2), heavy(2, 2), heavy(4, 2), heavy(6, 2)}, 8})
	for _, c := range []struct{ name, bucket, body string }{
		{"after a restart", "mine", widget("mine", "{x: 1}")},
		{"of another source", "base", layeringPolicy("policy") + widget("source", "{x: 2, text: a text}") + secret("secret", "{x: 1}")},
	} {
		for attempt := 1; ; attempt++ {
			steps, err := n.tryPut(t, c.bucket, c.body)
			if steps > 4*budget.Second {
				t.Errorf("%s: %d. request: %d steps", c.name, attempt, steps)
			}
			if err == nil {
				if attempt < 2 || attempt > 3 {
					t.Errorf("%s: the %d. request succeeded", c.name, attempt)
				}
				break
			}
			wantFault(t, err, fault.Unavailable, "it goes on from there")
		}
	}
	if steps := n.change(t); steps > budget.Second/10 {
		t.Errorf("another change takes %d steps", steps)
	}
}

// Who brings documents that take too much work together is refused, and nothing is stored. One that takes too much
// alone is stored, and keeps nobody else from being judged.
func TestPut_tooMuchWork(t *testing.T) {
	t.Parallel()
	n := neighbourOf(t, contents{})
	ctx, end := budget.NewPool(4, time.Minute).Begin(t.Context())
	defer end()
	_, err := n.service.Put(ctx, "b", []byte(heavy(0, 8)), document.YAML, revisions.Options{})
	wantFault(t, err, fault.TooLarge, "with all others of the change: it takes more than 2.")
	if len(n.m.bucket("b").Documents) > 0 {
		t.Error("documents are stored")
	}
	n.put(t, "b", heavy(0, 1)+widget("broken", "{}", "substitutions: [{src: {schema: acme/Widget/v1, name: gone, path: .x}, dest: {path: .t}}]"))
	rendering := judged(t, n.service, "mine", widget("mine", "{x: 1}")).judgement.Results[1]
	var types []string
	for _, message := range rendering.Messages {
		types = append(types, message.Name)
	}
	if diff := cmp.Diff([]string{"HTTPPayloadTooLarge", "SubstitutionSourceNotFound"}, types); diff != "" {
		t.Errorf("%s (-want +got)\n%s", rendering.Name, diff)
	}
}

// BenchmarkPut_beside measures the time of a small change, beside costly and harmless documents.
func BenchmarkPut_beside(b *testing.B) {
	for _, of := range burdens() {
		made := of.site(1_000)
		for name, site := range map[string]contents{"costly": made, "harmless": harmless(made)} {
			b.Run(strings.ReplaceAll(of.name, " ", "_")+"/"+name, func(b *testing.B) {
				n := neighbourOf(b, site)
				n.change(b)
				for b.Loop() {
					n.change(b)
				}
			})
		}
	}
}
