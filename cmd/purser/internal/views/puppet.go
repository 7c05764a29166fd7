package views

import (
	"encoding/json"
	"fmt"
	"strings"

	"purser/internal/client"
	"purser/internal/words"
)

// PuppetReport returns the report on an overridden catalog.
func PuppetReport(text []byte) (Answer, error) {
	report, err := decode[puppetReport](text)
	if err != nil {
		return Answer{}, err
	}
	var names []string
	var b strings.Builder
	entry := func(what string, e puppetEntry, more string) {
		fmt.Fprintf(&b, "%-8s %s  %s  %s\n", what, words.Line(e.Resource), words.Line(e.By.String()), words.Line(more))
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
		entry(change.Action, change.puppetEntry, strings.Join(set, ", "))
	}
	for _, skip := range report.Skipped {
		entry("skipped", skip.puppetEntry, skip.Reason)
	}
	for _, warning := range report.Warnings {
		entry("warning", warning.puppetEntry, warning.Message)
	}
	return Answer{text, names, b.String()}, nil
}

// puppetReport is the server's report on an overridden catalog.
type puppetReport struct {
	Changes []struct {
		puppetEntry

		Action     string `json:"action"`
		Parameters []struct {
			Name  string          `json:"name"`
			Value json.RawMessage `json:"value"`
		} `json:"parameters"`
	} `json:"changes"`
	Skipped []struct {
		puppetEntry

		Reason string `json:"reason"`
	} `json:"skipped"`
	Warnings []struct {
		puppetEntry

		Message string `json:"message"`
	} `json:"warnings"`
}

// puppetEntry is a resource and the document that the report relates it to.
type puppetEntry struct {
	Resource string          `json:"resource"`
	By       client.Identity `json:"by"`
}

// PuppetDifferences returns how the overrides of two revisions differ.
func PuppetDifferences(text []byte) (Answer, error) {
	found, err := decode[puppetDifferences](text)
	if err != nil {
		return Answer{}, err
	}
	var names []string
	var b strings.Builder
	for _, resource := range found.Resources {
		names = append(names, resource.Resource)
		fmt.Fprintf(&b, "%-8s %s\n", resource.Change, words.Line(resource.Resource))
		for _, altered := range resource.Parameters {
			fmt.Fprintf(&b, "  %s\n", words.Line(altered.String()))
		}
	}
	for _, option := range found.Options {
		fmt.Fprintf(&b, "option   %s\n", words.Line(option.String()))
	}
	return Answer{text, names, b.String()}, nil
}

// puppetDifferences are the differences between two revisions in the overrides of resources.
type puppetDifferences struct {
	Resources []struct {
		Resource   string          `json:"resource"`
		Change     string          `json:"change"`
		Parameters []puppetAltered `json:"parameters"`
	} `json:"resources"`
	Options []puppetAltered `json:"options"`
}

type puppetAltered struct {
	Name      string          `json:"name"`
	From      json.RawMessage `json:"from"`
	To        json.RawMessage `json:"to"`
	Sensitive bool            `json:"sensitive"`
}

func (a puppetAltered) String() string {
	side := func(value json.RawMessage) string { return dash(string(value)) }
	if a.Sensitive {
		return a.Name + ": (sensitive)"
	}
	return a.Name + ": " + side(a.From) + " -> " + side(a.To)
}
