package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// requirementsModel is what a site with one required validation should do, with its work, tags and waivers.
type requirementsModel struct {
	inputsModel

	work   map[int]*modelWork
	tagged map[int]bool
	waived map[int]int // the id of the waiver, by revision
	claims []modelClaim
	posted map[string]bool // claims that have a result
}

// modelWork is the result of a revision as a piece of work that was claimed or asked for.
type modelWork struct {
	holder           string // the newest claim; empty if there is none
	held, lapsed     bool
	requested, ended bool
	ranOut           int
}

type modelClaim struct {
	revision int
	claim    map[string]any
}

func (c modelClaim) id() string { return fmt.Sprint(c.claim["id"]) }

// open reports whether somebody may claim the result of a revision.
func (m *requirementsModel) open(revision int) bool {
	w := m.work[revision]
	lacks := m.status(revision) == "missing" && (revision == len(m.documents) || m.tagged[revision])
	switch {
	case w == nil:
		return lacks
	case w.ended:
		return false
	}
	return (lacks || w.requested) && (!w.held || w.lapsed)
}

// next returns the revision whose result the next worker gets, 0 if there is none.
func (m *requirementsModel) next() int {
	for revision := len(m.documents); revision >= m.oldest; revision-- {
		if m.open(revision) {
			return revision
		}
	}
	return 0
}

func (m *requirementsModel) claimed(revision int, claim map[string]any) {
	w := m.work[revision]
	if w == nil {
		w = &modelWork{}
		m.work[revision] = w
	}
	if w.held && w.lapsed {
		w.ranOut++
	}
	m.claims = append(m.claims, modelClaim{revision, claim})
	w.holder, w.held, w.lapsed = fmt.Sprint(claim["id"]), true, false
}

// end ends the work on a revision, if there is any.
func (m *requirementsModel) end(revision int) {
	if w := m.work[revision]; w != nil {
		w.ended, w.requested, w.held = true, false, false
	}
}

// takes returns the status code for a result with a claim.
func (m *requirementsModel) takes(c modelClaim) int {
	w := m.work[c.revision]
	switch {
	case m.posted[c.id()]:
		return http.StatusOK
	case w.holder == c.id() && w.held && !w.ended:
		return http.StatusCreated
	}
	return http.StatusConflict
}

// requirementsSite is two servers and the model of their site.
type requirementsSite struct {
	*rapid.T

	outer   *testing.T
	m       requirementsModel
	servers []site
	execute func(sql string)
	values  map[string]string
}

func (s *requirementsSite) server() site { return s.servers[rapid.IntRange(0, 1).Draw(s.T, "server")] }

func (s *requirementsSite) revision() int {
	return rapid.IntRange(s.m.oldest, len(s.m.documents)).Draw(s.T, "revision")
}

func (s *requirementsSite) put() {
	var body strings.Builder
	copied := maps.Clone(s.values)
	for _, name := range []string{"a", "b"} {
		body.WriteString(plain("a/"+strings.ToUpper(name)+"/v1", "site", name, "{}", "{v: "+s.values[name]+"}"))
	}
	server := s.server()
	server.put(s.outer, "data", body.String()).is(s.outer, http.StatusOK)
	newest := server.get(s.outer, "revisions/latest").mapping(s.outer)["id"]
	if number, _ := strconv.Atoi(fmt.Sprint(newest)); number > len(s.m.documents) {
		s.m.made(copied)
	}
}

// result draws the body of a result and its inputs.
func (s *requirementsSite) result() (body string, success bool, inputs []string) {
	success = rapid.IntRange(0, 3).Draw(s.T, "failure") > 0
	body = "{status: failure, validator: {name: v}"
	if success {
		body = "{status: success, validator: {name: v}"
	}
	if rapid.Bool().Draw(s.T, "inputs") {
		inputs, body = []string{"a"}, body+", inputs: {schemas: [a/A/v1]}"
	}
	return body + "}", success, inputs
}

