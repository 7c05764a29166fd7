package web

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"purser/internal/wire"
)

// findingsView is the content of the page of a revision's findings.
type findingsView struct {
	*pageBuffer

	Revision                       int64
	Validation, Level, Text, Order string // as requested
	Validations                    []string
	Numbers                        wire.Counts // of all with that validation and level
	Listed                         int         // of these, among which the text is looked for
	Matching                       int         // of the listed ones
	Shown                          shownFindings
	Pages                          pager
}

// findings lists the findings of a revision: the numbers of their causes, and those that match a text, in an order.
func (v *visit) findings() (view, error) {
	const limit = 50
	page := findingsView{
		pageBuffer: v.pageBuffer, Validation: v.param("validation"), Level: v.param("level"), Text: v.param("q"),
		Order: v.param("order"), Pages: newPager(v.URL, limit),
	}
	var revision wire.Revision
	if err := v.api.Get(v.Context(), &revision, nil, "revisions", v.PathValue("revision")); err != nil {
		return view{}, err
	}
	page.Revision = revision.ID
	id := strconv.FormatInt(revision.ID, 10)
	query := url.Values{"limit": {"1000"}, "cleartext-secrets": {"false"}}
	for name, value := range map[string]string{"validation": page.Validation, "level": page.Level} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var status wire.Verdict
	var found wire.Findings
	hide := url.Values{"cleartext-secrets": {"false"}}
	err := together(v.Context(),
		func(ctx context.Context) error { return v.api.Get(ctx, &status, hide, "revisions", id, "status") },
		func(ctx context.Context) error { return v.api.Get(ctx, &found, query, "revisions", id, "findings") },
	)
	if err != nil {
		return view{}, err
	}
	for _, required := range requirementsOf(status) {
		page.Validations = append(page.Validations, required.Name)
	}
	page.Numbers, page.Listed = found.Counts, len(found.Findings)
	chosen := inOrder(matching(found.Findings, page.Text), page.Order)
	page.Matching = len(chosen)
	from := min(page.Pages.Offset, len(chosen))
	to := min(from+limit, len(chosen))
	page.Shown = shownFindings{Groups: byDocument(chosen[from:to])}
	page.Pages.End(to-from, to < len(chosen))
	for _, cause := range found.Causes {
		if cause.Documents > 1 {
			page.Shown.Causes = append(page.Shown.Causes, cause)
		}
	}
	return view{template: "findings", Title: "Findings of revision " + id, Section: "revisions", Data: page}, nil
}

// matching returns the findings whose document, path or message has a text.
func matching(all []wire.Finding, text string) (chosen []wire.Finding) {
	text = strings.ToLower(text)
	for _, f := range all {
		about := string(f.Path) + "\n" + f.Message
		if f.Document != nil {
			about += "\n" + findingName(*f.Document)
		}
		if strings.Contains(strings.ToLower(about), text) {
			chosen = append(chosen, f)
		}
	}
	return chosen
}

// inOrder returns findings sorted by "document" or "path"; with another order as they are, the worst first.
func inOrder(all []wire.Finding, order string) []wire.Finding {
	name := func(f wire.Finding) string {
		if f.Document == nil {
			return ""
		}
		return findingName(*f.Document)
	}
	return slices.SortedStableFunc(slices.Values(all), func(a, b wire.Finding) int {
		switch order {
		case "document":
			return cmp.Compare(name(a), name(b))
		case "path":
			return cmp.Compare(a.Path, b.Path)
		}
		return 0
	})
}
