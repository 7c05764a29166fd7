package api

import (
	"net/http"

	"purser/api/parameters"
	"purser/api/requests"
	"purser/api/views"
	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/fault"
	"purser/internal/queries"
)

// Access configures authentication and authorization.
type Access struct {
	Authenticator authn.Authenticator
	// Anonymous means that Authenticator returns the same caller for every token. Answers and revisions do not name it.
	Anonymous bool
	Rules     *authz.File
	// MetricsElsewhere leaves /metrics to another listener.
	MetricsElsewhere bool
}

// Pseudo rules of endpoints that need no rule of package authz.
const (
	public        = "public"        // everybody passes, without a token
	authenticated = "authenticated" // every authenticated caller passes
)

// fallbackRule returns the rule for the methods that a path does not support: public if all its methods are public.
func fallbackRule(of methods) string {
	for _, endpoint := range of {
		if endpoint.rule != public {
			return authenticated
		}
	}
	return public
}

// authorize authenticates the caller and checks that it passes a rule. As in the reference, 401 comes before 403, and
// both come before anything is read or looked up (spec/api.md §10).
func (s *server) authorize(w http.ResponseWriter, r *http.Request, rule string) error {
	if rule == public {
		return nil
	}
	caller, err := s.authenticate(r)
	if err != nil {
		return challenge(w, r, err)
	}
	requests.Of(r).Caller = caller
	requests.Of(r).Viewer = s.viewerOf(r)
	if rule != authenticated {
		requests.Of(r).Rule = rule
	}
	if !s.Access.Anonymous {
		w.Header().Set("X-User-Name", caller.UserID)
	}
	if requests.Of(r).Resumed == nil { // a request that has waited is already counted
		if err := s.bounds.countRequest(w, r, caller); err != nil {
			return err
		}
	}
	if rule == authenticated || s.allows(r, rule) {
		return nil
	}
	return forbidden(rule)
}

// callerName returns the name of the caller, or its id if it has no name. It is empty if callers are anonymous.
func (s *server) callerName(r *http.Request) string {
	caller := requests.Of(r).Caller
	switch {
	case s.Access.Anonymous:
		return ""
	case caller.UserName != "":
		return caller.UserName
	}
	return caller.UserID
}

// allows reports whether the caller passes a rule.
func (s *server) allows(r *http.Request, rule string) bool {
	return s.Access.Rules.Policy().Allows(rule, requests.Of(r).Caller)
}

// viewerOf returns the view of documents that the authenticated caller of a request may have.
func (s *server) viewerOf(r *http.Request) authz.Viewer {
	return authz.Viewer{
		Encrypted: s.allows(r, authz.ListEncryptedDocuments), Redacted: !parameters.Of(r).Flag(parameters.CleartextSecrets, true),
	}
}

// questions returns the queries of a request, as its caller may see their results.
func (s *server) questions(r *http.Request) queries.View {
	return s.Queries.For(requests.Of(r).Viewer).Noting(&stateOf(r).fresh)
}

// mayEncrypt reports whether the caller may upload encrypted documents.
func (s *server) mayEncrypt(r *http.Request) bool {
	return s.allows(r, authz.CreateEncryptedDocuments)
}

// forbidden returns the fault of a caller that does not pass a rule, with the reference's message.
func forbidden(rule string) error {
	return fault.New(fault.Forbidden, "HTTPForbidden", "Policy doesn't allow %s to be performed", rule)
}

// GET /api/v1.0/whoami
func (s *server) whoami(w http.ResponseWriter, r *http.Request) error {
	caller := requests.Of(r).Caller
	s.answers.Write(w, r, http.StatusOK, views.Whoami{
		User: views.User{ID: caller.UserID, Name: views.Optional(caller.UserName)}, Project: views.Optional(caller.ProjectID),
		Roles: views.NonNil(caller.Roles), Rules: s.Access.Rules.Policy().Passed(caller),
	})
	return nil
}
