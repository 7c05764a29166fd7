package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"purser"
	"purser/api"
	"purser/internal/authn"
	"purser/internal/cache"
	"purser/internal/changes"
	"purser/internal/fault"
	"purser/internal/feed"
	"purser/internal/metrics"
	"purser/internal/picture"
	"purser/internal/propertygroups"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/sites"
	"purser/internal/store"
	"purser/internal/validations"
	"purser/web"
)

// serveCommand serves the API until it is stopped.
type serveCommand struct {
	Listen    string `help:"Address to listen on." default:"127.0.0.1:9000"`
	PublicURL string `help:"URL at which clients reach the server, for the links in answers. Without it, links have the host of the request. With --auth=none, requests by other names than its host and localhost are refused." placeholder:"https://…"` //nolint:lll // a tag

	Compat string `help:"Behave like Deckhand of 2020 where Purser differs (the rows with a letter in docs/api.md): deckhand." enum:"deckhand," default:"" placeholder:"deckhand"` //nolint:lll // a tag

	DefaultValidations []string `help:"The server's own validations that count in revisions without a ValidationPolicy." default:"deckhand-schema-validation,deckhand-policy-validation,deckhand-rendering-validation" placeholder:"NAME"` //nolint:lll // a tag

	ClientVersion map[string]string `help:"Version of a client plugin, for property groups, unless a purser/ClientVersions document names it; may be repeated." placeholder:"PLUGIN=VERSION" mapsep:"none"` //nolint:lll // a tag

	AssertFormats bool `help:"Check formats in DataSchemas of all drafts but 4; otherwise they are annotations."` //nolint:lll // a tag

	MetricsListen string `help:"Address to serve /metrics on, without authentication, instead of --listen." placeholder:"ADDRESS"` //nolint:lll // a tag

	MetricsSites map[string]string `help:"Show metrics of the default site and of the sites with this label, up to 100 by name, with the label site; may be repeated: sites have all." placeholder:"LABEL=VALUE" mapsep:"none"` //nolint:lll // a tag

	databaseFlags `embed:""`
	pagesFlags    `embed:""`
	authFlags     `embed:""`
	tlsFlags      `embed:""`
	outgoingFlags `embed:""`
	keysetFlags   `embed:""`
	signingFlags  `embed:""`
	limitFlags    `embed:""`
	webhookFlags  `embed:""`
	logFlags      `embed:""`
}

// Validate checks flags that kong cannot check one by one.
func (c *serveCommand) Validate() error {
	return errors.Join(c.checkPublicURL(), c.validateDefaults(), c.validateMetrics(), c.authFlags.validate(),
		c.tlsFlags.validate(), c.validatePages(), c.limitFlags.validate(), c.webhookFlags.validate())
}

func (c *serveCommand) validateDefaults() error {
	for _, name := range c.DefaultValidations {
		if !slices.Contains(validations.DefaultValidations(), name) {
			return fmt.Errorf("--default-validations: %q is not one of the server's own validations: %s", name,
				strings.Join(validations.DefaultValidations(), ", "))
		}
	}
	return nil
}

// defaults returns the validations that count without a policy; none with --compat=deckhand.
func (c *serveCommand) defaults() revisions.Defaults {
	if c.Compat == "deckhand" {
		return nil
	}
	return append(revisions.Defaults{}, c.DefaultValidations...)
}

// maxLayouts bounds the graphs that are laid out at a time. Each may keep a core busy for some seconds.
const maxLayouts = 2

