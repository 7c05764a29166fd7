package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"purser/cmd/purser/internal/markdown"
	"purser/internal/document"
	"purser/internal/wire"
	"purser/internal/words"
)

// commentOf returns the comment of a pull request: the verdict, what changes and what is wrong. It shortens long
// messages and lists of names, except in the whole comment, which --full writes.
func commentOf(r report, whole bool) markdown.Page {
	if whole {
		r.names, r.message = math.MaxInt, math.MaxInt
	} else {
		r.names, r.message = maxNames, maxMessage
	}
	if r.refused != "" {
		lines := strings.Split(strings.TrimRight(r.refused, "\n"), "\n")
		return markdown.Page{Head: verdictOf(r) + "\n\n", Sections: []markdown.Section{{
			Title: "Why", Noun: "line", Items: r.codeItems(lines),
		}}}
	}
	head := verdictOf(r) + "\n\n"
	if did := r.preview.Changes; r.preview.Changed {
		head += fmt.Sprintf("%d added, %d changed, %d deleted; %s unchanged\n\n", did.Added, did.Modified, did.Deleted,
			words.Count(did.Unchanged, "document"))
	}
	return markdown.Page{Head: head, Sections: slices.Concat(
		[]markdown.Section{changeSection(r.preview), warningSection(r)}, findingSections(r),
		[]markdown.Section{validationSection(r.preview), submittedSection(r), renderedSection(r)},
	)}
}

// Bounds of a line of a comment. Those of a verdict hold for the whole comment too: the sections below it have all.
const (
	maxNames   = 10
	maxName    = 100   // characters
	maxMessage = 1_000 // characters
)

// verdictOf returns the verdict that the revision would have, as a line of Markdown. It says success only if all that
// counts has been judged.
func verdictOf(r report) string {
	if r.refused != "" {
		return "**Refused**: the change cannot be made"
	}
	p := r.preview
	pass, fail, wait, subject := "passes", "fails", "waits", "nothing would change; "
	if p.Changed {
		pass, fail, wait, subject = "would pass", "would fail", "would wait", ""
	}
	if p.Revision == nil {
		subject += "the site"
	} else {
		subject += "revision " + strconv.FormatInt(*p.Revision, 10)
	}
	failed, open := judged(p)
	waiting := ""
	if len(open) > 0 {
		waiting = ", and " + wait + " for the results of " + namesIn(open)
	}
	switch word := verdictWord(p.Status); {
	case word == "success" && len(failed)+len(open) == 0 && p.Withheld != "":
		return "**Undecided**: " + subject + " has no known failure, but encrypted documents are not checked here"
	case word == "success" && len(failed)+len(open) == 0:
		return "**Success**: " + subject + " " + pass + " all validations that count" + waivedIn(p)
	case word == "failure" && !p.Fails() && len(failed) == 0 && len(open) > 0:
		return "**Pending**: " + subject + " " + wait + " for the results of " + namesIn(open)
	case len(failed) > 0:
		return "**Failure**: " + subject + " " + fail + " " + namesIn(failed) + waiting
	case word == "failure":
		return "**Failure**: " + subject + " " + fail + waiting
	}
	return "**Undecided**: " + subject + " has the status " + markdown.Code(words.First(p.Status, maxName)) + waiting
}

// waivedIn says which validations pass because of waivers, "" if none do.
func waivedIn(p wire.Preview[wire.Finding]) string {
	var names []string
	for _, waived := range p.Waived {
		names = append(names, waived.Validation)
	}
	if len(names) == 0 {
		return ""
	}
	return ", of which some are waived: " + namesIn(names)
}

// judged returns the names of the validations that fail, and of the open ones, which wait for a service to post a
// result. Policies that are not valid count as failing, and so do missing results of the server's own validations.
func judged(p wire.Preview[wire.Finding]) (failed, open []string) {
	counted := slices.Clone(p.Validations)
	for _, policy := range p.Policies {
		if policy.Broken() {
			failed = append(failed, policy.Name)
		}
		counted = append(counted, policy.Validations...)
	}
	for _, v := range counted {
		switch {
		case v.Passes():
		case (v.Status == "missing" || v.Status == "expired") && !v.Own():
			open = append(open, v.Name)
		default:
			failed = append(failed, v.Name)
		}
	}
	slices.Sort(failed)
	slices.Sort(open)
	return slices.Compact(failed), slices.Compact(open)
}

