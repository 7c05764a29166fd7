package web

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"purser/internal/wire"
	"purser/internal/words"
)

// verdict says in words whether a revision may be deployed.
type verdict struct {
	Revision int64
	OK       bool
	Notice   string    // without a policy, what counted
	Reasons  []problem // why not
	Notes    []string  // problems that do not block it
	Waived   []wire.Waived
	Partial  bool // something does not apply
}

// Mark returns a character for the verdict.
func (v verdict) Mark() string {
	switch {
	case !v.OK:
		return "✗"
	case len(v.Waived) > 0:
		return "⚠"
	}
	return "✓"
}

// Text returns the verdict in words.
func (v verdict) Text() string {
	said := "Revision " + strconv.FormatInt(v.Revision, 10)
	switch n := len(v.Waived); {
	case !v.OK:
		return said + " may not be deployed"
	case n > 0:
		return said + " may be deployed because of " + words.Count(n, "waiver")
	}
	return said + " may be deployed"
}

// Title returns the verdict in the words of a tab's title.
func (v verdict) Title() string { return v.Mark() + " " + v.Text() }

// problem is why a validation is not a success, with advice.
type problem struct {
	Validation string
	Policy     string // that requires it; "" without one
	Status     string // failure, missing or expired
	Text       string
	Next       string
}

// success is the status of a validation or revision without problems.
const success = "success"

// verdictOf words a verdict.
func verdictOf(status wire.Verdict, found wire.Findings) verdict {
	said := verdict{
		Revision: status.Revision, OK: status.Status == success, Notice: status.Notice, Notes: status.Warnings,
		Waived: status.Waived,
	}
	if len(status.Policies) == 0 {
		said.Notice = cmp.Or(said.Notice, "There is no ValidationPolicy: nothing counted") // in compat mode
	}
	for _, policy := range status.Policies {
		for _, v := range policy.Validations {
			if !v.Passes() {
				said.Reasons = append(said.Reasons, reasonOf(v, policy.Name, found))
			}
		}
		if policy.Broken() {
			said.Reasons = append(said.Reasons, problem{
				Policy: policy.Name, Status: "failure", Text: "The policy " + policy.Name + " itself cannot be satisfied.",
				Next: "Correct the policy's document; the findings say how.",
			})
		}
	}
	if len(status.Policies) == 0 && !said.OK {
		for _, v := range status.Validations {
			if !v.Passes() {
				said.Reasons = append(said.Reasons, reasonOf(v, "", found))
			}
		}
	}
	doesNotApply := func(r requirement) bool { return r.Status == inapplicable }
	said.Partial = slices.ContainsFunc(requirementsOf(status), doesNotApply)
	slices.SortStableFunc(said.Reasons, func(a, b problem) int { return a.urgency() - b.urgency() })
	var ignored []string
	for _, v := range status.Ignored {
		if v.Status != success {
			ignored = append(ignored, v.Name)
		}
	}
	if len(ignored) > 0 {
		said.Notes = append(said.Notes, words.List(ignored)+" failed, but no policy requires that.")
	}
	return said
}

// urgency orders reasons: failures come before results that are missing or expired.
func (p problem) urgency() int {
	if p.Status == "failure" {
		return 0
	}
	return 1
}

// problemOf returns why one validation is not a success; the zero problem if it is.
func problemOf(v wire.Validation, found wire.Findings) (why problem) {
	if v.Holds() || v.Status == "" {
		return why
	}
	return reasonOf(v, "", found)
}

