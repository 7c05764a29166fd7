package views

import (
	"encoding/json"
	"fmt"
	"strings"

	"purser/internal/wire"
	"purser/internal/words"
)

// PuppetReport returns the report on an overridden catalog.
func PuppetReport(text []byte) (Answer, error) {
	report, err := decode[wire.Report](text)
	if err != nil {
		return Answer{}, err
	}
	var names []string
	var b strings.Builder
	entry := func(what, resource string, by wire.OverrideName, more string) {
		fmt.Fprintf(&b, "%-8s %s  %s  %s\n", what, words.Line(resource), words.Line(by.String()), words.Line(more))
	}
	for _, change := range report.Changes {
		names = append(names, change.Resource)
		var set []string
		for _, p := range change.Parameters {
			if p.Value != nil {
				p.Name += "=" + string(p.Value)
			}
			set = append(set, p.Name)
		}
		entry(change.Action, change.Resource, change.By, strings.Join(set, ", "))
	}
	for _, skip := range report.Skipped {
		entry("skipped", skip.Resource, skip.By, skip.Reason)
	}
	for _, warning := range report.Warnings {
		entry("warning", warning.Resource, warning.By, warning.Message)
	}
	return Answer{text, names, b.String()}, nil
}

// PuppetDifferences returns how the overrides of two revisions differ.
func PuppetDifferences(text []byte) (Answer, error) {
	found, err := decode[wire.OverrideDifferences](text)
	if err != nil {
		return Answer{}, err
	}
	var names []string
	var b strings.Builder
	for _, resource := range found.Resources {
		names = append(names, resource.Resource)
		fmt.Fprintf(&b, "%-8s %s\n", resource.Change, words.Line(resource.Resource))
		for _, altered := range resource.Parameters {
			fmt.Fprintf(&b, "  %s\n", words.Line(alteredText(altered)))
		}
	}
	for _, option := range found.Options {
		fmt.Fprintf(&b, "option   %s\n", words.Line(alteredText(option)))
	}
	return Answer{text, names, b.String()}, nil
}

// alteredText formats a differing parameter.
func alteredText(a wire.Altered) string {
	side := func(value json.RawMessage) string { return dash(string(value)) }
	if a.Sensitive {
		return a.Name + ": (sensitive)"
	}
	return a.Name + ": " + side(a.From) + " -> " + side(a.To)
}
