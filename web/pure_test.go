package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/client"
	"purser/internal/diff"
	"purser/internal/validations"
)

func TestVerdictOf(t *testing.T) {
	t.Parallel()
	about := func(validation, message, advice string, of *client.Identity) finding {
		return finding{Finding: client.Finding{Level: "error", Validation: validation, Message: message, Advice: advice, Document: of}}
	}
	gate := func(of ...client.Validation) []client.Policy {
		return []client.Policy{{Name: "gate", Status: "failure", Validations: of}}
	}
	one, two := &client.Identity{Name: "one"}, &client.Identity{Name: "two"}
	for name, c := range map[string]struct {
		status client.Verdict
		found  []finding
		want   []reason
	}{
		"success": {status: client.Verdict{Status: "success", Policies: []client.Policy{{Name: "gate", Status: "success"}}}},
		"missing": {
			status: client.Verdict{Status: "failure", Policies: gate(client.Validation{Name: "a", Status: "missing"})},
			want: []reason{{
				"a", "gate", "missing", "Nobody has posted a result of a.",
				"Have its service validate this revision and post the result.",
			}},
		},
		"expired": {
			status: client.Verdict{Status: "failure", Policies: gate(client.Validation{Name: "a", Status: "expired"})},
			found:  []finding{about("a", "It is old", "validate again", nil)},
			want:   []reason{{"a", "gate", "expired", "The result of a has expired.", "Validate again."}},
		},
		"documents": {
			status: client.Verdict{Status: "failure", Policies: gate(client.Validation{Name: "a", Status: "failure"})},
			found:  []finding{about("a", "x", "", one), about("a", "y", "", one), about("a", "z", "", two), about("b", "z", "", two)},
			want: []reason{{
				"a", "gate", "failure", "a failed: 3 findings in 2 documents.",
				"Correct the documents below, upload their buckets again, and have its service validate the new revision.",
			}},
		},
		"own, in documents": {
			status: client.Verdict{Status: "failure", Policies: gate(client.Validation{Name: "deckhand-x", Status: "failure"})},
			found:  []finding{about("deckhand-x", "x", "", one)},
			want: []reason{{
				"deckhand-x", "gate", "failure", "deckhand-x failed: 1 finding in 1 document.",
				"Correct the documents below and upload their buckets again.",
			}},
		},
		"without errors": {
			status: client.Verdict{Status: "failure", Policies: gate(client.Validation{Name: "a", Status: "failure"})},
			found: []finding{{Finding: client.Finding{
				Level: "error", Validation: "a", Rule: "unexplained", Message: "any words", Advice: "ask its service why",
			}}},
			want: []reason{{
				"a", "gate", "failure", "a failed, and its result does not say why.", "Ask its service why.",
			}},
		},
		"posted": {
			status: client.Verdict{Status: "failure", Policies: gate(client.Validation{Name: "a", Status: "failure"})},
			found:  []finding{about("a", "no such disk", "", nil)},
			want: []reason{{
				"a", "gate", "failure", "a failed: No such disk.", "Correct that, and have its service validate the new revision.",
			}},
		},
		"no policy": {
			status: client.Verdict{Status: "failure", Validations: []client.Validation{{Name: "a", Status: "failure"}, {Name: "b", Status: "success"}}},
			want: []reason{{
				"a", "", "failure", "a failed.",
				"Look at its results, correct what they name, and have its service validate the new revision.",
			}},
		},
		"own": {
			status: client.Verdict{Status: "failure", Policies: gate(client.Validation{Name: "deckhand-policy-validation", Status: "failure"})},
			found:  []finding{about("deckhand-policy-validation", "no layers", "", nil)},
			want: []reason{{
				"deckhand-policy-validation", "gate", "failure", "deckhand-policy-validation failed: No layers.",
				"Correct the documents and push them again.",
			}},
		},
		"own with advice": {
			status: client.Verdict{Status: "failure", Policies: gate(client.Validation{Name: "deckhand-policy-validation", Status: "failure"})},
			found:  []finding{about("deckhand-policy-validation", "no layers", "add some", nil)},
			want: []reason{{
				"deckhand-policy-validation", "gate", "failure", "deckhand-policy-validation failed: No layers.", "Add some.",
			}},
		},
		"no such": {
			status: client.Verdict{Status: "failure", Policies: gate(client.Validation{Name: "deckhand-x-validation", Status: "missing"})},
			found:  []finding{about("deckhand-x-validation", "There will be none", "correct the name", nil)},
			want: []reason{{
				"deckhand-x-validation", "gate", "missing", "There is no result of deckhand-x-validation. There will be none.",
				"Correct the name.",
			}},
		},
		"broken policy": {
			status: client.Verdict{Status: "failure", Policies: gate(client.Validation{Name: "a", Status: "success"})},
			want: []reason{{
				"", "gate", "failure", "The policy gate itself cannot be satisfied.",
				"Correct the policy's document; the findings say how.",
			}},
		},
	} {
		got := verdictOf(c.status, findings{Findings: c.found})
		if diff := cmp.Diff(c.want, got.Reasons); diff != "" || got.OK != (c.status.Status == "success") {
			t.Errorf("%s: OK is %t (-want +got):\n%s", name, got.OK, diff)
		}
	}
}