// Run serves the API until ctx ends.
func (c *serveCommand) Run(ctx context.Context, stdout output, stderr io.Writer) error {
	c.limitFlags = c.withDefaults(availableMemory(os.DirFS("/")))
	c.boundMemory()
	log := c.logger(stderr)
	adopt(log)
	for _, name := range removedFlags {
		if variable := "PURSER_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")); os.Getenv(variable) != "" {
			log.WarnContext(ctx, "a variable has no effect any more: what it set follows from --memory", "name", variable)
		}
	}
	listening, err := c.listen(ctx, log)
	if err != nil {
		return err
	}
	defer listening.close()
	outgoing, err := c.transport()
	if err != nil {
		return err
	}
	admission, err := c.openAccess(c.Compat == "deckhand", log, outgoing)
	if err != nil {
		return err
	}
	admission.MetricsElsewhere = c.MetricsListen != ""
	if listening.tls != nil {
		admission.Authorities = func() *authn.Authorities { return listening.tls().authorities }
	}
	pages, err := c.openPages(log, outgoing)
	if err != nil {
		return err
	}
	traced, err := startTraces(ctx, version, log)
	if err != nil {
		return err
	}
	defer traced.stop() //nolint:contextcheck // ctx has ended by then
	url, stop, err := c.databaseFlags.open(ctx, log)
	if err != nil {
		return err
	}
	defer stop()
	registry := prometheus.NewRegistry()
	metrics.Process(registry, version)
	seen := observers{log, registry, metrics.Requests(registry), traced, io.Discard}
	if c.greets(stdout.Writer) {
		seen.greeted = stdout
	}
	return c.serveFrom(ctx, url, listening, admission, pages, seen)
}

// observers receive logs, metrics and traces.
type observers struct {
	log      *slog.Logger
	registry *prometheus.Registry
	observe  api.Observe
	traces   *traces
	greeted  io.Writer // receives the greeting
}

// serveFrom serves from the database at url. With a database of the operator it serves immediately, so that clients can
// query its state while it waits for the database or migrates it. A private database is ready.
func (c *serveCommand) serveFrom(ctx context.Context, url string, l listeners, admission api.Access, pages web.Config,
	seen observers,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log, front := seen.log, new(switchHandler)
	group, ctx := errgroup.WithContext(ctx)
	begin := func() {
		group.Go(func() error {
			return c.serve(ctx, l, seen.traces.handler(front), api.Metrics(seen.registry), log)
		})
	}
	note := reasonLogger(ctx, log)
	report := func(reason *fault.Fault) {
		note(reason)
		front.refuse(reason, log, seen.observe)
	}
	if c.DatabaseURL != "" {
		log.InfoContext(ctx, "listening", "url", l.url())
		report(starting("The server is connecting to its database"))
		begin()
	}
	handler, closeStore, err := c.handler(ctx, url, report, admission, pages, seen)
	if err != nil {
		cancel()
		if failed := group.Wait(); failed != nil { // otherwise err only says that ctx has ended
			return failed
		}
		return err
	}
	defer closeStore()
	front.set(handler)
	if c.DatabaseURL == "" {
		begin()
	}
	log.InfoContext(ctx, "serving", "url", l.url(), "version", version)
	fmt.Fprint(seen.greeted, c.greeting(l.url()))
	if err := notify(os.Getenv("NOTIFY_SOCKET"), "READY=1"); err != nil {
		log.WarnContext(ctx, "systemd is not told that the server is ready", "error", err.Error())
	}
	return group.Wait()
}

// services returns what changes and answers questions about the default site.
func (c *serveCommand) services(kept *store.Store, keyset changes.Vault, registry *prometheus.Registry) (
	service *changes.Service, questions *queries.Service,
) {
	engine := validations.NewEngine(validations.Options{
		Extensions: []validations.Extension{propertygroups.Extension{}}, AssertFormats: c.AssertFormats,
	})
	rendered := cache.New[changes.RenderKey, changes.Rendering](c.cacheSize())
	service = changes.NewService(changes.Config{
		Site: sites.Default, Store: kept, Engine: engine, Limits: c.document(), SiteDocuments: c.SiteDocuments,
		ClientVersions: c.ClientVersion, Vault: keyset,
		Rendered: rendered, Documents: changes.NewDocumentCache(2 * c.cacheSize()), DefaultValidations: c.defaults(),
		Compat: c.Compat == "deckhand", Now: time.Now, Observe: metrics.Phases(registry),
	})
	questions = queries.NewService(queries.Config{
		Store: kept, Renderer: service.Renderer(), Rendered: rendered, DefaultValidations: c.defaults(),
	})
	return service, questions
}

