package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/authz"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// reportOf posts a result of a-validation with inputs, in YAML, none if they are empty.
func (s site) reportOf(t *testing.T, revision int, status, inputs string) response {
	t.Helper()
	body := "{status: " + status + ", validator: {name: tester, version: '1'}"
	if inputs != "" {
		body += ", inputs: " + inputs
	}
	return s.do(t, http.MethodPost, fmt.Sprintf("revisions/%d/validations/a-validation", revision), body+"}", inYAML...)
}

// newest returns the status of a-validation in a revision, and the revision of its newest result, such as "success 1".
func (s site) newest(t *testing.T, revision int) string {
	t.Helper()
	status := "none"
	for _, policy := range s.get(t, fmt.Sprintf("revisions/%d/status", revision)).mapping(t)["policies"].([]any) {
		for _, item := range policy.(map[string]any)["validations"].([]any) {
			if one, _ := item.(map[string]any); one["name"] == "a-validation" {
				status, _ = one["status"].(string)
			}
		}
	}
	list := s.get(t, fmt.Sprintf("revisions/%d/validations?newest=true", revision)).mapping(t)["results"]
	for _, item := range list.([]any) {
		one, _ := item.(map[string]any)
		if newest, _ := one["newest"].(map[string]any); one["name"] == "a-validation" && newest != nil {
			if from := newest["carriedFrom"]; from != nil {
				return fmt.Sprint(status, " ", from)
			}
			return fmt.Sprint(status, " ", revision)
		}
	}
	return status
}

// plain returns a document of a layer with labels.
func plain(schema, layer, name, labels, data string) string {
	return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Document/v1, name: %s, storagePolicy: cleartext, labels: %s, "+
		"layeringDefinition: {layer: %s, abstract: false}}\ndata: %s\n", schema, name, labels, layer, data)
}

var layerOrder = layers("layers", "global", "site")

// A success with inputs holds for later revisions in which the rendered documents that they select are the same.
func TestInputs_carry(t *testing.T) {
	t.Parallel()
	const child = "---\nschema: a/Net/v1\nmetadata: {schema: metadata/Document/v1, name: child, storagePolicy: cleartext, labels: {role: x}, " +
		"layeringDefinition: {layer: site, abstract: false, parentSelector: {of: child}, actions: [{method: merge, path: .}]}, " +
		"substitutions: [{src: {schema: a/Source/v1, name: source, path: .v}, dest: {path: .s}}]}\ndata: {own: 1}\n"
	parent := func(data string) string { return plain("a/Net/v1", "global", "parent", "{of: child}", data) }
	source := func(v string) string { return plain("a/Source/v1", "site", "source", "{}", "{v: "+v+"}") }
	other := func(v string) string { return plain("a/Other/v1", "site", "other", "{}", "{v: "+v+"}") }
	s := newSite(t)
	s.put(t, "policy", layerOrder+policy("ready", "{name: a-validation, expiresAfter: P1D}"))
	put := func(bucket string, documents ...string) {
		t.Helper()
		s.put(t, bucket, strings.Join(documents, "")).is(t, http.StatusOK)
	}
	want := func(revision int, want string) {
		t.Helper()
		if got := s.newest(t, revision); got != want {
			t.Errorf("revision %d: %s, want %s", revision, got, want)
		}
	}
	put("a", parent("{p: 1, hidden: 1}"), child, source("1"), other("1"))
	want(2, "missing")
	const inputs = "{schemas: [a/Net/*], layers: [site], labels: {role: x}}"
	s.reportOf(t, 2, "success", inputs).is(t, http.StatusCreated)
	put("a", parent("{p: 1, hidden: 1}"), child, source("1"), other("2"))
	want(3, "success 2") // another document
	put("a", parent("{p: 2, hidden: 1}"), child, source("1"), other("2"))
	want(4, "missing") // the parent
	put("a", parent("{p: 1, hidden: 1}"), child, source("2"), other("2"))
	want(5, "missing") // the source of a substitution
	put("a", parent("{p: 1, hidden: 1}"), strings.ReplaceAll(child, "role: x", "role: x, more: y"), source("1"), other("2"))
	want(6, "missing") // its labels
	put("a", parent("{p: 1, hidden: 1}"), child, source("1"), other("3"))
	want(7, "success 2") // a revert
	put("a", parent("{p: 1}"), strings.ReplaceAll(child, "own: 1", "own: 1, hidden: 1"), source("1"), other("3"))
	want(8, "success 2") // renders the same
	s.reportOf(t, 7, "failure", inputs).is(t, http.StatusCreated)
	put("a", parent("{p: 1}"), strings.ReplaceAll(child, "own: 1", "own: 1, hidden: 1"), source("1"), other("4"))
	want(9, "missing") // a newer failure
	s.reportOf(t, 2, "success", inputs).is(t, http.StatusCreated)
	want(9, "success 2") // a late result
	want(8, "success 2") // not the newest: it keeps what it has
	original := s.get(t, "revisions/2/validations/a-validation/entries/1").mapping(t)
	carried := s.get(t, "revisions/9/validations/a-validation/entries/0").mapping(t)
	for _, key := range []string{"createdAt", "expiresAt"} {
		if original[key] == nil || original[key] != carried[key] {
			t.Errorf("%s: %v, want %v", key, carried[key], original[key])
		}
	}
	s.reportOf(t, 9, "success", "").is(t, http.StatusCreated)
	put("a", parent("{p: 1}"), strings.ReplaceAll(child, "own: 1", "own: 1, hidden: 1"), source("1"), other("5"))
	want(10, "success 2") // a result without inputs says nothing about others
}