func (s *requirementsSite) post(revision int, query string, want int) {
	body, success, inputs := s.result()
	got := s.server().do(s.outer, http.MethodPost, fmt.Sprintf("revisions/%d/validations/a-validation%s", revision, query), body,
		inYAML...)
	if got.StatusCode != want {
		s.Fatalf("a result of revision %d%s: %d, want %d: %s", revision, query, got.StatusCode, want, got.text)
	}
	if want == http.StatusCreated {
		s.m.post(revision, success, inputs)
		s.m.end(revision)
	}
}

// step does one thing that somebody may do.
func (s *requirementsSite) step() {
	t, m := s.outer, &s.m
	switch rapid.IntRange(0, 12).Draw(s.T, "step") {
	case 0:
		s.values[rapid.SampledFrom([]string{"a", "b"}).Draw(s.T, "name")] = rapid.SampledFrom([]string{"0", "1"}).Draw(s.T, "value")
		s.put()
	case 1:
		to := s.revision()
		s.server().do(t, http.MethodPost, fmt.Sprintf("rollback/%d", to), "").is(t, http.StatusCreated)
		m.rolledBack(to)
		maps.Copy(s.values, m.documents[to-1])
		if m.waived[to] != 0 {
			m.waived[len(m.documents)] = -1 // a copy
		}
	case 2:
		if len(m.tagged) == 0 {
			keep := rapid.IntRange(3, 5).Draw(s.T, "keep")
			s.server().do(t, http.MethodPost, fmt.Sprintf("revisions/prune?keep=%d", keep), "").is(t, http.StatusOK)
			m.pruned(keep)
			m.claims = slices.DeleteFunc(m.claims, func(c modelClaim) bool { return c.revision < m.oldest })
		}
	case 3:
		revision := s.revision()
		path := fmt.Sprintf("revisions/%d/tags/t", revision)
		if m.tagged[revision] {
			s.server().do(t, http.MethodDelete, path, "").is(t, http.StatusNoContent)
			delete(m.tagged, revision)
		} else {
			s.server().do(t, http.MethodPost, path, "").is(t, http.StatusCreated)
			m.tagged[revision] = true
		}
	case 4:
		revision := s.revision()
		s.server().post(t, fmt.Sprintf("revisions/%d/validations/a-validation/request", revision), "{}").is(t, http.StatusAccepted)
		if m.work[revision] == nil {
			m.work[revision] = &modelWork{}
		}
		m.work[revision].requested, m.work[revision].ended, m.work[revision].ranOut = true, false, 0
	case 5:
		s.waive()
	case 6:
		s.post(s.revision(), "", http.StatusCreated)
	case 7:
		s.lapse()
	case 8, 9:
		s.ofClaim()
	default:
		s.claim()
	}
}

func (s *requirementsSite) claim() {
	want := s.m.next()
	s.server().get(s.outer, "events?since=now") // numbers the events that open work, which a server does within a second
	got := s.server().claim(s.outer, "a-validation", "w")
	switch {
	case want == 0 && got.StatusCode == http.StatusNoContent:
	case got.StatusCode == http.StatusCreated && got.mapping(s.outer)["revision"] == want:
		s.m.claimed(want, got.mapping(s.outer))
	default:
		s.Fatalf("a claim: %d %s, want revision %d", got.StatusCode, got.text, want)
	}
}

// ofClaim posts the result of a claim that was granted at some time, or gives it back.
func (s *requirementsSite) ofClaim() {
	if len(s.m.claims) == 0 {
		return
	}
	c := rapid.SampledFrom(s.m.claims).Draw(s.T, "claim")
	w := s.m.work[c.revision]
	if rapid.IntRange(0, 4).Draw(s.T, "give back") > 0 {
		want := s.m.takes(c)
		s.post(c.revision, "?claim="+c.id(), want)
		s.m.posted[c.id()] = s.m.posted[c.id()] || want == http.StatusCreated
		return
	}
	if w.holder == c.id() && w.held && !w.ended {
		s.server().do(s.outer, http.MethodDelete, "claims/"+c.id(), "").is(s.outer, http.StatusNoContent)
		w.held, w.lapsed = false, false
	}
}

