package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/judging"
	"purser/internal/secrets"
	"purser/internal/secrets/vault"
)

// keysetFlags name the encryption keys of documents.
type keysetFlags struct {
	SecretsKeyset string `help:"File with the keys of encrypted documents; only its owner may be able to read it. With a private Postgres it is created in the state directory." type:"path" placeholder:"FILE"` //nolint:lll // a tag
	SecretsKMS    string `help:"KMS key that encrypts the keyset file, such as hcvault://HOST/transit/keys/NAME." name:"secrets-kms" placeholder:"URI"`                                                          //nolint:lll // a tag
}

// kms returns the key that encrypts the keyset file, nil if the file is not encrypted.
func (f keysetFlags) kms() (tink.AEAD, error) {
	if f.SecretsKMS == "" {
		return nil, nil //nolint:nilnil // not configured
	}
	key, err := vault.Key(f.SecretsKMS)
	if err != nil {
		return nil, fmt.Errorf("--secrets-kms: %w", err)
	}
	return key, nil
}

// open opens the keyset that the flags name. Without one, it opens the default keyset, and creates it if necessary. It
// returns nil if defaultPath is also empty.
func (f keysetFlags) open(ctx context.Context, defaultPath string, log *slog.Logger) (judging.Vault, error) {
	path := f.SecretsKeyset
	if path == "" {
		path = defaultPath
	}
	if path == "" {
		return nil, nil //nolint:nilnil // no keyset is configured
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

// defaultKeyset returns the path of the keyset for a private Postgres, "" with a database of the operator.
func (f databaseFlags) defaultKeyset() string {
	if f.DatabaseURL != "" {
		return ""
	}
	return filepath.Join(f.StateDir, "secrets.json")
}

// resealEvery is how often the server checks for a new primary key.
const resealEvery = 10 * time.Second

// inBackground runs functions in goroutines. stop ends their context and waits for them.
func inBackground(ctx context.Context, work ...func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	for _, do := range work {
		done.Go(func() { do(ctx) })
	}
	return func() {
		cancel()
		done.Wait()
	}
}

// secretsCommand creates and rotates keysets.
type secretsCommand struct {
	New    newKeysetCommand    `cmd:"" help:"Create a keyset file."`
	Rotate rotateKeysetCommand `cmd:"" help:"Add a key and use it from now on. Running servers notice and encrypt all documents again; the old keys stay in the file."` //nolint:lll // a tag
}

type keysetFile struct {
	SecretsKeyset string `help:"The keyset file." type:"path" required:"" placeholder:"FILE"`
	SecretsKMS    string `help:"KMS key that encrypts the file." name:"secrets-kms" placeholder:"URI"`
}

func (f keysetFile) kms() (tink.AEAD, error) { return keysetFlags(f).kms() }

type newKeysetCommand struct {
	keysetFile `embed:""`
}

// Run creates the keyset file. It does not overwrite one.
func (c *newKeysetCommand) Run(stderr io.Writer) error {
	kms, err := c.kms()
	if err != nil {
		return err
	}
	err = secrets.Create(c.SecretsKeyset, kms)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists and may hold keys that are in use: `purser-server secrets rotate` adds a "+
			"key to it; for another keyset, choose another file", c.SecretsKeyset)
	}
	if err != nil {
		return fmt.Errorf("create a keyset: %w", err)
	}
	_, err = fmt.Fprintf(stderr, "created %s; back it up: secrets cannot be decrypted without it\n", c.SecretsKeyset)
	return err //nolint:wrapcheck // of standard error
}

type rotateKeysetCommand struct {
	keysetFile `embed:""`
}

// Run adds a key to the keyset file and makes it the primary one.
func (c *rotateKeysetCommand) Run(stderr io.Writer) error {
	kms, err := c.kms()
	if err != nil {
		return err
	}
	primary, err := secrets.Rotate(c.SecretsKeyset, kms)
	if err != nil {
		return fmt.Errorf("rotate the keyset: %w", err)
	}
	_, err = fmt.Fprintf(stderr, "documents are encrypted with key %d from now on; back up the file again\n", primary)
	return err //nolint:wrapcheck // of standard error
}
