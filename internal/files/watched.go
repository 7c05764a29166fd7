package files

import (
	"crypto/sha256"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Interval is the least time between two looks at watched files.
const Interval = time.Second

// Source says where a value is read from, and how.
type Source[V any] struct {
	Paths    []string // those of one value; the text of an empty path is empty
	MaxBytes int64    // of each file
	Private  []string // those of Paths that are refused if anybody but their owner can read or change them

	// Parse makes the value of the texts, one for each path. It is never called twice at once.
	Parse func(texts [][]byte) (V, error)
	// Report is told when a changed text is in use, and once why the files cannot be used: the value is the old one then.
	Report func(value V, err error)
	Now    func() time.Time

	// Settle leaves a text alone that was written within the last Interval, until two looks have found the same: for
	// files of which a half would be taken for the whole.
	Settle bool
	// Retry is after how long to parse a text again that could not be parsed; 0: only when it has changed.
	Retry time.Duration
}

// Watched is a value that is read from files again when their texts have changed. While they cannot be used, it stays
// as it was. Texts are compared, not times: tools that renew certificates replace links and keep times. It is safe for
// concurrent use; nothing happens unless somebody asks for the value.
type Watched[V any] struct {
	source Source[V]
	value  atomic.Pointer[V]

	looking   sync.Mutex // held while looking at the files; guards what follows
	looked    time.Time
	found     digest // of the texts at the last look
	tried     digest // of the texts that were parsed last
	triedAt   time.Time
	triedErr  error  // why they cannot be used; nil: they are in use
	complaint string // the error that was reported last; "": the files can be used
}

type digest = [sha256.Size]byte

// Watch reads a value for the first time. An error is one of reading the files or of parsing them.
func Watch[V any](source Source[V]) (*Watched[V], error) {
	w := &Watched[V]{source: source, looked: source.Now()}
	texts, _, err := w.read()
	if err != nil {
		return nil, err
	}
	if err := w.parse(texts, digestOf(texts), w.looked); err != nil {
		return nil, err
	}
	w.found = w.tried
	return w, nil
}

// Current returns the value, after a look at the files if the last one is at least Interval ago. Callers that come
// while another one looks get the value from before.
func (w *Watched[V]) Current() V {
	if w.looking.TryLock() {
		w.lookIfDue(w.source.Now())
		w.looking.Unlock()
	}
	return *w.value.Load()
}

// Latest is Current, but looks at the files in any case, unless the last look found that they cannot be used: then no
// more often than Current.
func (w *Watched[V]) Latest() V {
	w.looking.Lock()
	defer w.looking.Unlock()
	if now := w.source.Now(); w.complaint == "" {
		w.look(now)
	} else {
		w.lookIfDue(now)
	}
	return *w.value.Load()
}

func (w *Watched[V]) lookIfDue(now time.Time) {
	if passed := now.Sub(w.looked); passed < 0 || passed >= Interval { // also after the clock was put back
		w.look(now)
	}
}

// look reads the files, and parses what has changed.
func (w *Watched[V]) look(now time.Time) {
	w.looked = now
	texts, modified, err := w.read()
	if err != nil {
		w.report(err)
		return
	}
	sum := digestOf(texts)
	settled := !w.source.Settle || sum == w.found || now.Sub(modified) >= Interval
	w.found = sum
	switch {
	case sum == w.tried && !w.retries(now):
		w.report(w.triedErr)
	case settled:
		if sum != w.tried {
			w.complaint = "" // that of another text
		}
		if err := w.parse(texts, sum, now); err != nil {
			w.report(err)
			return
		}
		w.complaint = ""
		w.source.Report(*w.value.Load(), nil)
	}
}

func (w *Watched[V]) retries(now time.Time) bool {
	return w.triedErr != nil && w.source.Retry > 0 && now.Sub(w.triedAt) >= w.source.Retry
}

// parse makes the texts the value, if they can be used.
func (w *Watched[V]) parse(texts [][]byte, sum digest, now time.Time) error {
	value, err := w.source.Parse(texts)
	w.tried, w.triedAt, w.triedErr = sum, now, err
	if err == nil {
		w.value.Store(&value)
	}
	return err
}

// report calls Report with the error of a look, or with nil after one, unless the look before had the same result.
func (w *Watched[V]) report(err error) {
	complaint := ""
	if err != nil {
		complaint = err.Error()
	}
	if complaint != w.complaint {
		w.complaint = complaint
		w.source.Report(*w.value.Load(), err)
	}
}

// read returns the texts of the files and the latest time at which one of them was modified.
func (w *Watched[V]) read() (texts [][]byte, modified time.Time, err error) {
	texts = make([][]byte, len(w.source.Paths))
	for i, path := range w.source.Paths {
		if path == "" {
			continue
		}
		text, at, err := read(path, w.source.MaxBytes, slices.Contains(w.source.Private, path))
		if err != nil {
			return nil, modified, err
		}
		texts[i] = text
		if at.After(modified) {
			modified = at
		}
	}
	return texts, modified, nil
}

// digestOf returns a digest by which texts are compared; the texts, some of which are keys, are not kept.
func digestOf(texts [][]byte) digest {
	sums := make([]byte, 0, len(texts)*sha256.Size)
	for _, text := range texts {
		sum := sha256.Sum256(text)
		sums = append(sums, sum[:]...)
	}
	return sha256.Sum256(sums)
}
