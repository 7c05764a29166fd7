package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/validations"
)

// everything returns all answers about the revisions, by path.
func (s site) everything(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	read := func(path string) { all[path] = s.get(t, path).is(t, http.StatusOK).text }
	read("revisions")
	for _, id := range s.ids(t, "revisions") {
		path := fmt.Sprintf("revisions/%v", id)
		for _, part := range []string{"", "/documents", "/tags", "/status", "/validations", "/validations/detail"} {
			read(path + part)
		}
	}
	return all
}

func (s site) isAsBefore(t *testing.T, before map[string]string) {
	t.Helper()
	if diff := cmp.Diff(before, s.everything(t)); diff != "" {
		t.Errorf("something was changed (-before +after):\n%s", diff)
	}
}

// change is a change that can be made, or tried in a dry run.
type change struct {
	method, path, body string
	bad                bool
}

func (c change) request(query string) request {
	r := request{method: c.method, path: c.path, body: c.body, bad: c.bad}
	if c.body != "" {
		r.header = inYAML
	}
	if query != "" && strings.Contains(r.path, "?") {
		query = "&" + query[1:]
	}
	r.path += query
	return r
}

// head returns the number of the newest revision, 0 if there is none.
func (s site) head(t *testing.T) string {
	t.Helper()
	ids := s.ids(t, "revisions")
	if len(ids) == 0 {
		return "0"
	}
	return fmt.Sprint(ids[len(ids)-1])
}

// isPredicted tries a change in a dry run and makes it. It checks that the result is as predicted, and that the dry run
// changed nothing.
func (s site) isPredicted(t *testing.T, c change) {
	t.Helper()
	before, head := s.everything(t), s.head(t)
	tried := s.send(t, c.request("?dry-run=true&rendered=true&diff=unified")).is(t, http.StatusOK)
	s.isAsBefore(t, before)
	if got := tried.Header.Get("ETag"); !strings.HasPrefix(got, `"`+head+`-`) {
		t.Errorf("ETag of the dry run %s, want that of the newest revision, %s", got, head)
	}

	made := s.send(t, c.request(""))
	if made.StatusCode >= http.StatusBadRequest {
		t.Fatalf("what went well as a dry run fails: %d\n%s", made.StatusCode, made.text)
	}
	after, said := s.head(t), tried.mapping(t)
	for _, name := range []string{"Purser-Revision", "Purser-Changes", "Purser-Status", "Purser-Warning"} {
		if !slices.Equal(tried.Header.Values(name), made.Header.Values(name)) {
			t.Errorf("%s of the dry run %q, and of the change %q", name, tried.Header.Values(name), made.Header.Values(name))
		}
	}
	isCounted(t, made.Header.Get("Purser-Changes"), said["documents"], said["changes"])
	delete(said, "changes")
	done := map[string]any{
		"dryRun": true, "changed": head != after, "revision": any(nil), "status": "success",
		"buckets": s.get(t, "revisions/"+head+"/diff/"+after).mapping(t), "validationPolicies": []any{},
		"findings": []any{},
	}
	if diff := cmp.Diff(s.became(t, head, after), previewedDocuments(said["documents"])); diff != "" {
		t.Errorf("documents (-done +said):\n%s", diff)
	}
	delete(said, "documents")
	s.isRenderedAs(t, head, after, said)
	delete(said, "rendered")
	delete(said, "beginToFail")
	said["findings"] = anonymous(t, said["findings"])
	if after != "0" {
		verdict := s.get(t, "revisions/"+after+"/status").mapping(t)
		dropMessages(verdict) // the findings of a preview have them
		shown := s.get(t, "revisions/"+after).mapping(t)
		for _, name := range []string{"warnings", "notice"} {
			if verdict[name] != nil {
				done[name] = verdict[name]
			}
		}
		if shown["weakened"] != nil && head != after {
			done["weakened"] = shown["weakened"]
		}
		done["revision"], done["status"], done["validationPolicies"] = shown["id"], shown["status"], verdict["policies"]
		if verdict["validations"] != nil {
			done["validations"] = verdict["validations"]
		}
	}
	if head != after {
		done["findings"] = s.findings(t, after)
	}
	if diff := cmp.Diff(done, said); diff != "" {
		t.Errorf("%s %s (-done +said):\n%s", c.method, c.path, diff)
	}
}

// isRenderedAs checks what a dry run said about rendered documents, and which begin to fail, after the change is made.
func (s site) isRenderedAs(t *testing.T, before, after string, said map[string]any) {
	t.Helper()
	if before != after {
		differ := s.get(t, "revisions/"+before+"/deepdiff/"+after+"?format=grouped&diff=unified").is(t, http.StatusOK)
		if diff := cmp.Diff(differ.mapping(t), said["rendered"]); diff != "" {
			t.Errorf("rendered documents (-done +said):\n%s", diff)
		}
	}
	if diff := cmp.Diff(s.beganToFail(t, before, after), placesIn(said["beginToFail"])); diff != "" {
		t.Errorf("documents that begin to fail (-done +said):\n%s", diff)
	}
}

// beganToFail returns the documents with findings in a revision and without any in the one before.
func (s site) beganToFail(t *testing.T, before, after string) (began []string) {
	t.Helper()
	failing := func(revision string) (all []string) {
		if revision == "0" {
			return nil
		}
		found, _ := s.get(t, "revisions/"+revision+"/findings").is(t, http.StatusOK).mapping(t)["findings"].([]any)
		for _, item := range found {
			finding, _ := item.(map[string]any)
			about, named := finding["document"].(map[string]any)
			if named && finding["validation"] != validations.CoverageValidation && finding["rule"] != "UnknownKey" &&
				finding["level"] != "info" {
				all = append(all, placesIn(map[string]any{"documents": []any{about}})...)
			}
		}
		return all
	}
	was := failing(before)
	for _, name := range failing(after) {
		if !slices.Contains(was, name) && !slices.Contains(began, name) {
			began = append(began, name)
		}
	}
	slices.Sort(began)
	return began
}

