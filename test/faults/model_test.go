//go:build linux

package faults_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// buckets is the number of buckets that clients write.
const buckets = 4

// content is the content of the buckets: the names and tokens of their documents.
type content [buckets]string

// ref identifies a revision. An unknown stamp is empty.
type ref struct {
	number int64
	stamp  string
}

// is reports whether two references can mean the same revision.
func (r ref) is(other ref) bool {
	return r.number == other.number && (r.stamp == other.stamp || r.stamp == "" || other.stamp == "")
}

// revision is a revision of a site, or a purge, which has the number 0. It never changes.
type revision struct {
	ref
	content content
	parent  *revision
	sum     uint64 // hash of all revisions since the beginning
	may     int64  // may of the state before, if this is a purge
}

func (r *revision) next(made ref, c content) *revision {
	return &revision{ref: made, content: c, parent: r, sum: hashed(r.sum, made, c)}
}

// note is a tag or a posted result.
type note struct {
	revision int64
	kind     string // "tags" or "validations"
	name     string
}

// state is the state of a site according to the model. It never changes.
type state struct {
	head     *revision
	notes    map[note]bool
	notesSum uint64
	may      int64 // revisions up to this one may have been pruned, unless they have tags
	must     int64 // revisions up to this one have been pruned, unless they have tags
}

func hashed(values ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, values...)
	return h.Sum64()
}

func (s *state) key() uint64 { return hashed(s.head.sum, " ", s.notesSum, " ", s.may, " ", s.must) }

func (s *state) tagged(number int64) bool {
	for n := range s.notes {
		if n.revision == number && n.kind == "tags" {
			return true
		}
	}
	return false
}

// find returns a revision, or nil if it must have been pruned. The number must not be above the head's.
func (s *state) find(number int64) *revision {
	at := s.head
	for at.number > number {
		at = at.parent
	}
	if at.number != number || number <= s.must && !s.tagged(number) {
		return nil
	}
	return at
}

// lacks reports whether a status correctly says that a revision does not exist.
func (s *state) lacks(number int64, status int) bool {
	switch status {
	case 404:
		return number > s.head.number
	case 410:
		return number <= s.head.number && number <= s.may && !s.tagged(number)
	}
	return false
}

