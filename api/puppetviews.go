package api

import (
	"encoding/json"

	"purser/internal/document"
	"purser/internal/puppet"
	"purser/internal/queries"
	"purser/internal/wire"
)

func overrideName(set queries.Overrides, instance int) wire.OverrideName {
	doc := set.Documents[instance]
	return wire.OverrideName{Schema: doc.Schema, Name: doc.Name, Layer: wire.Optional(doc.Layer)}
}

// reportView returns the view of a report.
func reportView(set queries.Overrides, report puppet.Report) wire.Report {
	view := wire.Report{
		Revision: set.Revision.ID, Changes: []wire.Override{}, Skipped: []wire.Skip{}, Warnings: []wire.Warning{},
	}
	for _, change := range report.Changes {
		view.Changes = append(view.Changes, overrideView(set, change, false))
	}
	for _, skip := range report.Skipped {
		resource := skip.Ref.String()
		if skip.Ref.Title == "" {
			resource = skip.Ref.Type
		}
		view.Skipped = append(view.Skipped, wire.Skip{
			Resource: resource, By: overrideName(set, skip.Instance), Reason: skip.Reason,
		})
	}
	for _, warning := range report.Warnings {
		view.Warnings = append(view.Warnings, wire.Warning{
			Resource: warning.Ref.String(), By: overrideName(set, warning.Instance), Message: warning.Message,
		})
	}
	return view
}

// explainedResourceView returns the view of the changes of a resource by overrides.
func explainedResourceView(set queries.Overrides, ref puppet.Ref, changes []puppet.Change) wire.ExplainedResource {
	view := wire.ExplainedResource{Resource: ref.String(), Changes: []wire.Override{}}
	for _, change := range changes {
		view.Changes = append(view.Changes, overrideView(set, change, true))
	}
	return view
}

// override returns the view of a change by an override. If values is set, it includes the values that are not secret.
func overrideView(set queries.Overrides, change puppet.Change, values bool) wire.Override {
	view := wire.Override{
		Resource: change.Ref.String(), Action: "updated", By: overrideName(set, change.Instance),
		Parameters: []wire.Setting{},
	}
	if change.Created {
		view.Action = "created"
	}
	for _, setting := range change.Settings {
		shown := wire.Setting{Name: setting.Parameter, From: "configuration", Added: setting.Added}
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

// overrideDifferencesView returns the view of differences.
func overrideDifferencesView(found []puppet.Difference) wire.OverrideDifferences {
	view := wire.OverrideDifferences{Resources: []wire.ResourceDifference{}, Options: []wire.Altered{}}
	for _, d := range found {
		altered := []wire.Altered{}
		for _, p := range d.Parameters {
			altered = append(altered, wire.Altered{
				Name: p.Name, From: rawOf(p.From), To: rawOf(p.To), Sensitive: p.Sensitive,
			})
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
		view.Resources = append(view.Resources, wire.ResourceDifference{
			Resource: d.Ref.String(), Change: change, Parameters: altered,
		})
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
