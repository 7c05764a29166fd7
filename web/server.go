package web

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"purser/internal/client"
)

// Config configures the pages. API, Key, Now and Log must be set.
type Config struct {
	API http.Handler // the whole API
	// PublicURL is the URL at which browsers reach the server, "" if unknown.
	PublicURL string
	OIDC      *OIDC // nil: users sign in with tokens alone
	// Certificates reports that the API authenticates requests without a token by client certificate.
	Certificates bool
	Compat       bool   // the API behaves like Deckhand, whose lists have no pages
	Key          []byte // that sessions are sealed with; at least 32 random bytes
	Now          func() time.Time
	Log          *slog.Logger
}

type server struct {
	Config

	base   string // the path of the overview in links, such as /ui/
	secure bool   // browsers reach the server by https
	pages  map[string]*template.Template
	seal   *sealer
	issuer *issuer // nil without OIDC
	assets assets
	making *semaphore.Weighted // limits concurrent pages, because an event makes all open ones reload
}

// maxMaking is the number of pages that are generated concurrently. One may take 50 MiB.
const maxMaking = 4

// New returns the handler of /ui and everything below it.
func New(config Config) (http.Handler, error) {
	s := &server{Config: config, base: "/ui/", making: semaphore.NewWeighted(maxMaking)}
	protection := http.NewCrossOriginProtection()
	if public, err := url.Parse(config.PublicURL); err == nil && public.Host != "" {
		s.base, s.secure = strings.TrimRight(public.EscapedPath(), "/")+"/ui/", public.Scheme == "https"
		if err := protection.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
			return nil, err //nolint:wrapcheck // its message is complete
		}
	}
	var err error
	if s.seal, err = newSealer(config.Key); err != nil {
		return nil, err
	}
	if config.OIDC != nil {
		s.issuer = &issuer{OIDC: *config.OIDC, asking: semaphore.NewWeighted(maxAsking)}
	}
	s.assets = readAssets()
	s.pages = s.parsePages()
	protection.SetDenyHandler(http.HandlerFunc(s.forged))
	return protected(protection.Handler(s.routes())), nil
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, show := range map[string]handler{
		"GET /ui/{$}":                                             (*visit).overview,
		"GET /ui/revisions":                                       (*visit).revisions,
		"GET /ui/revisions/{revision}":                            (*visit).revision,
		"GET /ui/revisions/{revision}/document":                   (*visit).document,
		"GET /ui/revisions/{revision}/validations/{name}":         (*visit).validation,
		"GET /ui/revisions/{revision}/graph":                      (*visit).graph,
		"GET /ui/revisions/{revision}/schemas":                    (*visit).schemas,
		"GET /ui/revisions/{revision}/schemas/{space}/{kind}/{v}": (*visit).schema,
		"GET /ui/compare":                                         (*visit).compare,
		"GET /ui/search":                                          (*visit).search,
		"GET /ui/audit":                                           (*visit).audit,
		"POST /ui/revisions/{revision}/tags":                      (*visit).tag,
		"POST /ui/revisions/{revision}/tags/delete":               (*visit).untag,
		"POST /ui/revisions/{revision}/validations":               (*visit).post,
		"POST /ui/revisions/{revision}/rollback":                  (*visit).rollBack,
		"/ui/":                                                    (*visit).nowhere,
	} {
		mux.HandleFunc(pattern, s.page(show))
	}
	mux.HandleFunc("GET /ui/revisions/{revision}/graph.svg", s.picture)
	mux.HandleFunc("GET /ui/revisions/{revision}/document.yaml", s.download)
	mux.HandleFunc("GET /ui/events", s.events)
	mux.HandleFunc("GET /ui/sign-in", s.showSignIn)
	mux.HandleFunc("POST /ui/sign-in", s.signIn)
	mux.HandleFunc("POST /ui/sign-out", s.signOut)
	if s.issuer != nil {
		mux.HandleFunc("GET /ui/sign-in/oidc", s.toIssuer)
		mux.HandleFunc("GET /ui/sign-in/oidc/back", s.fromIssuer)
	}
	mux.HandleFunc("GET /ui/static/{file}", s.asset)
	mux.HandleFunc("/ui", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.base, http.StatusPermanentRedirect)
	})
	return mux
}

// pagePolicy allows pages only the server's own style sheet, script and pictures, and forbids framing.
const pagePolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// protected sets the headers of all answers.
func protected(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": pagePolicy, "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
			"Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			w.Header().Set(name, value)
		}
		next.ServeHTTP(w, r)
	})
}

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
	*paper

	w       http.ResponseWriter
	api     backend
	session session
	caller  client.Caller
}

