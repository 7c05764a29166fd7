package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// player makes the same changes to a server and to a model of it.
type player struct {
	*rapid.T
	*server

	site *site
}

// For any sequence of PUTs, change sets, rollbacks, tags and prunes, a simple model agrees with the server about all
// remaining revisions, the diffs between them, and the predictions of dry runs.
func TestLaws(t *testing.T) {
	t.Parallel()
	s := start(t)
	rapid.Check(t, func(t *rapid.T) {
		p := &player{t, s, newSite()}
		p.ask(http.MethodDelete, "revisions", "", http.StatusNoContent)
		p.layer()
		for range rapid.IntRange(1, 14).Draw(t, "actions") {
			rapid.SampledFrom([]func(){p.put, p.put, p.changeSet, p.changeSet, p.rollback, p.tag, p.prune}).Draw(t, "action")()
		}
		p.compareAll()
		p.compareDiffs()
	})
}

// A change set has the same effect, in one revision, as PUTs of its buckets one by one in any order.
func TestLaws_changeSet(t *testing.T) {
	t.Parallel()
	s := start(t)
	rapid.Check(t, func(t *rapid.T) {
		p := &player{t, s, newSite()}
		of := func(what string) map[string][]entry {
			payloads := map[string][]entry{}
			for _, bucket := range lawBuckets {
				for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"p", "q", "r"}), rapid.ID[string]).
					Draw(t, what+" of "+bucket) {
					payloads[bucket] = append(payloads[bucket], entry{bucket + name, bucket, rapid.IntRange(0, 2).Draw(t, "data")})
				}
			}
			return payloads
		}
		first, then := of("first"), of("then")
		put := func(payloads map[string][]entry) {
			for _, bucket := range rapid.Permutation(lawBuckets).Draw(t, "order") {
				p.ask(http.MethodPut, "buckets/"+bucket+"/documents", write(payloads[bucket]), http.StatusOK)
			}
		}
		p.ask(http.MethodDelete, "revisions", "", http.StatusNoContent)
		put(first)
		put(then)
		onebyone := p.contents()
		p.ask(http.MethodDelete, "revisions", "", http.StatusNoContent)
		put(first)
		before := p.newest()
		all := rapid.Permutation(slices.Concat(then["a"], then["b"], then["c"])).Draw(t, "documents")
		p.ask(http.MethodPut, "changesets?buckets=a,b,c", write(all), http.StatusOK)
		p.agree("documents", onebyone, p.contents())
		if made := p.newest() - before; made > 1 {
			t.Fatalf("the change set made %d revisions", made)
		}
	})
}

func (p *player) newest() int {
	a := p.ask(http.MethodGet, "revisions?sort=id&order=desc&limit=1", "", http.StatusOK)
	for _, item := range decoded[struct{ Results []struct{ ID int } }](p, a).Results {
		return item.ID
	}
	return 0
}

// contents returns the newest documents in no particular order, without their revisions.
func (p *player) contents() []string {
	lines := []string{}
	if p.newest() == 0 {
		return lines
	}
	for _, line := range p.documents(p.newest()) {
		document, _, _ := strings.Cut(line, "@")
		lines = append(lines, document)
	}
	slices.Sort(lines)
	return lines
}

// layer puts the LayeringPolicy that is needed to compare rendered documents.
func (p *player) layer() {
	p.ask(http.MethodPut, "buckets/policy/documents", layeringPolicy("lp"), http.StatusOK)
	p.site.become(snapshot{"lp": {bucket: "policy", since: 1, place: 1}})
}

// ask sends a request and checks the status of the answer.
func (p *player) ask(method, path, body string, status int, header ...string) answer {
	p.Helper()
	headers := map[string]string{"Accept": "application/json"}
	if body != "" {
		headers["Content-Type"] = "application/x-yaml"
	}
	maps.Copy(headers, pairs(header))
	a, err := p.try(context.Background(), request{method: method, path: path, body: body, header: headers})
	if err != nil {
		p.Fatalf("%s %s: %v", method, path, err)
	}
	if a.status != status {
		p.Fatalf("%s %s: status %d, want %d\n%s\nsent: %s", method, path, a.status, status, brief(a.text), body)
	}
	return a
}

func decoded[T any](p *player, a answer) (value T) {
	p.Helper()
	if err := json.Unmarshal([]byte(a.text), &value); err != nil {
		p.Fatalf("%s %s: %v\n%s", a.method, a.path, err, brief(a.text))
	}
	return value
}

func (p *player) agree(what string, want, got any) {
	p.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		p.Fatalf("%s (-want +got)\n%s", what, diff)
	}
}

var lawBuckets = []string{"a", "b", "c"}

