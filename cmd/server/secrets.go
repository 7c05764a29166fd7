package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/revisions"
	"purser/internal/secrets"
	"purser/internal/secrets/vault"
)

// keysetFlags name the keys that seal encrypted documents.
type keysetFlags struct {
	SecretsKeyset string `help:"File with the keys that seal what encrypted documents say; only its owner may read it. With a private Postgres it is made under the state directory." type:"path" placeholder:"FILE"` //nolint:lll // a tag
	SecretsKMS    string `help:"Key of a KMS that the keyset file is encrypted by, such as hcvault://HOST/transit/keys/NAME." name:"secrets-kms" placeholder:"URI"`                                                   //nolint:lll // a tag
}

// kms returns the key that the keyset is encrypted with, nil if it is not encrypted.
func (f keysetFlags) kms() (tink.AEAD, error) {
	if f.SecretsKMS == "" {
		return nil, nil //nolint:nilnil // none is asked for
	}
	key, err := vault.Key(f.SecretsKMS)
	if err != nil {
		return nil, fmt.Errorf("--secrets-kms: %w", err)
	}
	return key, nil
}

// open opens the keyset that the flags name, or else the usual one, which it makes if there is none. It returns nil if
// neither is named.
func (f keysetFlags) open(ctx context.Context, usual string, log *slog.Logger) (revisions.Vault, error) {
	path := f.SecretsKeyset
	if path == "" {
		path = usual
	}
	if path == "" {
		return nil, nil //nolint:nilnil // none is asked for
	}
	kms, err := f.kms()
	if err != nil {
		return nil, err
	}
	keyring, err := secrets.Open(ctx, path, secrets.Options{
		Create: f.SecretsKeyset == "", KMS: kms, Now: time.Now, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("open the keyset of secrets: %w", err)
	}
	return keyring, nil
}

// defaultKeyset returns the path of the keyset of a server with a private Postgres, "" for others.
func (f databaseFlags) defaultKeyset() string {
	if f.DatabaseURL != "" {
		return ""
	}
	return filepath.Join(f.StateDir, "secrets.json")
}

// resealEvery is the interval of looking for a new primary key.
const resealEvery = 10 * time.Second

// keepResealed reseals secrets with the primary key in the background, until stop is called.
func keepResealed(ctx context.Context, service *revisions.Service, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { service.KeepResealed(ctx, resealEvery, log) })
	return func() {
		cancel()
		done.Wait()
	}
}

// secretsCommand makes and rotates keysets.
type secretsCommand struct {
	New    newKeysetCommand    `cmd:"" help:"Make a keyset file."`
	Rotate rotateKeysetCommand `cmd:"" help:"Add a key, with which everything is sealed from then on. Servers that run notice, and seal again what they have; the old keys stay in the file."` //nolint:lll // a tag
}

type keysetFile struct {
	SecretsKeyset string `help:"The keyset file." type:"path" required:"" placeholder:"FILE"`
	SecretsKMS    string `help:"Key of a KMS that the file is encrypted by." name:"secrets-kms" placeholder:"URI"`
}

func (f keysetFile) kms() (tink.AEAD, error) { return keysetFlags(f).kms() }

type newKeysetCommand struct {
	keysetFile `embed:""`
}

// Run is called by kong.
func (c *newKeysetCommand) Run(stderr io.Writer) error {
	kms, err := c.kms()
	if err != nil {
		return err
	}
	if err := secrets.Create(c.SecretsKeyset, kms); err != nil {
		return fmt.Errorf("make a keyset: %w", err)
	}
	_, err = fmt.Fprintf(stderr, "made %s; keep a copy of it: without it no secret can be opened\n", c.SecretsKeyset)
	return err //nolint:wrapcheck // of standard error
}

type rotateKeysetCommand struct {
	keysetFile `embed:""`
}

// Run is called by kong.
func (c *rotateKeysetCommand) Run(stderr io.Writer) error {
	kms, err := c.kms()
	if err != nil {
		return err
	}
	primary, err := secrets.Rotate(c.SecretsKeyset, kms)
	if err != nil {
		return fmt.Errorf("rotate the keyset: %w", err)
	}
	_, err = fmt.Fprintf(stderr, "key %d seals from now on; keep a copy of the file as it is now\n", primary)
	return err //nolint:wrapcheck // of standard error
}
