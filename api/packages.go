package api

import (
	"encoding/json"
	"net/http"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/wire"
)

// PUT /api/v1.0/buckets/{bucket}/packages/{fullName}
func (s *server) putPackage(w http.ResponseWriter, r *http.Request) error {
	bucket, err := pathName(r, "bucket")
	if err != nil {
		return err
	}
	name, err := pathName(r, "fullName")
	if err != nil {
		return err
	}
	options, err := s.countedChange(w, r, paramsOf(r), http.StatusOK)
	if err != nil {
		return err
	}
	var checked changes.CheckedPackage
	written, err := s.ingest(w, r, func(body []byte, _ document.Media) (written changes.Written, err error) {
		written, checked, err = s.at(r).Service.PutPackage(r.Context(), bucket, name, body, options)
		return written, err
	})
	if err != nil {
		return err
	}
	if done, err := s.writePreview(w, r, written); done {
		return err
	}
	s.keepRevisions(r, written.Revision)
	view := checkedPackageView(checked)
	view.Bucket, view.Revision = bucket, written.Revision
	view.URL = s.links(r).packageURL(written.Revision, name)
	s.answers.write(w, r, http.StatusOK, view)
	return nil
}

// POST /api/v1.0/packages/check
func (s *server) checkPackage(w http.ResponseWriter, r *http.Request) error {
	var checked changes.CheckedPackage
	_, err := s.ingest(w, r, func(body []byte, _ document.Media) (none changes.Written, err error) {
		checked, err = s.at(r).Service.CheckPackage(r.Context(), body)
		return none, err
	})
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusOK, checkedPackageView(checked))
	return nil
}

// GET /api/v1.0/revisions/{revision}/packages
func (s *server) listPackages(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	packages, err := s.questions(r).Packages(r.Context(), id)
	if err != nil {
		return err
	}
	documents := make([]*revisions.Stored, len(packages))
	for i, p := range packages {
		documents[i] = p.Stored
	}
	view := listView(packages, func(p queries.Package) wire.Package { return s.links(r).packageView(id, p) })
	return s.answers.writeWithin(w, r, negotiate(r), view, revisions.TextSize(documents),
		"GET /revisions/{revision}/documents?schema="+validations.PackageKind+"&limit=1000 lists them in pages")
}

// GET /api/v1.0/revisions/{revision}/packages/{fullName}
func (s *server) showPackage(w http.ResponseWriter, r *http.Request) error {
	id, p, err := s.packageOf(r)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", noTransform) // it is compressed already
	if notModified(w, r, `"`+p.Archive+`"`) {
		return nil
	}
	archive, err := s.questions(r).Archive(r.Context(), id, p)
	if err != nil {
		w.Header().Del("ETag")
		return err
	}
	s.answers.deliver(w, r, http.StatusOK, typeZip, archive)
	return nil
}

// GET /api/v1.0/revisions/{revision}/packages/{fullName}/report
func (s *server) reportPackage(w http.ResponseWriter, r *http.Request) error {
	id, p, err := s.packageOf(r)
	if err != nil {
		return err
	}
	view := s.links(r).packageView(id, p)
	view.Warnings = json.RawMessage(document.AppendJSON(nil, p.Warnings))
	s.answers.write(w, r, http.StatusOK, view)
	return nil
}

// packageOf returns the package in the path, and its revision.
func (s *server) packageOf(r *http.Request) (int64, queries.Package, error) {
	name, err := pathName(r, "fullName")
	if err != nil {
		return 0, queries.Package{}, err
	}
	id, err := s.revision(r)
	if err != nil {
		return id, queries.Package{}, err
	}
	p, err := s.questions(r).Package(r.Context(), id, name)
	return id, p, err
}

// manifestView returns the view of a manifest.
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