// TestVerdictOf_own checks the advice for the server's own validations that share findings with others.
func TestVerdictOf_own(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Concat(validations.Own(), validations.Optional(), []string{validations.SchemaValidationAlias}) {
		failed := client.Validation{Name: name, Status: "failure"}
		want := reason{name, "", "failure", name + " failed.", "Correct the documents and push them again."}
		if diff := cmp.Diff(want, reasonOf(failed, "", findings{})); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if !failed.Own() || !(required{Name: name}).Own() {
			t.Errorf("%s is of somebody else", name)
		}
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	one := []client.Identity{{Schema: "acme/Host/v1", Layer: "site", Name: "one"}}
	policy := []client.Identity{{Schema: "deckhand/LayeringPolicy/v1", Name: "layers"}}
	for want, of := range map[string]refusal{
		"Not Found":     {status: 404},
		"no such thing": {message: "no such thing", messages: []detail{{Message: "no such thing"}}},
		"not valid. [acme/Host/v1, site] one: 'x' is not of type 'integer'. [deckhand/LayeringPolicy/v1] layers: It fails.": {
			message:  "not valid",
			messages: []detail{{"'x' is not of type 'integer'", one}, {"It fails", policy}},
		},
		"[acme/Host/v1, site] one: not valid": {message: "not valid", messages: []detail{{"not valid", one}}},
		"no source of [acme/Host/v1, site] one": {
			message: "no source", messages: []detail{{"no source of [acme/Host/v1, site] one", one}},
		},
		"a. b! c.": {messages: []detail{{Message: "a"}, {Message: ""}, {Message: "b!"}, {"c", append(one, policy...)}}},
	} {
		if got := of.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestParseUnified reads back diffs of internal/diff, of texts with lines that look like diff lines.
func TestParseUnified(t *testing.T) {
	t.Parallel()
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "b", "-- x", "++ y", "--- a", "+++ b", "@@ -1,2 +1,2 @@", "", " ", `\ No newline`, "Encrypted data of x changed",
	}), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		var text string
		var want [][2]string
		for i := range rapid.IntRange(1, 3).Draw(t, "documents") {
			before, after := lines.Draw(t, "before"), lines.Draw(t, "after")
			title := func(revision int) string {
				return fmt.Sprintf("revision %d, bucket b: [acme/A/v1, site] doc %d", revision, i)
			}
			part, err := diff.Unified(context.Background(), title(1), title(2), strings.Join(before, "\n")+"\n", strings.Join(after, "\n")+"\n")
			if err != nil {
				t.Fatal(err)
			}
			if text += part; part != "" {
				want = append(want, changedLines(before, after, part))
			}
		}
		all := parseUnified(text)
		if len(all) != len(want) {
			t.Fatalf("%d differences, want %d\n%s", len(all), len(want), text)
		}
		for i, c := range all {
			var old, now []string
			for _, h := range c.Hunks {
				for _, p := range h.Pairs() {
					if p.Old != nil {
						old = append(old, p.Old.Text)
					}
					if p.New != nil {
						now = append(now, p.New.Text)
					}
				}
			}
			if got := [2]string{strings.Join(old, "\n"), strings.Join(now, "\n")}; got != want[i] {
				t.Fatalf("difference %d: %q, want %q\n%s", i, got, want[i], text)
			}
			if !strings.HasPrefix(c.Title, "bucket b: [acme/A/v1, site] doc ") {
				t.Fatalf("title %q", c.Title)
			}
		}
	})
}

// changedLines returns both sides of the hunks of a difference, by the numbers in their headers.
func changedLines(before, after []string, text string) [2]string {
	var old, now []string
	for line := range strings.SplitSeq(text, "\n") {
		header := hunkHeader.FindStringSubmatch(line)
		if header == nil {
			continue
		}
		number := func(text string, absent int) int {
			if n, err := strconv.Atoi(text); err == nil {
				return n
			}
			return absent
		}
		a, b, c, d := number(header[1], 0), number(header[2], 1), number(header[3], 0), number(header[4], 1)
		if b > 0 {
			old = append(old, before[a-1:a-1+b]...)
		}
		if d > 0 {
			now = append(now, after[c-1:c-1+d]...)
		}
	}
	return [2]string{strings.Join(old, "\n"), strings.Join(now, "\n")}
}