// namesIn lists names of others in a line: the first ones, and the number of the others.
func namesIn(names []string) string {
	var shown []string
	for _, name := range names[:min(len(names), maxNames)] {
		shown = append(shown, markdown.Code(words.First(name, maxName)))
	}
	if others := len(names) - maxNames; others > 0 {
		shown = append(shown, strconv.Itoa(others)+" more")
	}
	return words.List(shown)
}

// codeItems returns an item for each text.
func (r report) codeItems(texts []string) (items []markdown.Item) {
	for _, text := range texts {
		items = append(items, markdown.Item{Line: markdown.Code(words.First(strings.TrimRight(text, " "), r.message))})
	}
	return items
}

// warningSection lists what a change does to policies, what counts without any, and what the answer does not show.
func warningSection(r report) markdown.Section {
	p := r.preview
	texts := slices.Concat(p.Weakened, r.unseen, []string{p.Notice})
	if p.Counts == nil || p.Total == 0 { // otherwise they are among the findings
		texts = append(texts, p.Warnings...)
	}
	texts = slices.DeleteFunc(append(texts, p.Withheld), func(text string) bool { return text == "" })
	for i, text := range texts {
		texts[i] = document.WithoutNone(text)
	}
	return markdown.Section{Title: "Warnings", Noun: "warning", Items: r.codeItems(texts)}
}

// findingSections returns the findings of documents that begin to fail, and all others; one list if the answer does not
// tell them apart.
func findingSections(r report) []markdown.Section {
	fails := r.preview.BeginToFail
	begins := map[wire.Identity]bool{} // false once a finding of the document is listed
	if fails != nil {
		for _, id := range fails.Documents {
			begins[withoutBucket(id)] = true
		}
	}
	var first, others []markdown.Item
	for i, f := range r.preview.Findings {
		if isOpen(f) { // the verdict and the list of validations have them
			continue
		}
		item := r.findingItem(i)
		if _, isFirst := begins[aboutOf(f)]; isFirst && f.Level == "error" {
			first, begins[aboutOf(f)] = append(first, item), false
		} else {
			others = append(others, item)
		}
	}
	rest := ""
	if r.preview.Counts != nil {
		rest = restNote(strings.TrimSpace(words.Rest(r.preview.Total-len(r.preview.Findings), r.preview.More)))
	}
	if fails == nil {
		return []markdown.Section{
			{Title: "Findings: " + strconv.Itoa(len(others)), Noun: "finding", Items: others, Note: rest},
		}
	}
	for _, id := range fails.Documents {
		if begins[withoutBucket(id)] {
			first = append(first, markdown.Item{Line: markdown.Code(id.String()) + ", whose findings are not listed here"})
		}
	}
	title := words.AtLeast(words.Count(fails.Count, "document"), fails.More) + " would begin to fail"
	note := restNote(strings.TrimSpace(words.Rest(fails.Count-len(fails.Documents), false)))
	if fails.Count == 0 && fails.More {
		title = "Documents may begin to fail"
		note = "those that fail are too many to be compared with those that failed before"
	}
	return []markdown.Section{
		{Title: title, Noun: "finding", Items: first, Note: note},
		{Title: "Other findings: " + strconv.Itoa(len(others)), Noun: "finding", Items: others, Note: rest},
	}
}

// restNote says of a rest that the answer does not have it; "" if there is none.
func restNote(rest string) string {
	if rest == "" {
		return ""
	}
	return rest + ", which the server does not list"
}

// findingItem returns the finding at an index, with a link to its place.
func (r report) findingItem(i int) markdown.Item {
	f, place := r.preview.Findings[i], ""
	if i < len(r.places) && r.places[i].File != "" {
		place = markdown.Link(r.places[i].Text(), r.at.link(r.places[i])) + " "
	}
	return markdown.Item{
		Line: "**" + levelIn(f) + "** " + place + markdown.Code(words.First(findingText(f), r.message)),
	}
}

// aboutOf returns the document of a finding regardless of its bucket, zero if it is about none.
func aboutOf(f wire.Finding) (id wire.Identity) {
	if f.Document != nil {
		id = withoutBucket(*f.Document)
	}
	return id
}

func withoutBucket(id wire.Identity) wire.Identity {
	id.Bucket = ""
	return id
}

// levelIn returns the level of a finding as a word of ours.
func levelIn(f wire.Finding) string { return levelOf(f.Level).String() }

