package views

import (
	"encoding/json"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/queries"
)

// Package is a package of a revision, or one that was only checked.
type Package struct {
	Name     string          `json:"name"`
	Version  json.RawMessage `json:"version"` // as written in the manifest; null if absent
	Type     json.RawMessage `json:"type"`
	Archive  *archiveView    `json:"archive,omitempty"`
	Bucket   string          `json:"bucket,omitempty"`
	Revision int64           `json:"revision,omitempty"` // in which it last changed
	Warnings any             `json:"warnings"`           // their number in a list of packages, else a list
	URL      string          `json:"url,omitempty"`
}

type archiveView struct {
	Digest string          `json:"digest"` // SHA-256
	Size   json.RawMessage `json:"size"`   // in bytes
}

// describedPackage returns the view of a manifest.
func describedPackage(manifest document.Mapping) Package {
	name, _ := manifest.At("FullName").(string)
	return Package{
		Name: name, Version: document.AppendJSON(nil, manifest.At("Version")),
		Type: document.AppendJSON(nil, manifest.At("Type")),
	}
}

// Package returns the view of a package of a revision.
func (l Links) Package(revision int64, p queries.Package) Package {
	view := describedPackage(p.Manifest)
	view.Archive = &archiveView{p.Archive, json.RawMessage(p.Size)}
	view.Bucket, view.Revision, view.Warnings = p.Bucket, p.Revision, len(p.Warnings)
	view.URL = l.PackageURL(revision, p.Name)
	return view
}

// Checked returns the view of a package that was checked.
func Checked(checked changes.CheckedPackage) Package {
	view := describedPackage(checked.Manifest())
	view.Warnings = checked.Warnings()
	return view
}