func TestParseUnified_titles(t *testing.T) {
	t.Parallel()
	const text = `--- /dev/null
+++ revision 2, bucket a: b: [acme/A/v1, None] x] y
@@ -0,0 +1 @@
+a
--- /dev/null
+++ revision 2, bucket a: b: [acme/A/v1, None] x] y
@@ -0,0 +1 @@
+b
--- revision 1, bucket b: [acme/B/v1, a] b, c] y z
+++ /dev/null
@@ -1 +0,0 @@
-a
Encrypted data of revision 2, bucket s: [acme/C/v1, None] w changed
--- /dev/null
+++ revision 2, bucket s: [acme/D/v1, site] unknown
@@ -0,0 +1 @@
+a
`
	controls := client.Identity{Schema: "acme/A/v1", Name: "x] y", Bucket: "a: b"}
	layered := client.Identity{Schema: "acme/A/v1", Layer: "None", Name: "x] y", Bucket: "a: b"}
	gone := client.Identity{Schema: "acme/B/v1", Layer: "a] b, c", Name: "y\nz", Bucket: "b"}
	secret := client.Identity{Schema: "acme/C/v1", Name: "w", Bucket: "s"}
	reordered := client.Identity{Schema: "acme/B/v1", Layer: "site", Name: "reordered", Bucket: "b"}
	got := arranged(parseUnified(text), []comparison{
		{Document: controls}, {Document: layered}, {Document: reordered, Change: "changed"}, {Document: gone}, {Document: secret},
	})
	added := func(line string) []hunk { return []hunk{{"@@ -0,0 +1 @@", []row{{"added", 0, 1, line}}}} }
	want := []*comparison{
		{Document: controls, Change: "added", Added: 1, Title: "bucket a: b: [acme/A/v1, None] x] y", Hunks: added("a")},
		{Document: layered, Change: "added", Added: 1, Title: "bucket a: b: [acme/A/v1, None] x] y", Hunks: added("b")},
		{Document: reordered, Change: "changed", Title: "bucket b: [acme/B/v1, site] reordered", Note: "No line of it differs."},
		{Document: gone, Change: "deleted", Removed: 1, Title: "bucket b: [acme/B/v1, a] b, c] y z", Hunks: []hunk{{"@@ -1 +0,0 @@", []row{{"removed", 1, 0, "a"}}}}},
		{Document: secret, Change: "changed", Title: "bucket s: [acme/C/v1, None] w", Note: "Its encrypted data differs."},
		{Change: "added", Added: 1, Title: "bucket s: [acme/D/v1, site] unknown", Hunks: added("a")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Pages together have all lines in order, and none is too large.
func TestPageOfLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var lines []line
		for i := range rapid.IntRange(1, 400).Draw(t, "lines") {
			lines = append(lines, line{Number: i + 1, Text: strings.Repeat("<", rapid.IntRange(0, 3000).Draw(t, "length"))})
		}
		marked := rapid.IntRange(0, len(lines)-1).Draw(t, "marked")
		lines[marked].Marked = true
		_, of, pages := pageOfLines(lines, 0, maxLines)
		next := 1
		for number := 1; number <= pages; number++ {
			shown, _, _ := pageOfLines(lines, number, maxLines)
			size := 0
			for _, l := range shown {
				if l.Number != next {
					t.Fatalf("line %d, want %d", l.Number, next)
				}
				if l.Marked && number != of {
					t.Fatalf("the marked line is on page %d, and page %d is shown", number, of)
				}
				next++
				size += weight(l.Text)
			}
			if size > maxLines {
				t.Fatalf("page %d has %d bytes", number, size)
			}
		}
		if next != len(lines)+1 {
			t.Fatalf("%d lines, want %d", next-1, len(lines))
		}
	})
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain\ttext\n": "plain\ttext\n", "Ünïcode 漢字 عربي": "Ünïcode 漢字 عربي", "a\u202eb": "a⟨U+202E⟩b", "a\x1b[0m": "a⟨U+001B⟩[0m",
		"\u2066\u200b\ufeff": "⟨U+2066⟩⟨U+200B⟩⟨U+FEFF⟩", "a\u2028b": "a⟨U+2028⟩b",
	} {
		if got := visible(text); got != want {
			t.Errorf("visible(%q) is %q, want %q", text, got, want)
		}
	}
}

// TestDrawing checks the parts of a picture that a page includes: shapes, texts and links to documents.
func TestDrawing(t *testing.T) {
	t.Parallel()
	link := func(focus string) string { return "/ui/" + focus }
	for picture, want := range map[string]string{
		`<?xml version="1.0"?><!DOCTYPE svg><!-- c --><svg width="1pt" viewBox="0 0 1 1" onload="x()" style="a" class="c" id="i"><g/></svg>`: `<svg aria-label="&lt;label&gt;" id="picture" role="group" viewBox="0 0 1 1" width="1pt"><g></g></svg>`,

		`<a xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="?focus=%22%3Ca%3E&amp;format=svg" xlink:title="a&lt;b>&#x202e;">x</a>`: `<a href="/ui/&#34;&lt;a&gt;"><title>a&lt;b&gt;⟨U+202E⟩</title>x</a>`,

		`<a href="javascript:x()" title=" ">x</a>`:                             `<g>x</g>`,
		`<a href="//evil.example/?focus=a">x</a>`:                              `<g>x</g>`,
		`<a href="https://evil.example?focus=a">x</a>`:                         `<g>x</g>`,
		`<g><title>t<script>x()</script></title><path d="M1" fill="red"/></g>`: `<g><path d="M1" fill="red"></path></g>`,
		`<path fill="url(https://evil.example)" stroke="&quot;>"/>`:            `<path stroke="&#34;&gt;"></path>`,
		`<text>&lt;script>]]&gt;&amp;</text>`:                                  `<text>&lt;script&gt;]]&gt;&amp;</text>`,
		`<g><script>x()</script></g>`:                                          "",
		`<foreignObject/>`:                                                     "",
		`<image href="x"/>`:                                                    "",
		`<style>x</style>`:                                                     "",
		`<use href="#x"/>`:                                                     "",
		`<g>`:                                                                  "",
		`</g>`:                                                                 "",
		`<g>&evil;</g>`:                                                        "",
	} {
		got, err := drawing([]byte(picture), "<label>", link)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s\nis %s\nwant %s, %v", picture, got, want, err)
		}
	}
}

