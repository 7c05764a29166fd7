package views

import (
	"encoding/json"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/wire"
)

// describedPackage returns the view of a manifest.
func describedPackage(manifest document.Mapping) wire.Package {
	name, _ := manifest.At("FullName").(string)
	return wire.Package{
		Name: name, Version: document.AppendJSON(nil, manifest.At("Version")),
		Type: document.AppendJSON(nil, manifest.At("Type")),
	}
}

// Package returns the view of a package of a revision.
func (l Links) Package(revision int64, p queries.Package) wire.Package {
	view := describedPackage(p.Manifest)
	view.Archive = &wire.Archive{Digest: p.Archive, Size: json.RawMessage(p.Size)}
	view.Bucket, view.Revision, view.Warnings = p.Bucket, p.Revision, len(p.Warnings)
	view.URL = l.PackageURL(revision, p.Name)
	return view
}

// CheckedPackage returns the view of a package that was checked.
func CheckedPackage(checked changes.CheckedPackage) wire.Package {
	view := describedPackage(checked.Manifest())
	view.Warnings = checked.Warnings()
	return view
}
