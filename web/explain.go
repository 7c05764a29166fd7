package web

import (
	"context"
	"encoding/json"
	"net/url"

	"purser/internal/client"
	"purser/web/backend"
	"purser/web/layout"
)

// leaf is a value of a rendered document and its origin.
type leaf struct {
	Path   string          `json:"path"`
	Value  json.RawMessage `json:"value"`
	Secret bool            `json:"secret"`
	trail
}

// trail is the origin of a value, and its later changes.
type trail struct {
	From struct {
		client.Identity

		Revision int64  `json:"revision"`
		Path     string `json:"path"`
	} `json:"from"`
	Steps   []step `json:"steps"`
	Omitted int    `json:"omitted"`
}

// step is one change of a value during rendering.
type step struct {
	Kind     string          `json:"kind"`
	Document client.Identity `json:"document"`
	Source   client.Identity `json:"source"`
	From     string          `json:"from"`
	Path     string          `json:"path"`
	Pattern  string          `json:"pattern"`
}

// Text describes the change.
func (s step) Text() string {
	in := " in " + s.Document.Name
	switch s.Kind {
	case "inherit":
		return "inherited by " + s.Document.Name
	case "merge":
		return "merged at " + s.Path + in
	case "replace":
		return "put at " + s.Path + in
	case "delete":
		return "left empty by deleting " + s.Path + in
	case "substitute":
		return "substituted to " + s.Path + in
	case "insert":
		return s.Pattern + " replaced" + in + " by " + s.From + " of " + s.Source.Name
	}
	return s.Kind + in
}

// maxLeaves is the maximum number of values that a page explains.
const maxLeaves = 200

// explained requests the origin of each value of the rendered document.
func (v *visit) explained(ctx context.Context, revision string, page *documentView) error {
	page.More = layout.NewPager(v.URL, maxLeaves)
	query := v.secrets(url.Values{"schema": {page.ID.Schema}, "name": {page.ID.Name}})
	if page.ID.Layer != "" {
		query.Set("layer", page.ID.Layer)
	}
	var found struct {
		Parents []client.Identity `json:"parents"`
		Leaves  []leaf            `json:"leaves"`
	}
	err := v.api.Get(ctx, &found, query, "revisions", revision, "rendered-documents", "explain")
	if err != nil && backend.Serious(err) == nil {
		page.Why = "This document cannot be explained: " + err.Error()
		return nil
	}
	page.Parents = found.Parents
	from := min(page.More.Offset, len(found.Leaves))
	end := min(from+maxLeaves, len(found.Leaves))
	page.Leaves = found.Leaves[from:end]
	page.More.End(len(page.Leaves), end < len(found.Leaves))
	return err
}
