package queries

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/revisions/revisionstest"
)

// Stray keys are in the findings, the status and the entries; those of encrypted documents only for viewers who are shown
// secrets, whoever asked before.
func TestView_strays(t *testing.T) {
	t.Parallel()
	parsed := revisionstest.Parsed(t, revisionstest.Widget("open", "{}", revisionstest.Cleartext)+
		strings.Replace(revisionstest.Widget("sealed", "secret", revisionstest.Cleartext), "cleartext", "encrypted", 1))
	site := &site{revisions: []revisions.Revision{{ID: 1, Entries: len(parsed)}}}
	for i, doc := range parsed {
		site.failures = append(site.failures, revisions.FailedEntry{
			Failure: revisions.Failure{Entry: i, Document: doc.ID, Notes: []document.Note{{Level: "Warning", Message: doc.Name}}},
			About:   doc,
		})
	}
	service := serviceFor(site, authz.Viewer{}).Service
	for _, c := range []struct {
		viewer authz.Viewer
		want   []string
	}{
		{authz.Viewer{Encrypted: true, Redacted: true}, []string{"open"}},
		{authz.Viewer{}, []string{"open"}},
		{authz.Viewer{Encrypted: true}, []string{"open", "sealed"}},
	} {
		view := service.For(c.viewer)
		found, err := view.Findings(t.Context(), "1", FindingsQuery{Limit: 10})
		status, err2 := view.Status(t.Context(), "1")
		entries, err3 := view.Entries(t.Context(), 1, "", Page{Limit: -1})
		if err != nil || err2 != nil || err3 != nil {
			t.Fatal(err, err2, err3)
		}
		var inFindings, inStatus, inEntries []string
		for _, f := range found.Findings {
			inFindings = append(inFindings, f.Message)
		}
		for _, warning := range status.Verdict.Warnings {
			inStatus = append(inStatus, warning[strings.LastIndex(warning, " ")+1:])
		}
		for _, entry := range entries.Entries {
			for _, note := range entry.Notes {
				inEntries = append(inEntries, note.Message)
			}
		}
		for place, got := range map[string][]string{"findings": inFindings, "status": inStatus, "entries": inEntries} {
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%+v, %s (-want +got)\n%s", c.viewer, place, diff)
			}
		}
	}
}

// However many encrypted documents come first, the status has the keys of those that the viewer may see.
func TestView_strays_behindSecrets(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range changes.MaxStrays + 1 {
		name := fmt.Sprintf("sealed-%d", i)
		text.WriteString(strings.Replace(revisionstest.Widget(name, "secret", revisionstest.Cleartext), "cleartext", "encrypted", 1))
	}
	parsed := revisionstest.Parsed(t, text.String()+revisionstest.Widget("open", "{}", revisionstest.Cleartext))
	site := &site{revisions: []revisions.Revision{{ID: 1, Entries: len(parsed)}}}
	for i, doc := range parsed {
		site.failures = append(site.failures, revisions.FailedEntry{
			Failure: revisions.Failure{Entry: i, Document: doc.ID, Notes: []document.Note{{Level: "Warning", Message: doc.Name}}},
			About:   doc,
		})
	}
	status, err := serviceFor(site, authz.Viewer{}).Service.For(authz.Viewer{}).Status(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(status.Verdict.Warnings, "\n"); !strings.HasSuffix(got, "open") {
		t.Errorf("warnings %q", got)
	}
}