// TestPosterOf checks that a result is attributed to its poster, or to nobody if the audit does not have it.
func TestPosterOf(t *testing.T) {
	t.Parallel()
	event := func(user, at, target string, status int) auditEvent {
		e := auditEvent{At: at, Rule: "deckhand:create_validation", Target: target, Status: status}
		e.User.ID = user
		return e
	}
	const path, name = "/api/v1.0/revisions/2/validations/a%2Fb", "a/b"
	events := []auditEvent{
		event("refused", "2026-01-31T12:00:01.000000", path, 400), event("other", "2026-01-31T12:00:00.500000", path+"c", 201),
		event("second", "2026-01-31T12:00:00.000000", path+"?revision-stamp=1", 201), event("first", "2026-01-31T11:00:00.000000", path, 201),
	}
	for created, want := range map[string]string{
		"2026-01-31T12:00:00.000100": "second", "2026-01-31T11:00:30.000000": "first",
		"2026-01-31T12:30:00.000000": "", "2026-01-30T12:00:00.000000": "", "": "",
	} {
		if got := posterOf(events, name, created); got != want {
			t.Errorf("the result of %q is of %q, want %q", created, got, want)
		}
	}
}

func TestExpiringNext(t *testing.T) {
	t.Parallel()
	at := func(name, expires string) required { return required{Name: name, Newest: entry{ExpiresAt: expires}} }
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	all := []required{
		at("never", ""), at("passed", "2026-01-31T11:00:00.000000"), at("later", "2026-02-01T00:00:00.000000"),
		at("next", "2026-01-31T12:00:01.000000"), at("last", "2026-03-01T00:00:00.000000"),
	}
	if next := expiringNext(all, now); next == nil || next.Name != "next" {
		t.Errorf("next is %v", next)
	}
	if next := expiringNext(all[:2], now); next != nil {
		t.Errorf("next is %v", next)
	}
}

// Requests that are no longer needed are cancelled.
func TestTogether(t *testing.T) {
	t.Parallel()
	busy := errors.New("busy")
	err := together(t.Context(), func(context.Context) error { return busy }, func(ctx context.Context) error {
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			t.Errorf("it ends because of %v", cause)
		}
		return ctx.Err()
	})
	if !errors.Is(err, busy) {
		t.Errorf("error %v, want the first", err)
	}
}