// Inputs that select nothing are refused, as are those that are no selection. Nothing is stored.
func TestInputs_refused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", policy("ready", "a-validation")+plain("a/Net/v1", "site", "one", "{}", "{}")+layerOrder)
	s.reportOf(t, 1, "success", "{schemas: [a/Nett/v1]}").isFault(t, http.StatusBadRequest, "InvalidInputs", "did you mean a/Net/v1?")
	for _, wrong := range []string{"[]", "{}", "{schemas: []}", "{schema: [a]}", "{labels: {}}", "{buckets: [1]}", "{schemas: ['']}", "7"} {
		s.unchecked().reportOf(t, 1, "success", wrong).isFault(t, http.StatusBadRequest, "InvalidSelection")
	}
	if got := s.newest(t, 1); got != "missing" {
		t.Errorf("status %s", got)
	}
	// A revision that cannot be rendered
	broken := strings.ReplaceAll(plain("a/Net/v1", "site", "two", "{}", "{}"), "labels: {}", "substitutions: [{src: {schema: a/None/v1, name: x, path: .}, dest: {path: .x}}]")
	s.put(t, "b", broken).is(t, http.StatusOK)
	if warning := s.reportOf(t, 2, "success", "{schemas: [a/Net/v1]}").is(t, http.StatusCreated).mapping(t)["warning"]; !strings.Contains(fmt.Sprint(warning), "cannot be rendered") {
		t.Errorf("warning %v", warning)
	}
}

// inputsModel is what a site with one required validation should do.
type inputsModel struct {
	documents []map[string]string // of each revision, by name
	results   []modelResult
	posted    int
	oldest    int // revision that was not pruned
}

type modelResult struct {
	revision, origin, time int
	success                bool
	inputs                 []string // names; nil if there are none
	held                   string
}

func (m *inputsModel) digest(revision int, inputs []string) string {
	var values []string
	for _, name := range inputs {
		values = append(values, m.documents[revision-1][name])
	}
	return fmt.Sprint(inputs, values)
}

// newest returns the newest result that a condition holds for, nil if there is none.
func (m *inputsModel) newest(that func(modelResult) bool) (found *modelResult) {
	for i, result := range m.results {
		if that(result) && (found == nil || result.time >= found.time) {
			found = &m.results[i]
		}
	}
	return found
}

func (m *inputsModel) post(revision int, success bool, inputs []string) {
	m.posted++
	result := modelResult{revision: revision, origin: revision, time: m.posted, success: success, inputs: inputs}
	newest := len(m.documents)
	if inputs != nil {
		result.held = m.digest(revision, inputs)
	}
	m.results = append(m.results, result)
	if inputs != nil && success && revision < newest && m.digest(newest, inputs) == result.held {
		result.revision = newest
		m.results = append(m.results, result)
	}
}

// last returns the newest result of a revision in the order in which it got them, nil if it has none.
func (m *inputsModel) last(revision int) (last *modelResult) {
	for i, result := range m.results {
		if result.revision == revision {
			last = &m.results[i]
		}
	}
	return last
}

// rolledBack adds a revision with the documents of an earlier one. It takes over that one's newest result, and looks for
// no other.
func (m *inputsModel) rolledBack(to int) {
	last := m.last(to)
	if last == nil {
		m.made(m.documents[to-1])
		return
	}
	carried := *last
	m.documents = append(m.documents, m.documents[to-1])
	carried.revision = len(m.documents)
	m.results = append(m.results, carried)
}

// pruned removes all revisions but the newest.
func (m *inputsModel) pruned(keep int) {
	m.oldest = max(m.oldest, len(m.documents)-keep+1)
	m.results = slices.DeleteFunc(m.results, func(r modelResult) bool { return r.revision < m.oldest })
}

