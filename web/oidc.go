package web

import (
	"errors"
	"net/http"

	"purser/web/signin"
)

var (
	errIssuer = &refusal{
		Status: http.StatusServiceUnavailable, Message: "The issuer that signs users in does not answer. Try again later.",
	}
	errRefused = &refusal{
		Status: http.StatusBadGateway,
		Message: "The issuer that signs users in did not complete this sign-in. Sign in again; if that does not help, the " +
			"log of this server has the reason.",
	}
	errAttempt = &refusal{
		Status:  http.StatusBadRequest,
		Message: "This sign-in was not begun in this browser, or took too long. Sign in again.",
	}
)

// toIssuer sends the browser to the issuer.
func (s *server) toIssuer(w http.ResponseWriter, r *http.Request) {
	v := s.visit(w, r)
	begun, at, err := s.issuer.Begin(r.Context(), s.next(v.param("next")))
	if err != nil {
		s.logError(r, err)
		v.fail(errIssuer)
		return
	}
	if err := s.cookies.Keep(w, r, begun); err != nil {
		v.fail(err)
		return
	}
	http.Redirect(w, r, at, http.StatusSeeOther) //nolint:gosec,nolintlint // not always seen
}

// fromIssuer begins a session when the issuer sends the browser back with a code.
func (s *server) fromIssuer(w http.ResponseWriter, r *http.Request) {
	v := s.visit(w, r)
	begun, ok := s.cookies.Take(w, r)
	if !ok {
		v.fail(errAttempt)
		return
	}
	if refused := v.param("error"); refused != "" {
		v.fail(&refusal{
			Status:  http.StatusForbidden,
			Message: "The issuer did not sign you in: " + refused + " " + v.param("error_description"),
		})
		return
	}
	tokens, err := s.issuer.Tokens(r.Context(), begun, v.param("code"))
	if err != nil {
		s.logError(r, err)
		if _, answered := errors.AsType[*signin.Refused](err); answered {
			v.fail(errRefused)
		} else {
			v.fail(errIssuer)
		}
		return
	}
	for _, token := range tokens { // the API decides which it accepts
		if err = s.enter(w, r, token); err == nil || !refusedWith(err, http.StatusUnauthorized) {
			break
		}
	}
	switch {
	case refusedWith(err, http.StatusUnauthorized):
		v.fail(&refusal{
			Status: http.StatusForbidden, Message: "The issuer signed you in, but its token is not for this server.",
		})
	case err != nil:
		v.fail(err)
	default: // by a page: the cookie of the session does not come with a redirect from another site
		v.show(view{template: "bounce", Title: "Signed in", Data: bounce{Next: begun.Next, Refresh: "0; url=" + begun.Next}})
	}
}