// handler migrates the database and returns the handler of the API, and a function that closes its resources.
func (c *serveCommand) handler(ctx context.Context, url string, report func(*fault.Fault),
	admission api.Access, pages web.Config, seen observers,
) (handler http.Handler, closeAll func(), err error) {
	if err := c.migrate(ctx, url, report); err != nil {
		return nil, nil, err
	}
	db, err := store.Open(ctx, url, store.Options{
		CacheSize: c.cacheSize(), Deadlines: store.DefaultDeadlines(), Compat: c.Compat == "deckhand",
		Traces: seen.traces.tracerProvider(),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("open the store: %w", err)
	}
	defer func() {
		if err != nil {
			db.Close()
		}
	}()
	keyset, signer, keepKeys, err := c.openKeys(ctx, seen.log)
	if err != nil {
		return nil, nil, err
	}
	kept := db.Site(sites.Default)
	service, questions := c.services(kept, keyset, seen.registry)
	events := feed.New(feed.Config{
		Store: db, Defaults: c.defaults(), Keep: time.Duration(c.EventsKeep), MaxWaits: c.MaxWaits, Log: seen.log,
		Always: len(c.WebhookAllow) > 0,
	})
	roots, err := c.roots()
	if err != nil {
		return nil, nil, err
	}
	hooks, err := c.webhookFlags.open(kept, keyset, roots)
	if err != nil {
		return nil, nil, err
	}
	problem, checking := issuerOf(admission.Authenticator)
	pool := c.pool()
	metrics.Waits(seen.registry, events.Waiting)
	metrics.Connections(seen.registry, poolOf(db))
	metrics.Size(seen.registry, db.Size)
	attempted := metrics.Deliveries(seen.registry)
	var directory *sites.Service
	if c.Compat != "deckhand" {
		directory = sites.NewService(db, sites.NewDirectory(db, time.Now))
	}
	first := api.Services{
		Service: service, Queries: questions, Feed: events.Of(sites.Default), Webhooks: hooks, Claims: kept, Audit: kept,
	}
	others := opened(db, first)
	c.measureSites(seen.registry, pool, db, func(site string) *api.Services {
		if site == sites.Default {
			return &first
		}
		return others(site)
	})
	answers := api.New(api.Config{ //nolint:contextcheck // it converts openapi.yaml once, for all requests
		Services: first, Others: others, Sites: directory, Everywhere: db, Pool: pool,
		Layout: picture.NewLayout(maxLayouts), Ping: db.Ping, Signer: signer,
		Problem: problem, Limits: c.document(),
		CacheSize: c.cacheSize(), Compat: c.Compat == "deckhand", Log: seen.log, Observe: seen.observe,
		Refused:   metrics.Refusals(seen.registry),
		PublicURL: strings.TrimRight(c.PublicURL, "/"),
		Registry:  seen.registry, OpenAPI: purser.OpenAPI, Now: time.Now,
		Stopping: ctx.Done(), Pages: c.UI, Access: admission, Bounds: c.bounds(admission.Anonymous),
	})
	pages.Observe, pages.Version = seen.observe, version
	pages.Stopping = ctx.Done()
	if handler, err = c.withPages(answers, pages); err != nil {
		return nil, nil, err
	}
	stop := inBackground(ctx, events.Run, checking, keepKeys,
		func(ctx context.Context) {
			service.KeepResealed(ctx, resealEvery, seen.log, resealOthers(db, keyset, hooks, others))
		},
		func(ctx context.Context) { db.RunDeletions(ctx, seen.log) },
		func(ctx context.Context) { c.deliver(ctx, db, hooks, attempted, seen.log) })
	return handler, func() {
		stop()
		db.Close()
	}, nil
}