// listed returns the sorted names of a revision's notes of a kind.
func (s *state) listed(number int64, kind string) string {
	var names []string
	for n := range s.notes {
		if n.revision == number && n.kind == kind {
			names = append(names, n.name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func (s *state) with(n note) *state {
	if s.notes[n] {
		return s
	}
	changed := *s
	changed.notes = maps.Clone(s.notes)
	changed.notes[n] = true
	changed.notesSum += hashed(n) // independent of the order
	return &changed
}

func (s *state) on(head *revision) *state {
	changed := *s
	changed.head = head
	return &changed
}

func emptyState() *state { return &state{head: &revision{}, notes: map[note]bool{}} }

// kind is what an operation does.
type kind int

const (
	write    kind = iota // PUT of a bucket, or a change set
	rollback             // to a revision
	purge
	pruneBegins // old revisions may be missing from here on
	pruneEnds   // old revisions are missing from here on
	readLatest
	readRevision
	addNote
	readNotes
	list
	rewind // the database went back to an earlier state
)

type input struct {
	kind   kind
	edits  map[int]string // content of buckets
	cond   *ref           // If-Match, If-None-Match or revision-stamp
	target int64          // a revision
	note   note
	found  *state // after a rewind
}

type output struct {
	status  int
	ref     ref
	content content
	notes   string
	list    []ref
	pruned  int64 // the last pruned revision
}

// model is the model that every history of a site must follow. A history has no operations with an unknown outcome.
func model(initial *state) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(at, in, out any) (bool, any) {
			next := at.(*state).step(in.(input), out.(output))
			return next != nil, next
		},
		Equal: func(a, b any) bool { return a.(*state).key() == b.(*state).key() },
		Hash:  func(a any) uint64 { return a.(*state).key() },
	}
}

// step returns the state after an operation, or nil if the operation cannot have had that outcome.
func (s *state) step(in input, out output) *state {
	switch in.kind {
	case write:
		return s.write(in, out)
	case rollback:
		return s.rollback(in, out)
	case purge:
		if in.cond != nil && out.status == 412 {
			return s.unless(in.cond.is(s.head.ref))
		}
		head := s.head.next(ref{}, content{})
		head.may, head.sum = s.may, hashed(head.sum, s.may)
		return &state{head: head, notes: map[note]bool{}}
	case pruneBegins:
		changed := *s
		changed.may = max(s.may, s.head.number-keep)
		return &changed
	case pruneEnds:
		changed := *s
		changed.may, changed.must = max(s.may, out.pruned), max(s.must, out.pruned)
		return &changed
	case readLatest:
		return s.readLatest(in, out)
	case readRevision:
		if in.target > s.head.number || out.status != 200 {
			return s.unless(!s.lacks(in.target, out.status))
		}
		found := s.find(in.target)
		return s.unless(found == nil || !found.is(out.ref) || found.content != out.content)
	case addNote:
		return s.addNote(in, out)
	case readNotes:
		if in.target > s.head.number || out.status != 200 {
			return s.unless(!s.lacks(in.target, out.status))
		}
		return s.unless(s.find(in.target) == nil || s.listed(in.target, in.note.kind) != out.notes)
	case list:
		return s.unless(!s.lists(out.list))
	case rewind:
		return s.rewind(in.found)
	}
	panic("unknown kind")
}

// unless returns the state unchanged, or nil if wrong is true.
func (s *state) unless(wrong bool) *state {
	if wrong {
		return nil
	}
	return s
}

func (s *state) write(in input, out output) *state {
	stale := in.cond != nil && !in.cond.is(s.head.ref)
	if out.status == 412 {
		holds := in.cond != nil && *in.cond == s.head.ref
		return s.unless(in.cond == nil || holds || !out.ref.is(s.head.ref))
	}
	if stale || out.status != 200 {
		return nil
	}
	after := s.head.content
	for bucket, text := range in.edits {
		after[bucket] = text
	}
	if after == s.head.content {
		return s.unless(!out.ref.is(s.head.ref))
	}
	if out.ref.number != s.head.number+1 {
		return nil
	}
	return s.on(s.head.next(out.ref, after))
}

func (s *state) rollback(in input, out output) *state {
	if out.status != 201 {
		return s.unless(!s.lacks(in.target, out.status))
	}
	if in.target > s.head.number || out.ref.number != s.head.number+1 {
		return nil
	}
	var after content
	if in.target > 0 {
		target := s.find(in.target)
		if target == nil {
			return nil
		}
		after = target.content
	}
	next := s.on(s.head.next(out.ref, after))
	for n := range s.notes { // results posted for the target also count for the new revision
		if n.revision == in.target && n.kind == "validations" {
			next = next.with(note{out.ref.number, n.kind, n.name})
		}
	}
	return next
}

func (s *state) readLatest(in input, out output) *state {
	switch out.status {
	case 404:
		return s.unless(s.head.number > 0)
	case 304:
		return s.unless(in.cond == nil || !in.cond.is(s.head.ref) || !out.ref.is(s.head.ref))
	case 200:
		return s.unless(!out.ref.is(s.head.ref) || out.content != s.head.content)
	}
	return nil
}

func (s *state) addNote(in input, out output) *state {
	number := in.note.revision
	if number > s.head.number || out.status == 404 || out.status == 410 {
		return s.unless(!s.lacks(number, out.status))
	}
	target := s.find(number)
	switch {
	case target == nil:
		return nil
	case out.status == 412:
		return s.unless(in.cond == nil || *in.cond == target.ref)
	case out.status != 201, in.cond != nil && !in.cond.is(target.ref):
		return nil
	}
	return s.with(in.note)
}

// lists reports whether a list has all revisions that must exist, and none that cannot.
func (s *state) lists(all []ref) bool {
	at := s.head
	for _, is := range slices.Backward(all) {
		for ; at.number > is.number; at = at.parent {
			if at.number > s.may || s.tagged(at.number) {
				return false
			}
		}
		if !at.is(is) {
			return false
		}
		at = at.parent
	}
	for ; at != nil && at.number > 0; at = at.parent {
		if at.number > s.may || s.tagged(at.number) {
			return false
		}
	}
	return true
}

// rewind returns an earlier state, with the notes that were found in the database.
func (s *state) rewind(found *state) *state {
	may := s.may
	for at := s.head; at != nil; at = at.parent {
		if at.is(found.head.ref) {
			return &state{head: at, notes: found.notes, notesSum: found.notesSum, may: may}
		}
		if at.number == 0 {
			may = at.may
		}
	}
	return nil
}
