package api

import (
	"net/http"

	"purser/api/views"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
)

// GET /api/v1.0/revisions/{revision}/diff/{other}
func (s *server) diff(w http.ResponseWriter, r *http.Request) error {
	before, after, err := s.revisionPair(r)
	if err != nil {
		return err
	}
	buckets, err := s.questions(r).Diff(r.Context(), before, after)
	if err != nil {
		return err
	}
	s.write(w, r, http.StatusOK, views.Buckets(buckets))
	return nil
}

// GET /api/v1.0/revisions/{revision}/deepdiff/{other}
func (s *server) deepDiff(w http.ResponseWriter, r *http.Request) error {
	form, submitted, err := diffForm(r)
	if err != nil {
		return err
	}
	before, after, err := s.revisionPair(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	found, err := s.questions(r).DeepDiff(r.Context(), before, after, queries.DeepDiffOptions{
		All: form != formDeep, Submitted: submitted, Named: form == formDocuments,
	})
	if err != nil {
		return asHTTPNotFound(err)
	}
	switch form {
	case formDocuments:
		s.write(w, r, http.StatusOK, views.Differing(found))
	case formPatch:
		text, err := views.PatchText(r.Context(), found)
		if err != nil {
			return err
		}
		s.writeText(w, r, typePatch, text)
	case formUnified:
		text, err := views.UnifiedText(r.Context(), before, after, found)
		if err != nil {
			return err
		}
		s.writeText(w, r, typeText, text)
	default:
		kind := negotiate(r)
		text, err := views.DeepDiff(r.Context(), found, kind == typeJSON)
		if err != nil {
			return err
		}
		s.writeText(w, r, kind, text)
	}
	return nil
}

// revisionPair resolves the two revisions of a comparison. Each may be 0, the revision without documents.
func (s *server) revisionPair(r *http.Request) (before, after int64, err error) {
	for _, parameter := range []string{"revision", "other"} {
		if id := revisionName(r, parameter); !queries.IsRevision(id) {
			return 0, 0, fault.New(fault.Invalid, "InvalidInputException",
				"Failed to process request due to invalid input: %s", revisions.Truncate(id))
		}
	}
	if before, err = s.revisionOrEmpty(r, "revision"); err != nil {
		return 0, 0, err
	}
	after, err = s.revisionOrEmpty(r, "other")
	return before, after, err
}

// The forms of a deep diff.
const (
	formDeep    = "deepdiff"
	formPatch   = "json-patch"
	formUnified = "unified"

	formDocuments = "documents"
)

// diffForm returns the form that the parameter format or, without it, Accept asks for, and whether submitted documents
// are to be compared.
func diffForm(r *http.Request) (form string, submitted bool, err error) {
	q := readQuery(r)
	submitted = !q.flag("rendered", true)
	switch form = q.text("format"); form {
	case formDeep, formPatch, formUnified, formDocuments:
		return form, submitted, q.error()
	case "":
	default:
		q.fail("format", "It can be %s, %s, %s or %s.", formDeep, formPatch, formUnified, formDocuments)
	}
	switch negotiate(r, typePatch, typeText) {
	case typePatch:
		return formPatch, submitted, q.error()
	case typeText:
		return formUnified, submitted, q.error()
	}
	return formDeep, submitted, q.error()
}
