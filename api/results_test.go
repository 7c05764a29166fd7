package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPostValidation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	got := s.post(t, "revisions/1/validations/promenade-site-validation", `
status: failure
validator: {name: promenade, version: 1.1.2}
errors: [{message: no genesis host, documents: [{schema: a/B/v1, name: c}]}, anything]
createdAt: 2017-01-01
expiresAfter: PT1S
id: 7
`).is(t, http.StatusCreated).mapping(t)
	want := map[string]any{
		"status": "failure", "validator": map[string]any{"name": "promenade", "version": "1.1.2"},
		"revision": 1, "stamp": s.get(t, "revisions/1").mapping(t)["stamp"],
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	entry := s.get(t, "revisions/1/validations/promenade-site-validation/entries/0").is(t, http.StatusOK).mapping(t)
	stored := map[string]any{
		"errors": []any{
			map[string]any{
				"message": "no genesis host", "documents": []any{map[string]any{"schema": "a/B/v1", "name": "c"}},
			},
			"anything",
		},
		"expiresAfter": nil, "expiresAt": nil, "name": "promenade-site-validation", "status": "failure",
		"url": siteURL + "/api/v1.0/revisions/1/validations/promenade-site-validation/entries/0",
	}
	if diff := cmp.Diff(stored, withoutTime(t, entry)); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
}

//nolint:paralleltest,tparallel // one after the other, on one site
func TestPostValidation_accepts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	for name, r := range map[string]request{
		"text validator":   {body: "{status: success, validator: drydock}", header: inYAML},
		"null errors":      {body: "{status: success, validator: {a: b}, errors: null}", header: inYAML},
		"JSON":             {body: `{"status": "success", "validator": [1]}`, header: []string{"Content-Type", typeJSON}},
		"document markers": {body: "---\nstatus: success\nvalidator: x\n...\n", header: inYAML},
	} {
		t.Run(name, func(t *testing.T) {
			validation := strings.ReplaceAll(name, " ", "-")
			r.method, r.path = http.MethodPost, "revisions/1/validations/"+validation
			s.send(t, r).is(t, http.StatusCreated)
			entry := s.get(t, r.path+"/entries/0").is(t, http.StatusOK).mapping(t)
			if diff := cmp.Diff([]any{[]any{}, "success"}, []any{entry["errors"], entry["status"]}); diff != "" {
				t.Errorf("errors and status (-want +got):\n%s", diff)
			}
		})
	}
}

//nolint:paralleltest,tparallel // one after the other, on one site
func TestPostValidation_refuses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	const missing = `Validation payload must contain keys: "status", "validator".`
	for name, c := range map[string]struct{ body, help string }{
		"nothing":               {"", "The request body must not be empty."},
		"null":                  {"null", "The request body must not be empty."},
		"text":                  {"text", "mapping"},
		"a list":                {"[{status: success, validator: x}]", "mapping"},
		"no status":             {"{validator: x}", missing},
		"no validator":          {"{status: success}", missing},
		"empty validator":       {"{status: success, validator: {}}", missing},
		"another status":        {"{status: pending, validator: x}", `"success" or "failure"`},
		"a status that is true": {"{status: yes, validator: x}", `"success" or "failure"`},
		"errors as text":        {"{status: success, validator: x, errors: foo}", "list"},
		"errors as mapping":     {"{status: success, validator: x, errors: {a: b}}", "list"},
		"two documents":         {"{status: success, validator: x}\n---\n{}", "one document is expected"},
		"bad YAML":              {"{status: success", "properly formatted YAML"},
		"bad value":             {"{status: success, validator: .nan}", "line 1"},
		"a key twice":           {"status: failure\nvalidator: x\nstatus: success\n", "line 3, column 1: a key appears twice at the top level, at lines 1 and 3"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			s.do(t, http.MethodPost, "revisions/1/validations/a-validation", c.body, inYAML...).isFault(t, http.StatusBadRequest, "HTTPBadRequest", c.help)
			if n := len(s.get(t, "revisions/1/validations/a-validation").results(t)); n != 0 {
				t.Errorf("%d entries, want none", n)
			}
		})
	}
	t.Run("reserved names", func(t *testing.T) {
		for _, name := range []string{
			own, "deckhand-anything", "deckhand-%C3%A9", "purser-coverage-validation", "purser-anything-validation",
			"puppet-override-validation",
		} {
			s.post(t, "revisions/1/validations/"+name, "{status: success, validator: x}").
				isFault(t, http.StatusForbidden, "HTTPForbidden", "is reserved", "post yours under another name")
		}
		s.isOutcomes(t, "1", "success")
	})
	t.Run("the name detail", func(t *testing.T) {
		s.post(t, "revisions/1/validations/detail", "{status: success, validator: x}").
			isFault(t, http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
	})
}

