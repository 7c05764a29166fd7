package check

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
)

// refusal is a finding about a text that is not a valid document, and its position in the file.
type refusal struct {
	Finding

	at document.Position
}

// isOfFile reports whether an error is caused by the content of a file.
func isOfFile(err error) bool {
	if _, spent := errors.AsType[*budget.Exceeded](err); spent {
		return false
	}
	kind := fault.KindOf(err)
	return err != nil && (kind == fault.Invalid || kind == fault.TooLarge)
}

// refusalOf converts a fault about a text to a finding. Its position is zero if the fault has none.
func refusalOf(err error) refusal {
	if mistake, ok := errors.AsType[*document.Mistake](err); ok {
		at := mistake.At
		at.Column = max(1, at.Column)
		message := strings.ToUpper(mistake.Rule[:1]) + mistake.Rule[1:]
		return refusal{Finding{Rule: ruleSyntax, Message: message, Advice: adviceOf(ruleSyntax)}, at}
	}
	f := Finding{Rule: ruleSyntax, Message: strings.TrimSuffix(err.Error(), " Nothing was stored.")}
	if fault.KindOf(err) == fault.TooLarge {
		f.Rule = ruleLimit
	}
	f.Advice = adviceOf(f.Rule)
	return refusal{Finding: f}
}

// refusals returns the findings about an item that is not a valid document.
func (r *run) refusals(ctx context.Context, i int, err error) (all []refusal) {
	start := document.Position{Line: r.items[i].Segment.Line, Column: 1}
	if not, ok := errors.AsType[*changes.NotDocument](err); ok {
		return []refusal{{Finding{Rule: ruleFrame, Message: not.Error(), Advice: not.Advice}, start}}
	}
	if refused, ok := errors.AsType[*fault.Fault](err); ok {
		for _, message := range refused.Messages {
			if message.Correction != nil {
				all = append(all, frameRefusal(message))
			}
		}
	}
	if all == nil {
		all = []refusal{refusalOf(err)}
		all[0].at = cmp.Or(all[0].at, start)
	}
	for j := range all {
		all[j].Source = r.line(ctx, r.of[i], all[j].at.Line)
	}
	return all
}

// frameRefusal converts a message of the sanity checks to a finding.
func frameRefusal(message fault.Message) refusal {
	correct := message.Correction
	f := Finding{
		Rule: ruleFrame, Message: message.Message, Path: strings.TrimSuffix(correct.Path, "."), Advice: correct.Advice,
	}
	if len(message.Documents) > 0 {
		named := message.Documents[0]
		f.Document = document.Identity{Schema: named.Schema, Layer: named.Layer, Name: named.Name}
	}
	return refusal{f, document.Position{Line: correct.Line, Column: correct.Column}}
}

// adviceOf returns the advice for a rule.
func adviceOf(id string) string {
	for _, rule := range Rules() {
		if rule.ID == id {
			return rule.Help
		}
	}
	return ""
}
