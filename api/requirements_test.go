package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/revisions"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// judgedAs returns the validations of a revision's policies: "ready: a-validation=missing …".
func (s site) judgedAs(t *testing.T, revision string) string {
	t.Helper()
	verdict, _, _ := strings.Cut(s.verdict(t, revision), "; ignored")
	return verdict
}

// isJudged checks the verdict on a revision without the ignored validations.
func (s site) isJudged(t *testing.T, revision, want string) {
	t.Helper()
	if diff := cmp.Diff(want, s.judgedAs(t, revision)); diff != "" {
		t.Errorf("verdict on revision %s (-want +got)\n%s", revision, diff)
	}
}

// A requirement applies to revisions with a document that its condition selects, and to no other one.
func TestConditions(t *testing.T) {
	t.Parallel()
	labelled := strings.Replace(widget("w", "{}"), "name: w", "name: w, labels: {role: network, rack: '1'}", 1)
	abstract := strings.Replace(widget("w", "{}"), "abstract: false", "abstract: true", 1)
	if abstract == widget("w", "{}") {
		abstract = strings.Replace(abstract, "layer: site", "abstract: true, layer: site", 1)
	}
	for when, c := range map[string]struct {
		document string
		applies  bool
	}{
		"schemas: [acme/Widget/v1]":                          {widget("w", "{}"), true},
		"schemas: [x/y/v1, acme/*]":                          {widget("w", "{}"), true},
		"schemas: ['*']":                                     {widget("w", "{}"), true},
		"schemas: [acme/Widget]":                             {widget("w", "{}"), false},
		"buckets: [w*]":                                      {widget("w", "{}"), true},
		"buckets: [p]":                                       {widget("w", "{}"), true}, // the policy
		"buckets: [x]":                                       {widget("w", "{}"), false},
		"layers: [site]":                                     {widget("w", "{}"), true},
		"layers: [type]":                                     {widget("w", "{}"), false},
		"labels: {role: network}":                            {labelled, true},
		"labels: {role: network, rack: '2'}":                 {labelled, false},
		"schemas: [acme/*], labels: {role: network}":         {labelled, true},
		"schemas: [acme/*], buckets: [p]":                    {widget("w", "{}"), false},
		"schemas: [acme/*], layers: [site], buckets: [wide]": {widget("w", "{}"), true},
		"schemas: [acme/Widget/*]":                           {abstract, false},
	} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			s := schemasSite(t)
			s.put(t, "p", policy("ready", "{name: a-validation, when: {"+when+"}}")).is(t, http.StatusOK)
			s.put(t, "wide", c.document).is(t, http.StatusOK)
			want := "success; ready: a-validation=not-applicable"
			if c.applies {
				want = "failure; ready: a-validation=missing"
			}
			s.isJudged(t, "latest", want)
		})
	}
}

