package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const neverRegistered = `The result for this validation was never externally registered so its status defaulted to "failure".`

// isVerdict checks the status of a revision: the verdict, then each validation of each policy, then the ignored ones:
// "failure; ready: a-validation=missing; ignored: b-validation=success".
func (s site) isVerdict(t *testing.T, revision, want string) {
	t.Helper()
	if diff := cmp.Diff(want, s.verdict(t, revision)); diff != "" {
		t.Errorf("verdict on revision %s (-want +got):\n%s", revision, diff)
	}
}

func (s site) verdict(t *testing.T, revision string) string {
	t.Helper()
	shown := s.get(t, "revisions/"+revision+"/status").is(t, http.StatusOK).mapping(t)
	parts := []string{fmt.Sprint(shown["status"])}
	policies, _ := shown["policies"].([]any)
	for _, item := range policies {
		policy, _ := item.(map[string]any)
		parts = append(parts, fmt.Sprintf("%v:%s", policy["name"], judged(policy["validations"])))
	}
	if list := judged(shown["ignored"]); list != "" {
		parts = append(parts, "ignored:"+list)
	}
	if list := judged(shown["validations"]); list != "" {
		parts = append(parts, "reported:"+list)
	}
	return strings.Join(parts, "; ")
}

func judged(list any) string {
	items, _ := list.([]any)
	var b strings.Builder
	for _, item := range items {
		validation, _ := item.(map[string]any)
		fmt.Fprintf(&b, " %v=%v", validation["name"], validation["status"])
	}
	return b.String()
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	const a, b = "a-validation", "b-validation"
	w := widget("w1", "{size: 1}")
	t.Run("without a policy nothing reported may have failed", func(t *testing.T) {
		t.Parallel()
		s := schemasSite(t)
		s.put(t, "mop", w)
		s.isVerdict(t, "1", "success; reported: "+own+"=success")
		s.report(t, 1, a, "failure")
		s.isVerdict(t, "1", "failure; reported: a-validation=failure "+own+"=success")
	})
	t.Run("missing fails the policy", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w+policy("ready", own, a))
		s.isVerdict(t, "1", "failure; ready: "+own+"=success a-validation=missing")
		s.report(t, 1, a, "success")
		s.isVerdict(t, "1", "success; ready: "+own+"=success a-validation=success")
	})
	t.Run("extra is ignored", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w+policy("ready", a))
		s.report(t, 1, a, "success")
		s.report(t, 1, b, "failure")
		s.isVerdict(t, "1", "success; ready: a-validation=success; ignored: b-validation=failure "+own+"=success")
	})
	t.Run("the most recent report decides", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w+policy("ready", a))
		for _, status := range []string{"success", "failure", "success"} {
			s.report(t, 1, a, status)
			want := "; ready: a-validation=" + status + "; ignored: " + own + "=success"
			s.isVerdict(t, "1", status+want)
		}
	})
	t.Run("any failure of the server's own decides", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", widget("bad", "{size: 177}")+w+sizes()+policy("ready", own))
		s.isVerdict(t, "1", "failure; ready: "+own+"=failure")
	})
	t.Run("every policy must be met", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w+policy("first", a)+policy("second", b))
		s.report(t, 1, a, "success")
		s.isVerdict(t, "1", "failure; first: a-validation=success; second: b-validation=missing; ignored: "+own+"=success")
	})
	t.Run("the other name of the schema validation", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		const alias = "deckhand-document-schema-validation"
		s.put(t, "mop", w+policy("ready", alias))
		s.isVerdict(t, "1", "success; ready: "+alias+"=success; ignored: "+own+"=success")
		s.put(t, "mop", widget("bad", "{size: 177}")+sizes()+policy("ready", alias))
		s.isVerdict(t, "2", "failure; ready: "+alias+"=failure; ignored: "+own+"=failure")
		for _, name := range []string{alias, own} {
			if n := len(s.get(t, "revisions/2/validations/"+name).results(t)); n != 3 {
				t.Errorf("%d entries under %s, want 3", n, name)
			}
		}
	})
	t.Run("policies are in force from revision to revision", func(t *testing.T) {
		t.Parallel()
		s := schemasSite(t)
		s.put(t, "mop", w)
		s.put(t, "policies", policy("ready", a))
		s.put(t, "other", widget("w2", "{}"))
		s.put(t, "policies", "")
		s.isVerdict(t, "1", "success; reported: "+own+"=success")
		s.isVerdict(t, "2", "failure; ready: a-validation=missing; ignored: "+own+"=success")
		s.isVerdict(t, "3", "failure; ready: a-validation=missing; ignored: "+own+"=success")
		s.isVerdict(t, "4", "success; reported: "+own+"=success")
	})
	t.Run("a report is about one revision", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w+policy("ready", a))
		s.report(t, 1, a, "success")
		s.put(t, "mop", policy("ready", a))
		s.isVerdict(t, "1", "success; ready: a-validation=success; ignored: "+own+"=success")
		s.isVerdict(t, "2", "failure; ready: a-validation=missing; ignored: "+own+"=success")
	})
	t.Run("abstract policies count", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", strings.Replace(policy("ready", a), "name: ready", "name: ready, layeringDefinition: {abstract: true, layer: site}", 1))
		s.isVerdict(t, "1", "failure; ready: a-validation=missing; ignored: "+own+"=success")
	})
	t.Run("a broken policy is never met", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", policy("ready", "{name: a-validation, expiresAfter: soon}"))
		s.report(t, 1, a, "success")
		got := s.get(t, "revisions/1/status", "Accept", "text/plain").text
		if !strings.HasPrefix(got, "failure\nready: failure: ") || !strings.Contains(got, "(write, for example, PT90S") || strings.Contains(got, "(warning)") {
			t.Errorf("status %q, want what is wrong with the policy, not among what is ignored", got)
		}
		s.put(t, "other", dataSchema("acme/Widget/v1", "{required: [a]}")+widget("w", "{}"))
		if got := s.get(t, "revisions/2/status", "Accept", "text/plain").text; !strings.HasPrefix(got, "failure (ignored: "+own+" fails for 1 document)\nready: failure: ") {
			t.Errorf("status %q, want another document's failure to be ignored", got)
		}
		s.isOutcomes(t, "1", "ignored [failure]")
		if errs := s.messages(t, "1", 0); len(errs) == 0 || !strings.HasPrefix(errs[0], ".data.validations.0.expiresAfter: 'soon' does not match") {
			t.Errorf("errors %q, want the bad duration first", errs)
		}
	})
	t.Run("a policy that lists nothing is met", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", policy("ready"))
		s.isVerdict(t, "1", "success; ready:; ignored: "+own+"=success")
	})
}

