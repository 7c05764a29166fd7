# Commands for developers. `make` alone lists them.

SERVER = bin/purser-server
# Outside a clone (a tarball, an image build) git has no tag: make build VERSION=1.2.3
VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
# The same for all that is compiled, tests included, so that it is compiled once; only the race detector needs C.
export CGO_ENABLED = 0
export GOFLAGS := $(shell go env GOFLAGS 2>/dev/null) -trimpath -buildvcs=false
# Pinned in a module of its own; the first run compiles it (about two minutes), later ones take it from Go's cache.
LINT = go tool -modfile=tools/lint/go.mod golangci-lint

# One Postgres for all packages that are tested at the same time.
WITH_POSTGRES = go run ./internal/store/storetest/withpostgres

# Goroutines begin with the smallest stack, not the average one, which most goroutines of waiting requests never
# need: this saves 3 of 22 KiB (GODEBUG=adaptivestackstart=1 undoes it). tools/dist and test/bench do the same.
LDFLAGS = -X main.version=$(VERSION) -X runtime.godebugDefault=adaptivestackstart=0
GOBUILD = go build -ldflags "$(LDFLAGS)"

TESTFLAGS  =
BENCHFLAGS =
FUZZTIME   = 10s
LAWCHECKS  = 1000

.PHONY: help run test test-packages test-sequential test-measuring test-server test-site bench lint lint-openapi lint-alerts lint-chart clients fmt faults fuzz server build install dist schema need-go need-run need-test

help: ## list these targets (the default)
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

# Not `go run`, because it would not pass on signals to the server.
# As root it keeps its state in /var/lib: Postgres runs as another user, who has no access to a clone below /root.
run: need-run server ## build the server and start it, with what it keeps in .state/ (as root: /var/lib/purser)
	@exec $(SERVER) $(if $(filter 0,$(shell id -u)),,--state-dir .state)

test: need-test ## all tests, with the race detector where it can find something (TESTFLAGS="-run Put")
	@$(WITH_POSTGRES) $(MAKE) --no-print-directory --keep-going test-packages test-sequential test-measuring test-server

# Lint vets all code, with more analyzers.
GOTEST = go test -vet=off -timeout 15m

# The race detector would find nothing in these packages, and take up to thirty times as long: they start no goroutines.
# The pages do, but the server of the end-to-end tests, which has the race detector, serves them too.
SEQUENTIAL = /(cmd/(mpl-check|purser/internal/.*)|internal/(check|cycles|diff|document|events|murano|picture|propertygroups|puppet|regex|rendering|revisions|schemadocs|secrets/vault|validations/jsonschema|webhooks|wire|words)(/.*)?|test/cases|tools(/.*)?|web)$$

# These tests measure work and the sizes of answers, try thousands of command lines, or run those of their package again
# with partitioned tables. The race detector only makes them slow: other tests do the same.
MEASURING = '^Test((Cost|Answers)_|Store_partitioned$$|Run_(empty|hostile)$$|CommentOf_bound$$)'

test-packages:
	CGO_ENABLED=1 $(GOTEST) -race -skip $(MEASURING) $(TESTFLAGS) $$(go list ./... | grep -vE '/test/(e2e|faults)$$|$(SEQUENTIAL)')

test-sequential:
	$(GOTEST) $(TESTFLAGS) $$(go list ./... | grep -E '$(SEQUENTIAL)')

test-measuring:
	$(GOTEST) -run $(MEASURING) $(TESTFLAGS) ./api ./cmd/purser ./internal/changes ./internal/store ./internal/validations

# These tests only send requests and check answers. The server that they build and run has the race detector.
# Many of them wait, so more run at a time than there may be processors.
test-server:
	$(GOTEST) -parallel 3 $(TESTFLAGS) ./test/e2e
	PURSER_TEST_SITE=x $(GOTEST) -parallel 3 -run $(BELOW) $(TESTFLAGS) ./test/e2e -rapid.checks 5

# Those that also run below /sites/x in make test: the routes, rights, secrets, events and links.
BELOW = '^Test(Laws|Laws_secrets|Access_everyRuleOfEveryRoute|Access_nobody|Audit.*|Buckets.*|Events|Events_secrets|Secrets|Selection_publicPages|Wait.*|Purser|Concurrent.*)$$'

test-site: need-test ## the tests of the built server below /sites/x, beside a site with the same names (TESTFLAGS)
	PURSER_TEST_SITE=x $(WITH_POSTGRES) $(GOTEST) -parallel 3 $(TESTFLAGS) ./test/e2e

# In .ci/run each fault occurs once (FAULTTIMES=1), which takes two minutes. The tests mostly wait, so some run
# at the same time. FAULTFLAGS='-sites 1' has one site instead of twenty.
FAULTTIMES = 20
FAULTFLAGS =

faults: need-test ## kill, freeze, cut off, fill up and rewind servers and databases (FAULTTIMES=1)
	go test -count=1 -timeout 6h -parallel 4 -v ./test/faults $(FAULTFLAGS) -times $(FAULTTIMES)

bench: need-test ## measure speed as ratios, in a table (BENCHFLAGS=-smoke: only that it works)
	go run ./test/bench $(BENCHFLAGS)

lint: need-go ## golangci-lint on all code, tests included
	$(LINT) run ./...

