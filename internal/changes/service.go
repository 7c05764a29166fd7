package changes

import (
	"sync/atomic"
	"time"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/secrets"
	"purser/internal/validations"
)

// Config holds the dependencies and limits of a Service. Only Documents, Vault and ClientVersions are optional.
type Config struct {
	Site   string // whose documents the store has
	Store  revisions.Store
	Engine *validations.Engine
	Limits document.Limits
	// SiteDocuments is the number of documents above which no change adds any; 0 is no limit.
	SiteDocuments int
	// Rendered keeps rendered revisions.
	Rendered *RenderCache
	// Documents caches documents of rendered revisions; nil caches nothing.
	Documents *DocumentCache
	// Vault seals secrets; nil refuses them.
	Vault Vault
	// ClientVersions are the versions of plugins that no document of a revision names.
	ClientVersions map[string]string
	// DefaultValidations count if no policy is in force.
	DefaultValidations revisions.Defaults
	// Compat selects Deckhand's behaviour where Purser's differs (docs/api.md).
	Compat bool
	Now    func() time.Time
	// Observe receives the duration of each phase of a change: split, decode, plan, check, pack, store; and turn, the time
	// it held the write lock.
	Observe func(phase string, took time.Duration)
}

// Service changes the revisions of one site. It is safe for concurrent use.
type Service struct {
	Config

	writes chan struct{} // holds a token while no change of this process is being appended

	// whole is set if judging the last change needed all documents; the next change reads them immediately.
	whole atomic.Bool
	// failing is what fails in the last revision that this process made.
	failing atomic.Pointer[failing]
	// seen is the newest state that this process has seen. Changes that expect another one are probably refused.
	seen atomic.Pointer[revisions.Head]
}

// NewService returns a service over a store.
func NewService(config Config) *Service {
	s := &Service{Config: config, writes: make(chan struct{}, 1)}
	s.writes <- struct{}{}
	s.seen.Store(&revisions.Head{})
	return s
}

// place returns the place of a document, which its secret is bound to.
func (s *Service) place(id document.Identity) secrets.Place { return s.Renderer().place(id) }

// observe reports a phase that began at a given time and ends now.
func (s *Service) observe(phase string, began time.Time) { s.Observe(phase, s.Now().Sub(began)) }

// async runs work in its own goroutine; wait waits for it to end. A panic in work is ignored.
func async(work func()) (wait func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { _ = recover() }()
		work()
	}()
	return func() { <-ended }
}

// newValidator returns the Validator of a change.
func (s *Service) newValidator(options revisions.Options) Validator {
	v := Validator{Renderer: s.Renderer(), Defaults: s.DefaultValidations}
	v.Withhold = options.DryRun && !options.Viewer.Encrypted
	return v
}

// Renderer returns the renderer of the service, which withholds nothing.
func (s *Service) Renderer() Renderer {
	return Renderer{
		Site: s.Site, Engine: s.Engine, Vault: s.Vault, Defaults: s.ClientVersions, Documents: s.Documents, Compat: s.Compat,
	}
}
