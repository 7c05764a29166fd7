package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"purser/internal/budget"
	"purser/internal/client"
	"purser/internal/wire"
	"purser/web/signin"
)

// handler makes a page, or returns the error to show. It may also answer by itself and return a view without template.
type handler func(*visit) (view, error)

// view is a page to be shown.
type view struct {
	template string // "" if the request was answered by itself
	status   int    // 0: 200
	stream   bool   // it is sent while it is made

	Title   string
	Section string // of the navigation
	Data    any    // of the template

	// What all pages have, set by show.
	User     string // "" if the user is not signed in
	SignedIn bool   // by a token or a certificate
	Audit    bool   // the user may read the audit
	Upload   bool   // the user may push documents
	Site     string // that the page is about; "" if there is one only, or if it is about none
	Base     basePath
	Overview basePath // of that site
	Archived bool     // it takes no changes
	Fleet    bool     // it is about many sites
	Many     bool     // the user may see more than one
	Live     bool     // the page updates when the site changes, and the user may read events
}

// visit is a request for a page.
type visit struct {
	*server
	*http.Request
	*pageBuffer

	w       http.ResponseWriter
	api     api
	session signin.Session
	caller  wire.Caller
	site    string // in the path; "" for the default one
	several bool   // the list of sites is at the base
	many    bool   // the user may see more than one site
}

// visit returns a visit to the site in the path of a request, of which nothing else is known yet.
func (s *server) visit(w http.ResponseWriter, r *http.Request) *visit {
	at, session := placeOf(r.Context()), s.cookies.Session(r)
	return &visit{
		server: s, Request: r, pageBuffer: newPageBuffer(s.address(r)+at.prefix, s.baseOf(at)), w: w,
		api: newAPI(s.API, r, session.Token, at.site), session: session, site: at.site,
	}
}

// address returns the URL at which the browser reaches the server.
func (s *server) address(r *http.Request) string {
	switch {
	case s.PublicURL != "":
		return strings.TrimRight(s.PublicURL, "/")
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// may reports whether the user passes a rule of authorization, at least for some of what it is about.
func (v *visit) may(rule string) bool {
	return slices.Contains(v.caller.Rules, rule) || slices.Contains(v.caller.Depending, rule)
}

// param returns a parameter of the query.
func (v *visit) param(name string) string { return v.URL.Query().Get(name) }

// answer makes an answer once there is room for it, and then sends it: slow readers take no room from
// others. It sends users who are not signed in to the sign-in page.
func (s *server) answer(ctx context.Context, w http.ResponseWriter, r *http.Request, get maker) {
	v := s.visit(w, r)
	send, err := v.inTurn(ctx, get)
	switch {
	case refusedWith(err, http.StatusUnauthorized):
		s.askToSignIn(v)
	case err != nil:
		v.fail(err)
	default:
		send()
	}
}

// maker makes an answer, and returns a function that sends it.
type maker func(ctx context.Context, v *visit) (send func(), err error)

// siteName returns the name of the site that a visit is to.
func (v *visit) siteName() string { return cmp.Or(v.site, client.DefaultSite) }

// owner returns the owner of a visit by a user.
func (v *visit) owner(user string) budget.Owner { return budget.Owner{User: user, Site: v.siteName()} }

// visitor returns the owner of a visit by the user or, if the user is not signed in, by the address.
func (v *visit) visitor() budget.Owner {
	host, _, _ := net.SplitHostPort(v.RemoteAddr) // tests have none
	return v.owner(cmp.Or(v.session.Token, host))
}

// inTurn generates an answer when a place is free. Places are shared among the sites, and among the users or, for those
// who are not signed in, their addresses.
func (v *visit) inTurn(ctx context.Context, get maker) (send func(), err error) {
	end, err := v.making.Acquire(budget.WithOwner(ctx, v.visitor()), budget.Claim{Weight: 1})
	if err != nil {
		return nil, err
	}
	defer end()
	send, err = get(ctx, v)
	if name := v.PathValue("revision"); name != "" {
		err = v.aboutRevision(ctx, name, err)
	}
	return send, err
}

// aboutRevision returns the error to show for err, which is about the named revision. If that revision does not exist,
// it is a refusal with the newest one.
func (v *visit) aboutRevision(ctx context.Context, name string, err error) error {
	var one, newest wire.Revision
	if !refusedWith(err, http.StatusNotFound) ||
		!refusedWith(v.api.Get(ctx, &one, nil, "revisions", name), http.StatusNotFound) {
		return err
	}
	found := v.api.Get(ctx, &newest, nil, "revisions", "latest")
	_, number := strconv.ParseInt(name, 10, 64)
	switch {
	case refusedWith(found, http.StatusNotFound) || found == nil && newest.ID == 0:
		return absent("There is no revision yet", 0)
	case found != nil || number != nil:
		return err
	}
	return absent("There is no revision "+name, newest.ID)
}

// absent returns the refusal of a request about a revision that does not exist.
func absent(message string, newest int64) *refusal {
	return &refusal{Status: http.StatusNotFound, Message: message, Absent: true, Newest: newest}
}

// page returns the handler of a page.
func (s *server) page(show handler) http.HandlerFunc { return s.form(maxForm, show) }

// form returns the handler of a page that takes a form, which size bounds in bytes.
func (s *server) form(size int64, show handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, size)
		err := r.ParseForm()
		if err == nil {
			err = r.ParseMultipartForm(size)
		}
		broken := err != nil && !errors.Is(err, http.ErrNotMultipart) || querySize(r.URL.Query()) > maxQuery
		s.answer(r.Context(), w, r, func(ctx context.Context, v *visit) (func(), error) {
			if broken {
				return nil, errForm
			}
			if err := v.meet(ctx); err != nil {
				return nil, err
			}
			recordOf(ctx).user = v.caller.User.ID
			shown, err := show(v)
			return func() {
				switch {
				case shown.stream:
					v.stream(ctx, shown)
				case shown.template != "":
					v.show(shown)
				}
			}, err
		})
	}
}