func TestVerdict_inShowAndList(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", policy("ready", "a-validation", own))
	s.report(t, 1, "a-validation", "failure")
	want := []any{map[string]any{
		"name": "ready", "status": "failure",
		"url": siteURL + "/api/v1.0/revisions/1/documents?metadata.name=ready&schema=deckhand%2FValidationPolicy%2Fv1",
		"validations": []any{
			map[string]any{"name": "a-validation", "status": "failure", "url": siteURL + "/api/v1.0/revisions/1/validations/a-validation"},
			map[string]any{"name": own, "status": "success", "url": siteURL + "/api/v1.0/revisions/1/validations/" + own},
		},
	}}
	item, _ := s.get(t, "revisions").results(t)[0].(map[string]any)
	for name, shown := range map[string]map[string]any{"show": s.get(t, "revisions/1").mapping(t), "list": item} {
		if diff := cmp.Diff([]any{"failure", want}, []any{shown["status"], shown["validationPolicies"]}); diff != "" {
			t.Errorf("status and policies in %s (-want +got):\n%s", name, diff)
		}
	}
	s.report(t, 1, "a-validation", "success")
	if got := s.get(t, "revisions/1").mapping(t)["status"]; got != "success" {
		t.Errorf("status %v once all succeed, want success", got)
	}
}