// A condition is decided when a revision is made, in each policy alone, and so by dry runs and rollbacks.
func TestConditions_ofRevisions(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	const on = "{name: a-validation, when: {schemas: [acme/Widget/*]}}"
	s.put(t, "p", policy("one", on, "{name: b-validation, when: {buckets: [x]}}")+policy("two", "{name: a-validation, when: {buckets: [p]}}"))
	s.isJudged(t, "1", "failure; one: a-validation=not-applicable b-validation=not-applicable; two: a-validation=missing")
	s.isResults(t, "1", "a-validation=failure b-validation=not-applicable")
	s.report(t, 1, "a-validation", "success")
	s.isJudged(t, "1", "success; one: a-validation=not-applicable b-validation=not-applicable; two: a-validation=success")
	s.isResults(t, "1", "a-validation=success b-validation=not-applicable")
	if n := len(s.allFindings(t, "1")); n != 0 {
		t.Errorf("%d findings of a success", n)
	}
	if n := len(s.get(t, "revisions/1/validations/b-validation").results(t)); n != 0 {
		t.Errorf("%d entries of a validation that does not apply", n)
	}
	// The policy changes in the same PUT as the documents.
	change := policy("one", "{name: a-validation, when: {schemas: [acme/Gadget/*]}}", "c-validation") + widget("w", "{}")
	dry := s.put(t, "p?dry-run=true", change).is(t, http.StatusOK).mapping(t)
	made := s.put(t, "p", change).is(t, http.StatusOK)
	s.isJudged(t, "2", "failure; one: a-validation=not-applicable c-validation=missing")
	if status := made.Header.Get("Purser-Status"); status != "failure; findings=1" {
		t.Errorf("Purser-Status: %s", status)
	}
	policies, _ := dry["validationPolicies"].([]any)
	one, _ := policies[0].(map[string]any)
	if got := judged(one["validations"]); got != " a-validation=not-applicable c-validation=missing" {
		t.Errorf("the dry run has %s", got)
	}
	// A rollback decides it as the revision that it restores.
	s.rollback(t, "1").is(t, http.StatusCreated)
	s.isJudged(t, "3", "success; one: a-validation=not-applicable b-validation=not-applicable; two: a-validation=success")
	text := s.get(t, "revisions/2/status", "Accept", "text/plain").text
	if !strings.HasPrefix(text, "failure\nc-validation: missing (policy one)\nwarning: ") {
		t.Errorf("text: %s", text)
	}
}

// allFindings returns the findings of a revision.
func (s site) allFindings(t *testing.T, revision string) []any {
	t.Helper()
	list, _ := s.get(t, "revisions/"+revision+"/findings").is(t, http.StatusOK).mapping(t)["findings"].([]any)
	return list
}

// isResults checks the statuses in the list of validations of a revision, without those of the server.
func (s site) isResults(t *testing.T, revision, want string) {
	t.Helper()
	var got []string
	for _, item := range s.get(t, "revisions/"+revision+"/validations").results(t) {
		v, _ := item.(map[string]any)
		if !validations.IsOwn(fmt.Sprint(v["name"])) {
			got = append(got, fmt.Sprintf("%v=%v", v["name"], v["status"]))
		}
	}
	if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
		t.Errorf("the validations of revision %s (-want +got)\n%s", revision, diff)
	}
}

// A broken condition breaks its policy, and a finding says at which line.
func TestConditions_broken(t *testing.T) {
	t.Parallel()
	for when, path := range map[string]string{
		"{}":                    ".data.validations.0.when",
		"{schema: [a/B/v1]}":    ".data.validations.0.when",
		"{schemas: []}":         ".data.validations.0.when.schemas",
		"{schemas: a}":          ".data.validations.0.when.schemas",
		"{labels: {a: 1}}":      ".data.validations.0.when.labels.a",
		"{buckets: ['']}":       ".data.validations.0.when.buckets.0",
		"[]":                    ".data.validations.0.when",
		"null":                  ".data.validations.0.when",
		"{layers: [site, [1]]}": ".data.validations.0.when.layers.1",
	} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			s := schemasSite(t)
			body := "# a comment\n" + policy("ready", "{name: a-validation, when: "+when+"}", "b-validation")
			dry := s.put(t, "p?dry-run=true&findings=true", body).is(t, http.StatusOK).mapping(t)
			list, _ := dry["findings"].([]any)
			found := map[string]any{}
			for _, item := range list {
				if f, _ := item.(map[string]any); f["document"] != nil {
					found = f
				}
			}
			before, _, _ := strings.Cut(body, "when: ")
			line := 1 + strings.Count(before, "\n")
			if found["path"] != path || found["level"] != "error" || found["line"] != line {
				t.Errorf("%v %v in line %v, want an error at %s in line %d", found["level"], found["path"], found["line"], path, line)
			}
			s.put(t, "p", body).is(t, http.StatusOK)
			s.report(t, 1, "a-validation", "success")
			s.report(t, 1, "b-validation", "success")
			if got := s.judgedAs(t, "1"); !strings.HasPrefix(got, "failure; ready: ") {
				t.Errorf("the verdict is %s", got)
			}
		})
	}
}

