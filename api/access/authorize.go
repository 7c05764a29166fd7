package access

import (
	"net/http"
	"time"

	"github.com/go-chi/httprate"

	"purser/api/parameters"
	"purser/api/requests"
	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/fault"
)

// Pseudo rules of endpoints that need no rule of package authz.
const (
	Public        = "public"        // everybody passes, without a token
	Authenticated = "authenticated" // every authenticated caller passes
)

// Config configures a gate.
type Config struct {
	Authenticator authn.Authenticator
	Anonymous     bool                      // Authenticator returns the same caller for every token, whom nothing names
	Authorities   func() *authn.Authorities // of client certificates; nil if none are asked for
	Rules         *authz.File
	Rate          int // requests per second of one user, on average over ten seconds; 0: unlimited
	PublicURL     string
	Now           func() time.Time
}

// Gate authenticates and authorizes requests, and limits the rate of each user.
type Gate struct {
	Config

	rates []rate                      // none if the rate is unlimited
	own   *http.CrossOriginProtection // refuses changes by pages of other sites
}

// rate bounds the requests of each user in a time, after which a throttled one may try again.
type rate struct {
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

// NewGate returns a gate.
func NewGate(config Config) *Gate {
	g := &Gate{Config: config, own: ownPages(config.PublicURL)}
	if config.Rate > 0 {
		g.rates = []rate{
			newRate(config.Rate*int(rateWindow/time.Second), rateWindow),
			newRate(max(minBurst, config.Rate*burst), time.Second),
		}
	}
	return g
}

func newRate(requests int, window time.Duration) rate {
	unnamed := httprate.WithResponseHeaders(httprate.ResponseHeaders{})
	return rate{httprate.NewRateLimiter(requests, window, unnamed), requests, window}
}

// Authorize authenticates the caller and checks that it passes a rule. As in the reference, 401 comes before 403, and
// both come before anything is read or looked up.
func (g *Gate) Authorize(w http.ResponseWriter, r *http.Request, rule string) error {
	if rule == Public {
		return nil
	}
	caller, err := g.authenticate(r)
	if err != nil {
		return challenge(w, r, err)
	}
	requests.Of(r).Caller = caller
	requests.Of(r).Viewer = g.viewerOf(r)
	if rule != Authenticated {
		requests.Of(r).Rule = rule
	}
	if !g.Anonymous {
		w.Header().Set("X-User-Name", caller.UserID)
	}
	if requests.Of(r).Resumed == nil { // a request that has waited is already counted
		if err := g.countRequest(w, r, caller); err != nil {
			return err
		}
	}
	if rule == Authenticated {
		return nil
	}
	return g.Require(r, rule)
}

// countRequest counts a request of a caller. Fault: Throttled if the caller exceeds a rate.
func (g *Gate) countRequest(w http.ResponseWriter, r *http.Request, caller authn.Caller) error {
	for _, rate := range g.rates {
		if rate.OnLimit(w, r, caller.UserID) {
			f := fault.New(fault.Throttled, "HTTPTooManyRequests",
				"More than %d requests came from this user within %v (--request-rate: %d requests a second)", rate.requests,
				rate.window, g.Rate)
			f.RetryAfter = rate.window
			return f
		}
	}
	return nil
}

// Reauthorize checks that the caller is still allowed to make a request that has waited.
func (g *Gate) Reauthorize(w http.ResponseWriter, r *http.Request) error {
	info := requests.Of(r)
	caller, err := g.authenticate(r)
	if err != nil {
		return challenge(w, r, err)
	}
	needed := []string{info.Rule}
	if info.Viewer.Encrypted {
		needed = append(needed, authz.ListEncryptedDocuments)
	}
	for _, rule := range needed {
		if !g.Rules.Policy().Allows(rule, caller) {
			return forbidden(rule)
		}
	}
	return nil
}

// Caller returns the id of the caller, which is empty if callers are anonymous.
func (g *Gate) Caller(r *http.Request) string {
	if g.Anonymous {
		return ""
	}
	return requests.Of(r).Caller.UserID
}

// Owner returns the owner of a request for budget.Shares: the user or, if callers are anonymous, the client's address.
func (g *Gate) Owner(r *http.Request) string {
	if caller := g.Caller(r); caller != "" {
		return "user " + caller
	}
	return "address " + requests.Remote(r)
}

// CallerName returns the name of the caller, or its id if it has no name. It is empty if callers are anonymous.
func (g *Gate) CallerName(r *http.Request) string {
	caller := requests.Of(r).Caller
	switch {
	case g.Anonymous:
		return ""
	case caller.UserName != "":
		return caller.UserName
	}
	return caller.UserID
}

// Require returns a fault if the caller does not pass a rule.
func (g *Gate) Require(r *http.Request, rule string) error {
	if !g.Allows(r, rule) {
		return forbidden(rule)
	}
	return nil
}

// Allows reports whether the caller passes a rule.
func (g *Gate) Allows(r *http.Request, rule string) bool {
	return g.Rules.Policy().Allows(rule, requests.Of(r).Caller)
}

// viewerOf returns the view of documents that the authenticated caller of a request may have.
func (g *Gate) viewerOf(r *http.Request) authz.Viewer {
	return authz.Viewer{
		Encrypted: g.Allows(r, authz.ListEncryptedDocuments),
		Redacted:  !parameters.Of(r).Flag(parameters.CleartextSecrets, true),
	}
}

// forbidden returns the fault of a caller that does not pass a rule, with the reference's message.
func forbidden(rule string) error {
	return fault.New(fault.Forbidden, "HTTPForbidden", "Policy doesn't allow %s to be performed", rule)
}
