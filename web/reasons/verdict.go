package reasons

import (
	"cmp"
	"strings"

	"purser/internal/client"
	"purser/internal/words"
	"purser/web/wire"
)

// Verdict says in words whether a revision may be deployed.
type Verdict struct {
	Revision int64
	OK       bool
	Notice   string   // without a policy, what counted
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

// Success is the status of a validation or revision without problems.
const Success = "success"

// Of words a verdict.
func Of(status client.Verdict, found wire.Findings) Verdict {
	said := Verdict{Revision: status.Revision, OK: status.Status == Success, Notice: status.Notice, Notes: status.Warnings}
	if len(status.Policies) == 0 {
		said.Notice = cmp.Or(said.Notice, "No ValidationPolicy is in force: nothing counted") // in compat mode
	}
	for _, policy := range status.Policies {
		for _, v := range policy.Validations {
			if v.Status != Success {
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
			if v.Status != Success {
				said.Reasons = append(said.Reasons, reasonOf(v, "", found))
			}
		}
	}
	var ignored []string
	for _, v := range status.Ignored {
		if v.Status != Success {
			ignored = append(ignored, v.Name)
		}
	}
	if len(ignored) > 0 {
		said.Notes = append(said.Notes, words.List(ignored)+" failed, but no policy requires that.")
	}
	return said
}

// reasonOf returns why a validation is not a success, with advice.
func reasonOf(v client.Validation, policy string, found wire.Findings) reason {
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
			said.Text = strings.TrimSpace("There is no result of " + v.Name + ". " + words.Sentence(message))
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
	if advice != "" && len(documents) == 0 {
		said.Next = words.Sentence(advice)
	}
	return said
}

// Group has the findings of one document, or of the revision as a whole.
type Group struct {
	Document *client.Identity // nil: the revision
	Findings []wire.Finding
}

// ByDocument groups findings by their documents, in the order in which they come.
func ByDocument(all []wire.Finding) (groups []Group) {
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
			groups = append(groups, Group{Document: f.Document})
		}
		groups[i].Findings = append(groups[i].Findings, f)
	}
	return groups
}
