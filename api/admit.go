package api

import (
	"net/http"

	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/fault"
)

// Access says who is let in, and to what.
type Access struct {
	// Authenticator knows whose a token is.
	Authenticator authn.Authenticator
	// Anonymous tells that it takes everybody for the same one, so that nothing is to be said of who that is.
	Anonymous bool
	// Rules are those that callers must pass.
	Rules *authz.File
	// MetricsElsewhere leaves /metrics to another listener.
	MetricsElsewhere bool
}

// What an endpoint can ask of its callers in place of a rule.
const (
	open  = "open"  // nothing at all
	known = "known" // that it is known who they are
)

// leastRule is what asking for a method that a path does not have asks for. What is open is so for every method.
func leastRule(of methods) string {
	for _, endpoint := range of {
		if endpoint.rule != open {
			return known
		}
	}
	return open
}

// admit finds out who a request comes from, and refuses it if that one may not have what it asks for. The order is the
// reference's: 401, then 403, before anything is read or looked up (spec/api.md §10).
func (s *server) admit(w http.ResponseWriter, r *http.Request, rule string) error {
	if rule == open {
		return nil
	}
	who, err := s.authenticate(r)
	if err != nil {
		return challenge(w, r, err)
	}
	observed(r).caller = who
	if rule != known {
		observed(r).rule = rule
	}
	if !s.Access.Anonymous {
		w.Header().Set("X-User-Name", who.UserID)
	}
	if err := s.bounds.countRequest(w, r, who); err != nil {
		return err
	}
	if rule == known || s.allows(r, rule) {
		return nil
	}
	return forbidden(rule)
}

// caller is who a request comes from; nobody where that was not asked.
func caller(r *http.Request) authn.Caller { return observed(r).caller }

// callerName is how the caller is called, empty if everybody is called the same.
func (s *server) callerName(r *http.Request) string {
	who := caller(r)
	switch {
	case s.Access.Anonymous:
		return ""
	case who.UserName != "":
		return who.UserName
	}
	return who.UserID
}

// allows tells whether the caller passes a rule.
func (s *server) allows(r *http.Request, rule string) bool {
	return s.Access.Rules.Policy().Allows(rule, caller(r))
}

// seesEncrypted tells whether the caller may be shown encrypted documents.
func (s *server) seesEncrypted(r *http.Request) bool {
	return s.allows(r, authz.ListEncryptedDocuments)
}

// mayEncrypt tells whether the caller may bring encrypted documents in.
func (s *server) mayEncrypt(r *http.Request) bool {
	return s.allows(r, authz.CreateEncryptedDocuments)
}

// forbidden is the reference's answer to who does not pass a rule.
func forbidden(rule string) error {
	return fault.New(fault.Forbidden, "HTTPForbidden", "Policy doesn't allow %s to be performed", rule)
}

// GET /api/v1.0/whoami
func (s *server) whoami(w http.ResponseWriter, r *http.Request) error {
	who := caller(r)
	s.write(w, r, http.StatusOK, whoamiView{
		User: userView{who.UserID, optional(who.UserName)}, Project: optional(who.ProjectID), Roles: listed(who.Roles),
		Rules: s.Access.Rules.Policy().Passed(who),
	})
	return nil
}

type whoamiView struct {
	User    userView `json:"user"`
	Project *string  `json:"project"`
	Roles   []string `json:"roles"`
	Rules   []string `json:"rules"` // that the caller passes
}

type userView struct {
	ID   string  `json:"id"`
	Name *string `json:"name"`
}
