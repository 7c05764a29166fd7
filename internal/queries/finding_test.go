package queries

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Findings are sorted by severity, then by document, and not repeated.
func TestChoose(t *testing.T) {
	t.Parallel()
	host := func(name string) document.Identity {
		return document.Identity{Schema: "acme/Host/v1", Layer: "site", Name: name}
	}
	all := []Finding{
		{Level: LevelWarning, Validation: "v", Document: host("b"), Message: "ignored"},
		{Validation: "v", Document: host("b"), Message: "wrong", Path: ".data.x"},
		{Validation: "v", Document: host("a"), Message: "wrong", Path: ".data.x"},
		{Validation: "v", Document: host("b"), Message: "wrong", Path: ".data.y"},
		{Validation: "w", Document: host("b"), Message: "wrong", Path: ".data.x"}, // again
		{Validation: "w", Document: host("a"), Message: "wrong"},                  // again
		{Validation: "w", Message: "about none"},
		{Validation: "w", Message: "about none"},
		{Validation: "v", Message: "about none"}, // another service says the same about something else
	}
	for name, c := range map[string]struct {
		query     FindingsQuery
		want      []string
		wantTotal int
	}{
		"all":            {FindingsQuery{Limit: 10}, []string{"about none", "about none", "about none", "a .data.x", "b .data.x", "b .data.y", "b"}, 7},
		"the first":      {FindingsQuery{Limit: 4}, []string{"about none", "about none", "about none", "a .data.x"}, 7},
		"none":           {FindingsQuery{}, nil, 7},
		"of a name":      {FindingsQuery{Limit: 10, Document: "a"}, []string{"a .data.x"}, 1},
		"of a schema":    {FindingsQuery{Limit: 10, Document: "acme/Host/v1/a"}, []string{"a .data.x"}, 1},
		"of an identity": {FindingsQuery{Limit: 10, Document: "acme/Host/v1/site/b", Level: "error"}, []string{"b .data.x", "b .data.y"}, 2},
		"of a level":     {FindingsQuery{Limit: 10, Level: "warning"}, []string{"b"}, 1},
		"of a validation": {
			FindingsQuery{Limit: 10, Validation: "w"}, []string{"about none", "about none", "a", "b .data.x"}, 4,
		},
		"with a text in the path":    {FindingsQuery{Limit: 10, Text: "DATA.X"}, []string{"a .data.x", "b .data.x"}, 2},
		"with a text in the message": {FindingsQuery{Limit: 10, Text: "ignor"}, []string{"b"}, 1},
		"with a text in the name":    {FindingsQuery{Limit: 10, Text: "host/v1 a"}, []string{"a .data.x"}, 1},
		"with a text as its name":    {FindingsQuery{Limit: 10, Text: "host/v1/site/a"}, []string{"a .data.x"}, 1},
		"with no such text":          {FindingsQuery{Limit: 10, Text: "right"}, nil, 0},
		"of a cause": {
			FindingsQuery{Limit: 10, Cause: Cause{First: Finding{
				Validation: "v", Document: host("other"), Message: "wrong", Path: ".data.x",
			}}.ID()}, []string{"a .data.x", "b .data.x"}, 2,
		},
		"of an unknown cause": {FindingsQuery{Limit: 10, Cause: "0"}, nil, 0},
		"by document": {
			FindingsQuery{Limit: 10, Order: ByDocument},
			[]string{"about none", "about none", "about none", "a .data.x", "b .data.x", "b .data.y", "b"},
			7,
		},
		"by path": {
			FindingsQuery{Limit: 10, Order: ByPath},
			[]string{"about none", "about none", "about none", "b", "a .data.x", "b .data.x", "b .data.y"},
			7,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := chooseFindings(revisions.RevisionStatus{Revision: revisions.Revision{ID: 7}}, append([]Finding(nil), all...), false, c.query)
			var got []string
			for _, f := range found.Findings {
				line := f.Message
				if line != "about none" {
					line = f.Document.Name
				}
				if f.Path != "" {
					line += " " + f.Path
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || found.Total != c.wantTotal || found.ID != 7 {
				t.Errorf("%d of revision %d (-want +got)\n%s", found.Total, found.ID, diff)
			}
		})
	}
}

// Errors that a validation does not list may have the text or the cause that is asked for, so there may be others.
func TestChoose_unlisted(t *testing.T) {
	t.Parallel()
	all := []Finding{{Validation: "v", Message: "wrong", Path: ".data.x"}, {Validation: "v", Message: "and 7 more", Unlisted: 7}}
	for name, query := range map[string]FindingsQuery{"text": {Text: "wrong"}, "cause": {Cause: Cause{First: all[0]}.ID()}} {
		found := chooseFindings(revisions.RevisionStatus{}, slices.Clone(all), false, query)
		if !found.More || found.Total != 1 {
			t.Errorf("by %s: %d findings, more %v", name, found.Total, found.More)
		}
	}
}

// An error about no document that several of the server's own validations find is listed once, by the most severe one;
// each has it if it is asked for.
func TestChoose_ofRevision(t *testing.T) {
	t.Parallel()
	const policies, rendering = validations.PolicyValidation, validations.RenderingValidation
	find := func(validation, rule string) Finding {
		return Finding{Validation: validation, Rule: rule, Message: "m"}
	}
	for name, c := range map[string]struct {
		all        []Finding
		validation string
		want       string
	}{
		"the same":           {[]Finding{find(policies, "r"), find(rendering, "r")}, "", policies},
		"of one":             {[]Finding{find(policies, "r"), find(rendering, "r")}, rendering, rendering},
		"twice of one":       {[]Finding{find(policies, "r"), find(policies, "r")}, "", policies + " " + policies},
		"of others":          {[]Finding{find("a", "r"), find("b", "r")}, "", "a b"},
		"another one's":      {[]Finding{find("a", "r"), find(rendering, "r")}, "", "a " + rendering},
		"missing":            {[]Finding{find(policies, ruleMissing), find(rendering, ruleMissing)}, "", policies + " " + rendering},
		"unexplained":        {[]Finding{find(policies, ruleUnexplained), find(rendering, ruleUnexplained)}, "", policies + " " + rendering},
		"only one counts":    {[]Finding{{Level: LevelWarning, Validation: policies, Rule: "r", Message: "m"}, find(rendering, "r")}, "", rendering},
		"of another message": {[]Finding{find(policies, "r"), {Validation: rendering, Rule: "r", Message: "n"}}, "", policies + " " + rendering},
	} {
		list := chooseFindings(revisions.RevisionStatus{}, slices.Clone(c.all), false, FindingsQuery{Limit: 9, Validation: c.validation})
		var got []string
		for _, f := range list.Findings {
			got = append(got, f.Validation)
		}
		if joined := strings.Join(got, " "); joined != c.want || list.Total != len(got) || len(list.Causes) > len(got) {
			t.Errorf("%s: %s of %d, %d causes, want %s", name, joined, list.Total, len(list.Causes), c.want)
		}
	}
}

// A finding is as severe as the most severe validation that reports it.
func TestChoose_severest(t *testing.T) {
	t.Parallel()
	about := document.Identity{Schema: "acme/Host/v1", Name: "a"}
	all := []Finding{
		{Level: LevelWarning, Validation: "ignored", Document: about, Message: "wrong", Path: ".data.x"},
		{Validation: "required", Document: about, Message: "wrong", Path: ".data.x"},
		{Level: LevelWarning, Validation: "other", Document: about, Message: "wrong", Mistake: true},
	}
	for name, c := range map[string]struct {
		query FindingsQuery
		want  []string
	}{
		"all":                {FindingsQuery{}, []string{"error required"}},
		"errors":             {FindingsQuery{Level: "error"}, []string{"error required"}},
		"warnings":           {FindingsQuery{Level: "warning"}, nil},
		"of the ignored one": {FindingsQuery{Validation: "ignored"}, []string{"warning ignored"}},
		"of the mistake":     {FindingsQuery{Validation: "other"}, nil},
	} {
		c.query.Limit = 10
		var got []string
		for _, f := range chooseFindings(revisions.RevisionStatus{}, append([]Finding(nil), all...), false, c.query).Findings {
			got = append(got, f.Level.String()+" "+f.Validation)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Pages of a list are parts of it that follow each other, and the last one names no next.
func TestChoose_pages(t *testing.T) {
	t.Parallel()
	var all []Finding
	for i := range 7 {
		all = append(all, Finding{Validation: "v", Document: document.Identity{Schema: "acme/Host/v1", Name: string(rune('a' + i))}, Message: "wrong"})
	}
	var got strings.Builder
	for place, pages := (FindingPlace{Size: 10}), 0; place.Size > 0 && pages < 9; pages++ {
		list := chooseFindings(revisions.RevisionStatus{}, append([]Finding(nil), all...), false, FindingsQuery{Limit: 3, After: place})
		for _, f := range list.Findings {
			got.WriteString(f.Document.Name)
		}
		got.WriteString(" ")
		if place = list.Next; list.Total != len(all) {
			t.Errorf("a page counts %d", list.Total)
		}
	}
	if want := "abc def g "; got.String() != want {
		t.Errorf("pages %q, want %q", got.String(), want)
	}
}

// Of equally severe findings, those about no document come first, then those about documents that govern others.
func TestChoose_order(t *testing.T) {
	t.Parallel()
	var all []Finding
	for _, schema := range []string{"acme/Host/v1", "deckhand/DataSchema/v1", "deckhand/Passphrase/v1", "deckhand/LayeringPolicy/v1", ""} {
		f := Finding{Validation: "v", Message: "wrong"}
		if schema != "" {
			f.Document = document.Identity{Schema: schema, Name: "n"}
		}
		all = append(all, f)
	}
	all = append(all, Finding{Validation: "w", Message: "missing", Rule: ruleMissing})
	var got []string
	for _, f := range chooseFindings(revisions.RevisionStatus{}, all, false, FindingsQuery{Limit: 10}).Findings {
		got = append(got, f.Document.Schema+" "+f.Message)
	}
	want := []string{
		" wrong", "deckhand/DataSchema/v1 wrong", "deckhand/LayeringPolicy/v1 wrong", "acme/Host/v1 wrong",
		"deckhand/Passphrase/v1 wrong", " missing",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A long pattern is not said, unless the value that does not match it is not known.
func TestFinding_Said(t *testing.T) {
	t.Parallel()
	long := "'24h' does not match '" + strings.Repeat("x", 130) + "'"
	for _, c := range []struct {
		finding Finding
		want    string
	}{
		{Finding{Rule: ".a.pattern", Message: long, Value: []byte(`"24h"`)}, "'24h' does not match the pattern of its schema"},
		{Finding{Rule: ".a.pattern", Message: long}, long},
		{Finding{Rule: ".a.enum", Message: long, Value: []byte(`"24h"`)}, long},
		{Finding{Rule: ".a.pattern", Message: "'24h' does not match '^P'", Value: []byte(`"24h"`)}, "'24h' does not match '^P'"},
	} {
		if got := c.finding.Said(); got != c.want {
			t.Errorf("%+v says %q, want %q", c.finding, got, c.want)
		}
	}
}

// A window behind the first leaves out a finding only if the first one lists an equal one, which must match the query
// and be as severe.
func TestWithoutListed(t *testing.T) {
	t.Parallel()
	const schema, rendering = validations.SchemaValidation, validations.RenderingValidation
	of := func(validation, name, path string, level Level) Finding {
		return Finding{
			Validation: validation, Document: document.Identity{Schema: "a/X/v1", Name: name}, Message: "m", Path: path, Level: level,
		}
	}
	all := []Finding{of(schema, "a", ".x", LevelError), of(schema, "b", ".x", LevelError), of(schema, "c", ".x", LevelError)}
	errs := []Finding{of(rendering, "a", ".x", LevelError), of(rendering, "b", "", LevelError), of(rendering, "c", ".y", LevelError)}
	warnings := []Finding{of(rendering, "a", ".x", LevelWarning)}
	for name, c := range map[string]struct {
		reported []Finding
		query    FindingsQuery
		want     string
	}{
		"all":                        {errs, FindingsQuery{}, "c"},
		"of the schema validation":   {errs, FindingsQuery{Validation: schema}, "abc"},
		"of the other validation":    {errs, FindingsQuery{Validation: rendering}, "c"},
		"of another document":        {errs, FindingsQuery{Document: "b"}, "ac"},
		"less severe":                {warnings, FindingsQuery{}, "abc"},
		"less severe, errors alone":  {warnings, FindingsQuery{Level: "error"}, "abc"},
		"warnings alone":             {errs, FindingsQuery{Level: "warning"}, "abc"},
		"less and as severe, errors": {append(warnings, errs...), FindingsQuery{Level: "error"}, "c"},
	} {
		var got strings.Builder
		for _, f := range withoutListed(slices.Clone(all), c.reported, c.query) {
			got.WriteString(f.Document.Name)
		}
		if got.String() != c.want {
			t.Errorf("%s: %s is left, want %s", name, got.String(), c.want)
		}
	}
}

// What is found in the documents of a request is in no page of the findings.
func TestFindingList_With_pages(t *testing.T) {
	t.Parallel()
	var mistakes []Finding
	for i := range 3 {
		mistakes = append(mistakes, Finding{Validation: "v", Document: document.Identity{Schema: "a/X/v1", Name: string(rune('a' + i))}, Message: "m"})
	}
	query := FindingsQuery{Limit: 2}
	list := chooseFindings(revisions.RevisionStatus{}, nil, false, query).With(mistakes, query)
	if len(list.Findings) != 2 || list.Total != 3 || list.Next != (FindingPlace{}) {
		t.Errorf("%d of %d findings, next %v", len(list.Findings), list.Total, list.Next)
	}
}
