package api

import (
	"net/http"
	"time"

	"purser/internal/authz"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/wire"
)

// GET /api/v1.0/revisions/{revision}/waivers
func (s *server) listWaivers(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	found, err := s.questions(r).Waivers(r.Context(), id)
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusOK, listView(found.Waivers, waiverViewAt(found.Now)))
	return nil
}

// GET /api/v1.0/waivers
func (s *server) listAllWaivers(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	page, active := q.page(), q.flag("active", false)
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.questions(r).AllWaivers(r.Context(), page, active)
	if err != nil {
		return err
	}
	return writePage(s, w, r, part{page, found.More}, found.Waivers, waiverViewAt(found.Now))
}

// maxWaiver bounds the body of a waiver, in bytes.
const maxWaiver = 64 << 10

// POST /api/v1.0/revisions/{revision}/waivers
func (s *server) postWaiver(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	body, err := s.readOne(w, r, maxWaiver)
	if err != nil {
		return err
	}
	options, err := s.about(r, id, http.StatusCreated)
	if err != nil {
		return err
	}
	if options, err = s.requireAbout(r, authz.CreateWaiver, options, id, validations.WaivedBy(body)); err != nil {
		return err
	}
	made, err := s.at(r).Service.Waive(r.Context(), id, options, body)
	if err != nil {
		return err
	}
	infoOf(r).audited = options.Audit != nil
	s.answers.write(w, r, http.StatusCreated, waiverView(made, made.CreatedAt))
	return nil
}

// DELETE /api/v1.0/revisions/{revision}/waivers/{id}
func (s *server) endWaiver(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	waiver, isID := idOf(r, "id")
	if !isID {
		return revisions.UnknownWaiver(id, revisionName(r, "id"))
	}
	options, err := s.about(r, id, http.StatusNoContent)
	if err != nil {
		return err
	}
	if options, err = s.requireAbout(r, authz.CreateWaiver, options, id, ""); err != nil {
		return err
	}
	ended, err := s.at(r).Service.EndWaiver(r.Context(), id, options, waiver)
	if err != nil {
		return err
	}
	infoOf(r).audited, infoOf(r).unchanged = ended && options.Audit != nil, !ended
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// waiverViewAt returns a function that returns the view of a waiver at a time.
func waiverViewAt(now time.Time) func(revisions.Waiver) wire.Waiver {
	return func(w revisions.Waiver) wire.Waiver { return waiverView(w, now) }
}

func waiverView(w revisions.Waiver, now time.Time) wire.Waiver {
	view := wire.Waiver{
		ID: w.ID, Site: w.Site, Revision: w.Revision, Validation: w.Validation, Reason: w.Reason, By: wire.Optional(w.By),
		CreatedAt: wire.TimeText(w.CreatedAt), ExpiresAt: wire.TimeText(w.Until), Status: w.State(now),
		EndedAt: wire.TimeText(w.EndedAt), EndedBy: wire.Optional(w.EndedBy),
	}
	if w.CarriedFrom > 0 {
		view.CarriedFrom = &w.CarriedFrom
	}
	return view
}
