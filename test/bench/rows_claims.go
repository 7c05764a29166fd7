package main

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"time"
)

// claimants is how many workers claim work at the same time.
const claimants = 64

var claimed = regexp.MustCompile(`(?m)^result: '?https?://[^/]+(/[^'\s]+)`)

// claims compares claiming work and posting its result with posting a result. Each worker has a validation of its own,
// whose work is opened again before each turn, unmeasured.
func (r *run) claims() {
	r.sayf("row 6: claims of %d workers", claimants)
	s := r.start("claims")
	s.put("policy", []byte("schema: deckhand/ValidationPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: p}\n"+
		"data: {validations: [{name: never-validation}]}\n"))
	name := func(i int) string { return fmt.Sprintf("v%d-validation", i) }
	s.exec(`INSERT INTO claims (site, revision, validation, requested_at)
		SELECT 'default', 1, 'v' || i || '-validation', now() FROM generate_series(0, $1::int - 1) i`, claimants)
	const reopen = "UPDATE claims SET ended_at = NULL, requested_at = now() WHERE site = 'default' AND validation = $1"
	clients := r.wires(s, claimants)
	turn := func(took series, what string, work func(i int)) {
		latencies := make([]times, claimants)
		began := time.Now()
		concurrently(claimants, func(i int) {
			for time.Since(began) < r.span {
				s.exec(reopen, name(i))
				latencies[i] = append(latencies[i], timed(func() { work(i) }))
			}
		})
		var all times
		for _, some := range latencies {
			all = append(all, some...)
		}
		took.add(what, median(all))
	}
	took := series{}
	for round := range 1 + r.rounds {
		turn(took, "post", func(i int) {
			clients[i].send(message(http.MethodPost, allRevisions+"/1/validations/"+name(i), posting))
		})
		turn(took, "claim and post", func(i int) {
			text := clients[i].ask(message(http.MethodPost, api+"/claims",
				fmt.Appendf(nil, "{validations: [%s], worker: w%d}", name(i), i)))
			found := claimed.FindSubmatch(text)
			if found == nil {
				must("claim work", fmt.Errorf("there is none: %q", text))
			}
			clients[i].send(message(http.MethodPost, string(found[1]), posting))
		})
		if round == 0 { // a warm-up
			clear(took)
		}
	}
	r.atMost(6, took["claim and post"].over(took["post"]), 2.2,
		fmt.Sprintf("claim work and POST its result by %d workers to the POST alone, latency", claimants),
		"%s, %s", took["claim and post"], took["post"])
}

// ask is send for a request whose answer is of interest.
func (w wire) ask(message []byte) []byte {
	_, err := w.Write(message)
	must("send a request", err)
	response, err := http.ReadResponse(w.answers, nil)
	must("read an answer", err)
	line, _, _ := bytes.Cut(message, []byte("\r"))
	var text bytes.Buffer
	read(response, string(line), &text)
	return text.Bytes()
}

// waitForWork returns the request of a worker that waits for work on a number of validations.
func waitForWork(validations int) []byte {
	var names bytes.Buffer
	for i := range validations {
		fmt.Fprintf(&names, "v%d-validation, ", i)
	}
	return message(http.MethodPost, api+"/claims?wait=10m",
		fmt.Appendf(nil, "{validations: [%s], worker: w}", names.Bytes()))
}

// claimsOfWaiters measures how soon waiting workers get work that appears.
func (r *run) claimsOfWaiters(s *server, n int) {
	works := max(1, min(10, n/(1+r.rounds))) // each is answered to a worker, who does not wait again
	ask, clients, arrived := waitForWork(works), r.wires(s, n), make(chan time.Time, n)
	for _, client := range clients {
		_, err := client.Write(ask)
		must("ask for work", err)
		go func() {
			if _, err := client.answers.Peek(1); err == nil { // the others end with the server
				arrived <- time.Now()
			}
		}()
	}
	s.waitFor(n)
	var took times
	for range r.rounds {
		for i := range works {
			s.fetch(http.MethodPost, fmt.Sprintf("%s/1/validations/v%d-validation/request", allRevisions, i), []byte("{}"))
		}
		opened := time.Now()
		for range works {
			took = append(took, max(0, (<-arrived).Sub(opened)))
		}
		s.exec("UPDATE claims SET ended_at = now(), held = false, requested_at = NULL")
	}
	r.within(26, percentile(took, 99), 200*time.Millisecond,
		fmt.Sprintf("from the appearance of %d pieces of work to their claims by %d waiting workers, p99", works, n))
}