// made adds a revision that is not a rollback.
func (m *inputsModel) made(documents map[string]string) {
	m.documents = append(m.documents, documents)
	selecting := m.newest(func(r modelResult) bool { return r.inputs != nil })
	if selecting == nil {
		return
	}
	held := m.digest(len(m.documents), selecting.inputs)
	if found := m.newest(func(r modelResult) bool { return r.inputs != nil && r.held == held }); found != nil && found.success {
		carried := *found
		carried.revision = len(m.documents)
		m.results = append(m.results, carried)
	}
}

// status returns what site.newest should.
func (m *inputsModel) status(revision int) string {
	switch last := m.last(revision); {
	case last == nil:
		return "missing"
	case last.success:
		return fmt.Sprint("success ", last.origin)
	default:
		return fmt.Sprint("failure ", last.origin)
	}
}

// A carried success exists if and only if the documents that it depends on are the same, whichever of two servers is asked.
func TestInputs_model(t *testing.T) {
	t.Parallel()
	const draws, steps = 6, 20
	count := 0
	rapid.Check(t, func(draw *rapid.T) {
		if count++; count > draws && !t.Failed() {
			return
		}
		url := storetest.URL(t)
		set := settings{url: url, defaults: validations.DefaultValidations()}
		servers := []site{openSite(t, set), openSite(t, set)}
		m := &inputsModel{oldest: 2}
		names := []string{"a", "b", "c"}
		values := map[string]string{"a": "0", "b": "0", "c": "0"}
		put := func(s site) {
			var body strings.Builder
			copied := map[string]string{}
			for _, name := range names {
				copied[name] = values[name]
				body.WriteString(plain("a/"+strings.ToUpper(name)+"/v1", "site", name, "{}", "{v: "+values[name]+"}"))
			}
			got := s.put(t, "data", body.String()).is(t, http.StatusOK)
			if got.Header.Get("Purser-Changed") == "false" {
				return
			}
			if latest, _ := strconv.Atoi(fmt.Sprint(s.get(t, "revisions/latest").mapping(t)["id"])); latest > len(m.documents) {
				m.made(copied)
			}
		}
		servers[0].put(t, "p", policy("ready", "a-validation")+layerOrder)
		m.documents = append(m.documents, map[string]string{})
		put(servers[0])
		for range steps {
			s := servers[rapid.IntRange(0, 1).Draw(draw, "server")]
			switch rapid.IntRange(0, 8).Draw(draw, "step") {
			case 0:
				to := rapid.IntRange(m.oldest, len(m.documents)).Draw(draw, "target")
				s.do(t, http.MethodPost, fmt.Sprintf("rollback/%d", to), "").is(t, http.StatusCreated)
				m.rolledBack(to)
				maps.Copy(values, m.documents[to-1])
			case 1:
				keep := rapid.IntRange(3, 5).Draw(draw, "keep")
				s.do(t, http.MethodPost, fmt.Sprintf("revisions/prune?keep=%d", keep), "").is(t, http.StatusOK)
				m.pruned(keep)
			case 2, 3, 4:
				values[rapid.SampledFrom(names).Draw(draw, "name")] = rapid.SampledFrom([]string{"0", "1"}).Draw(draw, "value")
				put(s)
			default:
				revision := rapid.IntRange(m.oldest, len(m.documents)).Draw(draw, "revision")
				success := rapid.IntRange(0, 3).Draw(draw, "failure") > 0
				var inputs, schemas []string
				for _, name := range names {
					if rapid.Bool().Draw(draw, "input") {
						inputs, schemas = append(inputs, name), append(schemas, "a/"+strings.ToUpper(name)+"/v1")
					}
				}
				selection, status := "", "failure"
				if success {
					status = "success"
				}
				if inputs != nil {
					selection = "{schemas: [" + strings.Join(schemas, ", ") + "]}"
				}
				s.reportOf(t, revision, status, selection).is(t, http.StatusCreated)
				m.post(revision, success, inputs)
			}
			for revision := m.oldest; revision <= len(m.documents); revision++ {
				if got := servers[rapid.IntRange(0, 1).Draw(draw, "reader")].newest(t, revision); got != m.status(revision) {
					draw.Fatalf("revision %d: %s, want %s", revision, got, m.status(revision))
				}
			}
		}
	})
}