func TestListValidations(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	s.put(t, "mop", widget("w2", "{}"))
	s.report(t, 2, "z-validation", "success")
	s.report(t, 2, "a-validation", "success")
	s.report(t, 2, "a-validation", "failure")
	s.report(t, 1, "z-validation", "failure") // a result of another revision
	for revision, want := range map[int]string{
		1: "[map[name:deckhand-schema-validation status:success] map[name:z-validation status:failure]]",
		2: "[map[name:a-validation status:failure] map[name:deckhand-schema-validation status:success] " +
			"map[name:z-validation status:success]]",
	} {
		got := fmt.Sprint(s.get(t, fmt.Sprintf("revisions/%d/validations", revision)).results(t))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("revision %d (-want +got):\n%s", revision, diff)
		}
	}
}

func TestListEntries_areKeptInOrder(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.put(t, "mop", widget("w1", "{}")+widget("w2", "{}"))
	var want []any
	for i, status := range []string{"success", "failure", "success", "success", "failure"} {
		s.report(t, 1, "a-validation", status)
		want = append(want, map[string]any{"id": i, "status": status})
	}
	if diff := cmp.Diff(want, s.get(t, "revisions/1/validations/a-validation").results(t)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if got := s.get(t, "revisions/1/validations/unknown").results(t); len(got) != 0 {
		t.Errorf("an unknown name has entries: %v", got)
	}
	var all []string
	for _, item := range s.get(t, "revisions/1/validations/detail").results(t) {
		entry := withoutTime(t, item)
		all = append(all, fmt.Sprintf("%v %v %v", entry["id"], entry["name"], entry["status"]))
	}
	detail := []string{
		"0 " + own + " success", "1 " + own + " success", "2 a-validation success", "3 a-validation failure",
		"4 a-validation success", "5 a-validation success", "6 a-validation failure",
	}
	if diff := cmp.Diff(detail, all); diff != "" {
		t.Errorf("detail (-want +got):\n%s", diff)
	}
}

func TestShowEntry_refuses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	s.report(t, 1, "a-validation", "success")
	for entry, want := range map[string]string{
		"1": "ValidationNotFound", "-1": "ValidationNotFound", "99": "ValidationNotFound", "x": "HTTPBadRequest",
		"1.0": "HTTPBadRequest", "%20": "HTTPBadRequest", "latest": "HTTPBadRequest",
	} {
		status, help := http.StatusNotFound, "The requested validation entry "+entry+
			" was not found for validation name a-validation and revision ID 1"
		if want == "HTTPBadRequest" {
			status, help = http.StatusBadRequest, "The {entry_id} parameter must be an integer."
		}
		s.get(t, "revisions/1/validations/a-validation/entries/"+entry).isFault(t, status, want, help)
	}
	s.get(t, "revisions/1/validations/b-validation/entries/0").isFault(t, http.StatusNotFound, "ValidationNotFound")
}

func TestValidationNames_arePercentDecoded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	s.report(t, 1, "a%2Fb%20%C3%A9", "success")
	for _, item := range s.get(t, "revisions/1/validations").results(t) {
		v, _ := item.(map[string]any)
		if v["name"] == "a/b é" {
			return
		}
	}
	t.Error("the validation is not listed under its decoded name")
}
