package api

import (
	"errors"
	"net/http"
	"strings"

	"purser/internal/authn"
	"purser/internal/fault"
)

// authenticate identifies the caller of a request by its token or, without one, by the connection's client certificate.
// The certificate is not accepted for changes made by pages of other sites. Headers in which clients name themselves
// are ignored.
func (s *server) authenticate(r *http.Request) (authn.Caller, error) {
	if s.Access.Anonymous { // regardless of the token
		if err := s.checkHost(r); err != nil {
			return authn.Caller{}, err
		}
		if s.fromOtherSite(r) {
			return authn.Caller{}, fault.New(fault.Forbidden, "HTTPForbidden",
				"A page of another site made this change; make it from a page of this server, or without a browser")
		}
		return s.Access.Authenticator.Authenticate(r.Context(), "")
	}
	token, err := tokenOf(r)
	if err != nil {
		return authn.Caller{}, err
	}
	if token == "" && hasCertificate(r) {
		if s.fromOtherSite(r) { // browsers add certificates by themselves
			return authn.Caller{}, fault.New(fault.Forbidden, "HTTPForbidden",
				"A page of another site made this change with the client certificate of its reader; send a token")
		}
		if err := s.Access.Authorities().Check(r.TLS.VerifiedChains, s.Now()); err != nil {
			return authn.Caller{}, err
		}
		return authn.FromCertificate(r.TLS.VerifiedChains[0][0])
	}
	return s.Access.Authenticator.Authenticate(r.Context(), token)
}

// fromOtherSite reports whether a request is a change that a browser makes for a page of another site.
func (s *server) fromOtherSite(r *http.Request) bool { return s.ownPages.Check(r) != nil }

var errTwoTokens = &authn.Rejected{Reason: "two different tokens"}

// tokenOf returns the token of a request, "" if it has none. It may be in both headers, but must then be the same.
func tokenOf(r *http.Request) (token string, err error) {
	for _, sent := range sentTokens(r.Header) {
		if token != "" && sent != token {
			return "", errTwoTokens
		}
		token = sent
	}
	return token, nil
}

func sentTokens(header http.Header) (tokens []string) {
	for _, value := range header.Values("X-Auth-Token") {
		if token := strings.TrimSpace(value); token != "" {
			tokens = append(tokens, token)
		}
	}
	for _, value := range header.Values("Authorization") {
		scheme, token, _ := strings.Cut(value, " ")
		if token = strings.TrimSpace(token); strings.EqualFold(scheme, "Bearer") && token != "" {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// challenge sets WWW-Authenticate and returns the fault of a request that could not be authenticated (RFC 6750 §3).
func challenge(w http.ResponseWriter, r *http.Request, err error) error {
	refused, ok := errors.AsType[*authn.Rejected](err)
	if !ok {
		return unstored(r, err) // the issuer does not answer: 503
	}
	infoOf(r).note(refused.Error())
	const realm = `Bearer realm="purser"`
	hint, challenge := "The token is unknown, expired, or not meant for this server.", realm+`, error="invalid_token"`
	switch {
	case refused == errTwoTokens:
		hint, challenge = "Authorization and X-Auth-Token hold different tokens.", realm+`, error="invalid_request"`
	case len(sentTokens(r.Header)) == 0 && !hasCertificate(r):
		hint, challenge = "Send a token: Authorization: Bearer TOKEN, or X-Auth-Token: TOKEN.", realm
	case len(sentTokens(r.Header)) == 0:
		hint = "The client certificate has expired, was revoked, or does not name a user."
		w.Header().Set("Connection", "close") // a client sends another certificate only on a new connection
	}
	w.Header().Set("WWW-Authenticate", challenge)
	return hintedFault(fault.Unauthenticated, "HTTPUnauthorized", hint)
}

func hasCertificate(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }
