package web

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"purser/internal/budget"
	"purser/internal/wire"
	"purser/web/signin"
)

// handler makes a page, or returns the error to show. It may also answer by itself and return a view without template.
type handler func(*visit) (view, error)

// view is a page to be shown.
type view struct {
	template string // "" if the request was answered by itself
	title    string
	section  string // of the navigation
	status   int    // 0: 200
	data     any
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
}

// visit returns a visit of a user who is not signed in.
func (s *server) visit(w http.ResponseWriter, r *http.Request) *visit {
	return &visit{server: s, Request: r, pageBuffer: newPageBuffer(), w: w}
}

// may reports whether the user passes a rule of authorization.
func (v *visit) may(rule string) bool { return slices.Contains(v.caller.Rules, rule) }

// param returns a parameter of the query.
func (v *visit) param(name string) string { return v.URL.Query().Get(name) }

// answer makes an answer once there is room for it, and then sends it: slow readers take no room from
// others. It sends users who are not signed in to the sign-in page.
func (s *server) answer(ctx context.Context, w http.ResponseWriter, r *http.Request, get maker) {
	v := s.visit(w, r)
	v.session = s.cookies.Session(r)
	v.api = newAPI(s.API, r, v.session.Token)
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

// inTurn generates an answer when a place is free. Places are shared among the users or, for those who are not signed
// in, their addresses.
func (v *visit) inTurn(ctx context.Context, get maker) (send func(), err error) {
	host, _, _ := net.SplitHostPort(v.RemoteAddr) // tests have none
	end, err := v.making.Acquire(budget.WithOwner(ctx, cmp.Or(v.session.Token, host)), budget.Claim{Weight: 1})
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

// absence says whether a revision does not exist, and which is the newest.
type absence struct {
	Absent bool
	Newest int64 // 0 if there is none
}

// noRevision is the refusal of a request about a revision that does not exist.
type noRevision struct {
	*refusal
	absence
}

// Unwrap returns the refusal.
func (n *noRevision) Unwrap() error { return n.refusal }

// aboutRevision returns the error to show for err, which is about the named revision. If that revision does not exist,
// it is a *noRevision with the newest one.
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
func absent(message string, newest int64) *noRevision {
	return &noRevision{&refusal{Status: http.StatusNotFound, Message: message}, absence{true, newest}}
}

// page returns the handler of a page.
func (s *server) page(show handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		broken := r.ParseForm() != nil || tooLong(r.URL.Query())
		s.answer(r.Context(), w, r, func(ctx context.Context, v *visit) (func(), error) {
			if broken {
				return nil, errForm
			}
			if err := v.api.Get(ctx, &v.caller, nil, "whoami"); err != nil {
				return nil, err
			}
			shown, err := show(v)
			return func() {
				if shown.template != "" {
					v.show(shown)
				}
			}, err
		})
	}
}

// maxQuery bounds the total size of a page's parameters, in bytes, because forms and links repeat them.
const maxQuery = 5000

func tooLong(query url.Values) bool {
	size := 0
	for name, values := range query {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	return size > maxQuery
}

// fail shows an error.
func (v *visit) fail(err error) {
	if v.Context().Err() != nil {
		return // the browser has disconnected
	}
	failed := failure{Status: http.StatusInternalServerError, Message: "The server's log has the cause."}
	if refused, ok := errors.AsType[*refusal](err); ok {
		failed.Status, failed.Message = refused.Status, refused.Error()
		if refused.After > 0 {
			v.w.Header().Set("Retry-After", strconv.Itoa(refused.After))
		}
	} else {
		v.logError(v.Request, err)
	}
	failed.Title = titleOf(failed.Status)
	if none, ok := errors.AsType[*noRevision](err); ok {
		failed.absence = none.absence
		failed.Title = failed.Message
	}
	v.show(view{template: "error", title: failed.Title, status: failed.Status, data: failed})
}

// logError logs why a page cannot be generated.
func (s *server) logError(r *http.Request, err error) {
	s.Log.ErrorContext(r.Context(), "a page cannot be made", "path", r.URL.Path, "error", err.Error())
}

// failure is the content of a page about an error.
type failure struct {
	absence

	Status         int
	Title, Message string
}

func titleOf(status int) string {
	switch status {
	case http.StatusNotFound:
		return "Not found"
	case http.StatusGone:
		return "This was deleted"
	case http.StatusForbidden:
		return "You may not see or do this"
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
	return view{}, &refusal{Status: http.StatusNotFound, Message: "No page exists at " + v.URL.Path + "."}
}

// forged answers a request made by a page of another site.
func (s *server) forged(w http.ResponseWriter, r *http.Request) {
	v := s.visit(w, r)
	v.fail(&refusal{
		Status:  http.StatusForbidden,
		Message: "The request came from another site's page, and was not carried out. Open the page here and try again.",
	})
}

func (v *visit) frame(of view) frame {
	return frame{
		Title: of.title, Section: of.section, User: nameOf(v.caller),
		SignedIn: v.session.Token != "" || v.certified(v.Request), Audit: v.may("deckhand:show_audit"), Data: of.data,
		Live: v.may("purser:list_events") && slices.Contains([]string{"overview", "revisions", "revision"}, of.template),
	}
}

// nameOf returns the name of a user.
func nameOf(caller wire.Caller) string { return cmp.Or(string(caller.User.Name), caller.User.ID) }

// show writes a page.
func (v *visit) show(of view) {
	if err := v.layout.Write(v.pageBuffer, of.template, v.frame(of)); err != nil {
		v.logError(v.Request, err)
		http.Error(v.w, "Something went wrong; the server's log says what.", http.StatusInternalServerError)
		return
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if of.status != 0 {
		v.w.WriteHeader(of.status)
	}
	_, _ = v.WriteTo(v.w) // the browser may have disconnected
}
