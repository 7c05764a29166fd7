package api

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"purser/internal/changes"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/wire"
)

// defaultFindings and maxFindings are the default and the maximum number of findings in an answer, and maxSearched the
// maximum number of characters that are searched for in them.
const defaultFindings, maxFindings, maxSearched = 1000, 10_000, 1000

// GET /api/v1.0/revisions/{revision}/findings
func (s *server) listFindings(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	query := queries.FindingsQuery{
		Validation: q.text("validation"), Document: q.text("document"), Level: q.text("level"),
		Limit: min(q.count("limit", defaultFindings), maxFindings), Text: q.text(searchParameter), Cause: q.text("cause"),
	}
	if utf8.RuneCountInString(query.Text) > maxSearched {
		q.fail(searchParameter, "It can have at most %d characters.", maxSearched)
	}
	switch query.Level {
	case "", queries.LevelError.String(), queries.LevelWarning.String(), queries.LevelInfo.String():
	default:
		q.fail("level", "It can be error, warning or info.")
	}
	switch q.text("order") {
	case "":
	case "document":
		query.Order = queries.ByDocument
	case "path":
		query.Order = queries.ByPath
	default:
		q.fail("order", "It can be document or path; without it, the worst come first.")
	}
	if after := q.text("after"); after != "" {
		place, err := placeOf(after)
		if query.After = place; err != nil {
			q.fail("after", "It must be the next of a page of findings.")
		}
	}
	if err := q.err(); err != nil {
		return err
	}
	view := s.questions(r)
	found, err := view.Findings(r.Context(), revisionName(r, "revision"), query)
	if err == nil {
		found, err = view.InFiles(r.Context(), found)
	}
	if err != nil {
		return err
	}
	infoOf(r).revision = found.ID
	s.writeFindings(w, r, found)
	return nil
}

// omitting ends a place if windows before it have findings that no page lists.
const omitting = ".more"

// placeText returns a place in the findings of a revision as a page shows it, "" for the beginning.
func placeText(place queries.FindingPlace) wire.Optional {
	if place == (queries.FindingPlace{}) {
		return ""
	}
	text := fmt.Sprintf("%d.%d.%d", place.From, place.Size, place.Offset)
	if place.Omits {
		text += omitting
	}
	return wire.Optional(text)
}

// placeOf parses what placeText returns.
func placeOf(text string) (place queries.FindingPlace, err error) {
	var numbers string
	numbers, place.Omits = strings.CutSuffix(text, omitting)
	_, err = fmt.Sscanf(numbers, "%d.%d.%d", &place.From, &place.Size, &place.Offset)
	if err == nil && (min(place.From, place.Offset) < 0 || place.From > math.MaxInt32 || place.Size < 1 ||
		string(placeText(place)) != text) {
		err = strconv.ErrRange
	}
	return place, err
}

// writeFindings answers with findings, as text if Accept prefers that.
func (s *server) writeFindings(w http.ResponseWriter, r *http.Request, found queries.FindingList) {
	if negotiate(r, typeText) == typeText {
		s.answers.writeText(w, r, typeText, []byte(findingLines(found.Findings)+restLine(found)))
		return
	}
	s.answers.write(w, r, http.StatusOK, findingsView(found))
}

// failuresAfter returns the numbers of the findings of failed validations after a change or, for a dry run, of all
// findings. If many documents fail, these are not read: each has at least one. If the findings take too much work, they
// are at least 0, because the change is already made.
func (s *server) failuresAfter(r *http.Request, written changes.Written) queries.Counts {
	switch preview, failing := written.Preview, written.Summary.Failing; {
	case failing > queries.MaxCounted:
		return queries.Counts{Failures: failing, More: true}
	case preview != nil && preview.Changed:
		return queries.OfPreview(preview, queries.FindingsQuery{}).Counts
	case preview != nil || !written.Changed:
		return queries.Counts{}
	}
	counts, err := s.questions(r).Failures(r.Context(), written.RevisionStatus, written.Failures)
	if err != nil {
		return queries.Counts{More: true}
	}
	return counts
}

// findingsAfter returns the findings of the newest revision after a change, or of the previewed revision of a dry run,
// with positions in the body. Findings that take too much work are left out, because the change is already made.
func (s *server) findingsAfter(r *http.Request, written changes.Written) (found queries.FindingList, err error) {
	query, ctx := queries.FindingsQuery{Limit: defaultFindings}, r.Context()
	preview := written.Preview
	switch {
	case preview != nil && preview.Changed:
		found = queries.OfPreview(preview, query)
	case written.Revision > 0:
		found, err = s.questions(r).Findings(ctx, strconv.FormatInt(written.Revision, 10), query)
		if !written.Changed && !s.Compat { // keys that are not kept make no revision
			found = found.With(queries.OfUpload(written.Documents, infoOf(r).viewer), query)
		}
	}
	if err == nil {
		found.Findings, err = queries.Locate(ctx, found.Findings, written)
	}
	if preview == nil && fault.KindOf(err) == fault.TooLarge {
		found.RevisionStatus, found.More, err = written.RevisionStatus, true, nil
	}
	return found, err
}
