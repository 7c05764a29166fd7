package signin

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Cookies keep in browsers who is signed in, and who is at the issuer to do so.
type Cookies struct {
	seal   *sealer
	path   string // of the pages that get them
	home   string // where users go who were at no other page
	secure bool
	now    func() time.Time
}

// NewCookies returns the cookies for the pages below path, of which home is the first. They are encrypted with a key of
// at least 32 random bytes. Secure reports that browsers reach the server by https.
func NewCookies(key []byte, path, home string, secure bool, now func() time.Time) (*Cookies, error) {
	seal, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	return &Cookies{seal, path, home, secure, now}, nil
}

// Session is the content of a user's cookie.
type Session struct {
	Token string    `json:"token"`
	Until time.Time `json:"until"`
}

// maxSession is the maximum duration of a session. The API checks at each request whether the token is still valid.
const maxSession = 12 * time.Hour

const (
	// Not purser-session and purser-sign-in: browsers may still have those, for /ui/ only, which they send before these.
	sessionCookie = "purser-user"
	attemptCookie = "purser-attempt"
	// maxCookie bounds the value of one cookie: browsers keep 4096 bytes of a cookie with its name. A session uses as
	// many cookies as it needs.
	maxCookie  = 3500
	maxCookies = 8 // for a token of 16 KiB, which is the longest that the API takes
)

// Session returns the session of a request, the zero session if it has no valid one.
func (c *Cookies) Session(r *http.Request) Session {
	var sealed strings.Builder
	for i := range maxCookies {
		cookie, err := r.Cookie(cookieName(i))
		if err != nil {
			break
		}
		sealed.WriteString(cookie.Value)
	}
	var found Session
	if sealed.Len() == 0 || c.seal.open(sessionCookie, sealed.String(), &found) != nil || !c.now().Before(found.Until) {
		return Session{}
	}
	return found
}

func cookieName(i int) string {
	if i == 0 {
		return sessionCookie
	}
	return sessionCookie + "-" + strconv.Itoa(i)
}

// ErrLong says that a token is too long for cookies.
var ErrLong = errors.New("the token is too long for cookies")

// Begin stores the session of a token in the browser. It returns ErrLong if the token is too long.
func (c *Cookies) Begin(w http.ResponseWriter, r *http.Request, token string) error {
	begun := Session{Token: token, Until: c.now().Add(maxSession)}
	sealed, err := c.seal.seal(sessionCookie, begun)
	if err != nil {
		return err
	}
	if len(sealed) > maxCookie*maxCookies {
		return ErrLong
	}
	for i := range maxCookies {
		part := sealed[:min(len(sealed), maxCookie)]
		sealed = sealed[len(part):]
		until := begun.Until
		if part == "" { // of an older session, which the browser may not show us here
			until = time.Time{}
		}
		http.SetCookie(w, c.cookie(r, cookieName(i), part, until, http.SameSiteStrictMode))
	}
	return nil
}

// End deletes the session from the browser.
func (c *Cookies) End(w http.ResponseWriter, r *http.Request) {
	for i := range maxCookies {
		http.SetCookie(w, c.cookie(r, cookieName(i), "", time.Time{}, http.SameSiteStrictMode))
	}
}

// Keep stores an attempt in the browser. If the page where it leads is too long for a cookie, it leads
// home.
func (c *Cookies) Keep(w http.ResponseWriter, r *http.Request, begun Attempt) error {
	sealed, err := c.seal.seal(attemptCookie, begun)
	if err != nil || len(sealed) > maxCookie {
		begun.Next = c.home
		if sealed, err = c.seal.seal(attemptCookie, begun); err != nil {
			return err
		}
	}
	// Lax: the issuer redirects from another site.
	http.SetCookie(w, c.cookie(r, attemptCookie, sealed, begun.Until, http.SameSiteLaxMode))
	return nil
}

// Take returns the attempt that the issuer's redirect is about, and deletes it from the browser.
func (c *Cookies) Take(w http.ResponseWriter, r *http.Request) (begun Attempt, ok bool) {
	http.SetCookie(w, c.cookie(r, attemptCookie, "", time.Time{}, http.SameSiteLaxMode)) // it is valid only once
	cookie, err := r.Cookie(attemptCookie)
	if err != nil || c.seal.open(attemptCookie, cookie.Value, &begun) != nil || !c.now().Before(begun.Until) ||
		subtle.ConstantTimeCompare([]byte(begun.State), []byte(r.URL.Query().Get("state"))) != 1 {
		return Attempt{}, false
	}
	return begun, true
}

// cookie returns a cookie; an empty value deletes it.
func (c *Cookies) cookie(r *http.Request, name, value string, until time.Time, sites http.SameSite) *http.Cookie {
	cookie := &http.Cookie{ //nolint:gosec // where browsers come by https it is Secure
		Name: name, Value: value, Path: c.path, HttpOnly: true, SameSite: sites,
		// The header can only come from the proxy in front, and makes the cookie stricter.
		Secure: c.secure || r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
	if cookie.Expires = until; value == "" {
		cookie.MaxAge = -1
	}
	return cookie
}