// maxQuery bounds the total size of a page's parameters, in bytes, because forms and links repeat them.
const maxQuery = 5000

// querySize returns the total size of parameters.
func querySize(query url.Values) (size int) {
	for name, values := range query {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	return size
}

// failure is the content of the page that shows an error.
type failure struct {
	*pageBuffer
	*refusal
}

// fail shows an error.
func (v *visit) fail(err error) {
	if v.Context().Err() != nil {
		return // the browser has disconnected
	}
	failed, ok := errors.AsType[*refusal](err)
	if !ok {
		v.logError(v.Request, err)
		failed = &refusal{Status: http.StatusInternalServerError, Message: "The server's log has the cause."}
	}
	if failed.After > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(failed.After))
	}
	v.show(view{template: "error", Title: failed.Title(), status: failed.Status, Data: failure{v.pageBuffer, failed}})
}

// logError logs, with the request, why a page cannot be generated.
func (s *server) logError(r *http.Request, err error) { recordOf(r.Context()).cause = err.Error() }

// Title returns the title of the page that shows the refusal.
func (r *refusal) Title() string {
	switch r.Status {
	case http.StatusNotFound:
		if r.Absent {
			return r.Error()
		}
		return "Not found"
	case http.StatusGone:
		return "This was deleted"
	case http.StatusForbidden:
		return "You do not have the right to see or do this"
	case http.StatusTooManyRequests:
		return "Too many requests"
	case http.StatusServiceUnavailable:
		return "The server cannot answer now"
	case http.StatusInternalServerError:
		return "Something went wrong"
	}
	return "This cannot be done"
}

// notFound answers requests of pages that do not exist.
func (v *visit) notFound() (view, error) {
	asked := placeOf(v.Context()).prefix + v.URL.Path
	return view{}, &refusal{Status: http.StatusNotFound, Message: "No page exists at " + asked + "."}
}

// forged answers a request made by a page of another site.
func (s *server) forged(w http.ResponseWriter, r *http.Request) {
	v := s.visit(w, r)
	v.fail(errForged)
}

// errForged refuses a request made by a page of another site.
var errForged = &refusal{
	Status:  http.StatusForbidden,
	Message: "The request came from a page of another web site, and was refused. Open the page here and try again.",
}

// nameOf returns the name of a user.
func nameOf(caller wire.Caller) string { return cmp.Or(string(caller.User.Name), caller.User.ID) }

// show writes a page.
func (v *visit) show(of view) {
	of.User = nameOf(v.caller)
	of.SignedIn, of.Audit = v.session.Token != "" || v.certified(v.Request), v.may("deckhand:show_audit")
	of.Upload = v.may("deckhand:create_cleartext_documents") && !v.Archived
	of.Base, of.Overview, of.Archived = v.Base, v.Base, v.Archived
	of.Many, of.Fleet = v.many, of.Section == "sites" || of.Section == "fleet"
	if v.site != "" || v.several {
		of.Site = v.siteName()
	}
	if v.several && v.site == "" { // where the list of sites is at the base
		of.Overview = v.baseOf(place{prefix: sitesPath + client.DefaultSite})
	}
	of.Live = v.may("purser:list_events") && slices.Contains([]string{"overview", "revisions", "revision"}, of.template)
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := v.pages[of.template].ExecuteTemplate(&v.written, "layout", of); err != nil {
		v.logError(v.Request, fmt.Errorf("fill in a template: %w", err))
		http.Error(v.w, "Something went wrong; the server's log says what.", http.StatusInternalServerError)
		return
	}
	if of.stream {
		_ = v.sendOn() // the browser may have disconnected
		return
	}
	if of.status != 0 {
		v.w.WriteHeader(of.status)
	}
	_, _ = v.WriteTo(v.w) // the browser may have disconnected
}
