//go:build linux

package faults_test

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// outcome says what is known about an operation.
type outcome int

const (
	answered  outcome = iota
	undone            // it never began, or the answer said that nothing was stored
	uncertain         // it may have happened
)

// operation is an operation that a client requested.
type operation struct {
	id        string // part of the request's path or query, so that the audit names it
	in        input
	out       output
	outcome   outcome
	call, end time.Duration // since the history began
}

func (o *operation) String() string {
	in := o.in
	text := fmt.Sprintf("%v-%v %s kind %d", o.call.Round(time.Microsecond), o.end.Round(time.Microsecond), o.id, in.kind)
	if in.edits != nil {
		text += fmt.Sprintf(" edits %v", in.edits)
	}
	if in.cond != nil {
		text += fmt.Sprintf(" if %v", *in.cond)
	}
	if in.target > 0 || in.note.revision > 0 {
		text += fmt.Sprintf(" of %d %v", in.target, in.note)
	}
	if in.found != nil {
		text += fmt.Sprintf(" found %v", in.found.head.ref)
	}
	return text + fmt.Sprintf(" -> %d %v %q %q", o.out.status, o.out.ref, o.out.content, o.out.notes)
}

// history records one round of a site.
type history struct {
	site       string
	began      time.Time
	mutex      sync.Mutex
	operations []operation
	problems   []string
	mixed      map[string]bool          // kinds of texts that named operations of other sites
	slowest    map[string]time.Duration // by kind of request
	refs       []ref                    // all that clients have seen, including lost ones
	etags      []string                 // of the newest documents
	seen       content                  // of the newest documents
}

func newHistory(site string, before *history, began time.Time) *history {
	h := &history{site: site, began: began, mixed: map[string]bool{}, slowest: map[string]time.Duration{}}
	if before != nil { // clients remember these between rounds
		h.refs, h.etags, h.seen = before.refs, before.etags, before.seen
	}
	return h
}

func (h *history) now() time.Duration { return time.Since(h.began) }

func (h *history) add(o operation) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.operations = append(h.operations, o)
}

func (h *history) problemf(format string, args ...any) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if len(h.problems) < 20 {
		h.problems = append(h.problems, fmt.Sprintf(format, args...))
	}
}

// took records the duration of a request, which must not exceed limit.
func (h *history) took(what string, d, limit time.Duration) {
	if d > limit {
		h.problemf("a %s took %v, want at most %v", what, d.Round(time.Millisecond), limit)
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.slowest[what] = max(h.slowest[what], d)
}

// remember keeps a revision for later requests, and the contents and ETag of the newest documents.
func (h *history) remember(o operation, etag string) {
	const many = 200
	h.mutex.Lock()
	defer h.mutex.Unlock()
	r := o.out.ref
	if r.stamp != "" && (len(h.refs) == 0 || h.refs[len(h.refs)-1] != r) {
		h.refs = append(h.refs[max(0, len(h.refs)-many):], r)
	}
	if o.in.kind == readLatest && o.out.status == http.StatusOK {
		h.seen = o.out.content
		h.etags = append(h.etags[max(0, len(h.etags)-many):], etag)
	}
}

// count returns the numbers of answered, undone and uncertain operations, indexed by outcome.
func (h *history) count() (counts [3]int) {
	for _, o := range h.operations {
		counts[o.outcome]++
	}
	return counts
}

// parseETag returns the revision that an ETag names.
func parseETag(etag string) ref {
	text, _, _ := strings.Cut(strings.Trim(strings.TrimPrefix(etag, "W/"), `"`), ".") // weak if the answer was compressed
	number, stamp, _ := strings.Cut(text, "-")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return ref{}
	}
	return ref{n, stamp}
}

// idPattern matches the id of an operation, which ends with the name of its site.
var idPattern = regexp.MustCompile(`op\d+-([a-z0-9]+)`)

// mustOwn checks that a text names no operation of another site. It reports one of each kind of text.
func (h *history) mustOwn(kind, text string) {
	for _, id := range idPattern.FindAllStringSubmatch(text, -1) {
		if id[1] == h.site {
			continue
		}
		h.mutex.Lock()
		known := h.mixed[kind]
		h.mixed[kind] = true
		h.mutex.Unlock()
		if !known {
			h.problemf("%s has %s, which is of another site", kind, id[0])
		}
		return
	}
}