// payload draws documents for some of the buckets. They share names, so that documents conflict and move.
func (p *player) payload(buckets []string) (payload []entry) {
	names := rapid.Permutation([]string{"p", "q", "r", "s", "t"}).Draw(p.T, "names")
	for _, name := range names[:rapid.IntRange(0, len(names)).Draw(p.T, "documents")] {
		payload = append(payload, entry{
			name, rapid.SampledFrom(buckets).Draw(p.T, "bucket"), rapid.IntRange(0, 2).Draw(p.T, "data"),
		})
	}
	return payload
}

func (p *player) put() {
	bucket := rapid.SampledFrom(lawBuckets).Draw(p.T, "bucket")
	p.change("buckets/"+bucket+"/documents", []string{bucket}, p.payload([]string{bucket}))
}

func (p *player) changeSet() {
	buckets := slices.Clone(rapid.Permutation(lawBuckets).Draw(p.T, "buckets"))
	buckets = buckets[:rapid.IntRange(1, len(buckets)).Draw(p.T, "how many")]
	p.change("changesets?buckets="+strings.Join(buckets, ","), buckets, p.payload(buckets))
}

// change puts buckets, after a dry run that must predict the result.
func (p *player) change(path string, buckets []string, payload []entry) {
	next, changed, ok := p.site.plan(buckets, payload)
	if !ok {
		p.ask(http.MethodPut, path, write(payload), http.StatusConflict)
		return
	}
	p.ask(http.MethodPut, path, write(payload), http.StatusPreconditionFailed,
		"If-Match", strconv.Quote(strconv.Itoa(p.site.newest+1)))
	predicted := p.dryRun(http.MethodPut, path, write(payload))
	p.agree("dry run: changed", changed, predicted["changed"])
	before := p.site.newest
	if changed {
		p.site.become(next)
	}
	a := p.ask(http.MethodPut, path, write(payload), http.StatusOK, "If-Match", strconv.Quote(strconv.Itoa(before)))
	p.agree("ETag", true, strings.HasPrefix(a.got.Get("ETag"), fmt.Sprintf("\"%d-", p.site.newest)))
	if p.site.newest > 0 {
		p.verify(predicted, before)
	}
}

func (p *player) dryRun(method, path, body string) map[string]any {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return decoded[map[string]any](p, p.ask(method, path+separator+"dry-run=true", body, http.StatusOK))
}

// verify compares a prediction with the newest revision.
func (p *player) verify(predicted map[string]any, before int) {
	p.Helper()
	p.agree("predicted revision", float64(p.site.newest), predicted["revision"])
	done := decoded[map[string]any](p, p.ask(http.MethodGet, fmt.Sprintf("revisions/%d/diff/%d", before, p.site.newest), "",
		http.StatusOK))
	p.agree("predicted diff of the buckets", done, predicted["buckets"])
	shown := decoded[map[string]any](p, p.ask(http.MethodGet, "revisions/latest", "", http.StatusOK))
	p.agree("predicted status", shown["status"], predicted["status"])
}

func (p *player) rollback() {
	targets := append(slices.Sorted(maps.Keys(p.site.history)), 0)
	target := rapid.SampledFrom(targets).Draw(p.T, "target")
	path := fmt.Sprintf("rollback/%d", target)
	predicted := p.dryRun(http.MethodPost, path, "")
	before := p.site.newest
	p.site.become(p.site.restored(target))
	made := decoded[map[string]any](p, p.ask(http.MethodPost, path, "", http.StatusCreated))
	p.agree("rolledBackTo", float64(target), made["rolledBackTo"])
	p.verify(predicted, before)
}

func (p *player) tag() {
	if p.site.newest == 0 {
		return
	}
	revision := rapid.SampledFrom(slices.Sorted(maps.Keys(p.site.history))).Draw(p.T, "revision")
	name := rapid.SampledFrom([]string{"good", "bad"}).Draw(p.T, "tag")
	path := fmt.Sprintf("revisions/%d/tags/%s", revision, name)
	if i := slices.Index(p.site.tags[revision], name); i >= 0 {
		p.site.tags[revision] = slices.Delete(p.site.tags[revision], i, i+1)
		p.ask(http.MethodDelete, path, "", http.StatusNoContent)
		return
	}
	p.site.tags[revision] = append(p.site.tags[revision], name)
	p.ask(http.MethodPost, path, "", http.StatusCreated)
}

