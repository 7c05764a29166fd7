package web

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"

	"purser/internal/wire"
	"purser/web/signin"
)

// signInView is the content of the sign-in page.
type signInView struct {
	Next  string // where to go then
	Error string
	OIDC  bool // one can sign in by an issuer
	// Certificates reports that client certificates are accepted; Holder is the user of the browser's, "" for none.
	Certificates bool
	Holder       string
}

// certified reports whether the connection of a request has a client certificate that signs its user in.
func (s *server) certified(r *http.Request) bool {
	return s.Certificates && r.TLS != nil && len(r.TLS.VerifiedChains) > 0
}

// signInPage returns the view of the sign-in page.
func (s *server) signInPage(content signInView) view {
	content.OIDC, content.Certificates = s.issuer != nil, s.Certificates
	return view{template: "sign-in", Title: "Sign in", Data: content}
}

// bounce is the content of a page that opens another one.
type bounce struct{ Next, Refresh string }

// askToSignIn sends the user of a request to the sign-in page.
func (s *server) askToSignIn(v *visit) {
	if s.bounced(v.w, v.Request) {
		return
	}
	if v.session.Token != "" {
		s.cookies.End(v.w, v.Request) // it is no longer valid
	}
	v.goTo(s.base.Query("sign-in", "next", s.here(v.Request)))
}

// bounced answers a request made by a link on another site, which has no cookies with SameSite=Strict, by making the
// browser repeat it from this site.
func (s *server) bounced(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") != "cross-site" || r.Header.Get("Sec-Fetch-Mode") != "navigate" ||
		r.Method != http.MethodGet {
		return false
	}
	v := s.visit(w, r)
	v.show(view{template: "bounce", Title: "Opening the page", Data: bounce{s.here(r), "0"}})
	return true
}

// here returns the path and query of the requested page in the form used in links.
func (s *server) here(r *http.Request) string {
	base := s.baseOf(placeOf(r.Context()))
	if r.Method != http.MethodGet && r.Method != http.MethodHead { // the page with the form
		if strings.HasPrefix(r.URL.Path, "/ui/upload") {
			return base.Link("upload")
		}
		if r.URL.Path == "/ui/settings" {
			return base.Link("settings")
		}
		if page, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/ui/"), "/"); page == "fleet" || page == "copy" {
			at := url.URL{Path: base.Link(page), RawQuery: r.URL.RawQuery}
			return at.String()
		}
		return base.Revision(r.PathValue("revision"))
	}
	at := url.URL{Path: string(base) + strings.TrimPrefix(r.URL.Path, "/ui/"), RawQuery: r.URL.RawQuery}
	return at.String()
}

// next returns where to go after signing in: a page of this server. It cleans the path as browsers do, for which %2e is
// a dot, and accepts it only if it also stays below the base with its names unescaped.
func (s *server) next(asked string) string {
	at, err := url.Parse(asked)
	if err != nil || len(asked) > 4*maxQuery || at.IsAbs() || at.Host != "" || strings.Contains(asked, `\`) {
		return string(s.base)
	}
	_, ok := s.cleanPage(at.Path)
	escaped, stays := s.cleanPage(strings.NewReplacer("%2e", ".", "%2E", ".").Replace(at.EscapedPath()))
	if !ok || !stays {
		return string(s.base)
	}
	clean := url.URL{RawQuery: at.Query().Encode(), Fragment: at.Fragment}
	return escaped + clean.String()
}

// cleanPage returns a path as browsers clean it. ok is false unless that is a page of a site, or of none, which is not
// about signing in.
func (s *server) cleanPage(of string) (clean string, ok bool) {
	if clean = path.Clean(of); strings.HasSuffix(of, "/") {
		clean += "/"
	}
	below, ok := strings.CutPrefix(clean, string(s.base))
	if !ok {
		var at place
		site, page, _ := strings.Cut(strings.TrimPrefix(clean, s.root+sitesPath), "/ui/")
		if mayBeSite(site) {
			at.prefix = sitesPath + site
		}
		below, ok = page, clean == string(s.baseOf(at))+page
	}
	return clean, ok && !strings.HasPrefix(below, "sign-")
}

// showSignIn shows the form, unless the server needs no token. Users with a certificate also see it if they ask to sign
// in as another user.
func (s *server) showSignIn(w http.ResponseWriter, r *http.Request) {
	v := s.visit(w, r)
	content := signInView{Next: s.next(v.param("next"))}
	token := s.cookies.Session(r).Token
	var caller wire.Caller
	err := newAPI(s.API, r, token, "").Get(r.Context(), &caller, nil, "whoami")
	if refusedWith(err, http.StatusMisdirectedRequest) {
		v.fail(err)
		return
	}
	if err == nil {
		if token != "" || !s.certified(r) || v.param("other") == "" {
			http.Redirect(w, r, content.Next, http.StatusSeeOther)
			return
		}
		content.Holder = nameOf(caller)
	}
	v.show(s.signInPage(content))
}

// maxForm bounds the body of a form, in bytes.
const maxForm = 128 << 10

var errForm = &refusal{
	Status: http.StatusBadRequest, Message: "The form or the link cannot be read, or is too long.",
}

func (s *server) signIn(w http.ResponseWriter, r *http.Request) {
	v := s.visit(w, r)
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		v.fail(errForm)
		return
	}
	next, token := s.next(r.PostForm.Get("next")), strings.TrimSpace(r.PostForm.Get("token"))
	refused := func(status int, message string) {
		page := s.signInPage(signInView{Next: next, Error: message})
		page.status = status
		v.show(page)
	}
	if token == "" || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		refused(http.StatusBadRequest, "Enter a token: characters without spaces, as the server's operator gave it to you.")
		return
	}
	err := s.enter(w, r, token)
	switch failed := new(refusal); {
	case err == nil:
		http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // next checks it
	case errors.As(err, &failed) && failed.Status == http.StatusUnauthorized:
		refused(http.StatusUnauthorized, "The server does not know this token, or it has expired.")
	case failed.Status != 0:
		refused(failed.Status, failed.Error())
	default:
		v.fail(err)
	}
}

// enter begins a session with a token that the API accepts.
func (s *server) enter(w http.ResponseWriter, r *http.Request, token string) error {
	if err := newAPI(s.API, r, token, "").Get(r.Context(), &wire.Caller{}, nil, "whoami"); err != nil {
		return err
	}
	err := s.cookies.Begin(w, r, token)
	if errors.Is(err, signin.ErrLong) {
		return &refusal{Status: http.StatusBadRequest, Message: "The token is too long."}
	}
	return err
}

// signOut ends the session. A certificate continues to sign its user in; the page of the redirect says so.
func (s *server) signOut(w http.ResponseWriter, r *http.Request) {
	s.cookies.End(w, r)
	page := string(s.base) + "sign-in"
	if s.certified(r) {
		page += "?other=yes"
	}
	http.Redirect(w, r, page, http.StatusSeeOther)
}
