package webhooks

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/secrets"
	"purser/internal/words"
)

// Config holds the dependencies of a Service. All fields but Proxy, Roots and Vault must be set.
type Config struct {
	Site    string
	Store   Store
	Vault   Vault // seals the secrets; nil refuses webhooks
	Allowed Allowed
	Proxy   *url.URL       // nil for none
	Roots   *x509.CertPool // trusted authorities of receivers; nil for the system's
	Now     func() time.Time
}

// Vault seals secrets with the newest key of a keyset.
type Vault interface {
	secrets.Sealer

	// Prefix returns the bytes with which all texts sealed with the newest key begin.
	Prefix(ctx context.Context) []byte
	// Reseal seals a text again that was sealed with an older key.
	Reseal(ctx context.Context, place secrets.Place, sealed []byte) ([]byte, error)
}

// Service manages webhooks and calls their receivers. It is safe for concurrent use.
type Service struct {
	Config

	client *http.Client
	calls  *calls
}

// NewService returns a service.
func NewService(config Config) *Service {
	return &Service{config, client(config), newCalls()}
}

// Of returns the service of a site, which calls receivers together with those of all others.
func (s *Service) Of(site string, kept Store) *Service {
	of := *s
	of.Site, of.Store = site, kept
	return &of
}

// Spec describes a webhook that a caller wants to add or change.
type Spec struct {
	URL     string
	Types   []events.Type
	Enabled bool
	Secret  string // if empty, Add creates one and Set keeps the present one
}

// maxWebhooks bounds the webhooks of a site, because each event is delivered to all of them. Users share them as they
// share a budget.Shares.
const maxWebhooks = 100

// Add adds a webhook and returns it with its secret, which is never shown again. Faults: Invalid, Forbidden if no hosts
// are allowed, Conflict if there is no keyset or there are too many webhooks.
func (s *Service) Add(ctx context.Context, spec Spec) (w Webhook, secret string, err error) {
	if secret = spec.Secret; secret == "" {
		secret = newSecret()
	}
	if err := s.check(spec.URL, secret); err != nil {
		return w, "", err
	}
	w = Webhook{
		URL: spec.URL, Types: spec.Types, Enabled: spec.Enabled, CreatedAt: s.Now().UTC(), Owner: budget.OwnerOf(ctx).User,
	}
	if w.Secret, err = s.Vault.Seal(ctx, s.place(), []byte(secret)); err != nil {
		return w, "", fmt.Errorf("seal the secret: %w", err)
	}
	if w.ID, err = s.Store.AddWebhook(ctx, w, maxWebhooks); err != nil {
		return w, "", fmt.Errorf("store the webhook: %w", err)
	}
	if w.ID == 0 {
		return w, "", fault.New(fault.Conflict, "TooManyWebhooks", "There may be %d webhooks, and one user can add "+
			"another only while at least as many are free as that user would then have; delete one first", maxWebhooks)
	}
	return w, secret, nil
}

// Set changes a webhook. A replaced secret remains valid for a day, or until the next one is replaced. Faults: those of
// Add, NotFound.
func (s *Service) Set(ctx context.Context, id int64, spec Spec) (Webhook, error) {
	const maxTries = 5
	for range maxTries {
		was, err := s.Store.Webhook(ctx, id)
		if err != nil {
			return was, err
		}
		if err := s.check(spec.URL, spec.Secret); err != nil {
			return was, err
		}
		w, err := s.changed(ctx, was, spec)
		if err != nil {
			return w, err
		}
		if done, err := s.Store.SetWebhook(ctx, w, was.Secret); err != nil || done {
			return w, err
		}
	}
	return Webhook{}, fault.New(fault.Conflict, "WebhookChanged", "Others are changing the secret of the webhook; "+
		"nothing was changed")
}

