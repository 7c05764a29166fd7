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

// operation is one that a client asked for.
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

// history is what happened in one round.
type history struct {
	began      time.Time
	mutex      sync.Mutex
	operations []operation
	problems   []string
	slowest    map[string]time.Duration // by kind of request
	refs       []ref                    // that were seen, also those that are lost
	etags      []string                 // of the newest documents
	seen       content                  // of the newest documents
}

func newHistory(before *history) *history {
	h := &history{began: time.Now(), slowest: map[string]time.Duration{}}
	if before != nil { // what clients remember
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

// took notes how long a request took.
func (h *history) took(what string, d, limit time.Duration) {
	if d > limit {
		h.problemf("a %s took %v, want at most %v", what, d.Round(time.Millisecond), limit)
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.slowest[what] = max(h.slowest[what], d)
}

// remember keeps a revision for later requests, and what the newest documents and their ETag are.
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

// count returns how many requests were answered, how many were refused, and of how many the outcome was not known.
func (h *history) count() (counts [3]int) {
	for _, o := range h.operations {
		counts[o.outcome]++
	}
	return counts
}

// parseETag returns the revision that an ETag names.
func parseETag(etag string) ref {
	text, _, _ := strings.Cut(strings.Trim(strings.TrimPrefix(etag, "W/"), `"`), ".") // weak where the answer was compressed
	number, stamp, _ := strings.Cut(text, "-")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return ref{}
	}
	return ref{n, stamp}
}

// evidence is what databases hold about operations, by the ids of those.
type evidence struct {
	made    map[string]ref   // the revisions that are there
	audited map[string]int64 // the revisions of events that succeeded
}

var idPattern = regexp.MustCompile(`op\d+`)

// resolve returns the history with the outcome of each operation that is known or can be found out.
func (h *history) resolve(e evidence) []porcupine.Operation {
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

// replaced reports whether revisions were deleted within a time. A list of notes is read after its revision was found,
// and what it tells then is not from one moment; it is left out of what is checked.
func (h *history) replaced(from, to time.Duration) bool {
	return slices.ContainsFunc(h.operations, func(o operation) bool {
		deletes := o.in.kind == purge || o.in.kind == pruneBegins || o.in.kind == rewind
		return deletes && o.call <= to && (o.end >= from || o.outcome == uncertain)
	})
}

// succeeds are the statuses of changes that are made.
//
//nolint:exhaustive // others change nothing
var succeeds = map[kind]int{write: 200, rollback: 201, addNote: 201, purge: 204}

// lasts reports whether an operation has certainly changed something.
func (o *operation) lasts() bool {
	return o.in.kind != write && o.out.status != 0 && o.out.status == succeeds[o.in.kind]
}

// check holds the history against the model. The site was empty before.
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

// dump writes the history to a file and says where it is.
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
