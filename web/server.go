package web

import (
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"purser/internal/budget"
	"purser/web/signin"
)

// Config configures the pages. API, Key, Now, Log and Observe must be set.
type Config struct {
	API     http.Handler // the whole API; it logs no requests of its own (api.PartOf)
	Version string       // of the server
	// PublicURL is the URL at which browsers reach the server, "" if unknown.
	PublicURL string
	// OIDC is the issuer that signs users in; nil: they sign in with tokens alone. It needs a PublicURL, and must permit
	// PublicURL/ui/sign-in/oidc/back as a redirect URI.
	OIDC *signin.OIDC
	// Certificates reports that the API authenticates requests without a token by client certificate.
	Certificates bool
	Compat       bool   // the API behaves like Deckhand, whose lists have no pages
	Key          []byte // that sessions are sealed with; at least 32 random bytes
	Now          func() time.Time
	Log          *slog.Logger
	// Stopping is closed when the server stops: then pages end that are sent while they are made. It may be nil.
	Stopping <-chan struct{}
	// Observe counts a request; page is its path with the names of parameters, such as /ui/revisions/{revision}.
	Observe func(page, method string, status int, took time.Duration)
}

type server struct {
	Config

	root    string   // the path at which browsers reach the server, such as /purser; mostly ""
	base    basePath // of the pages without a site in their path
	assets  map[string]asset
	pages   map[string]*template.Template
	cookies *signin.Cookies
	issuer  *signin.Issuer // nil without OIDC
	uploads *budget.Shares // limits concurrent uploads, each of which may take 3 MiB while it arrives
	making  *budget.Shares // limits concurrent pages, because an event makes all open ones reload
	streams *budget.Shares // limits concurrent pages that are sent while they are made, which may take minutes
}

// maxMaking is the number of pages that are generated concurrently. One may take 50 MiB.
const maxMaking = 4

// maxUploads is the number of uploads that are received concurrently.
const maxUploads = 8

// New returns the handler of /ui and everything below it, also below /sites/{site}: of all that config.Has.
func New(config Config) (http.Handler, error) {
	s := &server{
		Config: config, assets: readAssets(),
		making: budget.NewShares(maxMaking), uploads: budget.NewShares(maxUploads), streams: budget.NewShares(maxStreams),
	}
	secure, protection := false, http.NewCrossOriginProtection()
	if public, err := url.Parse(config.PublicURL); err == nil && public.Host != "" {
		s.root, secure = strings.TrimRight(public.EscapedPath(), "/"), public.Scheme == "https"
		if err := protection.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
			return nil, fmt.Errorf("trust the public URL: %w", err)
		}
	}
	s.base = s.baseOf(place{})
	var err error
	if s.cookies, err = signin.NewCookies(config.Key, s.root+"/", string(s.base), secure, config.Now); err != nil {
		return nil, err
	}
	if config.OIDC != nil {
		s.issuer = signin.NewIssuer(*config.OIDC, config.PublicURL+"/ui/sign-in/oidc/back", config.Now)
	}
	s.pages = parsePages(functions(s.root, s.assets, config.Version, config.Now))
	protection.SetDenyHandler(http.HandlerFunc(s.forged))
	return s.placed(s.recorded(protected(protection.Handler(s.routes())))), nil
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, show := range map[string]handler{
		"GET /ui/{$}":                                             (*visit).front,
		"GET /ui/revisions":                                       (*visit).revisions,
		"GET /ui/revisions/{revision}":                            (*visit).revision,
		"GET /ui/revisions/{revision}/document":                   (*visit).document,
		"GET /ui/revisions/{revision}/validations/{name}":         (*visit).validation,
		"GET /ui/revisions/{revision}/findings":                   (*visit).findings,
		"GET /ui/revisions/{revision}/graph":                      (*visit).graph,
		"GET /ui/revisions/{revision}/schemas":                    (*visit).schemas,
		"GET /ui/revisions/{revision}/schemas/{space}/{kind}/{v}": (*visit).schema,
		"GET /ui/compare":                                         (*visit).compare,
		"GET /ui/search":                                          (*visit).search,
		"GET /ui/audit":                                           (*visit).audit,
		"GET /ui/upload":                                          (*visit).upload,
		"POST /ui/revisions/{revision}/tags":                      (*visit).tag,
		"POST /ui/revisions/{revision}/tags/delete":               (*visit).untag,
		"POST /ui/revisions/{revision}/validations":               (*visit).post,
		"GET /ui/revisions/{revision}/rollback":                   (*visit).rollBack,
		"POST /ui/revisions/{revision}/rollback":                  (*visit).rollBack,
		"/ui/":                                                    (*visit).notFound,
	} {
		mux.HandleFunc(pattern, s.page(show))
	}
	if !s.Compat {
		for pattern, act := range map[string]handler{
			"GET /ui/settings":     (*visit).settings,
			"POST /ui/settings":    (*visit).settings,
			"GET /ui/fleet":        (*visit).fleet,
			"POST /ui/fleet":       (*visit).tryPush,
			"POST /ui/fleet/start": (*visit).startPush,
			"GET /ui/copy":         (*visit).copyHere,
			"POST /ui/copy":        (*visit).copyHere,
			"POST /ui/revisions/{revision}/validations/{name}/result":  (*visit).vote,
			"POST /ui/revisions/{revision}/validations/{name}/request": (*visit).ask,
			"POST /ui/revisions/{revision}/validations/{name}/waivers": (*visit).waive,
			"POST /ui/revisions/{revision}/waivers/{id}/end":           (*visit).endWaiver,
		} {
			mux.HandleFunc(pattern, s.page(act))
		}
	}
	mux.HandleFunc("POST /ui/upload", s.uploading((*visit).previewUpload))
	mux.HandleFunc("POST /ui/upload/push", s.uploading((*visit).pushUpload))
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
		http.Redirect(w, r, string(s.baseOf(placeOf(r.Context()))), http.StatusPermanentRedirect)
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
