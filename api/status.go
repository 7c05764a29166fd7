package api

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"

	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/wire"
)

// GET /api/v1.0/revisions/{revision}/status
func (s *server) status(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	expect := q.texts("expect")
	expected := expect != nil
	if expected && (len(expect) > 1 || expect[0] != "success") {
		q.fail("expect", "The only value it may have is \"success\".")
	}
	infoOf(r).unwaived = !s.Compat && !q.flag("waivers", true)
	wanted, detailed := s.wantedDetails(r, q)
	if err := q.err(); err != nil {
		return err
	}
	shown, err := s.questions(r).Status(r.Context(), cmp.Or(infoOf(r).pinned, revisionName(r, "revision")))
	if err != nil {
		return err
	}
	infoOf(r).revision = shown.ID
	if s.Pages {
		w.Header().Set("Link", fmt.Sprintf(`<%s/ui/revisions/%d>; rel="alternate"; type="text/html"`, s.base(r), shown.ID))
	}
	if expected {
		infoOf(r).pending = new(shown.Verdict.Pending())
	}
	code := http.StatusOK
	if expected && shown.Verdict.Status != validations.Success {
		code = http.StatusPreconditionFailed
	}
	view := s.links(r).verdict(shown)
	if detailed && negotiate(r, typeText) != typeText {
		if view.Details, err = s.details(r, shown, wanted); err != nil {
			return err
		}
	}
	return s.writeStatus(w, r, code, shown, view)
}

// writeStatus answers with a verdict, as text if Accept prefers that.
func (s *server) writeStatus(w http.ResponseWriter, r *http.Request, code int, shown revisions.RevisionStatus,
	view wire.Verdict,
) error {
	if negotiate(r, typeText) == typeText {
		text, err := s.statusText(r, shown)
		if err != nil {
			return err
		}
		s.answers.send(w, r, code, typeText, []byte(text), tagPrefix(shown.Revision))
		return nil
	}
	s.answers.writeAs(w, r, code, negotiate(r), view, tagPrefix(shown.Revision))
	return nil
}

// statusText returns a verdict as text: the status on the first line, a line for each validation that did not succeed,
// and the findings about documents or, if there are many, their causes.
func (s *server) statusText(r *http.Request, shown revisions.RevisionStatus) (string, error) {
	const maxShown = 20
	if shown.Verdict.Status == validations.Success && !ignoresFailures(shown.Verdict) {
		return verdictText(shown, "", nil), nil
	}
	query := queries.FindingsQuery{Limit: maxShown, FailuresOnly: true}
	found, err := s.questions(r).Findings(r.Context(), strconv.FormatInt(shown.ID, 10), query)
	if fault.KindOf(err) == fault.TooLarge {
		return verdictText(shown, "", nil), nil // the verdict is still known
	}
	if err != nil {
		return "", err
	}
	below, lines := findingsBelow(found, maxShown)
	return verdictText(shown, ignoredText(found), below) + lines, nil
}