// resolve returns the operations whose outcome is known or follows from the evidence.
func (h *history) resolve(e evidence) []porcupine.Operation {
	for at := range e.rows {
		h.mustOwn("the table "+at.table, at.id)
	}
	for id := range e.made {
		if _, ok := e.audited[id]; !ok {
			h.problemf("%s made revision %d, which has no audit event", id, e.made[id].number)
		}
	}
	var all []porcupine.Operation
	add := func(o operation, ret int64) {
		all = append(all, porcupine.Operation{Input: o.in, Output: o.out, Call: int64(o.call), Return: ret, Metadata: &o})
	}
	for _, o := range h.operations {
		number, done := e.audited[o.id]
		switch {
		case o.outcome == undone && done:
			h.problemf("nothing was stored, said the answer, but there is an event: %v", &o)
		case o.outcome == answered && !done && o.lasts():
			h.problemf("it was acknowledged and has no audit event: %v", &o)
		}
		switch {
		case o.in.kind == readNotes && h.replaced(o.call, o.end):
		case o.outcome == answered:
			add(o, int64(o.end))
		case o.in.kind == pruneBegins && o.outcome == undone:
			add(o, int64(o.end)) // it may have deleted something before it failed, and deletes nothing afterwards
		case o.in.kind == pruneBegins:
			add(o, math.MaxInt64)
		case o.outcome == uncertain && done:
			o.out = output{status: succeeds[o.in.kind], ref: ref{number: number}}
			if made, ok := e.made[o.id]; ok {
				o.out.ref = made
			}
			add(o, math.MaxInt64)
		}
	}
	return all
}

// replaced reports whether revisions were deleted in an interval. A list of notes from that time is not checked,
// because it is read after its revision was found, not at the same moment.
func (h *history) replaced(from, to time.Duration) bool {
	return slices.ContainsFunc(h.operations, func(o operation) bool {
		deletes := o.in.kind == purge || o.in.kind == pruneBegins || o.in.kind == rewind
		return deletes && o.call <= to && (o.end >= from || o.outcome == uncertain)
	})
}

// succeeds has the statuses of successful changes.
//
//nolint:exhaustive // others change nothing
var succeeds = map[kind]int{write: 200, rollback: 201, addNote: 201, purge: 204}

// lasts reports whether an operation has certainly changed something.
func (o *operation) lasts() bool {
	return o.in.kind != write && o.out.status != 0 && o.out.status == succeeds[o.in.kind]
}

// check checks the history against the model, which begins with an empty site.
func (h *history) check(e evidence) {
	const limit = time.Minute
	all := h.resolve(e)
	result, info := porcupine.CheckOperationsVerbose(model(emptyState()), all, limit)
	switch result {
	case porcupine.Ok:
	case porcupine.Unknown:
		h.problemf("the history of %d operations could not be checked within %v", len(all), limit)
	case porcupine.Illegal:
		h.problemf("the history is not linearizable: %s", firstWrong(all, info))
	}
}

// firstWrong describes the place where the longest linearization ends.
func firstWrong(all []porcupine.Operation, info porcupine.LinearizationInfo) string {
	var longest []porcupine.Operation
	for _, partition := range info.PartialLinearizationsOperations() {
		for _, partial := range partition {
			if len(partial) > len(longest) {
				longest = partial
			}
		}
	}
	done := map[any]bool{}
	key := func(o porcupine.Operation) any { return fmt.Sprint(o.Metadata) }
	var text strings.Builder
	for _, o := range longest {
		done[key(o)] = true
	}
	for _, o := range longest[max(0, len(longest)-8):] {
		fmt.Fprintf(&text, "\n  done: %v", o.Metadata)
	}
	slices.SortFunc(all, func(a, b porcupine.Operation) int { return int(a.Return - b.Return) })
	n := 0
	for _, o := range all {
		if !done[key(o)] && n < 8 {
			n++
			fmt.Fprintf(&text, "\n  left: %v", o.Metadata)
		}
	}
	return text.String()
}

// dump writes the history to a file and returns its name.
func (h *history) dump() string {
	file, err := os.CreateTemp("", "purser-history-")
	if err != nil {
		return ""
	}
	defer file.Close()
	for _, o := range h.operations {
		fmt.Fprintf(file, "outcome %d %v\n", o.outcome, &o)
	}
	return file.Name()
}
