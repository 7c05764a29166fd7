package api

import (
	"net/http"
	"time"

	"github.com/go-chi/httprate"

	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/fault"
)

// Pseudo rules of endpoints that need no rule of package authz.
const (
	public        = "public"        // everybody passes, without a token
	authenticated = "authenticated" // every authenticated caller passes
)

// gateConfig configures a gate.
type gateConfig struct {
	authenticator authn.Authenticator
	anonymous     bool                      // Authenticator returns the same caller for every token, whom nothing names
	authorities   func() *authn.Authorities // of client certificates; nil if none are asked for
	rules         *authz.File
	rate          int // requests per second of one user, on average over ten seconds; 0: unlimited
	publicURL     string
	now           func() time.Time
}

// gate authenticates and authorizes requests, and limits the rate of each user.
type gate struct {
	gateConfig

	rates []userRate                  // none if the rate is unlimited
	own   *http.CrossOriginProtection // refuses changes by pages of other sites
}

// rate bounds the requests of each user in a time, after which a throttled one may try again.
type userRate struct {
	*httprate.RateLimiter

	requests int
	window   time.Duration
}

// The time over which request rates are averaged, and how many requests may come within one second: burst times the
// rate, at least minBurst.
const (
	rateWindow      = 10 * time.Second
	burst, minBurst = 2, 10
)

// newGate returns a gate.
func newGate(config gateConfig) *gate {
	g := &gate{gateConfig: config, own: ownPages(config.publicURL)}
	if config.rate > 0 {
		g.rates = []userRate{
			newUserRate(config.rate*int(rateWindow/time.Second), rateWindow),
			newUserRate(max(minBurst, config.rate*burst), time.Second),
		}
	}
	return g
}

func newUserRate(requests int, window time.Duration) userRate {
	unnamed := httprate.WithResponseHeaders(httprate.ResponseHeaders{})
	return userRate{httprate.NewRateLimiter(requests, window, unnamed), requests, window}
}

// authorize authenticates the caller and checks that it passes a rule. As in Deckhand, 401 comes before 403, and
// both come before anything is read or looked up.
func (g *gate) authorize(w http.ResponseWriter, r *http.Request, rule string) error {
	if rule == public {
		return nil
	}
	caller, err := g.authenticate(r)
	if err != nil {
		return challenge(w, r, err)
	}
	infoOf(r).caller = caller
	infoOf(r).viewer = g.viewerOf(r)
	if rule != authenticated {
		infoOf(r).rule = rule
	}
	if !g.anonymous {
		w.Header().Set("X-User-Name", caller.UserID)
	}
	if infoOf(r).resumed == nil { // a request that has waited is already counted
		if err := g.countRequest(w, r, caller); err != nil {
			return err
		}
	}
	if rule == authenticated {
		return nil
	}
	return g.require(r, rule)
}

// countRequest counts a request of a caller. Fault: Throttled if the caller exceeds a rate.
func (g *gate) countRequest(w http.ResponseWriter, r *http.Request, caller authn.Caller) error {
	for _, rate := range g.rates {
		if rate.OnLimit(w, r, caller.UserID) {
			f := fault.New(fault.Throttled, "HTTPTooManyRequests",
				"More than %d requests came from this user within %v (--request-rate: %d requests a second)", rate.requests,
				rate.window, g.rate)
			f.RetryAfter = rate.window
			return f
		}
	}
	return nil
}

// reauthorize checks that the caller is still allowed to make a request that has waited.
func (g *gate) reauthorize(w http.ResponseWriter, r *http.Request) error {
	info := infoOf(r)
	caller, err := g.authenticate(r)
	if err != nil {
		return challenge(w, r, err)
	}
	needed := []string{info.rule}
	if info.viewer.Encrypted {
		needed = append(needed, authz.ListEncryptedDocuments)
	}
	for _, rule := range needed {
		if !g.rules.Policy().Allows(rule, caller) {
			return forbidden(rule)
		}
	}
	return nil
}

// caller returns the id of the caller, which is empty if callers are anonymous.
func (g *gate) caller(r *http.Request) string {
	if g.anonymous {
		return ""
	}
	return infoOf(r).caller.UserID
}

// owner returns the owner of a request for budget.Shares: the user or, if callers are anonymous, the client's address.
func (g *gate) owner(r *http.Request) string {
	if caller := g.caller(r); caller != "" {
		return "user " + caller
	}
	return "address " + remoteAddress(r)
}

// callerName returns the name of the caller, or its id if it has no name. It is empty if callers are anonymous.
func (g *gate) callerName(r *http.Request) string {
	caller := infoOf(r).caller
	switch {
	case g.anonymous:
		return ""
	case caller.UserName != "":
		return caller.UserName
	}
	return caller.UserID
}

// require returns a fault if the caller does not pass a rule.
func (g *gate) require(r *http.Request, rule string) error {
	if !g.allows(r, rule) {
		return forbidden(rule)
	}
	return nil
}

// allows reports whether the caller passes a rule.
func (g *gate) allows(r *http.Request, rule string) bool {
	return g.rules.Policy().Allows(rule, infoOf(r).caller)
}

// viewerOf returns the view of documents that the authenticated caller of a request may have.
func (g *gate) viewerOf(r *http.Request) authz.Viewer {
	return authz.Viewer{
		Encrypted: g.allows(r, authz.ListEncryptedDocuments),
		Redacted:  !paramsOf(r).flag(cleartextSecrets, true),
	}
}

// forbidden returns the fault of a caller that does not pass a rule, with Deckhand's message.
func forbidden(rule string) error {
	return fault.New(fault.Forbidden, "HTTPForbidden", "Policy doesn't allow %s to be performed", rule)
}
