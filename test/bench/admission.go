package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// admission measures row 16: the cost of authentication, authorization and rate limits for the cheapest request. Two
// servers use the same database; only one of them checks callers.
func (b *bench) admission(ctx context.Context) (err error) {
	b.sayf("row 16: tokens and policy")
	lax, err := b.start(ctx, "admission")
	if err != nil {
		return err
	}
	defer func() { err = lax.stop(err) }()
	c := &chronicle{server: lax, site: newSite(small(), b.docs)}
	if err := c.next(ctx); err != nil {
		return err
	}
	token, flags, err := b.strictly(ctx)
	if err != nil {
		return err
	}
	strict, err := b.startOn(ctx, "admission-strict", lax.database, flags...)
	if err != nil {
		return err
	}
	defer func() { err = strict.stop(err) }()
	status := message(http.MethodGet, api+"/revisions/latest/status", nil)
	withToken := bytes.Replace(status, []byte("\r\n"), []byte("\r\nX-Auth-Token: "+token+"\r\n"), 1)
	open, closeOpen, err := asking(ctx, lax, status)
	if err != nil {
		return err
	}
	defer closeOpen()
	guarded, closeGuarded, err := asking(ctx, strict, withToken)
	if err != nil {
		return err
	}
	defer closeGuarded()
	return b.compare(compared{
		row: 16, what: "GET the status with a token and a policy file to the same without", against: open, measured: guarded,
		limit: 1.05, repeats: often,
	})
}

// asking returns work that sends a request so often that interruptions by the scheduler do not matter.
func asking(ctx context.Context, s *server, request []byte) (work func() error, closeAll func(), err error) {
	const requests = 20
	clients, closeAll, err := s.wires(ctx, 1)
	return func() error {
		for range requests {
			if err := clients[0].send(request); err != nil {
				return err
			}
		}
		return nil
	}, closeAll, err
}

// strictly creates a token, and returns it with the flags of a server that requires it. Requests are counted, but the
// rate limit is never reached.
func (b *bench) strictly(ctx context.Context) (token string, flags []string, err error) {
	tokens, policy := filepath.Join(b.dir, "tokens.yaml"), filepath.Join(b.dir, "policy.yaml")
	rules := []byte("reader: role:reader or role:viewer\n'deckhand:show_revision': rule:reader or rule:admin_api\n")
	if err := os.WriteFile(policy, rules, 0o600); err != nil {
		return "", nil, fmt.Errorf("write a policy: %w", err)
	}
	out, err := exec.CommandContext(ctx, b.binary, "token", "new", "--tokens-file", tokens, "--user", "bench",
		"--role", "member", "--role", "reader").Output()
	if err != nil {
		return "", nil, fmt.Errorf("make a token: %w", err)
	}
	return strings.TrimSpace(string(out)), []string{
		"--auth", "tokens", "--tokens-file", tokens, "--policy-file", policy, "--request-rate", "1000000",
	}, nil
}
