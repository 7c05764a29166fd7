package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"purser/internal/files"
)

// maxToken bounds a token, and the text of a file with one, in bytes. Tokens of Keystone and OpenID Connect have a few
// thousand.
const maxToken = 64 << 10

// credential is a token and, if purser login got it from an issuer, what the issuer renews it for. Its file has the
// token alone, or all of this as JSON.
type credential struct {
	Token    string    `json:"token"`
	Kind     string    `json:"kind"` // id_token or access_token
	Expires  time.Time `json:"expires,omitzero"`
	Refresh  string    `json:"refresh_token,omitempty"`
	Issuer   string    `json:"issuer"`
	ClientID string    `json:"client_id"`

	file string // "" if it is not as JSON in one
}

// credentialOf returns the credential in a file.
func credentialOf(path string) (credential, error) {
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return credential{}, fmt.Errorf("read the token: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxToken+1))
	if err != nil {
		return credential{}, fmt.Errorf("read the token: %w", err)
	}
	var held, stored credential
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && json.Unmarshal(text, &stored) == nil {
		held, text = stored, []byte(stored.Token)
		held.file = path
	}
	if held.Token, err = tokenIn(text); err != nil {
		return credential{}, fmt.Errorf("%s: %w", path, err)
	}
	return held, nil
}

// text returns the text of the file of a credential.
func (c credential) text() ([]byte, error) {
	if c.Issuer == "" {
		return []byte(c.Token + "\n"), nil
	}
	text, err := json.MarshalIndent(c, "", "  ") //nolint:gosec // the file is for secrets
	if err == nil && len(text) > maxToken {
		err = fmt.Errorf("the tokens of %s are too large", c.Issuer)
	}
	if err != nil {
		return nil, fmt.Errorf("store the token: %w", err)
	}
	return append(text, '\n'), nil
}

// expired reports whether a credential has expired, or is about to, and can be renewed.
func (c credential) expired() bool {
	const margin = 10 * time.Second // a request takes time
	return c.Refresh != "" && time.Until(c.Expires) < margin
}

// renewals is locked while a credential is renewed, so that the end of the process waits for it.
var renewals sync.Mutex //nolint:gochecknoglobals // main ends the process, whatever runs in it

// renewed returns a credential, which its issuer has renewed and which is in the file again if it had expired. It tries
// again, after a notice, while the issuer is unavailable or cannot be reached.
func (c credential) renewed(ctx context.Context, authorities string, notice backoff.Notify) (credential, error) {
	if !c.expired() {
		return c, nil
	}
	const maxTries = 6                                     // as many as of a request to the server
	return backoff.Retry(ctx, func() (credential, error) { //nolint:wrapcheck // it is that of renewedOnce
		renewed, err := c.renewedOnce(ctx, authorities)
		if _, again := errors.AsType[passing](err); err != nil && !again {
			return renewed, backoff.Permanent(err)
		}
		return renewed, err
	}, backoff.WithMaxTries(maxTries), backoff.WithNotify(notice))
}

// renewedOnce renews a credential. A lock keeps concurrent commands from renewing it twice: many issuers accept a
// refresh token once.
func (c credential) renewedOnce(ctx context.Context, authorities string) (credential, error) {
	target, unlock, err := lockFile(c.file)
	if err != nil {
		return c, fmt.Errorf("renew the token: %w", err)
	}
	defer unlock()
	renewals.Lock()
	defer renewals.Unlock()
	if c, err = credentialOf(c.file); err != nil || !c.expired() {
		return c, err
	}
	// A refresh token may be spent once the issuer has it, so that the answer is waited for whatever ends the command.
	if c, err = renewedByIssuer(context.WithoutCancel(ctx), c, authorities); err != nil {
		return c, err
	}
	text, err := c.text()
	if err == nil {
		err = files.Replace(target, text)
	}
	return c, err
}

// renewing returns a function that returns the token of a credential, renewed if it has expired.
func (c credential) renewing(authorities string, notice backoff.Notify) func(context.Context) (string, error) {
	var one sync.Mutex
	return func(ctx context.Context) (string, error) {
		one.Lock()
		defer one.Unlock()
		renewed, err := c.renewed(ctx, authorities, notice)
		if err == nil {
			c = renewed
		}
		return c.Token, err
	}
}

// tokenOfCommand returns the token that a program prints. It passes on the program's standard error.
func tokenOfCommand(ctx context.Context, command []string, stdin io.Reader, stderr io.Writer) (string, error) {
	const patience = time.Minute // it may ask for a password
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	program := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the user names it
	program.Stdin, program.Stderr = stdin, stderr
	text, err := program.Output()
	if err != nil {
		return "", fmt.Errorf("the command of the token, %s: %w", command[0], err)
	}
	token, err := tokenIn(text)
	if err != nil {
		return "", fmt.Errorf("the command of the token, %s: %w", command[0], err)
	}
	return token, nil
}

func tokenIn(text []byte) (string, error) {
	token := strings.TrimSpace(string(text))
	switch {
	case token == "":
		return "", errors.New("there is no token")
	case len(text) > maxToken || strings.ContainsAny(token, "\r\n"):
		return "", errors.New("more than one line, which is no token")
	}
	return token, nil
}