func TestVerdict_overlay(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", policy("first", "a-validation", "m-validation")+policy("second", "n-validation"))
	s.report(t, 1, "a-validation", "success")
	s.report(t, 1, "x-validation", "failure")
	var list []string
	for _, item := range s.get(t, "revisions/1/validations").results(t) {
		v, _ := item.(map[string]any)
		list = append(list, fmt.Sprintf("%v: %v", v["name"], v["status"]))
	}
	want := []string{
		"a-validation: success", own + ": ignored [success]", "m-validation: failure", "n-validation: failure",
		"x-validation: ignored [failure]",
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	extra := func(policy, listed string) any {
		return map[string]any{"message": "The result for this validation was externally registered but has been ignored because " +
			"it is not found in the validations for ValidationPolicy [deckhand/ValidationPolicy/v1, None] " + policy + ": " + listed + "."}
	}
	explained := []any{extra("first", "a-validation, m-validation"), extra("second", "n-validation")}
	missing := []any{map[string]any{"message": neverRegistered}}
	for name, want := range map[string]map[string]any{
		"a-validation": {"status": "success", "errors": []any{}, "name": "a-validation"},
		"m-validation": {"status": "failure", "errors": missing, "name": "m-validation"},
		"n-validation": {"status": "failure", "errors": missing, "name": "n-validation"},
		"x-validation": {"status": "ignored [failure]", "errors": explained, "name": "x-validation"},
		own:            {"status": "ignored [success]", "errors": explained, "name": own},
	} {
		entry := s.get(t, "revisions/1/validations/"+name+"/entries/0").is(t, http.StatusOK).mapping(t)
		for _, key := range []string{"createdAt", "expiresAfter", "expiresAt", "url"} {
			delete(entry, key)
		}
		if diff := cmp.Diff(want, entry); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	var detail []string
	for _, item := range s.get(t, "revisions/1/validations/detail").results(t) {
		v, _ := item.(map[string]any)
		detail = append(detail, fmt.Sprintf("%v %v: %v", v["id"], v["name"], v["status"]))
	}
	all := []string{
		"0 " + own + ": ignored [success]", "1 " + own + ": ignored [success]", "2 a-validation: success",
		"3 x-validation: ignored [failure]", "4 m-validation: failure", "5 n-validation: failure",
	}
	if diff := cmp.Diff(all, detail); diff != "" {
		t.Errorf("detail (-want +got):\n%s", diff)
	}
}

func TestVerdict_longLivesDoNotExpire(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i, life := range []string{"P300Y", "P9999Y", "P999999999999D", "PT99999999999999999999S"} {
		s.put(t, "mop", policy("ready", "{name: a-validation, expiresAfter: "+life+"}"))
		s.report(t, i+1, "a-validation", "success")
		s.isVerdict(t, "latest", "success; ready: a-validation=success; ignored: "+own+"=success")
		s.get(t, "revisions/latest/validations/a-validation/entries/0").is(t, http.StatusOK)
	}
}

func TestStatus_forms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("bad", "{size: 177}")+sizes()+policy("ready", own, "a-validation", "b-validation", "c-validation"))
	s.report(t, 1, "a-validation", "success")
	s.post(t, "revisions/1/validations/b-validation", `{status: failure, validator: x, errors: [{message: "two\nlines"}, {message: no}]}`)
	s.report(t, 1, "x-validation", "failure")
	text := "failure (ignored: x-validation fails)\n" + own + ": failure (policy ready)\n" +
		"b-validation: failure (policy ready): two lines\nc-validation: missing (policy ready)\n" +
		"[acme/Widget/v1, site] bad .data.size: 177 is greater than the maximum of 100 (bucket mop)\n"
	got := s.get(t, "revisions/1/status", "Accept", "text/plain").is(t, http.StatusOK)
	if diff := cmp.Diff(text, got.text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	item := func(name, status string) map[string]any { return map[string]any{"name": name, "status": status} }
	because := func(name, message string) map[string]any {
		failed := item(name, "failure")
		failed["message"] = message
		return failed
	}
	want := map[string]any{
		"revision": 1, "status": "failure",
		"policies": []any{map[string]any{"name": "ready", "status": "failure", "validations": []any{
			because(own, "177 is greater than the maximum of 100"), item("a-validation", "success"),
			because("b-validation", "two\nlines"), item("c-validation", "missing"),
		}}},
		"ignored": []any{item("x-validation", "failure")},
	}
	if diff := cmp.Diff(want, withoutStamp(t, s.get(t, "revisions/latest/status").mapping(t))); diff != "" {
		t.Errorf("YAML (-want +got):\n%s", diff)
	}
	want["revision"] = 1.0
	if diff := cmp.Diff(want, withoutStamp(t, s.get(t, "revisions/latest/status", "Accept", typeJSON).mapping(t))); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func TestStatus_expect(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", policy("ready", "a-validation"))
	for _, accept := range []string{"text/plain", typeXYAML, typeJSON} {
		s.get(t, "revisions/1/status?expect=success", "Accept", accept).is(t, http.StatusPreconditionFailed)
	}
	s.report(t, 1, "a-validation", "success")
	got := s.get(t, "revisions/1/status?expect=success", "Accept", "text/plain").is(t, http.StatusOK)
	if got.text != "success\n" {
		t.Errorf("text %q, want success alone", got.text)
	}
	s.get(t, "revisions/1/status?expect=failure").
		isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "expect", "success")
	s.get(t, "revisions/9/status?expect=success").isFault(t, http.StatusNotFound, "RevisionNotFound")
}

func TestPolicies_areShownLikeOtherDocuments(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", policy("ready", "a-validation")+widget("w1", "{}")).isNames(t, "ready@1", "w1@1")
	s.get(t, "revisions/1/documents").isNames(t, "ready@1", "w1@1")
}
