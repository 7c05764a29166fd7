package changes

import (
	"sync/atomic"
	"time"

	"purser/internal/document"
	"purser/internal/judging"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Config holds the dependencies and limits of a Service. All fields must be set but Documents, Vault, ClientVersions.
type Config struct {
	Store  revisions.Store
	Engine *validations.Engine
	Limits document.Limits
	// Rendered keeps rendered revisions.
	Rendered *judging.RenderCache
	// Documents has the documents of rendered revisions; nil keeps none.
	Documents *judging.DocumentCache
	// Vault keeps secrets; nil refuses them.
	Vault judging.Vault
	// ClientVersions are those of plugins that no document of a revision names.
	ClientVersions validations.ClientVersions
	// DefaultValidations count where no policy is in force.
	DefaultValidations revisions.Defaults
	// Compat selects the reference's behaviour where spec/api.md §0 says so.
	Compat bool
	Now    func() time.Time
	// Observe receives the duration of each phase of a change: split, decode, plan, check, pack, store; and turn,
	// which is how long it kept others from being stored.
	Observe func(phase string, took time.Duration)
}

// Service changes the revisions of one site. It is safe for concurrent use.
type Service struct {
	Config

	writes chan struct{} // holds a token while no change of this process is being appended

	// whole says that judging the last change needed all documents: the next change reads them at once.
	whole atomic.Bool
}

// NewService returns a service over a store.
func NewService(config Config) *Service {
	s := &Service{Config: config, writes: make(chan struct{}, 1)}
	s.writes <- struct{}{}
	return s
}

// observe reports a phase that began at a time and ends now.
func (s *Service) observe(phase string, began time.Time) { s.Observe(phase, s.Now().Sub(began)) }

// beside does work in a goroutine of its own; wait waits until it has ended. A panic only ends the work.
func beside(work func()) (wait func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { _ = recover() }()
		work()
	}()
	return func() { <-ended }
}

// newJudge returns what judges a change.
func (s *Service) newJudge(options revisions.Options) judging.Judge {
	return judging.Judge{Renderer: s.renderer(options.DryRun && !options.Viewer.Encrypted), Defaults: s.DefaultValidations}
}

func (s *Service) renderer(withhold bool) judging.Renderer {
	return judging.Renderer{
		Engine: s.Engine, Vault: s.Vault, Defaults: s.ClientVersions, Documents: s.Documents, Compat: s.Compat,
		Withhold: withhold,
	}
}
