package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/authz"
	"purser/internal/feed"
	"purser/internal/metrics"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
	"purser/internal/validations"
	"purser/internal/wire"
)

// waive makes a waiver of a-validation for revision 1 that lasts for an ISO 8601 duration.
func (s site) waive(t *testing.T, lasts string, header ...string) wire.Waiver {
	t.Helper()
	body := "{validation: a-validation, reason: 'ticket 4711', for: " + lasts + "}"
	header = append(slices.Concat(asJSON, inYAML), header...)
	a := s.do(t, http.MethodPost, "revisions/1/waivers", body, header...).is(t, http.StatusCreated)
	return decoded[wire.Waiver](t, a)
}

func decoded[T any](t *testing.T, a response) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.text), &value); err != nil {
		t.Fatal(err, a.text)
	}
	return value
}

// waivers returns a list of waivers.
func (s site) waivers(t *testing.T, path string, header ...string) []wire.Waiver {
	t.Helper()
	a := s.get(t, path, append(asJSON, header...)...).is(t, http.StatusOK)
	return decoded[wire.List[wire.Waiver]](t, a).Results
}

// A waiver is made, listed and ended, each with who did it, an event and an entry of the audit. To end one again, or one
// that has expired, is no error and changes nothing.
func TestWaivers(t *testing.T) {
	t.Parallel()
	const by = "X-Auth-Token"
	url := storetest.URL(t)
	s := openSite(t, settings{url: url, defaults: revisions.Defaults{validations.SchemaValidation}}, withUsers(new(users)))
	s.put(t, "p", policy("ready", "a-validation"), by, "anna").is(t, http.StatusOK)
	first, second := s.waive(t, "P7D", by, "anna"), s.waive(t, "PT1H", by, "bert")
	for _, end := range []string{"anna", "anna", "bert"} { // repeated
		s.do(t, http.MethodDelete, fmt.Sprintf("revisions/1/waivers/%d", first.ID), "", by, end).is(t, http.StatusNoContent)
	}
	all := s.waivers(t, "revisions/1/waivers", by, "anna")
	if len(all) != 2 || all[0].EndedAt == "" || all[1].EndedAt != "" {
		t.Fatalf("%+v", all)
	}
	first.Status, first.EndedAt, first.EndedBy = "ended", all[0].EndedAt, "anna"
	if diff := cmp.Diff([]wire.Waiver{first, second}, all); diff != "" {
		t.Errorf("of the revision (-want +got):\n%s", diff)
	}
	for path, want := range map[string][]wire.Waiver{
		"waivers": {first, second}, "waivers?active=true": {second}, "waivers?limit=1&offset=1": {second},
		"waivers?active=true&offset=1": {},
	} {
		if diff := cmp.Diff(want, s.waivers(t, path, by, "anna")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	next := s.get(t, "waivers?limit=1", by, "anna").mapping(t)["next"]
	if next != siteURL+"/api/v1.0/waivers?limit=1&offset=1" {
		t.Errorf("next page: %v", next)
	}
	storetest.Execute(t, storetest.Connect(t, url), "UPDATE waivers SET until = now() WHERE ended_at IS NULL")
	s.do(t, http.MethodDelete, fmt.Sprintf("revisions/1/waivers/%d", second.ID), "", by, "bert").is(t, http.StatusNoContent)
	if all := s.waivers(t, "waivers", by, "anna"); all[1].Status != "expired" || all[1].EndedBy != "" {
		t.Errorf("expired: %+v", all[1])
	}
	var told, audited []string
	for _, e := range s.told(t, by, "anna") {
		if strings.HasPrefix(e.Type, "purser.waiver.") {
			told = append(told, fmt.Sprintf("%s %s %s", e.Type, e.Subject, e.Data))
		}
	}
	id := []int64{first.ID, second.ID}
	if diff := cmp.Diff([]string{
		fmt.Sprintf(`purser.waiver.created revisions/1/waivers/%d {"revision":1,"id":%[1]d,"validation":"a-validation",`+
			`"reason":"ticket 4711","by":"anna","expiresAt":"%s"}`, id[0], first.ExpiresAt),
		fmt.Sprintf(`purser.waiver.created revisions/1/waivers/%d {"revision":1,"id":%[1]d,"validation":"a-validation",`+
			`"reason":"ticket 4711","by":"bert","expiresAt":"%s"}`, id[1], second.ExpiresAt),
		fmt.Sprintf(`purser.waiver.ended revisions/1/waivers/%d {"revision":1,"id":%[1]d,"validation":"a-validation",`+
			`"by":"anna"}`, id[0]),
	}, told); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	audit := decoded[wire.List[wire.AuditEvent]](t, s.get(t, "audit", append(asJSON, by, "anna")...))
	for _, e := range slices.Backward(audit.Results) {
		if e.Rule == authz.CreateWaiver {
			audited = append(audited, fmt.Sprint(e.Method, " ", e.User.ID, " ", e.Status))
		}
	}
	if diff := cmp.Diff([]string{"POST anna 201", "POST bert 201", "DELETE anna 204"}, audited); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

// told returns the events of the site, with data as JSON without spaces.
func (s site) told(t *testing.T, header ...string) []wireEvent {
	t.Helper()
	a := s.get(t, "events?since=0&limit=1000", append(asJSON, header...)...).is(t, http.StatusOK)
	return decoded[wire.Events[wireEvent]](t, a).Events
}

type wireEvent struct {
	Type    string          `json:"type"`
	Subject string          `json:"subject"`
	Data    json.RawMessage `json:"data"`
}

func TestWaivers_refused(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.put(t, "p", policy("ready", "a-validation", "{name: deckhand-rendering-validation}")+
		policy("broken", "{name: b-validation, expiresAfter: soon}", "c-validation")).is(t, http.StatusOK)
	s.put(t, "p", policy("ready", "z-validation")).is(t, http.StatusOK)
	post := func(revision, body string) response {
		return s.unchecked().do(t, http.MethodPost, "revisions/"+revision+"/waivers", body, inYAML...)
	}
	long := strings.Repeat("ä", 1000)
	tooLate := time.Now().Add(31 * 24 * time.Hour).UTC().Format(time.RFC3339)
	for body, want := range map[string]struct{ errorType, part string }{
		"": {"HTTPBadRequest", "must be a mapping"}, "[]": {"HTTPBadRequest", "must be a mapping"},
		"{validation: a-validation, reason: r}":                                              {"HTTPBadRequest", "it always ends"},
		"{validation: a-validation, reason: r, for: P1D, expiresAt: '2999-01-01T00:00:00Z'}": {"HTTPBadRequest", "one of expiresAt"},
		"{validation: a-validation, reason: r, until: P1D}":                                  {"HTTPBadRequest", "unknown key"},
		"{validation: a-validation, reasn: r, for: P1D}":                                     {"HTTPBadRequest", "did you mean reason."},
		"{validation: a-validation, for: P1D}":                                               {"HTTPBadRequest", "reason of 1 to 1000"},
		"{validation: a-validation, reason: ' ', for: P1D}":                                  {"HTTPBadRequest", "reason of 1 to 1000"},
		"{validation: a-validation, reason: " + long + "ä, for: P1D}":                        {"HTTPBadRequest", "reason of 1 to 1000"},
		"{validation: a-validation, reason: 1, for: P1D}":                                    {"HTTPBadRequest", "a text as its reason"},
		"{reason: r, for: P1D}":                                                              {"HTTPBadRequest", "is empty"},
		"{validation: a-validation, reason: r, for: 7d}":                                     {"HTTPBadRequest", "write P7D"},
		"{validation: a-validation, reason: r, for: P31D}":                                   {"HTTPBadRequest", "may last at most 30 days"},
		"{validation: a-validation, reason: r, for: P30DT1S}":                                {"HTTPBadRequest", "may last at most 30 days"},
		"{validation: a-validation, reason: r, for: P999999Y}":                               {"HTTPBadRequest", "may last at most 30 days"},
		"{validation: a-validation, reason: r, for: PT0S}":                                   {"HTTPBadRequest", "in the future"},
		"{validation: a-validation, reason: r, for: -P1D}":                                   {"HTTPBadRequest", "ISO 8601"},
		"{validation: a-validation, reason: r, for: PT0.0000001S}":                           {"HTTPBadRequest", "in the future"},
		"{validation: a-validation, reason: r, expiresAt: '" + tooLate + "'}":                {"HTTPBadRequest", "may last at most 30 days"},
		"{validation: a-validation, reason: r, expiresAt: '9999-12-31T00:00:00Z'}":           {"HTTPBadRequest", "may last at most 30 days"},
		"{validation: a-validation, reason: r, expiresAt: '2020-01-01T00:00:00.000000'}":     {"HTTPBadRequest", "in the future"},
		"{validation: a-validation, reason: r, expiresAt: tomorrow}":                         {"HTTPBadRequest", "2026-12-01T12:00:00Z"},
		"{validation: deckhand-rendering-validation, reason: r, for: P1D}":                   {"NotWaivable", "change the ValidationPolicy"},
		"{validation: deckhand-schema-validation, reason: r, for: P1D}":                      {"NotWaivable", "cannot be waived"},
		"{validation: purser-coverage-validation, reason: r, for: P1D}":                      {"NotWaivable", "cannot be waived"},
		"{validation: a-validaton, reason: r, for: P1D}":                                     {"UnknownRequirement", "Did you mean a-validation?"},
		"{validation: z-validation, reason: r, for: P1D}":                                    {"UnknownRequirement", "requires z-validation"},
	} {
		post("1", body).isFault(t, http.StatusBadRequest, want.errorType, want.part)
	}
	for _, body := range []string{ // a broken policy requires what it lists
		"{validation: c-validation, reason: " + long + ", for: P30D}",
		"{validation: a-validation, reason: r, expiresAt: " + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + "}",
	} {
		post("1", body).is(t, http.StatusCreated)
	}
	const good = "{validation: z-validation, reason: r, for: P1D}"
	post("9", good).isFault(t, http.StatusNotFound, "RevisionNotFound")
	post("x", good).is(t, http.StatusNotFound)
	s.post(t, "revisions/2/waivers?revision-stamp=1", good).isFault(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed")
	s.do(t, http.MethodPost, "revisions/2/waivers", good, append(inYAML, "If-Match", `"1"`)...).
		isFault(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed")
	made := s.post(t, "revisions/latest/waivers", good).is(t, http.StatusCreated).mapping(t)
	for path, want := range map[string]int{
		"revisions/1/waivers/%d": 404, "revisions/2/waivers/x": 404, "revisions/2/waivers/0": 404, "revisions/9/waivers/%d": 404,
		"revisions/2/waivers/%d?revision-stamp=1": 412, "revisions/2/waivers/99999999999999999999": 404,
	} {
		path = strings.ReplaceAll(path, "%d", fmt.Sprint(made["id"]))
		s.unchecked().do(t, http.MethodDelete, path, "").is(t, want)
	}
	s.do(t, http.MethodPost, "revisions/prune?keep=1", "").is(t, http.StatusOK)
	post("1", good).isFault(t, http.StatusGone, "RevisionPruned")
	s.get(t, "revisions/1/waivers").isFault(t, http.StatusGone, "RevisionPruned")
	s.unchecked().do(t, http.MethodDelete, "revisions/1/waivers/1", "").isFault(t, http.StatusGone, "RevisionPruned")
	if all := s.waivers(t, "waivers"); len(all) != 1 || all[0].Revision != 2 {
		t.Errorf("a prune leaves %+v", all)
	}
	if n := len(s.waivers(t, "revisions/2/waivers")); n != 1 {
		t.Errorf("%d waivers of revision 2", n)
	}
	s.purge(t)
	if all := s.waivers(t, "waivers"); len(all) != 0 {
		t.Errorf("a purge leaves %+v", all)
	}
	s.put(t, "w", widget("w", "{}"))
	post("1", good).isFault(t, http.StatusBadRequest, "UnknownRequirement", "No ValidationPolicy is in force")
}

// A revision can have 1,000 waivers.
func TestWaivers_bound(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openSite(t, settings{url: url, defaults: revisions.Defaults{validations.SchemaValidation}})
	s.put(t, "p", policy("ready", "a-validation"))
	storetest.Execute(t, storetest.Connect(t, url), `INSERT INTO waivers (site, revision, validation, reason, created_at, until)
		SELECT 'default', 1, 'a-validation', repeat('ä', 1000), now(), now() + interval '1 hour' FROM generate_series(1, 999)`)
	s.waive(t, "PT1H")
	s.post(t, "revisions/1/waivers", "{validation: a-validation, reason: r, for: P1D}").
		isFault(t, http.StatusConflict, "TooManyWaivers", "advisory")
	if n := len(s.waivers(t, "revisions/1/waivers")); n != 1000 {
		t.Errorf("%d are listed", n)
	}
	s.get(t, "revisions/1/status?expect=success").is(t, http.StatusOK)
}

// A rollback copies the active waivers of its target with their ends, and its first verdict counts them. Other changes
// copy none.
func TestWaivers_rollback(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.put(t, "p", policy("ready", "a-validation", "b-validation")) // 1
	s.report(t, 1, "b-validation", "success")
	ended := s.waive(t, "PT1H")
	s.do(t, http.MethodDelete, fmt.Sprintf("revisions/1/waivers/%d", ended.ID), "").is(t, http.StatusNoContent)
	made := s.waive(t, "P7D")
	s.put(t, "w", widget("w", "{}")) // 2
	if all := s.waivers(t, "revisions/2/waivers"); len(all) != 0 {
		t.Errorf("a PUT copies %+v", all)
	}
	dry := s.post(t, "rollback/1?dry-run=true", "").is(t, http.StatusOK)
	if got := dry.mapping(t)["status"]; got != "success" {
		t.Errorf("a dry run says %v", got)
	}
	back := s.post(t, "rollback/1", "").is(t, http.StatusCreated) // 3
	if got := back.Header.Get("Purser-Status"); !strings.HasPrefix(got, "success") {
		t.Errorf("the rollback is a %s", got)
	}
	s.put(t, "w", widget("w", "{}"))                      // 4
	s.post(t, "rollback/3", "").is(t, http.StatusCreated) // 5
	for revision, want := range map[int]string{3: "success", 4: "failure", 5: "success"} {
		if got := s.get(t, fmt.Sprintf("revisions/%d/status", revision), "Accept", "text/plain").text; !strings.HasPrefix(got, want) {
			t.Errorf("revision %d: %s", revision, got)
		}
	}
	for _, revision := range []int64{3, 5} {
		all := s.waivers(t, fmt.Sprintf("revisions/%d/waivers", revision))
		if len(all) != 1 {
			t.Fatalf("revision %d has %+v", revision, all)
		}
		want := made
		want.ID, want.Revision, want.CarriedFrom = all[0].ID, revision, new(int64(1))
		if diff := cmp.Diff(want, all[0]); diff != "" {
			t.Errorf("revision %d (-want +got):\n%s", revision, diff)
		}
	}
	// To end one leaves the others.
	s.do(t, http.MethodDelete, fmt.Sprintf("revisions/1/waivers/%d", made.ID), "").is(t, http.StatusNoContent)
	s.get(t, "revisions/1/status?expect=success").is(t, http.StatusPreconditionFailed)
	s.get(t, "revisions/5/status?expect=success").is(t, http.StatusOK)
}

// Deckhand has no waivers.
func TestWaivers_compat(t *testing.T) {
	t.Parallel()
	s := compatSite(t)
	s.put(t, "p", policy("ready", "a-validation"))
	for _, path := range []string{"GET revisions/1/waivers", "POST revisions/1/waivers", "DELETE revisions/1/waivers/1", "GET waivers"} {
		method, path, _ := strings.Cut(path, " ")
		s.ask(t, method, path, "{validation: a-validation, reason: r, for: P1D}", inYAML...).is(t, http.StatusNotFound)
	}
	s.get(t, "revisions/1/status?waivers=nonsense").is(t, http.StatusOK)
}

// pass lets time pass: it moves all times in the database back.
func pass(t *testing.T, url string, by time.Duration) {
	t.Helper()
	conn := storetest.Connect(t, url)
	for _, column := range []string{
		"waivers.created_at", "waivers.until", "waivers.ended_at", "results.created_at", "verdicts.due", "events.at",
		"outbox.at", "revisions.created_at",
	} {
		table, name, _ := strings.Cut(column, ".")
		storetest.Execute(t, conn, fmt.Sprintf("UPDATE %s SET %s = %[2]s - interval '%d seconds'", table, name, int(by.Seconds())))
	}
}

// At every moment around the end of a waiver or an expiry, all that says something about the verdict says the same, on
// both servers of a database.
func TestWaivers_law(t *testing.T) {
	t.Parallel()
	type step struct {
		do      func(s site)
		passes  time.Duration // before it is looked again
		want    string
		own     string // the status of the validation
		waivers int    // active ones
	}
	report := func(status string) func(s site) {
		return func(s site) { s.report(t, 1, "a-validation", status) }
	}
	waive := func(lasts string) func(s site) { return func(s site) { s.waive(t, lasts) } }
	const hour = time.Hour
	for name, steps := range map[string][]step{
		"missing": {
			{nil, 0, "failure", "missing", 0},
			{waive("PT1H"), 0, "success", "missing", 1},
			{nil, hour - time.Minute, "success", "missing", 1},
			{nil, 2 * time.Minute, "failure", "missing", 0},
		},
		"failure": {
			{report("failure"), 0, "failure", "failure", 0},
			{waive("PT1H"), 0, "success", "failure", 1},
			{nil, 2 * hour, "failure", "failure", 0},
		},
		"later failure": {
			{waive("PT1H"), 0, "success", "missing", 1},
			{report("failure"), 0, "success", "failure", 1},
			{nil, 2 * hour, "failure", "failure", 0},
		},
		"expiry without a waiver": {
			{report("success"), 0, "success", "success", 0},
			{nil, hour, "success", "success", 0},
			{nil, 2 * hour, "failure", "expired", 0},
			{report("success"), 0, "success", "success", 0},
		},
		"it expires while it is waived": {
			{report("success"), 0, "success", "success", 0},
			{waive("PT3H"), 0, "success", "success", 1},
			{nil, 2*hour + time.Minute, "success", "expired", 1},
			{nil, hour, "failure", "expired", 0},
		},
		"the waiver ends before the success": {
			{waive("PT1H"), 0, "success", "missing", 1},
			{report("success"), 0, "success", "success", 1},
			{nil, 90 * time.Minute, "success", "success", 0},
			{nil, hour, "failure", "expired", 0},
		},
		"an older one lasts longer": {
			{waive("PT3H"), 0, "success", "missing", 1},
			{waive("PT1H"), 0, "success", "missing", 2},
			{nil, 2 * hour, "success", "missing", 1},
			{nil, 2 * hour, "failure", "missing", 0},
		},
		"ended early": {
			{waive("P7D"), 0, "success", "missing", 1},
			{func(s site) {
				id := s.waivers(t, "waivers?active=true")[0].ID
				s.do(t, http.MethodDelete, fmt.Sprintf("revisions/1/waivers/%d", id), "").is(t, http.StatusNoContent)
			}, 0, "failure", "missing", 0},
			{waive("PT1H"), 0, "success", "missing", 1},
			{nil, 2 * hour, "failure", "missing", 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := storetest.URL(t)
			servers := make([]site, 2)
			for i := range servers {
				servers[i] = openSite(t, settings{url: url, defaults: revisions.Defaults{validations.SchemaValidation}},
					func(c *api.Config) {
						metrics.Site(c.Registry, c.Pool, metrics.Readings{
							Overview: func(ctx context.Context, _ string) (queries.Overview, error) {
								return c.Queries.For(authz.Viewer{}).Overview(ctx)
							},
						})
					})
			}
			servers[0].put(t, "p", policy("ready", "{name: a-validation, expiresAfter: PT2H}"))
			was, tags := "failure", make([]string, len(servers))
			want := []string{"failure"} // the verdicts that are told
			for i, step := range steps {
				if step.do != nil {
					step.do(servers[i%len(servers)])
				}
				pass(t, url, step.passes)
				for n, s := range servers {
					if step.want != was && tags[n] != "" {
						s.get(t, "revisions/1/status", append(asJSON, "If-None-Match", tags[n])...).is(t, http.StatusOK)
					}
					tags[n] = s.get(t, "revisions/1/status", asJSON...).Header.Get("ETag")
					s.agrees(t, fmt.Sprintf("server %d, step %d", n, i), step.want, step.own, step.waivers)
				}
				if was = step.want; want[len(want)-1] != was {
					want = append(want, was)
				}
				for _, s := range servers {
					s.tells(t, want)
				}
			}
		})
	}
}

// agrees checks that all forms of the verdict on revision 1, the newest, and of its only validation, say the same.
func (s site) agrees(t *testing.T, when, want, own string, waivers int) {
	t.Helper()
	is := func(what string, want, got any) {
		t.Helper()
		if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", when, what, diff)
		}
	}
	code := map[string]int{"success": http.StatusOK, "failure": http.StatusPreconditionFailed}[want]
	verdict := decoded[wire.Verdict](t, s.get(t, "revisions/1/status", asJSON...))
	is("status", want, verdict.Status)
	is("policy", want, verdict.Policies[0].Status)
	is("validation", own, verdict.Policies[0].Validations[0].Status)
	text := s.get(t, "revisions/latest/status", "Accept", "text/plain").text
	is("text", true, strings.HasPrefix(text, want))
	is("expect", code, s.get(t, "revisions/1/status?expect=success").StatusCode)
	is("wait", code, s.get(t, "revisions/1/status?expect=success&wait=1ms").StatusCode)
	unwaived := decoded[wire.Verdict](t, s.get(t, "revisions/1/status?waivers=false", asJSON...))
	is("without waivers", own == "success", unwaived.Status == "success")
	is("expect without waivers", own == "success",
		s.get(t, "revisions/1/status?waivers=false&expect=success&wait=1ms").StatusCode == http.StatusOK)
	is("revision", want, s.get(t, "revisions/1").mapping(t)["status"])
	listed := s.get(t, "revisions").results(t)[0].(map[string]any)
	is("list", want, listed["status"])
	findings := s.get(t, "revisions/1/findings?level=error", asJSON...).mapping(t)
	errs, _ := findings["findings"].([]any)
	is("findings", want == "success", len(errs) == 0)
	measured := s.get(t, "/metrics").text
	for _, line := range []string{
		`purser_newest_revision_status{status="` + want + `"} 1`, fmt.Sprintf("purser_active_waivers %d", waivers),
	} {
		is(line, true, strings.Contains(measured, "\n"+line+"\n"))
	}
	active := 0
	for _, w := range s.waivers(t, "revisions/1/waivers") {
		if w.Status == "active" {
			active++
		}
	}
	is("waivers of the revision", waivers, active)
	is("active waivers", waivers, len(s.waivers(t, "waivers?active=true")))
}

// tells checks that the events say that the verdict on revision 1 was the first of some, and changed to the others.
func (s site) tells(t *testing.T, want []string) {
	t.Helper()
	var got []string
	for range 100 { // nobody waits, so that a server may take a while
		got = nil
		for _, e := range s.told(t) {
			var data struct {
				Status string `json:"status"`
				To     string `json:"to"`
			}
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			switch e.Type {
			case "purser.revision.created":
				got = append(got, data.Status)
			case "purser.verdict.changed":
				got = append(got, data.To)
			}
		}
		if slices.Equal(want, got) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("verdicts in events (-want +got):\n%s", cmp.Diff(want, got))
}

// The end of a waiver wakes requests that wait, and the feed.
func TestWaivers_wake(t *testing.T) {
	t.Parallel()
	var told feed.Site
	s := schemasSite(t, func(c *api.Config) { told = c.Feed })
	s.put(t, "p", policy("ready", "a-validation"))
	s.waive(t, "PT2S")
	const path = "revisions/1/status?wait=1m"
	tag := s.get(t, path).Header.Get("ETag")
	cursor := fmt.Sprint(s.get(t, "events?since=now").mapping(t)["cursor"])
	changed := s.waiting(t, told, 1, path, "If-None-Match", tag)
	event := s.waiting(t, told, 1, "events?wait=1m&type=purser.verdict.changed&since="+cursor)
	for _, a := range changed() {
		if a.is(t, http.StatusOK).mapping(t)["status"] != "failure" {
			t.Error(a.text)
		}
	}
	for _, a := range event() {
		if !strings.Contains(a.text, "a-validation: missing (policy ready)") {
			t.Error(a.text)
		}
	}
	// A request that expects a success is woken by a waiver, but not one without waivers.
	expects := s.waiting(t, told, 1, "revisions/1/status?expect=success&wait=1m")
	without := s.waiting(t, told, 1, "revisions/1/status?expect=success&waivers=false&wait=1m")
	s.waive(t, "PT1H")
	expects()[0].is(t, http.StatusOK)
	s.report(t, 1, "a-validation", "success")
	without()[0].is(t, http.StatusOK)
}
