package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/api"
	"purser/internal/attest"
	"purser/internal/changes"
	"purser/internal/keysets"
	"purser/internal/secrets/vault"
)

// signingFlags name the keys that sign verdicts. The KMS is that of the encryption keys.
type signingFlags struct {
	SigningKeyset string `help:"File with the keys that sign verdicts; readable by its owner only. With a private Postgres it is created in the state directory." type:"path" placeholder:"FILE"` //nolint:lll // a tag
}

// open opens the signing keys that the flags name, which kms encrypts unless it is nil. Without them, it opens those at
// defaultPath, and creates them if necessary. It returns nil if defaultPath is also empty.
func (f signingFlags) open(ctx context.Context, kms tink.AEAD, defaultPath string, log *slog.Logger) (
	api.Signer, error,
) {
	path := cmp.Or(f.SigningKeyset, defaultPath)
	if path == "" {
		return nil, nil
	}
	keyring, err := attest.Open(ctx, path, keysets.Options{
		Create: f.SigningKeyset == "", KMS: kms, Now: time.Now, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("--signing-keyset: %w", err)
	}
	return keyring, nil
}

// openKeys opens the encryption keys and the signing keys, each nil if there are none. With --compat=deckhand nothing
// is signed. keep does what they need until its context ends.
func (c *serveCommand) openKeys(ctx context.Context, log *slog.Logger) (
	keyset changes.Vault, signer api.Signer, keep func(context.Context), err error,
) {
	keyset, keep, err = c.keysetFlags.open(ctx, c.defaultKeyset(), log)
	if err != nil || c.Compat == "deckhand" {
		return keyset, nil, keep, err
	}
	kms, err := c.kms()
	if err != nil {
		return nil, nil, nil, err
	}
	if signer, err = c.signingFlags.open(ctx, kms, c.defaultSigning(), log); err != nil {
		return nil, nil, nil, err
	}
	if key, isVault := kms.(*vault.Key); isVault && keyset == nil { // else the token is kept for the encryption keys
		keep = func(ctx context.Context) { key.KeepToken(ctx, log, time.After) }
	}
	return keyset, signer, keep, nil
}

// defaultSigning returns the path of the signing keys for a private Postgres, "" with a database of the operator.
func (f databaseFlags) defaultSigning() string {
	if f.DatabaseURL != "" {
		return ""
	}
	return filepath.Join(f.StateDir, "signing.json")
}

// keysCommand creates and rotates signing keys.
type keysCommand struct {
	New    newKeysCommand    `cmd:"" help:"Create a file with a key that signs verdicts."`
	Rotate rotateKeysCommand `cmd:"" help:"Add a key, which signs verdicts after --signing-activate-after. Servers show its public key at once; the old keys stay in the file, so what they have signed can still be verified."` //nolint:lll // a tag
	Public publicKeysCommand `cmd:"" help:"Print the public keys, for purser verify and other programs."`
}

type signingFile struct {
	SigningKeyset string `help:"The file of signing keys." type:"path" required:"" placeholder:"FILE"`
	kmsFlags      `embed:""`
}

type newKeysCommand struct {
	signingFile `embed:""`
}

// Run creates the file. It does not overwrite one.
func (c *newKeysCommand) Run(stderr io.Writer) error {
	kms, err := c.kms()
	if err != nil {
		return err
	}
	err = attest.Create(c.SigningKeyset, kms)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists and may hold keys that are in use: `purser-server keys rotate` adds a key to "+
			"it; for another keyset, choose another file", c.SigningKeyset)
	}
	if err != nil {
		return fmt.Errorf("--signing-keyset: %w", err)
	}
	fmt.Fprintf(stderr, "created %s; start the servers with --signing-keyset, and give their public keys (purser-server "+
		"keys public) to those who verify\n", c.SigningKeyset)
	return nil
}

type rotateKeysCommand struct {
	signingFile          `embed:""`
	SigningActivateAfter time.Duration `help:"How long servers only show the new public key, to copy the file to other hosts and the key to those who verify. The file has the time from which they also sign with it." default:"24h"` //nolint:lll // a tag
	Activate             bool          `help:"Sign with the key at once. If an added key is not in use yet, it is used, and no other is added."`                                                                                       //nolint:lll // a tag
}

// Validate refuses a negative time.
func (c *rotateKeysCommand) Validate() error {
	if c.SigningActivateAfter < 0 {
		return errors.New("--signing-activate-after must not be negative")
	}
	return nil
}

// Run adds a key to the file.
func (c *rotateKeysCommand) Run(stderr io.Writer) error {
	key, from, err := c.rotated("--signing-keyset", c.SigningKeyset, c.SigningActivateAfter, c.Activate, attest.Rotate)
	if err != nil {
		return err
	}
	if from.IsZero() {
		fmt.Fprintf(stderr, "verdicts are signed with key %d from now on; copy the file to the other hosts of the site, and "+
			"the public keys to those who verify, at once\n", key)
		return nil
	}
	fmt.Fprintf(stderr, "added key %d; verdicts are signed with it from %s on: until then, copy the file to the other "+
		"hosts of the site, and the public keys to those who verify\n", key, from.Format(time.RFC3339))
	return nil
}

type publicKeysCommand struct {
	signingFile `embed:""`
	Format      string `help:"pem, or jwks: as at /.well-known/purser-keys." enum:"pem,jwks" default:"pem"`
}

// Run prints the public keys.
func (c *publicKeysCommand) Run(ctx context.Context, stdout output) error {
	kms, err := c.kms()
	if err != nil {
		return err
	}
	keyring, err := attest.Open(ctx, c.SigningKeyset, keysets.Options{KMS: kms})
	if err != nil {
		return fmt.Errorf("--signing-keyset: %w", err)
	}
	text, err := attest.PEM(keyring.Public())
	if c.Format == "jwks" {
		text, err = attest.JWKS(keyring.Public())
	}
	if err != nil {
		return err
	}
	if _, err := stdout.Write(text); err != nil {
		return fmt.Errorf("write the public keys: %w", err)
	}
	return nil
}
