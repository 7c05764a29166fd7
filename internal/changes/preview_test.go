package changes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// previewed is a Preview as the tables write it.
type previewed struct {
	Revision           int64
	Status             string
	Changed            bool
	Buckets, Documents []string // "a modified"; "a/w1 modified"
	Findings           []string // "a/w1 failed: the messages"
}

func previewedOf(t *testing.T, p *Preview) previewed {
	t.Helper()
	got := previewed{Revision: p.ID, Status: p.Verdict.Status.String(), Changed: p.Changed}
	for _, bucket := range p.Buckets {
		got.Buckets = append(got.Buckets, bucket.Bucket+" "+bucket.Difference.String())
	}
	for _, doc := range p.Documents {
		got.Documents = append(got.Documents, fmt.Sprintf("%s/%s %s", doc.Bucket(), doc.Name, doc.Difference))
	}
	for _, finding := range p.Findings {
		word := map[bool]string{true: "failed", false: "noted"}[!finding.Rule.IsZero()]
		var messages []string
		for _, e := range finding.Errors {
			messages = append(messages, e.Message)
		}
		for _, note := range finding.Notes {
			messages = append(messages, note.Message)
		}
		got.Findings = append(got.Findings,
			fmt.Sprintf("%s/%s %s: %s", finding.About.Bucket, finding.About.Name, word, strings.Join(messages, "; ")))
	}
	return got
}

func TestService_Put_preview(t *testing.T) {
	t.Parallel()
	w1, bad := widget("w1", "{x: y}"), widget("bad", "{x: 1}")
	const message = "1 is not of type 'string'"
	for _, c := range []struct {
		name         string
		site         []string // buckets and bodies
		bucket, body string
		want         previewed
	}{
		{"the first revision", nil, "a", w1, previewed{
			Revision: 1, Status: "success", Changed: true, Buckets: []string{"a created"},
			Documents: []string{"a/w1 created"},
		}},
		{"nothing, of nothing", nil, "a", "", previewed{Status: "success"}},
		{"nothing changed", []string{"a", w1}, "a", w1, previewed{
			Revision: 1, Status: "success", Buckets: []string{"a unmodified"},
		}},
		{"nothing changed about a failure", []string{"s", dataSchema("string"), "a", bad}, "a", bad, previewed{
			Revision: 2, Status: "failure", Buckets: []string{"a unmodified", "s unmodified"},
		}},
		{
			"documents of the payload",
			[]string{"s", dataSchema("string"), "a", w1},
			"a", bad + widget("n", "{x: 1, x: z}"),
			previewed{
				Revision: 3, Status: "failure", Changed: true, Buckets: []string{"a modified", "s unmodified"},
				Documents: []string{"a/bad created", "a/n created", "a/w1 deleted"},
				Findings: []string{
					"a/bad failed: " + message,
					"a/n noted: The key 'x' appears twice in one mapping, at lines 16 and 16; the last one wins.",
				},
			},
		},
		{"documents that a schema governs", []string{"a", w1 + bad}, "s", dataSchema("string"), previewed{
			Revision: 2, Status: "failure", Changed: true, Buckets: []string{"a unmodified", "s created"},
			Documents: []string{"s/acme/Widget/v1 created"}, Findings: []string{"a/bad failed: " + message},
		}},
		{"documents that fail already", []string{"s", dataSchema("string"), "a", bad}, "b", w1, previewed{
			Revision: 3, Status: "failure", Changed: true,
			Buckets:   []string{"a unmodified", "b created", "s unmodified"},
			Documents: []string{"b/w1 created"}, Findings: []string{"a/bad failed: " + message},
		}},
		{"a bucket is emptied", []string{"a", w1}, "a", "", previewed{
			Revision: 2, Status: "success", Changed: true, Buckets: []string{"a deleted"},
			Documents: []string{"a/w1 deleted"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, m := service()
			for pair := range slices.Chunk(c.site, 2) {
				put(t, s, pair[0], pair[1])
			}
			written, err := s.Put(t.Context(), c.bucket, []byte(c.body), document.YAML, revisions.Options{DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, previewedOf(t, written.Preview)); diff != "" {
				t.Errorf("preview (-want +got)\n%s", diff)
			}
			if written.Revision != m.head.Revision || len(m.commits) != len(c.site)/2 {
				t.Errorf("revision %d, %d commits", written.Revision, len(m.commits))
			}
		})
	}
}

// The verdict of a dry run that changes nothing includes results posted about the newest revision.
func TestService_Put_previewOfNothing(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "a", validationPolicy("tests-validation"))
	m.outcomes = []validations.Outcome{{Name: "tests-validation", Status: validations.Success, At: at()}}
	written, err := s.Put(t.Context(), "a", []byte(validationPolicy("tests-validation")), document.YAML,
		revisions.Options{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if p := written.Preview; p.Verdict.Status != validations.Success || len(p.Verdict.Policies) != 1 {
		t.Errorf("verdict %+v, want the success of the policy", p.Verdict)
	}
}

// A dry run of a rollback shows what it would restore.
func TestService_Rollback_preview(t *testing.T) {
	t.Parallel()
	s, _ := service()
	put(t, s, "a", widget("w1", "{x: 1}"))
	put(t, s, "s", dataSchema("string"))
	put(t, s, "a", widget("w1", "{x: y}"))
	written, err := s.Rollback(t.Context(), 2, revisions.Options{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	want := previewed{
		Revision: 4, Status: "failure", Changed: true, Buckets: []string{"a modified", "s unmodified"},
		Documents: []string{"a/w1 modified"}, Findings: []string{"a/w1 failed: 1 is not of type 'string'"},
	}
	if diff := cmp.Diff(want, previewedOf(t, written.Preview)); diff != "" {
		t.Errorf("preview (-want +got)\n%s", diff)
	}
}

// When all findings together are many megabytes, later ones are shown without the document and the schema.
func TestReport_bounded(t *testing.T) {
	t.Parallel()
	s, m := service()
	large := `{x: 1, y: "` + strings.Repeat("z", 40<<10) + `"}`
	put(t, s, "a", widget("w", large))
	doc, rule := m.live[0], validations.Rule{Schema: document.DigestOf("rule")}
	finding := validations.Finding{Message: "wrong", Instance: []string{"x"}, SchemaPath: ".type"}
	const many = 900
	rows := make([]revisions.FailedEntry, many)
	for i := range rows {
		rows[i] = revisions.FailedEntry{Failure: revisions.Failure{Entry: i, Document: doc.ID, Rule: rule}, About: doc}
	}
	found := map[validations.Pair][]validations.Finding{validations.PairOf(doc.Digest, rule): {finding}}
	schemas := map[document.Digest][]byte{rule.Schema: []byte(`{"type":"string"}`)}
	described := Described{Rows: rows, Findings: found, Texts: schemas}
	errs, err := s.Renderer().Report(t.Context(), authz.Viewer{}, described, true)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	texts := make([]string, many)
	for i, list := range errs {
		text, err := json.Marshal(list[0])
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
		size += len(text)
	}
	first, last := texts[0], texts[many-1]
	if !strings.Contains(first, "zzz") || !strings.Contains(first, `{"type":"string"}`) ||
		strings.Contains(last, "zzz") || !strings.Contains(last, "wrong") || size > 33<<20 {
		t.Errorf("%d bytes, the last is %.200s", size, last)
	}
}
