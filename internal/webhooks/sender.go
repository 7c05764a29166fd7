package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"purser/internal/words"
)

const (
	// patience is the time limit of a request to a receiver.
	patience = 15 * time.Second
	// maxAnswer is the number of bytes read of a response, and maxKept the number stored.
	maxAnswer, maxKept = 64 << 10, 1 << 10
)

// client returns a client that connects to allowed addresses only, and follows no redirects. With a proxy, all requests
// go there, so only host names can be checked.
func client(config Config) *http.Client {
	transport := &http.Transport{
		DialContext: config.Allowed.dial, TLSClientConfig: &tls.Config{RootCAs: config.Roots, MinVersion: tls.VersionTLS12},
		DisableCompression: true, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: patience, ResponseHeaderTimeout: patience, MaxResponseHeaderBytes: maxAnswer,
		ForceAttemptHTTP2: true,
	}
	if config.Proxy != nil {
		transport.Proxy, transport.DialContext = http.ProxyURL(config.Proxy), nil
	}
	return &http.Client{
		Transport: transport, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Errors of an attempt.
var (
	// ErrGone means that the webhook no longer exists or is disabled, so the delivery is given up.
	ErrGone = errors.New("the webhook does not exist or is disabled")
	// ErrBusy means that the receiver, the owner of the webhook or its site has its share of the calls that this server
	// makes at once.
	ErrBusy     = errors.New("too many calls for this receiver, owner or site are in progress")
	errDisabled = errors.New("the receiver answers 410, which disables the webhook")
)

// Deliver attempts a delivery once. It returns ErrGone if another attempt would be useless, ErrBusy if none was made,
// and other errors if the attempt failed.
func (s *Service) Deliver(ctx context.Context, webhook int64, id string, body []byte) (outcome Outcome, err error) {
	w, err := s.Store.Webhook(ctx, webhook)
	switch {
	case isNotFound(err), err == nil && !w.Enabled:
		return Outcome{Error: ErrGone.Error()}, ErrGone
	case err != nil:
		return Outcome{}, fmt.Errorf("read the webhook: %w", err)
	}
	end := s.calls.begin(s.Site, w)
	if end == nil {
		return Outcome{}, ErrBusy
	}
	defer end()
	outcome, err = s.attempt(ctx, w, id, body)
	if err != nil {
		outcome.Error = kept(err.Error())
		err = errors.New(outcome.Error) //nolint:err113 // it is stored too, and can hold text of the receiver
	}
	if outcome.Status == http.StatusGone {
		if err := s.Store.Disable(ctx, webhook, w.URL, errDisabled.Error()); err != nil {
			return outcome, fmt.Errorf("disable the webhook: %w", err)
		}
		return outcome, ErrGone
	}
	return outcome, err
}

func (s *Service) attempt(ctx context.Context, w Webhook, id string, body []byte) (outcome Outcome, err error) {
	target, err := url.Parse(w.URL)
	if err == nil {
		err = s.Allowed.check(target)
	}
	if err == nil && s.Proxy != nil && !s.Allowed.named(target.Hostname()) {
		err = fmt.Errorf("--webhook-allow of the server does not list %s, and a proxy stands before its address",
			target.Hostname())
	}
	if err != nil {
		return outcome, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return outcome, fmt.Errorf("make the request: %w", err)
	}
	now := s.Now()
	signature, err := s.sign(ctx, w, id, now, body)
	if err != nil {
		return outcome, err
	}
	request.Header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
	request.Header.Set("User-Agent", "purser")
	request.Header[standardwebhooks.HeaderWebhookID] = []string{id}
	request.Header[standardwebhooks.HeaderWebhookTimestamp] = []string{strconv.FormatInt(now.Unix(), 10)}
	request.Header[standardwebhooks.HeaderWebhookSignature] = []string{signature}
	answer, err := s.client.Do(request)
	if err != nil {
		return outcome, fmt.Errorf("call the receiver: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // the status alone decides whether it was accepted
	outcome.Status, outcome.Answer = answer.StatusCode, kept(string(text))
	const hundred, success = 100, 2
	if answer.StatusCode/hundred != success {
		return outcome, fmt.Errorf("the receiver answers %s", answer.Status)
	}
	return outcome, nil
}

// kept returns the beginning of a text of a receiver, as it is stored.
func kept(text string) string { return words.Storable(words.FirstBytes(text, maxKept)) }

// sign returns the signatures of a body with all valid secrets.
func (s *Service) sign(ctx context.Context, w Webhook, id string, now time.Time, body []byte) (string, error) {
	sealed := [][]byte{w.Secret}
	if w.Previous != nil && now.Before(w.RotatedAt.Add(overlap)) {
		sealed = append(sealed, w.Previous)
	}
	var signatures []string
	for _, text := range sealed {
		if s.Vault == nil {
			return "", errNoKeyset()
		}
		secret, err := s.Vault.Open(ctx, s.place(), text)
		if err != nil {
			return "", fmt.Errorf("open the secret of the webhook: %w", err)
		}
		signer, err := standardwebhooks.NewWebhook(string(secret))
		if err != nil {
			return "", fmt.Errorf("read the secret of the webhook: %w", err)
		}
		signature, err := signer.Sign(id, now, body)
		if err != nil {
			return "", fmt.Errorf("sign: %w", err)
		}
		signatures = append(signatures, signature)
	}
	return strings.Join(signatures, " "), nil
}
