package api_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (s site) prune(t *testing.T, query string) response {
	t.Helper()
	return s.do(t, http.MethodPost, "revisions/prune?"+query, "")
}

// isPruned prunes, after a dry run with the same result, and checks which revisions remain.
func (s site) isPruned(t *testing.T, keep int, ranges []any, left ...any) map[string]any {
	t.Helper()
	before := s.everything(t)
	said := s.prune(t, fmt.Sprintf("keep=%d&dry-run=true", keep)).is(t, http.StatusOK).mapping(t)
	s.isAsBefore(t, before)
	done := s.prune(t, fmt.Sprintf("keep=%d", keep)).is(t, http.StatusOK).mapping(t)
	if diff := cmp.Diff([]any{true, false}, []any{said["dryRun"], done["dryRun"]}); diff != "" {
		t.Errorf("dryRun (-want +got):\n%s", diff)
	}
	said["dryRun"] = false
	if diff := cmp.Diff(said, done); diff != "" {
		t.Errorf("(-said +done):\n%s", diff)
	}
	count := 0
	for _, item := range ranges {
		r, _ := item.([2]int)
		count += r[1] - r[0] + 1
	}
	wanted := map[string]any{"count": count, "ranges": []any{}}
	for _, item := range ranges {
		r, _ := item.([2]int)
		list, _ := wanted["ranges"].([]any)
		wanted["ranges"] = append(list, map[string]any{"first": r[0], "last": r[1]})
	}
	if diff := cmp.Diff(wanted, done["revisions"]); diff != "" {
		t.Errorf("pruned (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(len(left), done["kept"]); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append([]any{}, left...), s.ids(t, "revisions")); diff != "" {
		t.Errorf("revisions that are left (-want +got):\n%s", diff)
	}
	return done
}

// fillPrune makes eight revisions. Revisions 2 and 5 have tags, and contents that no other revision has.
func (s site) fillPrune(t *testing.T) {
	t.Helper()
	for _, c := range []change{
		put("a", widget("w1", "{size: 1}")+widget("w2", "{size: 1}")+layeringPolicy("lp")),
		put("a", widget("w1", "{size: 177}")+widget("w3", "{only: second}")+layeringPolicy("lp")),
		put("schemas", sizes()+policy("ready", own)),
		put("a", widget("w1", "{size: 4}")+layeringPolicy("lp")),
		put("b", widget("w5", "{size: 500}")+widget("w6", "{}")),
		put("b", widget("w5", "{size: 6}")),
		back("3"),
		put("b", widget("w8", "{size: 800}")),
	} {
		if a := s.send(t, c.request("")); a.StatusCode >= http.StatusBadRequest {
			t.Fatalf("%d\n%s", a.StatusCode, a.text)
		}
	}
	s.tag(t, 2, "good")
	s.tag(t, 5, "better")
	s.report(t, 2, "a-validation", "success")
}

// comparisons returns all differences between the remaining revisions, by path.
func (s site) comparisons(t *testing.T, revisions ...int) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, before := range revisions {
		for _, after := range revisions {
			for _, form := range []string{"diff/%d", "deepdiff/%d", "deepdiff/%d?format=json-patch", "deepdiff/%d?format=unified"} {
				path := fmt.Sprintf("revisions/%d/"+form, before, after)
				all[path] = s.get(t, path).is(t, http.StatusOK).text
			}
		}
	}
	return all
}

