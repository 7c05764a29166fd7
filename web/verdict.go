package web

import (
	"strings"

	"purser/internal/words"

	"purser/internal/client"
)

// verdict says in words whether a revision may be deployed.
type verdict struct {
	Revision int64
	OK       bool
	Reasons  []reason // why not
	Notes    []string // problems that do not block it
}

// reason is a problem that blocks a revision, with advice.
type reason struct {
	Validation string
	Policy     string // that requires it; "" without one
	Status     string // failure, missing or expired
	Text       string
	Next       string
}

// success is the status of a validation or revision without problems.
const success = "success"

// verdictOf words a verdict.
func verdictOf(status client.Verdict, found findings) verdict {
	said := verdict{Revision: status.Revision, OK: status.Status == success, Notes: status.Warnings}
	for _, policy := range status.Policies {
		for _, v := range policy.Validations {
			if v.Status != success {
				said.Reasons = append(said.Reasons, reasonOf(v, policy.Name, found))
			}
		}
		if policy.Broken() {
			said.Reasons = append(said.Reasons, reason{
				Policy: policy.Name, Status: "failure", Text: "The policy " + policy.Name + " itself cannot be satisfied.",
				Next: "Correct the policy's document; the findings say how.",
			})
		}
	}
	if len(status.Policies) == 0 && !said.OK {
		for _, v := range status.Validations {
			if v.Status != success {
				said.Reasons = append(said.Reasons, reasonOf(v, "", found))
			}
		}
	}
	var ignored []string
	for _, v := range status.Ignored {
		if v.Status != success {
			ignored = append(ignored, v.Name)
		}
	}
	if len(ignored) > 0 {
		said.Notes = append(said.Notes, joined(ignored)+" failed, but no policy requires that.")
	}
	return said
}

// reasonOf returns why a validation is not a success, with advice.
func reasonOf(v client.Validation, policy string, found findings) reason {
	said := reason{Validation: v.Name, Policy: policy, Status: v.Status}
	documents, about, advice := map[client.Identity]bool{}, 0, ""
	message, unexplained := "", false
	for _, f := range found.Findings {
		if f.Validation != v.Name || f.Level != "error" {
			continue
		}
		if f.Document == nil {
			message, advice, unexplained = f.Message, f.Advice, f.Rule == "unexplained"
			continue
		}
		documents[*f.Document] = true
		about++
	}
	switch v.Status {
	case "missing":
		said.Text = "Nobody has posted a result of " + v.Name + "."
		if v.Own() { // others cannot post one
			said.Text = strings.TrimSpace("There is no result of " + v.Name + ". " + sentence(message))
			break
		}
		said.Next = "Have its service validate this revision and post the result."
	case "expired":
		said.Text = "The result of " + v.Name + " has expired."
		said.Next = "Have its service validate this revision again."
	default:
		said.Text = v.Name + " failed"
		switch {
		case len(documents) > 0:
			said.Text += ": " + words.Count(about, "finding") + " in " + words.Count(len(documents), "document") + "."
			said.Next = "Correct the documents below and upload their buckets again."
			if !v.Own() {
				said.Next = "Correct the documents below, upload their buckets again, and have its service validate " +
					"the new revision."
			}
		case unexplained:
			said.Text += ", and its result does not say why."
		case message != "":
			said.Text += ": " + sentence(message)
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
	if advice != "" && len(documents) == 0 {
		said.Next = sentence(advice)
	}
	return said
}

// sentence begins a text with a capital and ends it with a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if c := text[0]; 'a' <= c && c <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return ended(text)
}

// ended ends a text that is not empty with a full stop.
func ended(text string) string {
	if !strings.ContainsAny(text[len(text)-1:], ".!?") {
		text += "."
	}
	return text
}

// grouped has the findings of one document, or of the revision as a whole.
type grouped struct {
	Document *client.Identity // nil: the revision
	Findings []finding
}

// byDocument groups findings by their documents, in the order in which they come.
func byDocument(all []finding) (groups []grouped) {
	at := map[client.Identity]int{}
	for _, f := range all {
		if f.Document == nil && (f.Rule == "missing" || f.Rule == "expired") {
			continue // a reason of the verdict says so
		}
		var key client.Identity
		if f.Document != nil {
			key = *f.Document
		}
		i, known := at[key]
		if !known {
			i = len(groups)
			at[key] = i
			groups = append(groups, grouped{Document: f.Document})
		}
		groups[i].Findings = append(groups[i].Findings, f)
	}
	return groups
}