// What is advisory is a warning in every form of the status, and fails nothing.
func TestAdvisory(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	body := policy("ready", "{name: a-validation, advisory: true}", "{name: b-validation, advisory: true, approvals: 2}", "c-validation")
	dry := s.put(t, "p?dry-run=true", body).is(t, http.StatusOK).mapping(t)
	s.put(t, "p", body)
	s.report(t, 1, "c-validation", "success")
	s.post(t, "revisions/1/validations/a-validation", `{status: failure, validator: x, errors: [{message: no host}]}`)
	s.report(t, 1, "b-validation", "success")
	want := []any{
		"a-validation: failure (policy ready, advisory): no host",
		"b-validation: missing (policy ready, advisory): 1 of 2 approvals",
	}
	shown := s.get(t, "revisions/1/status?expect=success").is(t, http.StatusOK).mapping(t)
	if diff := cmp.Diff(want, shown["warnings"]); diff != "" {
		t.Errorf("warnings (-want +got)\n%s", diff)
	}
	said := []any{"a-validation: missing (policy ready, advisory)", "b-validation: missing (policy ready, advisory): 0 of 2 approvals"}
	if diff := cmp.Diff(said, dry["warnings"]); diff != "" {
		t.Errorf("warnings of the dry run (-want +got)\n%s", diff)
	}
	text := s.get(t, "revisions/1/status", "Accept", "text/plain").text
	if wanted := "success\nwarning: " + want[0].(string) + "\nwarning: " + want[1].(string) + "\n"; text != wanted {
		t.Errorf("text: %s", text)
	}
	var findings []string
	for _, item := range s.allFindings(t, "1") {
		f, _ := item.(map[string]any)
		findings = append(findings, fmt.Sprintf("%v %v: %v", f["level"], f["validation"], f["message"]))
	}
	if diff := cmp.Diff([]string{
		"warning a-validation: no host", "warning b-validation: 1 of 2 approvals",
	}, findings); diff != "" {
		t.Errorf("findings (-want +got)\n%s", diff)
	}
}