func TestPrune(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillPrune(t)
	before, compared := s.everything(t), s.comparisons(t, 0, 2, 5, 7, 8)
	done := s.isPruned(t, 2, []any{[2]int{1, 1}, [2]int{3, 4}, [2]int{6, 6}}, 2, 5, 7, 8)
	// w1 and w2 of revision 1, which have the same content, and w5 of revision 6.
	if diff := cmp.Diff([]any{3, 2}, []any{done["documents"], done["contents"]}); diff != "" {
		t.Errorf("documents and contents that no revision needs (-want +got):\n%s", diff)
	}
	// Everything that remains is unchanged, apart from neighbours.
	neighbours := regexp.MustCompile(`(?m)^(previous|next): \d+$`)
	for path, text := range s.everything(t) {
		if path != "revisions" {
			if diff := cmp.Diff(neighbours.ReplaceAllString(before[path], ""), neighbours.ReplaceAllString(text, "")); diff != "" {
				t.Errorf("%s (-before +after):\n%s", path, diff)
			}
		}
	}
	if diff := cmp.Diff(compared, s.comparisons(t, 0, 2, 5, 7, 8)); diff != "" {
		t.Errorf("comparisons (-before +after):\n%s", diff)
	}
	s.isMessages(t, "5", 0, ".data.size: 500 is greater than the maximum of 100")
	s.isMessages(t, "7", 0, ".data.size: 177 is greater than the maximum of 100")
	s.isMessages(t, "8", 0, ".data.size: 800 is greater than the maximum of 100")
	s.get(t, "revisions/2/documents?metadata.name=w3").isNames(t, "w3@2")
	s.get(t, "revisions/2/documents?schema=acme&sort=name&limit=1").isNames(t, "w1@2")
	s.get(t, "revisions/tag:better/documents?status.bucket=b&sort=name&order=desc").isNames(t, "w6@5", "w5@5")
	s.get(t, "revisions/latest/documents?metadata.name=w1").isNames(t, "w1@7")

	s.isPruned(t, 2, nil, 2, 5, 7, 8)
	s.isRollback(t, "2", 9, 2, "b", "schemas")
	s.isDiff(t, "2 9", "a:unmodified")
	s.isRollback(t, "tag:better", 10, 5, "a", "b", "schemas")
	s.isMessages(t, "10", 4, ".data.size: 500 is greater than the maximum of 100")
	s.isPatched(t, "documents", "5", "10")
	s.put(t, "c", widget("w11", "{size: 11}"))
	s.untag(t, "revisions/5/tags").is(t, http.StatusNoContent)
	s.isPruned(t, 1, []any{[2]int{5, 5}, [2]int{7, 10}}, 2, 11)
	s.isPatched(t, "documents", "2", "11")
	s.isRollback(t, "2", 12, 2, "a", "b", "c", "schemas")
}

func TestPrune_gone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillPrune(t)
	s.isPruned(t, 1, []any{[2]int{1, 1}, [2]int{3, 4}, [2]int{6, 7}}, 2, 5, 8)
	before := s.everything(t)
	for id, metadata := range map[int]map[string]any{
		1: {"next": 2}, 3: {"previous": 2, "next": 5}, 4: {"previous": 2, "next": 5}, 7: {"previous": 5, "next": 8},
	} {
		for _, r := range []request{
			{method: http.MethodGet, path: "revisions/%d"},
			{method: http.MethodGet, path: "revisions/%d/documents"},
			{method: http.MethodGet, path: "revisions/%d/documents", header: []string{"If-None-Match", "*"}},
			{method: http.MethodGet, path: "revisions/%d/rendered-documents"},
			{method: http.MethodGet, path: "revisions/%d/rendered-documents", header: []string{"If-None-Match", "*"}},
			{method: http.MethodGet, path: "revisions/%d/diff/8"},
			{method: http.MethodGet, path: "revisions/8/diff/%d"},
			{method: http.MethodGet, path: "revisions/0/diff/%d"},
			{method: http.MethodGet, path: "revisions/%[1]d/diff/%[1]d"},
			{method: http.MethodGet, path: "revisions/%d/deepdiff/8"},
			{method: http.MethodGet, path: "revisions/8/deepdiff/%d"},
			{method: http.MethodGet, path: "revisions/0/deepdiff/%d?format=unified"},
			{method: http.MethodGet, path: "revisions/%d/tags"},
			{method: http.MethodDelete, path: "revisions/%d/tags"},
			{method: http.MethodGet, path: "revisions/%d/tags/good"},
			{method: http.MethodPost, path: "revisions/%d/tags/good"},
			{method: http.MethodDelete, path: "revisions/%d/tags/good"},
			{method: http.MethodGet, path: "revisions/%d/status"},
			{method: http.MethodGet, path: "revisions/%d/validations"},
			{method: http.MethodGet, path: "revisions/%d/validations/detail"},
			{method: http.MethodGet, path: "revisions/%d/validations/" + own},
			{method: http.MethodGet, path: "revisions/%d/validations/" + own + "/entries/0"},
			{method: http.MethodPost, path: "revisions/%d/validations/a-validation", body: "{status: success, validator: x}", header: inYAML},
			{method: http.MethodPost, path: "rollback/%d"},
			{method: http.MethodPost, path: "rollback/%d?dry-run=true"},
		} {
			r.path = fmt.Sprintf(r.path, id)
			got := s.send(t, r)
			got.isFault(t, http.StatusGone, "RevisionPruned", fmt.Sprintf("The requested revision=%d was pruned", id), fmt.Sprint(metadata["next"]))
			if diff := cmp.Diff(metadata, got.mapping(t)["metadata"]); diff != "" {
				t.Errorf("%s %s: what is left around it (-want +got):\n%s", r.method, r.path, diff)
			}
		}
	}
	s.isAsBefore(t, before)
	s.get(t, "revisions/9").isFault(t, http.StatusNotFound, "RevisionNotFound")
}

