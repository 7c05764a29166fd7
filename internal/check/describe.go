package check

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"purser/internal/authz"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/validations"
	"purser/internal/words"
)

// withheld replaces messages that could reveal the content of an encrypted document.
const withheld = "It fails; why is not shown, because an encrypted document, or what was taken from one, has a part " +
	"in it"

// describe reports the findings of the judgement.
func (r *run) describe(ctx context.Context, draft changes.Draft) error {
	byIdentity := make(map[document.Identity]int, len(r.items))
	for i, item := range r.items {
		byIdentity[item.Document.Identity] = i
	}
	x := &tracer{run: r, documents: draft.Documents}
	list := queries.OfPreview(draft.Preview, queries.FindingsQuery{Limit: math.MaxInt})
	if unlisted := list.Total - len(list.Findings); unlisted > 0 && len(r.items) > 0 {
		r.add(Finding{
			Place: r.place(r.of[0], r.position(0, nil)), Rule: ruleUnlisted, Advice: adviceOf(ruleUnlisted),
			Message: words.Count(unlisted, "more error") + " of the same validations, which are not listed",
		})
	}
	found, err := queries.Locate(ctx, x.open(ctx, list.Findings, byIdentity), draft.Written)
	if err != nil {
		return err
	}
	for i := range found {
		f := &found[i]
		item, known := byIdentity[f.Document]
		finding := r.findingOf(f)
		if !known { // it is about all documents: show it at the first one with a layer
			item = max(0, slices.IndexFunc(r.items, func(i changes.Item) bool { return i.Document.Layer != "" }))
			f.At = r.position(item, []string{"metadata", "layeringDefinition", "layer"})
		}
		finding.Place = r.place(r.of[item], f.At)
		for _, other := range f.Others {
			if i, known := byIdentity[other.Identity]; known {
				at := r.place(r.of[i], other.At)
				finding.Chain = append(finding.Chain, Step{at, other.String() + " is in the cycle too"})
			}
		}
		shown := item
		if finding.Rule == ruleRenderedSchema {
			if from, at, chain := x.trace(ctx, item, f); from >= 0 {
				finding.Place, finding.Chain, shown = r.place(r.of[from], at), chain, from
			}
		}
		finding.Source = r.line(ctx, r.of[shown], finding.Line)
		r.add(finding)
	}
	r.notes(ctx, draft)
	return r.unquoted(ctx, draft)
}

// findingOf converts a finding of the server, without its place.
func (r *run) findingOf(f *queries.Finding) Finding {
	finding := Finding{
		Level: f.Level, Rule: RuleOf(f.Validation, f.Rule), Document: f.Document, Bucket: f.Bucket, Path: f.Path,
		Broken: f.Rule, Message: f.Message, Causes: f.Causes, said: f.Said(),
	}
	finding.Advice = cmp.Or(f.Advice, adviceOf(finding.Rule))
	if finding.Rule == ruleNoPolicy || finding.Rule == ruleNoSchema { // the server's advice is about requests
		finding.Advice = adviceOf(finding.Rule)
	}
	if authz.IsWithheld(f.Message) {
		finding.Message, finding.said, finding.Advice, finding.Broken = withheld, "", "", ""
	}
	return finding
}

// notes reports keys that appear twice.
func (r *run) notes(ctx context.Context, draft changes.Draft) {
	for i, doc := range draft.Documents {
		for _, note := range r.items[i].Document.Notes {
			if validations.IsStray(note) { // it is among the findings
				continue
			}
			f := Finding{
				Level: queries.LevelWarning, Rule: ruleDuplicateKey, Document: doc.Identity, Bucket: doc.Bucket,
				Message: note.Message, Advice: adviceOf(ruleDuplicateKey),
			}
			at := r.position(i, nil)
			if note.Second.Line > 0 {
				f.Message, at = "A key appears twice in one mapping; the last one wins.", note.Second
				f.Chain = []Step{{r.place(r.of[i], note.First), "the first one"}}
			}
			if note.Key != "" {
				f.Message = fmt.Sprintf("The key '%s' appears twice in one mapping; the last one wins.", note.Key)
			}
			f.Place, f.Source = r.place(r.of[i], at), r.line(ctx, r.of[i], at.Line)
			r.add(f)
		}
	}
}

// isEncrypted reports whether an item is an encrypted document.
func (r *run) isEncrypted(item int) bool { return r.items[item].Document.Traits().Encrypted }