// changed returns a webhook with the changes that a caller wants. The present secret, if it is sent again, is not
// replaced: a repeated request must not end the validity of the one before.
func (s *Service) changed(ctx context.Context, w Webhook, spec Spec) (_ Webhook, err error) {
	w.URL, w.Types, w.Enabled, w.Reason = spec.URL, spec.Types, spec.Enabled, ""
	w.Owner = budget.OwnerOf(ctx).User
	if spec.Secret == "" {
		return w, nil
	}
	present, err := s.Vault.Open(ctx, s.place(), w.Secret)
	if _, lost := errors.AsType[*secrets.Unopened](err); err != nil && !lost {
		return w, fmt.Errorf("open the secret: %w", err)
	}
	if err == nil && subtle.ConstantTimeCompare(present, []byte(spec.Secret)) == 1 {
		return w, nil
	}
	w.Previous, w.RotatedAt = w.Secret, s.Now().UTC()
	if w.Secret, err = s.Vault.Seal(ctx, s.place(), []byte(spec.Secret)); err != nil {
		return w, fmt.Errorf("seal the secret: %w", err)
	}
	return w, nil
}

// check returns an error if a webhook must not have a target or a secret. An empty secret is valid.
func (s *Service) check(target, secret string) error {
	if s.Allowed.IsZero() {
		return fault.New(fault.Forbidden, "WebhooksNotAllowed", "This server calls no webhooks: --webhook-allow, which "+
			"lists the hosts that may be called, is not set. GET /events has the same events")
	}
	if s.Vault == nil {
		return errNoKeyset()
	}
	u, err := url.Parse(target)
	if err == nil {
		err = s.Allowed.check(u)
	} else {
		err = errors.Unwrap(err) // without a copy of the URL
	}
	if err != nil {
		return fault.New(fault.Invalid, "HTTPBadRequest", "The url of the webhook cannot be called: %w", err)
	}
	const least, most = 24, 64 // in bytes, from Standard Webhooks
	encoded, isSecret := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if secret != "" && (!isSecret || err != nil || len(key) < least || len(key) > most) {
		return fault.New(fault.Invalid, "HTTPBadRequest", "The secret of a webhook must be %s and the base64 of %d to %d "+
			"bytes; without one, the server makes one", secretPrefix, least, most)
	}
	return nil
}

const secretPrefix = "whsec_"

func newSecret() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // it never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key[:])
}

func errNoKeyset() error {
	return fault.New(fault.Conflict, "NoKeyset", "The secrets of webhooks are stored sealed, and this server has no "+
		"keyset: --secrets-keyset names one")
}

// Unknown returns the NotFound fault for a webhook, by its id as a caller wrote it.
func Unknown(id string) error {
	return fault.New(fault.NotFound, "WebhookNotFound", "There is no webhook %s; GET /webhooks lists all",
		words.Excerpt(id))
}

// UnknownDelivery returns the NotFound fault for a delivery, by its id as a caller wrote it.
func UnknownDelivery(webhook int64, id string) error {
	return fault.New(fault.NotFound, "DeliveryNotFound",
		"The webhook %d has no delivery %s; GET /webhooks/%[1]d/deliveries lists those that are kept", webhook,
		words.Excerpt(id))
}

func isNotFound(err error) bool { return fault.KindOf(err) == fault.NotFound }

// Ping enqueues a purser.webhook.ping event. Faults: NotFound, Conflict if the webhook is disabled.
func (s *Service) Ping(ctx context.Context, id int64) (Delivery, error) {
	w, err := s.Store.Webhook(ctx, id)
	if err != nil {
		return Delivery{}, err
	}
	if !w.Enabled {
		return Delivery{}, fault.New(fault.Conflict, "WebhookDisabled", "The webhook is disabled; enable it first")
	}
	data := document.AppendJSON(nil, document.Mapping{{Key: "webhook", Value: strconv.FormatInt(id, 10)}})
	return s.Store.Enqueue(ctx, id, events.Event{
		Type: events.WebhookPing, At: s.Now(), Subject: fmt.Sprintf("webhooks/%d", id), Data: data,
	})
}

// Deliveries returns a page of a webhook's deliveries, and whether there are more. Fault: NotFound.
func (s *Service) Deliveries(ctx context.Context, id int64, page queries.Page) ([]Delivery, bool, error) {
	if _, err := s.Store.Webhook(ctx, id); err != nil {
		return nil, false, err
	}
	return s.Store.Deliveries(ctx, id, page)
}
