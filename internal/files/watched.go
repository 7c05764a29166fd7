package files

import (
	"crypto/sha256"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Interval is the minimum time between two looks at watched files.
const Interval = time.Second

// Source configures how a value is read from files.
type Source[V any] struct {
	Paths    []string // of the files of one value; the text of an empty path is empty
	MaxBytes int64    // of each file
	Private  []string // those of Paths that are refused if anyone but their owner can read or change them

	// Parse converts the texts, one for each path, to a value. It is never called concurrently.
	Parse func(texts [][]byte) (V, error)
	// Report is called when the value has changed or can be used again, and once for each error, with the old value.
	Report func(value V, err error)
	Now    func() time.Time

	// Settle delays the use of a text written within the last Interval until two looks have found it unchanged, for files
	// that may be mistaken for complete while they are being written.
	Settle bool
	// Retry is the time after which a text that could not be parsed is parsed again; 0 means only when it changes.
	Retry time.Duration
}

// Watched is a value that is read from files again when their texts have changed. While they cannot be used, it keeps
// the old value. It compares texts, not times, because tools that renew certificates replace links and keep times. It
// is safe for concurrent use and reads files only when a caller asks for the value.
type Watched[V any] struct {
	source Source[V]
	value  atomic.Pointer[V]

	looking   sync.Mutex // held while looking at the files; guards the fields below
	looked    time.Time
	found     digest // of the texts found by the last look
	tried     digest // of the texts that were last parsed
	triedAt   time.Time
	triedErr  error  // the error of parsing them; nil if they are in use
	complaint string // the last reported error; "" if the files can be used
}

type digest = [sha256.Size]byte

// Watch reads a value for the first time. It returns an error if the files cannot be read or parsed.
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

// Current returns the value, after a look at the files if the last one is at least Interval ago. While a look is in
// progress, other callers get the old value.
func (w *Watched[V]) Current() V {
	if w.looking.TryLock() {
		w.lookIfDue(w.source.Now())
		w.looking.Unlock()
	}
	return *w.value.Load()
}

// Latest is like Current, but always looks at the files, unless the last look found that they cannot be used: then it
// looks no more often than Current.
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
	if passed := now.Sub(w.looked); passed < 0 || passed >= Interval { // also if the clock was set back
		w.look(now)
	}
}

// look reads the files and parses their texts if they have changed.
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

// parse parses the texts and stores the value if there is no error.
func (w *Watched[V]) parse(texts [][]byte, sum digest, now time.Time) error {
	value, err := w.source.Parse(texts)
	w.tried, w.triedAt, w.triedErr = sum, now, err
	if err == nil {
		w.value.Store(&value)
	}
	return err
}

// report calls Report with the error of a look, nil if it has none, unless the previous look had the same error.
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

// read returns the texts of the files and the latest modification time.
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

// digestOf returns a digest for comparing texts. The texts are not kept, because some are keys.
func digestOf(texts [][]byte) digest {
	sums := make([]byte, 0, len(texts)*sha256.Size)
	for _, text := range texts {
		sum := sha256.Sum256(text)
		sums = append(sums, sum[:]...)
	}
	return sha256.Sum256(sums)
}