// Results that are posted while revisions are made on another server are neither lost nor carried twice.
func TestInputs_races(t *testing.T) {
	t.Parallel()
	const rounds = 12
	url := storetest.URL(t)
	set := settings{url: url, defaults: validations.DefaultValidations()}
	servers := []site{openSite(t, set), openSite(t, set)}
	servers[0].put(t, "p", policy("ready", "a-validation")+layerOrder)
	servers[0].put(t, "data", plain("a/A/v1", "site", "a", "{}", "{v: 0}"))
	for round := range rounds {
		servers[0].put(t, "data", plain("a/A/v1", "site", "a", "{}", fmt.Sprintf("{v: %d}", round+1)))
		newest := 3 + 2*round
		var both sync.WaitGroup
		both.Go(func() { servers[0].reportOf(t, newest, "success", "{schemas: [a/A/v1]}").is(t, http.StatusCreated) })
		both.Go(func() {
			servers[1].put(t, "other", plain("a/B/v1", "site", "b", "{}", fmt.Sprintf("{v: %d}", round+1))).is(t, http.StatusOK)
		})
		both.Wait()
		if got := servers[1].newest(t, newest+1); got != fmt.Sprint("success ", newest) {
			t.Fatalf("round %d: %s", round, got)
		}
		if entries := servers[1].get(t, fmt.Sprintf("revisions/%d/validations/a-validation", newest+1)).results(t); len(entries) != 1 {
			t.Fatalf("round %d: %d results", round, len(entries))
		}
	}
}

// A result that depends on an encrypted document holds while the secret is the same.
func TestInputs_secrets(t *testing.T) {
	t.Parallel()
	s := sealedSite(t)
	secret := func(value, more string) string {
		return "---\nschema: deckhand/Passphrase/v1\nmetadata: {schema: metadata/Document/v1, name: secret, storagePolicy: encrypted, " +
			"layeringDefinition: {layer: site, abstract: false}}\ndata: " + value + "\n" + plain("a/Other/v1", "site", "other", "{}", "{v: "+more+"}")
	}
	s.put(t, "p", layerOrder+policy("ready", "a-validation"))
	s.put(t, "a", secret("one", "1")).is(t, http.StatusOK)
	s.reportOf(t, 2, "success", "{schemas: [deckhand/Passphrase/v1]}").is(t, http.StatusCreated)
	for i, c := range []struct{ value, more, want string }{
		{"one", "2", "success 2"}, {"two", "2", "missing"}, {"one", "2", "success 2"},
	} {
		s.put(t, "a", secret(c.value, c.more)).is(t, http.StatusOK)
		if diff := cmp.Diff(c.want, s.newest(t, 3+i)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c, diff)
		}
	}
}

// Callers who may not see encrypted documents do not learn from a refusal of inputs that one was selected, nor a schema.
func TestInputs_secret(t *testing.T) {
	t.Parallel()
	s := guarded(t, fmt.Sprintf("%q: role:admin or role:writer\n", authz.CreateValidation))
	s.ask(t, http.MethodPut, "buckets/a/documents", layerOrder+textOf("t/Key/v1", "key", encrypted+", labels: {is: key}", "x")+
		textOf("t/Open/v1", "open", ", storagePolicy: cleartext", "{}"), as("admin", inYAML...)...).is(t, http.StatusOK)
	post := func(role, inputs string) response {
		t.Helper()
		return s.ask(t, http.MethodPost, "revisions/1/validations/a-validation",
			"{status: success, validator: {name: v}, inputs: "+inputs+"}", as(role, inYAML...)...)
	}
	for _, inputs := range []string{"{schemas: [t/Key/v1]}", "{schemas: [t/K*]}", "{schemas: [t/L*]}", "{labels: {is: key}}", "{schemas: [t/Key/v2]}"} {
		refused := post("writer", inputs)
		refused.isFault(t, http.StatusBadRequest, "InvalidInputs", "select no document of revision 1 that you may see")
		if strings.Contains(strings.ReplaceAll(refused.text, inputs, ""), "did you mean t/Key/v1") {
			t.Errorf("%s: %s", inputs, refused.text)
		}
	}
	post("writer", "{schemas: [t/Opem/v1]}").isFault(t, http.StatusBadRequest, "InvalidInputs", "did you mean t/Open/v1?")
	post("writer", "{schemas: ['*']}").is(t, http.StatusCreated)
	post("admin", "{schemas: [t/Key/v1]}").is(t, http.StatusCreated)
	s.ask(t, http.MethodPut, "buckets/p/documents", policy("ready", "a-validation"), as("admin", inYAML...)...).is(t, http.StatusOK)
	for role, want := range map[string]string{"admin": "status: success", "writer": "withheld: Encrypted"} { // a writer is not told
		got := s.ask(t, http.MethodPut, "buckets/o/documents?dry-run=true", control("t/Other/v1", "o", "{}"), as(role, inYAML...)...)
		if got = got.is(t, http.StatusOK); !strings.Contains(got.text, want) {
			t.Errorf("a dry run of a %s: %s", role, got.text)
		}
	}
	post("admin", "{schemas: [t/Key/v2]}").isFault(t, http.StatusBadRequest, "InvalidInputs", "did you mean t/Key/v1?")
}
