package check

import (
	"context"
	"errors"
	"strings"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
)

// isOfFile reports whether an error is caused by the content of a file.
func isOfFile(err error) bool {
	if _, spent := errors.AsType[*budget.Exceeded](err); spent {
		return false
	}
	kind := fault.KindOf(err)
	return err != nil && (kind == fault.Invalid || kind == fault.TooLarge)
}

// refusalOf converts a fault about a text to a finding, without its file. Its line is 0 if the fault has none.
func refusalOf(err error) Finding {
	f := Finding{Rule: ruleSyntax, Message: strings.TrimSuffix(err.Error(), " Nothing was stored.")}
	if mistake, ok := errors.AsType[*document.Mistake](err); ok {
		f.Line, f.Column = mistake.At.Line, max(1, mistake.At.Column)
		f.Message = strings.ToUpper(mistake.Rule[:1]) + mistake.Rule[1:]
	} else if fault.KindOf(err) == fault.TooLarge {
		f.Rule = ruleLimit
	}
	f.Advice = adviceOf(f.Rule)
	return f
}

// refusals returns the findings about an item that is not a valid document.
func (r *run) refusals(ctx context.Context, i int, err error) (all []Finding) {
	if not, ok := errors.AsType[*changes.NotDocument](err); ok {
		start := r.place(r.of[i], document.Position{Line: r.items[i].Segment.Line, Column: 1})
		return []Finding{{Place: start, Rule: ruleFrame, Message: not.Error(), Advice: not.Advice}}
	}
	if refused, ok := errors.AsType[*fault.Fault](err); ok {
		for _, message := range refused.Messages {
			if message.Correction != nil {
				all = append(all, frameRefusal(message))
			}
		}
	}
	if all == nil {
		all = []Finding{refusalOf(err)}
	}
	for j := range all {
		f := &all[j]
		if f.File = r.files[r.of[i]].Name; f.Line+f.Column == 0 {
			f.Line, f.Column = r.items[i].Segment.Line, 1
		}
		f.Source = r.line(ctx, r.of[i], f.Line)
	}
	return all
}

// frameRefusal converts a message of the sanity checks to a finding, without its file.
func frameRefusal(message fault.Message) Finding {
	correct := message.Correction
	f := Finding{
		Place: Place{Line: correct.Line, Column: correct.Column}, Rule: ruleFrame, Message: message.Message,
		Path: strings.TrimSuffix(correct.Path, "."), Advice: correct.Advice,
	}
	if len(message.Documents) > 0 {
		named := message.Documents[0]
		f.Document = document.Identity{Schema: named.Schema, Layer: named.Layer, Name: named.Name}
	}
	return f
}