func (p *player) prune() {
	keep := rapid.IntRange(1, 6).Draw(p.T, "keep")
	path := fmt.Sprintf("revisions/prune?keep=%d", keep)
	predicted := decoded[map[string]any](p, p.ask(http.MethodPost, path+"&dry-run=true", "", http.StatusOK))
	gone := p.site.prune(keep)
	done := decoded[map[string]any](p, p.ask(http.MethodPost, path, "", http.StatusOK))
	predicted["dryRun"] = false
	p.agree("dry run of a prune", predicted, done)
	p.agree("pruned", float64(len(gone)), done["revisions"].(map[string]any)["count"])
}

// compareAll reads all revisions, including deleted ones.
func (p *player) compareAll() {
	var listed []int
	for revision := 1; revision <= p.site.newest; revision++ {
		snapshot, left := p.site.history[revision]
		if !left {
			p.ask(http.MethodGet, fmt.Sprintf("revisions/%d", revision), "", http.StatusGone)
			p.ask(http.MethodGet, fmt.Sprintf("revisions/%d/documents", revision), "", http.StatusGone)
			continue
		}
		listed = append(listed, revision)
		p.agree(fmt.Sprintf("revision %d of %d", revision, p.site.newest), snapshot.lines(), p.documents(revision))
		tags := decoded[map[string]any](p, p.ask(http.MethodGet, fmt.Sprintf("revisions/%d/tags", revision), "", http.StatusOK))
		p.agree("tags", slices.Sorted(slices.Values(p.site.tags[revision])), slices.Sorted(maps.Keys(tags)))
	}
	var got []int
	for _, item := range decoded[struct{ Results []struct{ ID int } }](p, p.ask(http.MethodGet, "revisions", "",
		http.StatusOK)).Results {
		got = append(got, item.ID)
	}
	p.agree("listing", listed, got)
}

type shownDocument struct {
	Data struct {
		X int `json:"x"`
	} `json:"data"`
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Status struct {
		Bucket   string `json:"bucket"`
		Revision int    `json:"revision"`
	} `json:"status"`
}

func (p *player) documents(revision int) []string {
	lines := []string{}
	path := fmt.Sprintf("revisions/%d/documents", revision)
	for _, doc := range decoded[[]shownDocument](p, p.ask(http.MethodGet, path, "", http.StatusOK)) {
		lines = append(lines, paper{doc.Status.Bucket, doc.Data.X, doc.Status.Revision, 0}.line(doc.Metadata.Name))
	}
	return lines
}

// compareDiffs compares pairs of revisions, and applies the patches between them.
func (p *player) compareDiffs() {
	targets := append(slices.Sorted(maps.Keys(p.site.history)), 0)
	const pairsToCompare = 4
	for range pairsToCompare {
		a, b := rapid.SampledFrom(targets).Draw(p.T, "a"), rapid.SampledFrom(targets).Draw(p.T, "b")
		got := decoded[map[string]any](p, p.ask(http.MethodGet, fmt.Sprintf("revisions/%d/diff/%d", a, b), "", http.StatusOK))
		p.agree(fmt.Sprintf("diff of %d and %d", a, b), diff(p.site.history[min(a, b)], p.site.history[max(a, b)]), got)
		p.apply(a, b)
	}
}

// patched is an item of a deep diff in JSON Patch format.
type patched struct {
	Bucket, Change, Name string
	Patch                []struct {
		Op, Path string
		Value    json.RawMessage
	}
}

// apply checks that the patches of the deep diff turn revision a into revision b.
func (p *player) apply(a, b int) {
	said := map[string]int{}
	for name, doc := range p.site.history[a] {
		if name == "lp" {
			continue
		}
		said[doc.bucket+"/"+name] = doc.data
	}
	for _, item := range decoded[[]patched](p, p.ask(http.MethodGet, fmt.Sprintf("revisions/%d/deepdiff/%d", a, b), "",
		http.StatusOK, "Accept", "application/json-patch+json")) {
		for _, op := range item.Patch {
			if item.Name == "lp" { // a revision without a LayeringPolicy uses an earlier one
				continue
			}
			key := item.Bucket + "/" + item.Name
			switch op.Op + " " + op.Path {
			case "add ":
				var doc shownDocument
				if err := json.Unmarshal(op.Value, &doc); err != nil {
					p.Fatalf("deepdiff of %d and %d: %v", a, b, err)
				}
				said[key] = doc.Data.X
			case "remove ":
				delete(said, key)
			case "replace /data/x":
				said[key], _ = strconv.Atoi(string(op.Value))
			default:
				p.Fatalf("deepdiff of %d and %d has an odd patch: %+v", a, b, item)
			}
		}
	}
	want := map[string]int{}
	for name, doc := range p.site.history[b] {
		if name == "lp" {
			continue
		}
		want[doc.bucket+"/"+name] = doc.data
	}
	p.agree(fmt.Sprintf("patches that make %d into %d", a, b), want, said)
}
