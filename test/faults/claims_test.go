//go:build linux

package faults_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A server that freezes in the middle of a request about a claim, before the database has the statement or after it has
// committed that, doubles nothing: meanwhile another worker may claim the work through the other server, and then the
// late one is refused and stores nothing.
func TestFrozen_claims(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, purser(t), newPostgres(t), 1)
	for range *times {
		for what, freezes := range map[string]func(*work){
			"before a claim": (*work).beforeClaim, "after a claim": (*work).afterClaim,
			"before a heartbeat": (*work).beforeHeartbeat,
			"before a result":    (*work).beforeResult, "after a result": (*work).afterResult,
		} {
			t.Log("the server freezes", what)
			w := newWork(t, d)
			freezes(w)
			w.checkDone()
		}
	}
}

// work is the result that a new revision lacks. One worker uses the first server, which freezes, the other the second.
type work struct {
	*testing.T
	*deployment
	revision   int64
	validation string
	by         string // the worker whose result must count
}

const slow, other = "slow", "other" // workers

func newWork(t *testing.T, d *deployment) *work {
	t.Helper()
	w := &work{T: t, deployment: d, validation: d.client().newID() + "-validation"}
	for _, server := range d.servers {
		server.ready(t)
	}
	made := w.ask(other, request{
		method: http.MethodPut, path: "buckets/policy/documents", body: fmt.Sprintf("schema: deckhand/ValidationPolicy/v1\n"+
			"metadata: {schema: metadata/Control/v1, name: p}\ndata: {validations: [{name: %s}]}\n", w.validation),
	}).is(t, http.StatusOK)
	w.revision = parseETag(made.header.Get("ETag")).number
	return w
}

// reply is the answer to a worker.
type reply struct {
	status int
	header http.Header
	text   string
	err    error
}

func (a reply) is(t *testing.T, status int) reply {
	t.Helper()
	if a.err != nil || a.status != status {
		t.Fatalf("got %d %s, %v, want %d", a.status, a.text, a.err, status)
	}
	return a
}

// lost checks that a request was refused because the other worker has the work.
func (a reply) lost(t *testing.T) {
	t.Helper()
	a.is(t, http.StatusConflict)
	if !strings.Contains(a.text, "ClaimLost") || !strings.Contains(a.text, `"worker":"`+other+`"`) {
		t.Errorf("got %s, want ClaimLost", a.text)
	}
}

// claim is a claim as servers answer with it.
type claim struct {
	ID      string `json:"id"`
	Attempt int    `json:"attempt"`
	Result  string `json:"result"`
}

// claim returns the claim in an answer, which must be the given attempt.
func (a reply) claim(t *testing.T, attempt int) (got claim) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.is(t, http.StatusCreated).text), &got); err != nil || got.Attempt != attempt {
		t.Fatalf("got %s, %v, want attempt %d", a.text, err, attempt)
	}
	return got
}

func (w *work) ask(worker string, r request) (a reply) {
	c := w.client()
	if worker == slow {
		c.urls = c.urls[:1]
	} else {
		c.urls = c.urls[1:]
	}
	a.status, a.header, a.text, a.err = c.exchange(r)
	return a
}

// claiming returns the request of a worker for the work, for which it waits. A claim of the slow one lasts as long as
// the shortest.
func (w *work) claiming(worker string) request {
	timeout := "PT1H"
	if worker == slow {
		timeout = "PT1S"
	}
	return request{
		method: http.MethodPost, path: "claims?wait=1m",
		body: fmt.Sprintf("{validations: [%s], worker: %s, timeout: %s}", w.validation, worker, timeout),
	}
}

// posting returns the request of a worker that ends a claim.
func posting(worker string, ended claim) request {
	_, path, _ := strings.Cut(ended.Result, "/api/v1.0/")
	return request{method: http.MethodPost, path: path, body: fmt.Sprintf(
		"{status: success, validator: {name: v}, errors: [{message: %s}]}", worker)}
}

// freeze lets the slow worker send a request, and freezes its server once that has sent the database the statement with
// the text. If reaches is set, the database executes the statement at once, else when the server wakes up. The returned
// function wakes the server, and returns its answer.
func (w *work) freeze(text string, reaches bool, r request) (wake func() reply) {
	w.Helper()
	frozen, database := w.servers[0], w.proxies[0]
	eventually(w.T, "all events are numbered, so that the frozen server does not hold the feed", func() bool {
		return w.count("SELECT count(*) FROM outbox") == 0
	})
	database.holdFrom(text)
	answers := make(chan reply, 1)
	go func() { answers <- w.ask(slow, r) }()
	eventually(w.T, "the server sends the statement", func() bool { return database.holds() || len(answers) > 0 })
	frozen.signal(syscall.SIGSTOP)
	awake := func() {
		frozen.signal(syscall.SIGCONT)
		database.set(func(p *proxy) { p.hold = false })
	}
	w.Cleanup(awake)
	eventually(w.T, "the server is frozen", func() bool { return frozen.isFrozen(w.T) })
	if reaches {
		database.set(func(p *proxy) { p.hold = false })
	}
	return func() reply {
		if len(answers) > 0 {
			w.Error("the server was not frozen")
		}
		awake()
		return <-answers
	}
}