// may reports whether the user passes a rule of authorization.
func (v *visit) may(rule string) bool { return slices.Contains(v.caller.Rules, rule) }

// param returns a parameter of the query.
func (v *visit) param(name string) string { return v.URL.Query().Get(name) }

// answer makes an answer once there is room for it, and then sends it: slow readers take no room from
// others. Whoever is not signed in is sent to the page where one does that.
func (s *server) answer(ctx context.Context, w http.ResponseWriter, r *http.Request, get maker) {
	v := &visit{server: s, Request: r, paper: newPaper(), w: w, session: s.sessionOf(r)}
	v.api = backend{s.API, r, v.session.Token}
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

// inTurn generates an answer when a place is free.
func (v *visit) inTurn(ctx context.Context, get maker) (send func(), err error) {
	if err := v.making.Acquire(ctx, 1); err != nil {
		return nil, err //nolint:wrapcheck // nobody reads it
	}
	defer v.making.Release(1)
	send, err = get(ctx, v)
	if name := v.PathValue("revision"); name != "" {
		err = v.noRevision(ctx, name, err)
	}
	return send, err
}

// noRevision returns the error to show for err, which is about the named revision. If that revision does not exist, the
// error has the newest one.
func (v *visit) noRevision(ctx context.Context, name string, err error) error {
	var one, newest client.Revision
	if !refusedWith(err, http.StatusNotFound) ||
		!refusedWith(v.api.get(ctx, &one, nil, "revisions", name), http.StatusNotFound) {
		return err
	}
	found := v.api.get(ctx, &newest, nil, "revisions", "latest")
	_, number := strconv.ParseInt(name, 10, 64)
	switch {
	case refusedWith(found, http.StatusNotFound) || found == nil && newest.ID == 0:
		return &refusal{status: http.StatusNotFound, message: "There is no revision yet", absence: absence{true, 0}}
	case found != nil || number != nil:
		return err
	}
	message := "There is no revision " + name
	return &refusal{status: http.StatusNotFound, message: message, absence: absence{true, newest.ID}}
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
			if err := v.api.get(ctx, &v.caller, nil, "whoami"); err != nil {
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
		return // nobody reads the answer
	}
	failed := failure{Status: http.StatusInternalServerError, Message: "The server's log has the cause."}
	if refused, ok := errors.AsType[*refusal](err); ok {
		failed.Status, failed.Message, failed.absence = refused.status, refused.Error(), refused.absence
		if after := refused.header.Get("Retry-After"); after != "" {
			v.w.Header().Set("Retry-After", after)
		}
	} else {
		v.complain(v.Request, err)
	}
	failed.Title = titleOf(failed.Status)
	if failed.Absent {
		failed.Title = failed.Message
	}
	v.show(view{template: "error", title: failed.Title, status: failed.Status, data: failed})
}

// complain logs why a page cannot be generated.
func (s *server) complain(r *http.Request, err error) {
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

func (v *visit) nowhere() (view, error) {
	return view{}, &refusal{status: http.StatusNotFound, message: "No page exists at " + v.URL.Path + "."}
}

// forged answers a request made by a page of another site.
func (s *server) forged(w http.ResponseWriter, r *http.Request) {
	v := &visit{server: s, Request: r, paper: newPaper(), w: w}
	v.fail(&refusal{
		status:  http.StatusForbidden,
		message: "The request came from another site's page, and was not carried out. Open the page here and try again.",
	})
}

// frame is the common content of all pages.
type frame struct {
	Title, Section string
	User           string // "" if nobody is signed in
	SignedIn       bool   // by a token or a certificate
	Audit          bool   // the user may read the audit
	Live           bool   // the page updates when the site changes, and the user may read events
	Data           any
}

func (v *visit) frame(of view) frame {
	return frame{
		Title: of.title, Section: of.section, User: nameOf(v.caller),
		SignedIn: v.session.Token != "" || v.certified(v.Request), Audit: v.may("deckhand:show_audit"), Data: of.data,
		Live: v.may("purser:list_events") && slices.Contains([]string{"overview", "revisions", "revision"}, of.template),
	}
}

// nameOf returns the name of a user.
func nameOf(caller client.Caller) string { return cmp.Or(caller.User.Name, caller.User.ID) }

// show writes a page.
func (v *visit) show(of view) {
	if err := v.pages[of.template].ExecuteTemplate(&v.written, "layout", v.frame(of)); err != nil {
		v.complain(v.Request, err)
		http.Error(v.w, "Something went wrong; the server's log says what.", http.StatusInternalServerError)
		return
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if of.status != 0 {
		v.w.WriteHeader(of.status)
	}
	_, _ = v.written.WriteTo(v.w) // the browser may have disconnected
}
