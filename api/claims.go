package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"purser/internal/authz"
	"purser/internal/claims"
	"purser/internal/wire"
)

// maxClaim bounds the body of a request about a claim, in bytes.
const maxClaim = 64 << 10

// requireWork returns a fault if the caller may not post results of a validation, whoever made the revision. Who did is
// checked when the result is posted.
func (s *server) requireWork(r *http.Request, validation string) error {
	return s.requireEver(r, authz.CreateValidation, authz.Target{Validation: validation})
}

// requireAll is requireWork for several validations.
func (s *server) requireAll(r *http.Request, names []string) error {
	for _, name := range names {
		if err := s.requireWork(r, name); err != nil {
			return err
		}
	}
	return nil
}

// seeker claims work for a worker, of one site or of all.
type seeker struct {
	claims.Ask

	// claim claims work if there is any.
	claim func(ctx context.Context, ask claims.Ask) (claims.Granted, error)
	// authorize returns a fault if the caller may not (or no longer) post the results that are asked for.
	authorize func(ctx context.Context) error
}

// POST /api/v1.0/claims
func (s *server) claim(w http.ResponseWriter, r *http.Request) error {
	ask, limit, err := s.askOf(w, r)
	if err != nil {
		return err
	}
	return s.seek(w, r, limit, seeker{
		ask, s.at(r).Claims.Claim, func(context.Context) error { return s.requireAll(r, ask.Names) },
	})
}

// askOf reads the request of a worker, and how long it waits.
func (s *server) askOf(w http.ResponseWriter, r *http.Request) (ask claims.Ask, limit time.Duration, err error) {
	q := paramsOf(r)
	limit, _ = waitLimit(q)
	if err := q.err(); err != nil {
		return ask, 0, err
	}
	body, err := s.readOne(w, r, maxClaim)
	if err != nil {
		return ask, 0, err
	}
	if ask, err = claims.ParseAsk(body); err != nil {
		return ask, 0, err
	}
	ask.Caller, ask.Audit = s.caller(r), s.auditEvent(r, http.StatusCreated)
	return ask, limit, nil
}

// seek answers with a claim, or waits for one up to a limit that is not 0.
func (s *server) seek(w http.ResponseWriter, r *http.Request, limit time.Duration, worker seeker) error {
	if err := worker.authorize(r.Context()); err != nil {
		return err
	}
	if limit == 0 {
		return s.claimNow(w, r, worker)
	}
	leave, err := s.waitPlace(r)
	if err != nil {
		return err
	}
	keepOpen(w, limit)
	infoOf(r).rest = func() {
		defer leave()
		if err := s.claimWaiting(w, r, worker, limit); err != nil {
			s.answers.fail(w, r, s.withHolders(r, err))
		}
	}
	return nil
}

// claimNow answers with a claim if there is work, after events that were not numbered yet, which may open some.
func (s *server) claimNow(w http.ResponseWriter, r *http.Request, worker seeker) error {
	worker.Token = claims.NewToken()
	granted, err := worker.claim(r.Context(), worker.Ask)
	if err == nil && !granted.Found {
		if _, err := s.at(r).Feed.NumberEvents(r.Context()); err != nil {
			return fmt.Errorf("number events: %w", err)
		}
		granted, err = worker.claim(r.Context(), worker.Ask)
	}
	return s.answerClaim(w, r, granted, err)
}

// claimWaiting answers with a claim once there is work, within a limit. It looks for work after each change of the
// feed, and when a claim of others runs out. The caller is authorized again first, because permissions may have
// changed.
func (s *server) claimWaiting(w http.ResponseWriter, r *http.Request, worker seeker, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	began := time.Now()
	for {
		_, changed := s.at(r).Feed.Next()
		worker.Token = claims.NewToken()
		granted, err := worker.claim(r.Context(), worker.Ask)
		if err == nil && !granted.Found {
			if err = s.nextChange(ctx, changed, granted.Next); err == nil {
				err = s.reauthorizeWork(w, r, worker)
			}
			if err == nil {
				continue
			}
		}
		infoOf(r).waited, infoOf(r).stopped = time.Since(began), err != nil && s.stops()
		w.Header().Set(waitedHeader, strconv.FormatFloat(infoOf(r).waited.Seconds(), 'f', 1, 64))
		if err != nil && ctx.Err() != nil && r.Context().Err() == nil {
			err = nil // the time is over
		}
		return s.answerClaim(w, r, granted, err)
	}
}

// reauthorizeWork authorizes a worker that has waited.
func (s *server) reauthorizeWork(w http.ResponseWriter, r *http.Request, worker seeker) error {
	if err := s.identify(w, r); err != nil {
		return err
	}
	return worker.authorize(r.Context())
}

