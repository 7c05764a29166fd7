package check

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// refusal is a finding about a text that is not a valid document, and its position in the file.
type refusal struct {
	Finding

	at document.Position
}

var (
	// located matches the beginning of the server's messages about a body: document 2 [acme/A/v1] a, line 7, column 3.
	located = regexp.MustCompile(`^(?:The request body must be properly formatted (?:YAML|JSON)\. Details: )?` +
		`(?:document \d+(?: \[[^\n]*?)?(?:, | \(from ))?line (\d+)\)?(?:, column (\d+))?:? ?`)
	// diagnosed matches the position in a message about a document's frame; the remedy follows it.
	diagnosed = regexp.MustCompile(`^At (\S+) \(line (\d+), column (\d+)\) of document \d+, which begins at line \d+\. `)
)

// isOfFile reports whether an error is caused by the content of a file.
func isOfFile(err error) bool {
	if _, spent := errors.AsType[*budget.Exceeded](err); spent {
		return false
	}
	kind := fault.KindOf(err)
	return err != nil && (kind == fault.Invalid || kind == fault.TooLarge)
}

// refusalOf converts a fault about a text to a finding.
func refusalOf(err error) (Finding, document.Position) {
	f := Finding{Rule: ruleSyntax, Message: err.Error()}
	if fault.KindOf(err) == fault.TooLarge {
		f.Rule = ruleLimit
	}
	f.Advice = adviceOf(f.Rule)
	at := document.Position{}
	if said := located.FindStringSubmatch(f.Message); said != nil {
		at = positionOf(said[1], said[2])
		if rest := f.Message[len(said[0]):]; rest != "" && f.Rule == ruleSyntax {
			f.Message = strings.ToUpper(rest[:1]) + rest[1:]
		}
	}
	return f, at
}

func positionOf(line, column string) document.Position {
	l, _ := strconv.Atoi(line)
	c, _ := strconv.Atoi(cmp.Or(column, "1"))
	return document.Position{Line: l, Column: c}
}

// refusals returns the findings about an item that is not a valid document.
func (r *run) refusals(ctx context.Context, i int, err error) []refusal {
	problem, isFault := errors.AsType[*fault.Fault](err)
	start := document.Position{Line: r.items[i].Segment.Line, Column: 1}
	if !isFault {
		return []refusal{{Finding{Rule: ruleSyntax, Message: err.Error()}, start}}
	}
	var all []refusal
	for _, message := range problem.Messages {
		switch {
		case message.Name == "D001":
			refused := frameRefusal(message, start)
			refused.Source = r.line(ctx, r.of[i], refused.at.Line)
			all = append(all, refused)
		case strings.HasPrefix(message.Message, "Document "): // it is not a mapping
			_, said, _ := strings.Cut(message.Message, ") is ")
			f := Finding{Rule: ruleFrame, Advice: adviceOf(ruleFrame)}
			f.Message = "The document is " + strings.TrimSuffix(said, ".")
			if is, advice, found := strings.Cut(said, ". "); found {
				f.Message, f.Advice = "The document is "+is, advice
			}
			all = append(all, refusal{f, start})
		}
	}
	if all == nil {
		f, at := refusalOf(problem)
		f.Source = r.line(ctx, r.of[i], at.Line)
		all = []refusal{{f, cmp.Or(at, start)}}
	}
	for i := range all { // what the server says of a request
		for _, said := range []*string{&all[i].Message, &all[i].Advice} {
			*said = strings.TrimSuffix(*said, " Nothing was stored.")
		}
	}
	return all
}

// frameRefusal converts a message of the sanity checks to a finding.
func frameRefusal(message fault.Message, start document.Position) refusal {
	f := Finding{Rule: ruleFrame, Message: message.Message, Advice: adviceOf(ruleFrame)}
	if len(message.Documents) > 0 {
		named := message.Documents[0]
		f.Document = document.Identity{Schema: named.Schema, Layer: named.Layer, Name: named.Name}
	}
	diagnostic, _ := message.Diagnostic.(string)
	said := diagnosed.FindStringSubmatch(diagnostic)
	if said == nil {
		return refusal{f, start}
	}
	f.Path = strings.TrimSuffix(said[1], ".")
	f.Advice = diagnostic[len(said[0]):]
	return refusal{f, positionOf(said[2], said[3])}
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
