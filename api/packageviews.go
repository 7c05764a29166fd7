package api

import (
	"encoding/json"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/wire"
)

// describedPackage returns the view of a manifest.
func manifestView(manifest document.Mapping) wire.Package {
	name, _ := manifest.At("FullName").(string)
	return wire.Package{
		Name: name, Version: document.AppendJSON(nil, manifest.At("Version")),
		Type: document.AppendJSON(nil, manifest.At("Type")),
	}
}

// packageView returns the view of a package of a revision.
func (l links) packageView(revision int64, p queries.Package) wire.Package {
	view := manifestView(p.Manifest)
	view.Archive = &wire.Archive{Digest: p.Archive, Size: json.RawMessage(p.Size)}
	view.Bucket, view.Revision, view.Warnings = p.Bucket, p.Revision, len(p.Warnings)
	view.URL = l.packageURL(revision, p.Name)
	return view
}

// checkedPackageView returns the view of a package that was checked.
func checkedPackageView(checked changes.CheckedPackage) wire.Package {
	view := manifestView(checked.Manifest())
	view.Warnings = checked.Warnings()
	return view
}
