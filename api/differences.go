package api

import (
	"cmp"
	"net/http"

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
	return s.answers.writeWithin(w, r, negotiate(r), bucketViews(buckets), 0,
		"compare revisions between which fewer buckets differ")
}

// GET /api/v1.0/revisions/{revision}/deepdiff/{other}
func (s *server) deepDiff(w http.ResponseWriter, r *http.Request) error {
	form, options, err := diffForm(r)
	if err != nil {
		return err
	}
	diffs, err := s.diffsAsked(r, form == formGrouped, "It needs format=grouped.")
	if err != nil {
		return err
	}
	before, after, err := s.revisionPair(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	if form == formGrouped {
		of := queries.GroupOptions{Submitted: options.Submitted, Diffs: diffs, Page: options.Page}
		grouped, err := s.questions(r).Grouped(r.Context(), before, after, of)
		if err != nil {
			return asHTTPNotFound(err)
		}
		return s.answers.writeWithin(w, r, negotiate(r), renderedView(grouped), 0,
			"ask for a part of them: ?format=grouped&limit=100")
	}
	found, err := s.questions(r).DeepDiff(r.Context(), before, after, options)
	if err != nil {
		return asHTTPNotFound(err)
	}
	switch form {
	case formDocuments:
		return s.answers.writeWithin(w, r, negotiate(r), differingView(found), 0,
			"ask for a part of them: ?format=documents&limit=1000")
	case formPatch:
		text, err := patchText(r.Context(), found.Buckets)
		if err != nil {
			return err
		}
		s.answers.writeText(w, r, typePatch, text)
	case formUnified:
		text, err := unifiedText(r.Context(), before, after, found.Buckets)
		if err != nil {
			return err
		}
		s.answers.writeText(w, r, typeText, text)
	default:
		kind := negotiate(r)
		text, err := deepDiffText(r.Context(), found.Buckets, kind == typeJSON)
		if err != nil {
			return err
		}
		s.answers.writeText(w, r, kind, text)
	}
	return nil
}

// revisionPair resolves the two revisions of a comparison. Each may be 0, the revision without documents.
func (s *server) revisionPair(r *http.Request) (before, after int64, err error) {
	for _, parameter := range []string{"revision", "other"} {
		if id := revisionName(r, parameter); !queries.IsRevision(id) {
			return 0, 0, fault.New(fault.Invalid, "InvalidInputException",
				"Failed to process request due to invalid input: %s", revisions.Truncate(id)).
				Hint("A revision is named by its number, as latest, or as tag:NAME; 0 is the state before the first one.")
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
	formGrouped   = "grouped"
)

// diffForm returns the form selected by the parameter format or, without it, by Accept, and the options of the
// comparison. Deckhand's form has no pages.
func diffForm(r *http.Request) (form string, options queries.DeepDiffOptions, err error) {
	q := paramsOf(r)
	switch form = q.text("format"); form {
	case formDeep, formPatch, formUnified, formDocuments, formGrouped:
	case "":
		kind := negotiate(r, typePatch, typeText)
		form = map[string]string{typePatch: formPatch, typeText: formUnified}[kind]
		form = cmp.Or(form, formDeep)
	default:
		q.fail("format", "It can be %s, %s, %s, %s or %s.", formDeep, formPatch, formUnified, formDocuments, formGrouped)
	}
	options = queries.DeepDiffOptions{
		All: form != formDeep, Submitted: !q.flag("rendered", true), Named: form == formDocuments,
		Page: queries.Page{Limit: -1},
	}
	if options.All {
		options.Page = queries.Page{Offset: q.count("offset", 0), Limit: q.count("limit", -1)}
	}
	return form, options, q.err()
}

// diffsAsked reports whether a request asks for the differences of documents that it names. permitted is whether it
// may, and need what it needs for that.
func (s *server) diffsAsked(r *http.Request, permitted bool, need string) (bool, error) {
	q := paramsOf(r)
	switch form := q.text("diff"); {
	case form == "":
		return false, nil
	case form != formUnified:
		q.fail("diff", "It can be %s.", formUnified)
	case !permitted:
		q.fail("diff", "%s", need)
	}
	return true, q.err()
}