# Not part of lint, which only needs Go. npm installs the versions in package-lock.json, with their digests.
REDOCLY = REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true tools/openapi/node_modules/.bin/redocly
OPENAPI_TOOLS = tools/openapi/node_modules/.package-lock.json
$(OPENAPI_TOOLS): tools/openapi/package-lock.json
	npm ci --prefix tools/openapi --no-audit --no-fund --loglevel=error

lint-openapi: $(OPENAPI_TOOLS) ## redocly on openapi.yaml; needs npm
	$(REDOCLY) lint --config tools/openapi/redocly.yaml openapi.yaml

# .ci/run tries them on a server. The generators in Go have a module of their own, as the linter has.
GENERATE = go tool -modfile=tools/clients/go.mod
clients: need-go $(OPENAPI_TOOLS) ## clients generated from openapi.yaml: bin/clients (TypeScript), tools/clients/gen (Go); needs npm
	mkdir -p bin/clients tools/clients/gen/oapi
	tools/openapi/node_modules/.bin/openapi-typescript openapi.yaml -o bin/clients/purser.d.ts
	$(GENERATE) oapi-codegen -config tools/clients/oapi-codegen.yaml openapi.yaml
	$(GENERATE) ogen --loglevel error --config tools/clients/ogen.yaml --target tools/clients/gen/ogen --package ogen --clean openapi.yaml

lint-alerts: ## promtool on the alert rules, each of which fires once
	promtool check rules docs/monitoring/alerts.yaml
	promtool test rules docs/monitoring/alerts_test.yaml

# Helm and kubeconform as libraries, in a module of its own. -record writes the manifests.
CHARTFLAGS =
lint-chart: need-go ## the Helm chart, its values and the plain manifests (CHARTFLAGS=-record: write these)
	go test -C tools/chart -vet=off . $(CHARTFLAGS)

fmt: need-go ## format all code as lint wants it
	$(LINT) fmt ./...

# The laws of which make test only draws a few cases.
LAWS = '([Ll]aws?|_pure|_steps|_model)$$|Laws_' ./api ./test/e2e ./internal/changes ./internal/secrets ./internal/store \
	./internal/diff ./internal/document ./internal/murano ./internal/picture ./internal/propertygroups ./internal/puppet \
	./internal/rendering ./internal/schemadocs ./internal/validations ./internal/validations/jsonschema

# One `go test` for each target, because -fuzz accepts one target of one package.
fuzz: need-test ## each fuzz target for a short time (FUZZTIME=1m), then the laws more often (LAWCHECKS=1000)
	@set -e; for file in $$(grep -rlE '^func Fuzz' --include='*_test.go' .); do \
		for name in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' "$$file"); do \
			echo "$$file: $$name"; \
			go test -run='^$$' -fuzz="^$$name\$$" -fuzztime=$(FUZZTIME) "$$(dirname "$$file")"; \
		done; \
	done
	go test -count=1 -timeout 1h -run $(LAWS) -rapid.checks=$(LAWCHECKS)

schema: need-test ## write migrations/schema, after a file was added to migrations
	go test -count=1 -run TestSchema_ofVersions ./internal/store/migration -record

# Both steps may take minutes, and Go says nothing while it compiles.
server: need-go
	@echo 'Downloading the libraries that are missing.'
	@go list -deps ./cmd/server >/dev/null
	@echo 'Compiling the server: some minutes the first time, seconds later.'
	$(GOBUILD) -o $(SERVER) ./cmd/server

# Static, without paths of this machine or the state of the clone, so that CI, the image and a laptop build the same bytes.
build: server ## bin/purser-server, bin/purser and bin/mpl-check
	$(GOBUILD) -o bin/purser ./cmd/purser
	$(GOBUILD) -o bin/mpl-check ./cmd/mpl-check

# make install PREFIX=~/.local, or DESTDIR=/tmp/root for packagers.
PREFIX = /usr/local
SHARED = $(DESTDIR)$(PREFIX)/share
install: build ## all programs, manual pages and completions below PREFIX (/usr/local)
	install -d $(DESTDIR)$(PREFIX)/bin $(SHARED)/man/man1 $(SHARED)/bash-completion/completions \
		$(SHARED)/zsh/site-functions $(SHARED)/fish/vendor_completions.d
	install -m 0755 bin/purser-server bin/purser bin/mpl-check $(DESTDIR)$(PREFIX)/bin/
	bin/purser man $(SHARED)/man/man1
	bin/purser completion bash >$(SHARED)/bash-completion/completions/purser
	bin/purser completion zsh >$(SHARED)/zsh/site-functions/_purser
	bin/purser completion fish >$(SHARED)/fish/vendor_completions.d/purser.fish

# Builds of a commit are reproducible. tools/try-packages and tools/try-image install them and start the server.
DISTFLAGS =
dist: need-go ## archives for all platforms, .deb and .rpm packages, images, the chart, SHA256SUMS: in dist/ (DISTFLAGS="-platforms linux/amd64")
	go run ./tools/dist -version $(VERSION) $(DISTFLAGS)

# Missing programs are installed or reported before anything else. A server with PURSER_DATABASE_URL needs no Postgres.

need-go:
	@tools/need go

need-run:
	@tools/need go graphviz $(if $(PURSER_DATABASE_URL),,postgres)

need-test:
	@tools/need go cc postgres graphviz curl