// placesIn returns the names of a list of documents, sorted.
func placesIn(list any) (names []string) {
	of, _ := list.(map[string]any)
	documents, _ := of["documents"].([]any)
	for _, item := range documents {
		d, _ := item.(map[string]any)
		names = append(names, fmt.Sprintf("%v [%v, %v]", d["name"], d["schema"], d["layer"]))
	}
	slices.Sort(names)
	return names
}

// isCounted checks that the counts of a change agree with the documents that a dry run lists.
func isCounted(t *testing.T, header string, documents, changes any) {
	t.Helper()
	counts := map[any]int{}
	list, _ := documents.([]any)
	for _, item := range list {
		listed, _ := item.(map[string]any)
		counts[listed["change"]]++
	}
	counted, _ := changes.(map[string]any)
	want := fmt.Sprintf("added=%d, modified=%d, deleted=%d, unchanged=%v",
		counts["created"], counts["modified"]+counts["moved"], counts["deleted"], counted["unchanged"])
	said := fmt.Sprintf("added=%v, modified=%v, deleted=%v, unchanged=%v",
		counted["added"], counted["modified"], counted["deleted"], counted["unchanged"])
	if diff := cmp.Diff([]string{want, want}, []string{header, said}); diff != "" {
		t.Errorf("what changes (-listed +header and body):\n%s", diff)
	}
}

// findings returns the entries of a revision's schema validation that have errors or notes, in the form of a dry run.
func (s site) findings(t *testing.T, revision string) []any {
	t.Helper()
	findings := []any{}
	for _, item := range s.get(t, "revisions/"+revision+"/validations/detail").results(t) {
		entry, _ := item.(map[string]any)
		errs, _ := entry["errors"].([]any)
		status := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(entry["status"]), "ignored ["), "]")
		errs = slices.DeleteFunc(errs, func(item any) bool { // the explanation why a policy ignores it
			text, _ := item.(map[string]any)
			return strings.Contains(fmt.Sprint(text["message"]), "has been ignored")
		})
		if entry["name"] == own && (len(errs) > 0 || entry["notes"] != nil) {
			findings = append(findings, map[string]any{"status": status, "errors": errs, "notes": entry["notes"]})
		}
	}
	return findings
}

// anonymous checks that predicted findings name the same document as their errors, and removes that name, which entries
// do not have.
func anonymous(t *testing.T, list any) []any {
	t.Helper()
	items, _ := list.([]any)
	findings := []any{}
	for _, item := range items {
		finding, _ := item.(map[string]any)
		errs, _ := finding["errors"].([]any)
		for _, item := range errs {
			e, _ := item.(map[string]any)
			for _, key := range []string{"schema", "layer", "name"} {
				if e[key] != finding[key] && (e[key] != "" || finding[key] != nil) {
					t.Errorf("a finding about %s %v is said to be about %v", key, e[key], finding[key])
				}
			}
			delete(e, "line") // a GET does not return lines
			delete(e, "column")
		}
		findings = append(findings, map[string]any{
			"status": finding["status"], "errors": finding["errors"], "notes": finding["notes"],
		})
	}
	return findings
}

// dropMessages removes the messages of validations from a status, in place.
func dropMessages(value any) {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "message")
		for _, member := range value {
			dropMessages(member)
		}
	case []any:
		for _, item := range value {
			dropMessages(item)
		}
	}
}

// previewedDocuments returns the documents of a preview, each with its change.
func previewedDocuments(list any) map[place]string {
	all := map[place]string{}
	items, _ := list.([]any)
	for _, item := range items {
		d, _ := item.(map[string]any)
		at := place{bucket: fmt.Sprint(d["bucket"]), schema: fmt.Sprint(d["schema"]), name: fmt.Sprint(d["name"])}
		at.layer, _ = d["layer"].(string)
		all[at] = fmt.Sprint(d["change"])
		if d["from"] != nil {
			all[at] += fmt.Sprintf(" from %v", d["from"])
		}
	}
	return all
}

// became returns the same as previewedDocuments, computed from the documents of two revisions.
func (s site) became(t *testing.T, before, after string) map[place]string {
	t.Helper()
	was, is := s.contents(t, before, "documents"), s.contents(t, after, "documents")
	all, moved := map[place]string{}, map[place]bool{}
	for at, content := range is {
		old, known := was[at]
		if !known {
			all[at] = "created"
		} else if !cmp.Equal(old, content) {
			all[at] = "modified"
		}
		for from := range was {
			if now := (place{at.bucket, from.schema, from.name, from.layer}); now == at && from != at {
				all[at], moved[from] = "moved from "+from.bucket, true
			}
		}
	}
	for at := range was {
		if _, still := is[at]; !still && !moved[at] {
			all[at] = "deleted"
		}
	}
	return all
}

// put, set and back return the kinds of changes.
func put(bucket, documents string) change {
	return change{method: http.MethodPut, path: "buckets/" + bucket + "/documents", body: documents}
}

func set(query, documents string) change {
	return change{method: http.MethodPut, path: "changesets" + query, body: documents}
}

func back(target string) change { return change{method: http.MethodPost, path: "rollback/" + target} }

func bad(c change) change {
	c.bad = true
	return c
}
