package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"purser/internal/changes"
	"purser/internal/sites"
	"purser/internal/store"
	"purser/internal/webhooks"
)

// webhookFlags configure the hosts that the server may call.
type webhookFlags struct {
	WebhookAllow []string `help:"Hosts that webhooks may call: host names, *.domains and CIDRs; none by default. A name may not resolve to a loopback or link-local address unless a CIDR lists it." placeholder:"HOST"` //nolint:lll // a tag
	WebhookProxy string   `help:"HTTP proxy for calls to webhooks; proxy settings of the environment are ignored." placeholder:"http://…"`                                                                               //nolint:lll // a tag
}

func (f webhookFlags) validate() error {
	_, err := f.config()
	return err
}

// proxy returns the URL of the proxy, nil if there is none.
func (f webhookFlags) proxy() (*url.URL, error) {
	if f.WebhookProxy == "" {
		return nil, nil
	}
	u, err := url.Parse(f.WebhookProxy)
	if err == nil && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		err = fmt.Errorf("%q is not an http or https URL", f.WebhookProxy)
	}
	return u, err
}

// config returns the part of the configuration of webhooks that the flags set.
func (f webhookFlags) config() (config webhooks.Config, err error) {
	if config.Allowed, err = webhooks.ParseAllowed(f.WebhookAllow); err != nil {
		return config, fmt.Errorf("--webhook-allow: %w", err)
	}
	if config.Proxy, err = f.proxy(); err != nil {
		return config, fmt.Errorf("--webhook-proxy: %w", err)
	}
	return config, nil
}

// open returns the webhook service.
func (f webhookFlags) open(kept webhooks.Store, keyset changes.Vault, roots *x509.CertPool) (
	*webhooks.Service, error,
) {
	config, err := f.config()
	config.Site, config.Store, config.Vault, config.Roots, config.Now = sites.Default, kept, keyset, roots, time.Now
	return webhooks.NewService(config), err
}

// deliver delivers events to webhooks until ctx ends. It does nothing if no hosts are allowed.
func (f webhookFlags) deliver(ctx context.Context, queued *store.Database, hooks *webhooks.Service, count func(string),
	log *slog.Logger,
) {
	const pause = time.Second
	attempt := func(ctx context.Context, site string, webhook int64, name string, body []byte) (webhooks.Outcome, error) {
		return hooks.Of(site, queued.Site(site)).Deliver(ctx, webhook, name, body)
	}
	counted := func(state webhooks.State) { count(string(state)) }
	for len(f.WebhookAllow) > 0 && ctx.Err() == nil {
		if err := queued.Deliver(ctx, attempt, counted, log); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "cannot call webhooks", "error", err.Error())
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}
}