// isFrozen reports whether all threads of the process are stopped.
func (p *process) isFrozen(t *testing.T) bool {
	t.Helper()
	tasks := fmt.Sprintf("/proc/%d/task", p.Process.Pid)
	threads, err := os.ReadDir(tasks)
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		status, err := os.ReadFile(tasks + "/" + thread.Name() + "/status")
		if err == nil && !strings.Contains(string(status), "\nState:\tT") {
			return false
		}
	}
	return true
}

// count returns the result of a statement that counts.
func (w *work) count(sql string) (n int) {
	w.Helper()
	w.db.do(w.T, sql, &n)
	return n
}

// stored returns the number of results and of events about them.
func (w *work) stored() (results, events int) {
	w.Helper()
	results = w.count(fmt.Sprintf("SELECT count(*) FROM results WHERE name = '%s'", w.validation))
	events = w.count(fmt.Sprintf("SELECT count(*) FROM (SELECT type, subject FROM outbox UNION ALL "+
		"SELECT type, subject FROM events) e WHERE type = 'purser.validation.posted' AND subject = 'revisions/%d/validations/%s'",
		w.revision, w.validation))
	return results, events
}

// waitFor waits until the database knows of a claim of the slow worker that fulfils a condition.
func (w *work) waitFor(condition string) {
	w.Helper()
	sql := fmt.Sprintf("SELECT count(*) FROM claims WHERE validation = '%s' AND worker = '%s' AND %s", w.validation, slow,
		condition)
	eventually(w.T, condition, func() bool { return w.count(sql) == 1 })
}

// finish checks that nothing of the slow worker's claim, which may be none, counts any more, and posts the other's
// result.
func (w *work) finish(late, held claim) {
	w.Helper()
	w.by = other
	if late.ID != "" {
		heartbeat := request{method: http.MethodPut, path: "claims/" + late.ID, body: "{progress: late}"}
		for _, r := range []request{posting(slow, late), heartbeat, {method: http.MethodDelete, path: "claims/" + late.ID}} {
			w.ask(slow, r).lost(w.T)
			w.ask(other, r).lost(w.T)
		}
	}
	if results, events := w.stored(); results != 0 || events != 0 {
		w.Errorf("the late worker has stored %d results and %d events", results, events)
	}
	w.ask(other, posting(other, held)).is(w.T, http.StatusCreated)
}

// checkDone checks that the work is done once, and that nobody gets it again.
func (w *work) checkDone() {
	w.Helper()
	if results, events := w.stored(); results != 1 || events != 1 {
		w.Errorf("%d results and %d events, want one", results, events)
	}
	for _, worker := range []string{slow, other} {
		r := w.claiming(worker)
		r.path = "claims"
		w.ask(worker, r).is(w.T, http.StatusNoContent)
		path := fmt.Sprintf("revisions/%d/validations/%s/entries/0", w.revision, w.validation)
		got := w.ask(worker, request{method: http.MethodGet, path: path}).is(w.T, http.StatusOK)
		if !strings.Contains(got.text, `"`+w.by+`"`) {
			w.Errorf("the result is %s, want that of %s", got.text, w.by)
		}
	}
}

// The other worker claims the work that the frozen server is about to claim.
func (w *work) beforeClaim() {
	r := w.claiming(slow)
	r.path = "claims"
	wake := w.freeze(`"worker":"`+slow+`"`, false, r)
	held := w.ask(other, w.claiming(other)).claim(w.T, 1)
	wake().is(w.T, http.StatusNoContent)
	w.finish(claim{}, held)
}

// The claim has run out when its worker learns of it.
func (w *work) afterClaim() {
	wake := w.freeze(`"worker":"`+slow+`"`, true, w.claiming(slow))
	w.waitFor("attempt = 1")
	held := w.ask(other, w.claiming(other)).claim(w.T, 2)
	w.finish(wake().claim(w.T, 1), held)
}

// A heartbeat comes when another worker has the work.
func (w *work) beforeHeartbeat() {
	late := w.ask(slow, w.claiming(slow)).claim(w.T, 1)
	wake := w.freeze("half of it", false, request{
		method: http.MethodPut, path: "claims/" + late.ID, body: "{progress: half of it}",
	})
	held := w.ask(other, w.claiming(other)).claim(w.T, 2)
	wake().lost(w.T)
	w.finish(late, held)
}

// A result comes when another worker has the work.
func (w *work) beforeResult() {
	late := w.ask(slow, w.claiming(slow)).claim(w.T, 1)
	wake := w.freeze(`"claim":"`+late.ID, false, posting(slow, late))
	held := w.ask(other, w.claiming(other)).claim(w.T, 2)
	wake().lost(w.T)
	w.finish(late, held)
}

// The result is stored, so nobody gets the work although the claim would have run out, and it can be sent again.
func (w *work) afterResult() {
	w.by = slow
	late := w.ask(slow, w.claiming(slow)).claim(w.T, 1)
	wake := w.freeze(`"claim":"`+late.ID, true, posting(slow, late))
	w.waitFor("ended_at IS NOT NULL AND expires_at < now()")
	r := w.claiming(other)
	r.path = "claims"
	w.ask(other, r).is(w.T, http.StatusNoContent)
	w.ask(other, posting(slow, late)).is(w.T, http.StatusOK)
	wake().is(w.T, http.StatusCreated)
	w.ask(slow, posting(slow, late)).is(w.T, http.StatusOK)
}
