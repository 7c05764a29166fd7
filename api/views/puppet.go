package views

import (
	"encoding/json"

	"purser/internal/document"
	"purser/internal/overrides"
	"purser/internal/puppet"
)

// overrideName names the document of an override.
type overrideName struct {
	Schema string  `json:"schema"`
	Name   string  `json:"name"`
	Layer  *string `json:"layer"`
}

func overrideNameOf(set overrides.Set, instance int) overrideName {
	doc := set.Documents[instance]
	return overrideName{doc.Schema, doc.Name, Optional(doc.Layer)}
}

// Report lists the effects of overrides on a catalog, in order.
type Report struct {
	Revision int64         `json:"revision"`
	Changes  []Override    `json:"changes"`
	Skipped  []skipView    `json:"skipped"`
	Warnings []warningView `json:"warnings"`
}

// Override shows the effect of an override on a resource.
type Override struct {
	Resource   string        `json:"resource"`
	Action     string        `json:"action"` // updated or created
	By         overrideName  `json:"by"`
	Parameters []settingView `json:"parameters"`
}

type settingView struct {
	Name  string          `json:"name"`
	From  string          `json:"from"`            // configuration or defaults
	Added bool            `json:"added"`           // to an existing relationship
	Value json.RawMessage `json:"value,omitempty"` // only where one resource is explained, and never of a secret
}

type skipView struct {
	Resource string       `json:"resource"` // Type[title], or the type if all of it was left out
	By       overrideName `json:"by"`
	Reason   string       `json:"reason"`
}

type warningView struct {
	Resource string       `json:"resource"`
	By       overrideName `json:"by"`
	Message  string       `json:"message"`
}

// ExplainedResource says which documents set the parameters of a resource.
type ExplainedResource struct {
	Resource string     `json:"resource"`
	Changes  []Override `json:"changes"`
}

// ReportOf returns the view of a report.
func ReportOf(set overrides.Set, report puppet.Report) Report {
	view := Report{set.Revision.ID, []Override{}, []skipView{}, []warningView{}}
	for _, change := range report.Changes {
		view.Changes = append(view.Changes, OverrideOf(set, change, false))
	}
	for _, skip := range report.Skipped {
		resource := skip.Ref.String()
		if skip.Ref.Title == "" {
			resource = skip.Ref.Type
		}
		view.Skipped = append(view.Skipped, skipView{resource, overrideNameOf(set, skip.Instance), skip.Reason})
	}
	for _, warning := range report.Warnings {
		view.Warnings = append(view.Warnings, warningView{
			warning.Ref.String(), overrideNameOf(set, warning.Instance), warning.Message,
		})
	}
	return view
}

// OverrideOf returns the view of a change by an override. If values is set, it includes the values that are not secret.
func OverrideOf(set overrides.Set, change puppet.Change, values bool) Override {
	view := Override{change.Ref.String(), "updated", overrideNameOf(set, change.Instance), []settingView{}}
	if change.Created {
		view.Action = "created"
	}
	for _, setting := range change.Settings {
		shown := settingView{Name: setting.Parameter, From: "configuration", Added: setting.Added}
		if setting.Default {
			shown.From = "defaults"
		}
		if values && !set.Instances[change.Instance].Secret {
			shown.Value = document.AppendJSON(nil, setting.Value)
		}
		view.Parameters = append(view.Parameters, shown)
	}
	return view
}

// Differences lists the resources that the overrides of two revisions change differently.
type Differences struct {
	Resources []differenceView `json:"resources"`
	Options   []alteredView    `json:"options"` // of the data for Hiera
}

type differenceView struct {
	Resource   string        `json:"resource"`
	Change     string        `json:"change"` // added, removed or changed
	Parameters []alteredView `json:"parameters"`
}

// alteredView is a differing parameter. It omits from or to without a value, and both if one is sensitive.
type alteredView struct {
	Name      string          `json:"name"`
	From      json.RawMessage `json:"from,omitempty"`
	To        json.RawMessage `json:"to,omitempty"`
	Sensitive bool            `json:"sensitive,omitempty"`
}

// DifferencesOf returns the view of differences.
func DifferencesOf(found []puppet.Difference) Differences {
	view := Differences{[]differenceView{}, []alteredView{}}
	for _, d := range found {
		altered := []alteredView{}
		for _, p := range d.Parameters {
			altered = append(altered, alteredView{p.Name, rawOf(p.From), rawOf(p.To), p.Sensitive})
		}
		change := "changed"
		switch {
		case d.Ref == puppet.Ref{}:
			view.Options = altered
			continue
		case d.Added:
			change = "added"
		case d.Removed:
			change = "removed"
		}
		view.Resources = append(view.Resources, differenceView{d.Ref.String(), change, altered})
	}
	return view
}

// rawOf returns a value as JSON text, nil for none.
func rawOf(value any) json.RawMessage {
	if value == nil {
		return nil
	}
	return document.AppendJSON(nil, value)
}