// answerClaim answers with a claim, or with 204 if there was no work.
func (s *server) answerClaim(w http.ResponseWriter, r *http.Request, granted claims.Granted, err error) error {
	info := infoOf(r)
	switch {
	case err != nil:
		return err
	case !granted.Found:
		info.unchanged = true
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	info.revision, info.audited = granted.Revision, info.caller.UserID != ""
	s.answers.write(w, r, http.StatusCreated, s.links(r).claim(granted.Work))
	return nil
}

// ofClaim returns a handler that reads the claim in the path, checks that the caller may post results of its
// validation, and calls handle with the claim.
func (s *server) ofClaim(handle func(w http.ResponseWriter, r *http.Request, token claims.Token) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		infoOf(r).unchanged = r.Method == http.MethodPut // the audit has no heartbeats
		token, err := claims.ParseToken(revisionName(r, "claim"))
		if err != nil {
			return err
		}
		found, err := s.at(r).Claims.FindClaim(r.Context(), token)
		if err != nil {
			return err
		}
		infoOf(r).revision = found.Revision
		if err := s.requireWork(r, found.Validation); err != nil {
			return err
		}
		return handle(w, r, token)
	}
}

// PUT /api/v1.0/claims/{claim}
func (s *server) extendClaim(w http.ResponseWriter, r *http.Request, token claims.Token) error {
	body, err := s.readOne(w, r, maxClaim)
	if err != nil {
		return err
	}
	progress, err := claims.ParseProgress(body)
	if err != nil {
		return err
	}
	extended, err := s.at(r).Claims.ExtendClaim(r.Context(), token, progress)
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusOK, s.links(r).claim(extended))
	return nil
}

// DELETE /api/v1.0/claims/{claim}
func (s *server) giveBack(w http.ResponseWriter, r *http.Request, token claims.Token) error {
	audit := s.auditEvent(r, http.StatusNoContent)
	if err := s.at(r).Claims.GiveBack(r.Context(), token, audit); err != nil {
		return err
	}
	infoOf(r).audited = audit != nil
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// GET /api/v1.0/claims
func (s *server) listWork(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	page := q.page()
	if err := q.err(); err != nil {
		return err
	}
	if _, err := s.at(r).Feed.NumberEvents(r.Context()); err != nil { // which may open work
		return fmt.Errorf("number events: %w", err)
	}
	found, more, err := s.at(r).Claims.Work(r.Context(), page)
	if err != nil {
		return err
	}
	return writePage(s, w, r, part{page, more}, found, workView)
}

// POST /api/v1.0/revisions/{revision}/validations/{name}/request
func (s *server) requestResult(w http.ResponseWriter, r *http.Request) error {
	id, validation, err := s.validation(r)
	if err != nil {
		return err
	}
	if err := claims.CheckName(validation); err != nil {
		return err
	}
	body, err := s.readOne(w, r, maxClaim)
	if err != nil {
		return err
	}
	reason, err := claims.ParseReason(body)
	if err != nil {
		return err
	}
	options, err := s.about(r, id, http.StatusAccepted)
	if err != nil {
		return err
	}
	if options, err = s.requireAbout(r, authz.CreateValidation, options, id, validation); err != nil {
		return err
	}
	work, exists, err := s.at(r).Claims.Request(r.Context(), options.About(id), validation, reason)
	switch {
	case err != nil:
		return err
	case !exists:
		return s.at(r).Service.Refused(r.Context(), options.About(id))
	}
	infoOf(r).audited = options.Audit != nil
	s.answers.write(w, r, http.StatusAccepted, wire.Requested{
		Revision: id, Stamp: work.Stamp.String(), Validation: validation, RequestedAt: wire.TimeText(work.Requested),
		Reason: wire.Optional(reason), Warning: s.at(r).Service.Unlisted(r.Context(), id, validation),
	})
	return nil
}

// claim returns the view of a claim, with links below its site if it has one.
func (l links) claim(w claims.Work) wire.Claim {
	if w.Site != "" {
		l.base += sitesPath + "/" + w.Site
	}
	query := url.Values{"revision-stamp": {w.Stamp.String()}, claimParameter: {string(w.Token)}}
	return wire.Claim{
		ID: string(w.Token), Site: w.Site, Revision: w.Revision, Stamp: w.Stamp.String(), Validation: w.Validation,
		Attempt:   w.Attempt,
		ExpiresAt: wire.TimeText(w.ExpiresAt), Progress: wire.Optional(w.Progress),
		Documents: l.revisionURL(w.Revision) + "/rendered-documents",
		Result:    l.validationURL(w.Revision, w.Validation) + "?" + query.Encode(),
	}
}

// claimParameter names the claim that a result ends.
const claimParameter = "claim"

// claimOf reads the claim that a result ends, which is empty if none is given. Deckhand has none.
func (s *server) claimOf(r *http.Request) (string, error) {
	q := paramsOf(r)
	text := q.text(claimParameter)
	if err := q.err(); err != nil || s.Compat || !q.given(claimParameter) {
		return "", err
	}
	token, err := claims.ParseToken(text)
	return string(token), err
}

// workView returns the view of work in a list.
func workView(w claims.Work) wire.Work {
	return wire.Work{
		Site: w.Site, Revision: w.Revision, Stamp: w.Stamp.String(), Validation: w.Validation, State: string(w.State),
		Attempt: w.Attempt,
		Worker:  wire.Optional(w.Worker), User: wire.Optional(w.User), Since: wire.TimeText(w.Since),
		ExpiresAt: wire.TimeText(w.ExpiresAt), Progress: wire.Optional(w.Progress),
		RequestedAt: wire.TimeText(w.Requested), Reason: wire.Optional(w.Reason),
	}
}