// Waivers, claims and the origin of results are shown wherever the status is.
func TestStatus_standing(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openSite(t, settings{url: url, defaults: revisions.Defaults{}})
	s.put(t, "p", policy("ready", "a-validation", "b-validation", "{name: c-validation, advisory: true}"))
	s.report(t, 1, "a-validation", "failure")
	db := storetest.Connect(t, url)
	for _, sql := range []string{
		`INSERT INTO waivers (site, revision, validation, reason, user_name, created_at, until)
			SELECT site, 1, v, E'a\nreason', 'anna', now(), '2100-01-02 03:04:05Z' FROM sites, unnest(ARRAY['a-validation', 'b-validation']) v`,
		`INSERT INTO claims (site, revision, validation, held, worker, attempt, since)
			SELECT site, 1, 'c-validation', true, 'drydock-7', 2, '2026-11-26 10:00:00Z' FROM sites`,
	} {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	s.post(t, "revisions/1/validations/b-validation",
		`{status: failure, validator: x, inputs: {schemas: ['*']}, url: 'https://ci.example/1'}`).is(t, http.StatusCreated)

	shown := s.get(t, "revisions/1/status?expect=success").is(t, http.StatusOK).mapping(t)
	waived := func(name string) map[string]any {
		return map[string]any{
			"validation": name, "status": "failure", "by": "anna", "reason": "a\nreason", "until": "2100-01-02T03:04:05.000000",
		}
	}
	if diff := cmp.Diff([]any{waived("a-validation"), waived("b-validation")}, shown["waived"]); diff != "" {
		t.Errorf("waived (-want +got)\n%s", diff)
	}
	policies, _ := shown["policies"].([]any)
	ready, _ := policies[0].(map[string]any)
	list, _ := ready["validations"].([]any)
	if a, _ := list[0].(map[string]any); a["newest"] != nil {
		t.Errorf("the result, which tells no more than the status: %v", a["newest"])
	}
	b, _ := list[1].(map[string]any)
	newest, _ := b["newest"].(map[string]any)
	inputs := map[string]any{"schemas": []any{"*"}}
	if diff := cmp.Diff([]any{inputs, "https://ci.example/1"}, []any{newest["inputs"], newest["url"]}); diff != "" {
		t.Errorf("the result (-want +got)\n%s", diff)
	}
	c, _ := list[2].(map[string]any)
	claim := map[string]any{"worker": "drydock-7", "since": "2026-11-26T10:00:00.000000", "attempt": 2}
	if diff := cmp.Diff(claim, c["claim"]); diff != "" {
		t.Errorf("claim (-want +got)\n%s", diff)
	}
	text := s.get(t, "revisions/1/status", "Accept", "text/plain").text
	const until = ": failure, waived by anna until 2100-01-02 03:04:05: a reason\n"
	if diff := cmp.Diff("success\na-validation"+until+"b-validation"+until+
		"warning: c-validation: missing (policy ready, advisory): claimed by drydock-7 since 10:00:00\n", text); diff != "" {
		t.Errorf("text (-want +got)\n%s", diff)
	}
	for path, item := range map[string]any{
		"revisions": s.get(t, "revisions").results(t)[0], "revisions/1": s.get(t, "revisions/1").mapping(t),
	} {
		if revision, _ := item.(map[string]any); revision["status"] != "success" || fmt.Sprint(revision["waived"]) != "2" {
			t.Errorf("%s: %v, %v waived", path, revision["status"], revision["waived"])
		}
	}
	entry := s.get(t, "revisions/1/validations/b-validation/entries/0").is(t, http.StatusOK).mapping(t)
	if diff := cmp.Diff([]any{inputs, "https://ci.example/1"}, []any{entry["inputs"], entry["resultUrl"]}); diff != "" {
		t.Errorf("the entry (-want +got)\n%s", diff)
	}
	for _, item := range s.allFindings(t, "1") {
		if f, _ := item.(map[string]any); f["level"] != "warning" {
			t.Errorf("a finding of a success: %v", f)
		}
	}
	if dry := s.put(t, "p?dry-run=true", policy("ready", "a-validation", "b-validation", "{name: c-validation, advisory: true}")).
		mapping(t); len(dry["waived"].([]any)) != 2 || dry["changed"] != false {
		t.Errorf("a dry run that changes nothing: %v", dry)
	}
}

// With --compat=deckhand a policy has no conditions, advice or approvals, and an answer says nothing about them.
func TestRequirements_compat(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"when: {schemas: ['*']}", "when: {schemas: [none]}", "advisory: true", "approvals: 1"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			url := storetest.URL(t)
			s := openSite(t, settings{url: url, compat: true})
			s.put(t, "p", policy("ready", "{name: a-validation, "+key+"}")).is(t, http.StatusOK)
			posted := s.post(t, "revisions/1/validations/a-validation",
				`{status: success, validator: {name: x, version: 1}, inputs: [1], url: 17}`).is(t, http.StatusCreated).mapping(t)
			if posted["warning"] != nil {
				t.Errorf("warning: %v", posted["warning"])
			}
			if got := s.judgedAs(t, "1"); got != "failure; ready: a-validation=success" {
				t.Errorf("the verdict is %s", got)
			}
			for _, path := range []string{
				"revisions/1/status", "revisions/1", "revisions", "revisions/1/validations?newest=true",
				"revisions/1/validations/a-validation", "revisions/1/validations/a-validation/entries/0",
			} {
				text := s.get(t, path).is(t, http.StatusOK).text
				for _, word := range []string{"advisory", "waived", "claim", "inputs", "carriedFrom", "not-applicable", "resultUrl", "newest:"} {
					if strings.Contains(text, word) && word != "newest:" || path == "revisions/1/status" && strings.Contains(text, "newest:") {
						t.Errorf("%s has %s: %s", path, word, text)
					}
				}
			}
		})
	}
}
