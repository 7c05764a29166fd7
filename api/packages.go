package api

import (
	"encoding/json"
	"net/http"
	"net/url"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/queries"
)

// packageView is a package, in a revision or only checked.
type packageView struct {
	Name     string          `json:"name"`
	Version  json.RawMessage `json:"version"` // as the manifest writes it; null without one
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
func describedPackage(manifest document.Mapping) packageView {
	name, _ := manifest.At("FullName").(string)
	return packageView{
		Name: name, Version: document.AppendJSON(nil, manifest.At("Version")),
		Type: document.AppendJSON(nil, manifest.At("Type")),
	}
}

func (s *server) packageView(r *http.Request, revision int64, p queries.Package) packageView {
	view := describedPackage(p.Manifest)
	view.Archive = &archiveView{p.Archive, json.RawMessage(p.Size)}
	view.Bucket, view.Revision, view.Warnings = p.Bucket, p.Revision, len(p.Warnings)
	view.URL = s.revisionURL(r, revision) + "/packages/" + url.PathEscape(p.Name)
	return view
}

// checkedView returns the view of a package that was checked.
func checkedView(checked changes.CheckedPackage) packageView {
	view, warnings := describedPackage(checked.Manifest()), []fault.Message{}
	for _, issue := range checked.Report.Issues {
		warnings = append(warnings, changes.PackageMessage(issue))
	}
	view.Warnings = warnings
	return view
}

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
	options, err := s.change(r, readQuery(r), http.StatusOK)
	if err != nil {
		return err
	}
	var checked changes.CheckedPackage
	written, err := s.ingest(w, r, func(body []byte, _ document.Media) (written changes.Written, err error) {
		written, checked, err = s.Service.PutPackage(r.Context(), bucket, name, body, options)
		return written, err
	})
	if err != nil {
		return err
	}
	if s.writePreview(w, r, written) {
		return nil
	}
	view := checkedView(checked)
	view.Bucket, view.Revision = bucket, written.Revision
	view.URL = s.revisionURL(r, written.Revision) + "/packages/" + url.PathEscape(name)
	s.write(w, r, http.StatusOK, view)
	return nil
}

// POST /api/v1.0/packages/check
func (s *server) checkPackage(w http.ResponseWriter, r *http.Request) error {
	var checked changes.CheckedPackage
	_, err := s.ingest(w, r, func(body []byte, _ document.Media) (none changes.Written, err error) {
		checked, err = s.Service.CheckPackage(r.Context(), body)
		return none, err
	})
	if err != nil {
		return err
	}
	s.write(w, r, http.StatusOK, checkedView(checked))
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
	s.write(w, r, http.StatusOK, listOf(packages, func(p queries.Package) packageView { return s.packageView(r, id, p) }))
	return nil
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
	s.deliver(w, r, http.StatusOK, typeZip, archive)
	return nil
}

// GET /api/v1.0/revisions/{revision}/packages/{fullName}/report
func (s *server) reportPackage(w http.ResponseWriter, r *http.Request) error {
	id, p, err := s.packageOf(r)
	if err != nil {
		return err
	}
	view := s.packageView(r, id, p)
	view.Warnings = json.RawMessage(document.AppendJSON(nil, p.Warnings))
	s.write(w, r, http.StatusOK, view)
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
