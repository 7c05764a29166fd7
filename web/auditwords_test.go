package web

import (
	"strings"
	"testing"

	"purser/internal/events"
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
		if got := inWords(e, nil); got.Words != want {
			t.Errorf("%s: %q, want %q", request, got.Words, want)
		}
	}
	made := map[int64]events.Created{7: {Added: 5, Removed: 4, Modified: new(4)}}
	about := int64(7)
	e := wire.AuditEvent{
		Method: "PUT", Target: "/api/v1.0/buckets/airsloop/documents?message=renumbered", Status: 200, Revision: &about,
	}
	const want = "pushed bucket airsloop: renumbered; 4 documents changed, 1 added"
	if got := inWords(e, made); got.Words != want {
		t.Errorf("a push: %q, want %q", got.Words, want)
	}
	e = wire.AuditEvent{Method: "PUT", Target: "/api/v1.0/buckets/b/documents", Status: 403, Revision: &about}
	if got := inWords(e, made); got.Words != "tried to push bucket b" || got.Created {
		t.Errorf("a refused push: %+v", got)
	}
}