// lapse lets the claims of a revision run out; the third one would make the server post a failure.
func (s *requirementsSite) lapse() {
	revision := s.revision()
	if w := s.m.work[revision]; w != nil && w.held && !w.ended && w.ranOut < 1 {
		s.execute(fmt.Sprintf("UPDATE claims SET expires_at = now() - interval '1 hour' WHERE revision = %d", revision))
		w.lapsed = true
	}
}

func (s *requirementsSite) waive() {
	revision := s.revision()
	path := fmt.Sprintf("revisions/%d/waivers", revision)
	switch id := s.m.waived[revision]; {
	case id > 0:
		s.server().do(s.outer, http.MethodDelete, fmt.Sprintf("%s/%d", path, id), "").is(s.outer, http.StatusNoContent)
		delete(s.m.waived, revision)
	case id == 0:
		made := s.server().post(s.outer, path, "{validation: a-validation, reason: r, for: P1D}").is(s.outer, http.StatusCreated)
		s.m.waived[revision], _ = strconv.Atoi(fmt.Sprint(made.mapping(s.outer)["id"]))
	}
}

// check compares all revisions with the model.
func (s *requirementsSite) check() {
	for revision := s.m.oldest; revision <= len(s.m.documents); revision++ {
		server := s.server()
		if got := server.newest(s.outer, revision); got != s.m.status(revision) {
			s.Fatalf("revision %d: %s, want %s", revision, got, s.m.status(revision))
		}
		want := "failure"
		if strings.HasPrefix(s.m.status(revision), "success") || s.m.waived[revision] != 0 {
			want = "success"
		}
		if got := server.get(s.outer, fmt.Sprintf("revisions/%d/status", revision)).mapping(s.outer)["status"]; got != want {
			s.Fatalf("revision %d: %v, want %s", revision, got, want)
		}
		results := 0
		for _, result := range s.m.results {
			if result.revision == revision {
				results++
			}
		}
		entries := server.get(s.outer, fmt.Sprintf("revisions/%d/validations/a-validation", revision)).mapping(s.outer)["count"]
		if got, _ := strconv.Atoi(fmt.Sprint(entries)); got != max(results, 1) { // one says that none was posted
			s.Fatalf("revision %d has %d results, want %d", revision, got, results)
		}
	}
}

// Random revisions, results with and without inputs and claims, tags, lapses, requests, waivers, rollbacks and prunes, on
// two servers, do what a model does: at most one worker holds each piece of work, each claim has at most one result, and a
// result is carried over if and only if the documents that it depends on are the same.
func TestRequirements_model(t *testing.T) {
	t.Parallel()
	const draws, steps = 5, 25
	count := 0
	rapid.Check(t, func(draw *rapid.T) {
		if count++; count > draws && !t.Failed() {
			return
		}
		url := storetest.URL(t)
		set := settings{url: url, defaults: validations.DefaultValidations()}
		conn := storetest.Connect(t, url)
		s := &requirementsSite{
			T: draw, outer: t, servers: []site{openSite(t, set), openSite(t, set)},
			execute: func(sql string) { storetest.Execute(t, conn, sql) },
			values:  map[string]string{"a": "0", "b": "0"},
			m: requirementsModel{
				inputsModel: inputsModel{oldest: 2}, work: map[int]*modelWork{}, tagged: map[int]bool{}, waived: map[int]int{},
				posted: map[string]bool{},
			},
		}
		s.servers[0].put(t, "p", policy("ready", "a-validation")+layerOrder)
		s.m.documents = append(s.m.documents, map[string]string{})
		s.put()
		for range steps {
			s.step()
			s.check()
		}
	})
}