func TestPrune_refuses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillPrune(t)
	before := s.everything(t)
	for query, help := range map[string]string{
		"": "how many of the newest", "keep=0": "At least the newest", "keep=-1": "not negative", "keep=x": "whole number", "keep=": "must not be empty",
		"keep=1.5": "whole number", "keep=1&keep=2": "given once", "keep=99999999999999999999": "whole number", "keep=latest": "whole number",
	} {
		s.do(t, http.MethodPost, "revisions/prune?"+query, "").
			isFault(t, http.StatusBadRequest, "HTTPInvalidParam", `"keep" parameter is invalid`, help)
	}
	s.isAsBefore(t, before)
}

func TestPrune_ofLittle(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.isPruned(t, 1, nil)
	s.put(t, "a", widget("w", "{}"))
	s.isPruned(t, 1, nil, 1)
	s.isPruned(t, 1_000_000, nil, 1)
	s.put(t, "a", "")
	s.isPruned(t, 1, []any{[2]int{1, 1}}, 2)
	s.isPlaced(t, "2")
	s.put(t, "a", widget("w", "{}")).isNames(t, "w@3")
	s.isPruned(t, 1, []any{[2]int{2, 2}}, 3)
	s.put(t, "a", widget("w", "{}")).isNames(t, "w@3")
	s.isPlaced(t, "3", "w in a@3")
	s.isDiff(t, "0 3", "a:created")
	s.isRollback(t, "0", 4, 0, "a")
	s.isPruned(t, 2, nil, 3, 4)
	s.purge(t)
	s.get(t, "revisions/1").isFault(t, http.StatusNotFound, "RevisionNotFound")
}

// A deleted LayeringPolicy remains in force for rendering later revisions.
func TestPrune_keepsTheLastLayeringPolicy(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	policies := strings.Replace(layeringPolicy("lp"), "[global, site]", "[old]", 1)
	s.put(t, "p", policies+widget("w1", "{unique: 1}"))
	s.put(t, "p", layeringPolicy("lp"))
	s.put(t, "p", "")
	s.put(t, "a", widget("w", "{}"))
	done := s.isPruned(t, 1, []any{[2]int{1, 3}}, 4)
	if diff := cmp.Diff([]any{2, 2}, []any{done["documents"], done["contents"]}); diff != "" {
		t.Errorf("all but the newest LayeringPolicy goes (-want +got):\n%s", diff)
	}
	s.isPlaced(t, "4", "w in a@4")
	s.put(t, "p", layeringPolicy("other")).is(t, http.StatusOK)
}