// changeSection lists the documents that change, and the buckets that begin or end.
func changeSection(p wire.Preview[wire.Finding]) markdown.Section {
	var items []markdown.Item
	for _, bucket := range slices.Sorted(maps.Keys(p.Buckets)) {
		if did := p.Buckets[bucket]; did != "modified" && did != "unmodified" {
			items = append(items, markdown.Item{Line: "bucket " + markdown.Code(bucket) + ": " + markdown.Code(did)})
		}
	}
	for _, d := range p.Documents {
		line := wordIn(d) + " " + markdown.Code(d.Identity().String()) + ", bucket " + markdown.Code(d.Bucket)
		if d.From != "" {
			line += ", from bucket " + markdown.Code(d.From)
		}
		items = append(items, markdown.Item{Line: line})
	}
	return markdown.Section{
		Title: "What changes: " + words.Count(len(p.Documents), "document"), Folded: len(items) > maxNames, Noun: "line",
		Items: items,
	}
}

// wordIn returns the word for a change of a document, as one of ours.
func wordIn(d wire.Difference) string {
	if word := wordOf(d); slices.Contains([]string{"added", "changed", "deleted", "moved"}, word) {
		return word
	}
	return "differs:"
}

// validationSection lists the validations that count, with their outcome.
func validationSection(p wire.Preview[wire.Finding]) markdown.Section {
	var items []markdown.Item
	add := func(list []wire.Validation, of string) {
		for _, v := range list {
			line := markdown.Code(v.Name) + ": " + markdown.Code(v.Status) + of
			if note := noteOn(v); note != "" {
				line += ", " + markdown.Code(words.First(note, maxMessage))
			}
			items = append(items, markdown.Item{Line: line})
		}
	}
	for _, policy := range p.Policies {
		if policy.Broken() {
			items = append(items, markdown.Item{Line: "policy " + markdown.Code(policy.Name) + " is not valid"})
		}
		add(policy.Validations, ", policy "+markdown.Code(policy.Name))
	}
	add(p.Validations, "")
	return markdown.Section{
		Title: "Validations that count: " + strconv.Itoa(len(items)), Folded: true, Noun: "validation", Items: items,
	}
}

// submittedSection has the differences of documents as submitted.
func submittedSection(r report) markdown.Section {
	var items []markdown.Item
	for _, d := range r.preview.Documents {
		if text := r.differences[d.Identity()]; text != "" {
			items = append(items, markdown.Item{Line: markdown.Code(d.Identity().String()), Diff: text})
		}
	}
	return markdown.Section{
		Title: "What changes as submitted: " + words.Count(len(items), "changed document"), Folded: true,
		Noun: "document", Items: items,
	}
}

// renderedSection has the differences of rendered documents, each once with the documents that have it.
func renderedSection(r report) markdown.Section {
	s := markdown.Section{Title: "What changes rendered: not known", Folded: true, Noun: "difference"}
	of := r.preview.Rendered
	switch {
	case of == nil:
		return markdown.Section{}
	case len(of.Unrendered) > 0:
		for _, side := range of.Unrendered {
			when := "as they are"
			if side.Side == "after" {
				when = "with this change"
			}
			s.Items = append(s.Items, markdown.Item{Line: "the documents " + when + " cannot be rendered: " +
				markdown.Code(words.First(document.WithoutNone(side.Message), r.message))})
		}
		return s
	}
	s.Title = "What changes rendered: " + words.Count(of.Count, "document")
	for _, d := range of.Differences {
		var names []string
		for _, doc := range d.Documents[:min(len(d.Documents), r.names)] {
			names = append(names, markdown.Code(doc.Identity().String()))
		}
		if others := len(d.Documents) - len(names); others > 0 {
			names = append(names, "and "+words.Count(others, "other"))
		}
		item := markdown.Item{Line: strings.Join(names, ", ")}
		if len(d.Documents) > 0 {
			item.Line = wordIn(d.Documents[0]) + " " + item.Line
		}
		switch {
		case d.Diff != nil && *d.Diff != "":
			item.Diff = *d.Diff
		case d.Omitted || d.Diff == nil:
			item.Line += ": how is not listed"
		case !d.Encrypted:
			item.Line += ": the order of keys, or the bucket"
		}
		if d.Encrypted {
			item.Line += "; data differ that are not shown"
		}
		s.Items = append(s.Items, item)
	}
	if of.Unlisted > 0 {
		s.Note = words.Count(of.Unlisted, "document") + " more, which the server does not list"
	}
	return s
}
