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

// keysetFlags say which keys seal what encrypted documents say.
type keysetFlags struct {
	SecretsKeyset string `help:"File with the keys that seal what encrypted documents say; only its owner may read it. With a private Postgres it is made under the state directory." type:"path" placeholder:"FILE"` //nolint:lll // a tag
	SecretsKMS    string `help:"Key of a KMS that the keyset file is encrypted by, such as hcvault://HOST/transit/keys/NAME." name:"secrets-kms" placeholder:"URI"`                                                   //nolint:lll // a tag
}

// kms is the key that the keyset is encrypted by, nil if it is not.
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

// open opens the keyset; nil if there is none. own is where to make one, "" if that is not to be done.
func (f keysetFlags) open(ctx context.Context, own string, log *slog.Logger) (revisions.Vault, error) {
	path := f.SecretsKeyset
	if path == "" {
		path = own
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

// ownKeyset is where the keyset lies beside a private Postgres.
func (f databaseFlags) ownKeyset() string {
	if f.DatabaseURL != "" {
		return ""
	}
	return filepath.Join(f.StateDir, "secrets.json")
}

// resealEvery is how soon a rotation of keys is noticed.
const resealEvery = 10 * time.Second

// keepResealed seals secrets with the newest key in the background, until it is stopped.
func keepResealed(ctx context.Context, service *revisions.Service, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { service.KeepResealed(ctx, resealEvery, log) })
	return func() {
		cancel()
		done.Wait()
	}
}

// secretsCommand looks after the keyset.
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
