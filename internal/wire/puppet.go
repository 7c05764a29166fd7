package wire

import "encoding/json"

// Report lists the effects of overrides on a catalog, in order.
type Report struct {
	Revision int64      `json:"revision"`
	Changes  []Override `json:"changes"`
	Skipped  []Skip     `json:"skipped"`
	Warnings []Warning  `json:"warnings"`
}

// Override is the effect of an override on a resource.
type Override struct {
	Resource   string       `json:"resource"`
	Action     string       `json:"action"` // updated or created
	By         OverrideName `json:"by"`
	Parameters []Setting    `json:"parameters"`
}

// OverrideName names the document of an override.
type OverrideName struct {
	Schema string   `json:"schema"`
	Name   string   `json:"name"`
	Layer  Optional `json:"layer"`
}

// String formats the name.
func (n OverrideName) String() string { return Identity{n.Schema, n.Layer, n.Name, ""}.String() }

// Setting is a parameter that an override sets.
type Setting struct {
	Name  string          `json:"name"`
	From  string          `json:"from"`            // configuration or defaults
	Added bool            `json:"added"`           // to an existing relationship
	Value json.RawMessage `json:"value,omitempty"` // only where one resource is explained, and never of a secret
}

// Skip is an override that was left out.
type Skip struct {
	Resource string       `json:"resource"` // Type[title], or the type if all of it was left out
	By       OverrideName `json:"by"`
	Reason   string       `json:"reason"`
}

// Warning is a warning about an override.
type Warning struct {
	Resource string       `json:"resource"`
	By       OverrideName `json:"by"`
	Message  string       `json:"message"`
}

// ExplainedResource says which documents set the parameters of a resource.
type ExplainedResource struct {
	Resource string     `json:"resource"`
	Changes  []Override `json:"changes"`
}

// OverrideDifferences lists the resources that the overrides of two revisions change differently.
type OverrideDifferences struct {
	Resources []ResourceDifference `json:"resources"`
	Options   []Altered            `json:"options"` // of the data for Hiera
}

// ResourceDifference is a resource that overrides change differently.
type ResourceDifference struct {
	Resource   string    `json:"resource"`
	Change     string    `json:"change"` // added, removed or changed
	Parameters []Altered `json:"parameters"`
}

// Altered is a differing parameter. It omits from or to without a value, and both if one is sensitive.
type Altered struct {
	Name      string          `json:"name"`
	From      json.RawMessage `json:"from,omitempty"`
	To        json.RawMessage `json:"to,omitempty"`
	Sensitive bool            `json:"sensitive,omitempty"`
}
