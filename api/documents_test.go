package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names returns the names of documents, each with the revision of its status: left@3.
func names(documents []map[string]any) []string {
	list := []string{}
	for _, document := range documents {
		metadata, _ := document["metadata"].(map[string]any)
		status, _ := document["status"].(map[string]any)
		list = append(list, fmt.Sprintf("%v@%v", metadata["name"], status["revision"]))
	}
	return list
}

// isNames checks the names of documents, in order.
func (r response) isNames(t *testing.T, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, names(r.is(t, 200).documents(t))); diff != "" {
		t.Errorf("documents of %s (-want +got):\n%s", r.path, diff)
	}
}

// isRevision checks the number of the newest revision, or 0 for none, and that there is no gap before it.
func (s site) isRevision(t *testing.T, want int) {
	t.Helper()
	ids := []any{}
	for _, item := range s.get(t, "revisions").results(t) {
		revision, _ := item.(map[string]any)
		ids = append(ids, revision["id"])
	}
	wanted := []any{}
	for id := range want {
		wanted = append(wanted, id+1)
	}
	if diff := cmp.Diff(wanted, ids); diff != "" {
		t.Errorf("revisions (-want +got):\n%s", diff)
	}
}

// sealed makes a document encrypted.
func sealed(document string) string {
	return strings.Replace(document, "storagePolicy: cleartext", "storagePolicy: encrypted", 1)
}
