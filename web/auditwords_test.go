package web

import (
	"strings"
	"testing"

	"purser/internal/wire"
)

func TestInWords(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"PUT buckets/airsloop/documents?findings=true&message=oob%3A+renumbered": "pushed bucket airsloop: oob: renumbered",
		"PUT buckets/a%2F%7B1%7D/packages/io.x":                                  "stored package io.x in bucket a/{1}",
		"PUT changesets?dry-run=true":                                            "did a dry run: push a change set",
		"PUT changesets?dry-run=1":                                               "did a dry run: push a change set",
		"PUT changesets?dry-run=off":                                             "pushed a change set",
		"POST rollback/2":                                                        "rolled back to revision 2",
		"POST revisions/2/tags/good":                                             "set tag good of revision 2",
		"DELETE revisions/2/tags":                                                "deleted all tags of revision 2",
		"POST revisions/2/validations/a-validation":                              "posted a result of a-validation for revision 2",
		"DELETE revisions":                                                       "deleted all revisions",
		"PUT webhooks/7":                                                         "changed webhook 7",
		"GET revisions/2/documents":                                              "",
	} {
		method, path, _ := strings.Cut(request, " ")
		e := wire.AuditEvent{Method: method, Target: "/api/v1.0/" + path, Status: 200}
		if got := inWords(e); got.Words != want {
			t.Errorf("%s: %q, want %q", request, got.Words, want)
		}
	}
	e := wire.AuditEvent{Method: "PUT", Target: "/api/v1.0/buckets/b/documents", Status: 403}
	if got := inWords(e); got.Words != "tried to push bucket b" || got.Created {
		t.Errorf("a refused push: %+v", got)
	}
}