// reasonOf returns why a validation is not a success, with advice.
func reasonOf(v wire.Validation, policy string, found wire.Findings) problem {
	said := problem{Validation: v.Name, Policy: policy, Status: v.Status}
	message, advice, unexplained := "", "", false
	for _, f := range found.Findings {
		if f.Validation == v.Name && f.Document == nil {
			message, advice, unexplained = f.Message, string(f.Advice), f.Rule == "unexplained"
			break
		}
	}
	number := numberOf(found, v.Name)
	switch v.Status {
	case "missing", "expired":
		said.Text, said.Next = lackOf(v, message)
	default:
		said.Text = v.Name + " failed"
		switch {
		case number.Documents > 0:
			said.Text += ": " + words.AtLeast(words.Count(number.Findings, "finding"), number.More) + " in " +
				words.AtLeast(words.Count(number.Documents, "document"), number.More || number.Unnamed) + "."
			said.Next = "Correct the documents below and upload their buckets again."
			if !v.Own() {
				said.Next = "Correct the documents below, upload their buckets again, and have its service validate " +
					"the new revision."
			}
		case unexplained:
			said.Text += ", and its result does not say why."
		case message != "":
			said.Text += ": " + words.Sentence(message)
		default:
			said.Text += "."
		}
		switch {
		case said.Next != "":
		case v.Own(): // its findings may be listed with those of another one
			said.Next = "Correct the documents and push them again."
		case message == "":
			said.Next = "Look at its results, correct what they name, and have its service validate the new revision."
		default:
			said.Next = "Correct that, and have its service validate the new revision."
		}
	}
	if advice != "" && number.Documents == 0 {
		said.Next = words.Sentence(advice)
	}
	if v.Claim != nil {
		said.Next = "Wait for the result."
	}
	return said
}

// lackOf returns the words for a validation that is missing or has expired, with advice. message is that of a finding.
func lackOf(v wire.Validation, message string) (text, next string) {
	switch {
	case v.Status == "expired" && v.Message != "": // who works on it
		text = "The result of " + v.Name + " has expired; it is " + words.Ended(v.Message)
	case v.Status == "expired":
		text = "The result of " + v.Name + " has expired."
	case v.Own(): // others cannot post one
		return strings.TrimSpace("There is no result of " + v.Name + ". " + words.Sentence(message)), ""
	case v.Message != "": // the approvals that are lacking, and who works on it
		text = v.Name + " is missing: " + words.Ended(v.Message)
	default:
		text = "No result has been posted for " + v.Name + "."
	}
	if v.Status == "expired" {
		return text, "Have its service validate this revision again."
	}
	return text, "Have its service validate this revision and post the result."
}

// numberOf returns the number of findings of a validation about documents, at its most severe level.
func numberOf(found wire.Findings, validation string) (number wire.Number) {
	for _, n := range found.ByValidation {
		if n.Name == validation && (number.Name == "" || n.Level == "error") {
			number = n
		}
	}
	for _, cause := range found.Causes {
		if f := cause.First; f.Validation == validation && f.Level == number.Level && f.Document == nil {
			number.Findings -= cause.Findings
		}
	}
	return number
}

// shownFindings has the findings that a page shows, and the numbers of all.
type shownFindings struct {
	Groups []findingGroup
	Causes []wire.Cause // of several documents; only if not all findings are shown
	Rest   int          // findings that are not shown
	More   bool         // there may be others

	Validation string // that all are of; "" if they are of several
}

// findingsToShow returns what a page shows of findings.
func findingsToShow(found wire.Findings) shownFindings {
	shown := shownFindings{
		Groups: byDocument(withoutReasons(found.Findings)), Rest: max(found.Total-len(found.Findings), 0), More: found.More,
	}
	if shown.Rest == 0 {
		return shown
	}
	for _, cause := range found.Causes {
		if cause.Documents > 1 {
			shown.Causes = append(shown.Causes, cause)
		}
	}
	return shown
}

// findingGroup has the findings of one document, or of the revision as a whole.
type findingGroup struct {
	Document *wire.Identity // nil: the revision
	Findings []wire.Finding
}

// withoutReasons returns findings without those that the reasons of the verdict repeat.
func withoutReasons(all []wire.Finding) []wire.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f wire.Finding) bool {
		return f.Document == nil && (f.Rule == "missing" || f.Rule == "expired")
	})
}

// byDocument groups findings by their documents, in the order in which they come.
func byDocument(all []wire.Finding) (groups []findingGroup) {
	at := map[wire.Identity]int{}
	for _, f := range all {
		var key wire.Identity
		if f.Document != nil {
			key = *f.Document
		}
		i, known := at[key]
		if !known {
			i = len(groups)
			at[key] = i
			groups = append(groups, findingGroup{Document: f.Document})
		}
		groups[i].Findings = append(groups[i].Findings, f)
	}
	return groups
}
