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
	"sync"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/changes"
	"purser/internal/secrets"
	"purser/internal/secrets/vault"
)

// keysetFlags name the encryption keys of documents.
type keysetFlags struct {
	SecretsKeyset string `help:"File with the keys of encrypted documents; readable by its owner only. With a private Postgres it is created in the state directory." type:"path" placeholder:"FILE"` //nolint:lll // a tag
	SecretsKMS    string `help:"KMS key that encrypts the keyset file, such as hcvault://HOST/transit/keys/NAME." name:"secrets-kms" placeholder:"URI"`                                               //nolint:lll // a tag

	SecretsKMSTokenFile string `help:"File with the token for Vault, read again for each use, instead of VAULT_TOKEN; readable by its owner only." name:"secrets-kms-token-file" type:"path" placeholder:"FILE"` //nolint:lll // a tag
}

// kms returns the key that encrypts the keyset file, nil if the file is not encrypted.
func (f keysetFlags) kms() (tink.AEAD, error) {
	if f.SecretsKMS == "" {
		return nil, nil
	}
	key, err := vault.Open(f.SecretsKMS, f.SecretsKMSTokenFile)
	if err != nil {
		return nil, fmt.Errorf("--secrets-kms: %w", err)
	}
	return key, nil
}

// open opens the keyset that the flags name. Without one, it opens the default keyset, and creates it if necessary. It
// returns nil if defaultPath is also empty. keep does what the keyset needs until its context ends.
func (f keysetFlags) open(ctx context.Context, defaultPath string, log *slog.Logger) (
	keyset changes.Vault, keep func(context.Context), err error,
) {
	keep = func(context.Context) {}
	path := cmp.Or(f.SecretsKeyset, defaultPath)
	if path == "" {
		return nil, keep, nil
	}
	kms, err := f.kms()
	if err != nil {
		return nil, keep, err
	}
	if key, ok := kms.(*vault.Key); ok {
		keep = func(ctx context.Context) { key.KeepToken(ctx, log, time.After) }
	}
	keyring, err := secrets.Open(ctx, path, secrets.Options{
		Create: f.SecretsKeyset == "", KMS: kms, Now: time.Now, Log: log,
	})
	if err != nil {
		return nil, keep, fmt.Errorf("--secrets-keyset: %w", err)
	}
	return keyring, keep, nil
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
	Rotate rotateKeysetCommand `cmd:"" help:"Add a key, which encrypts documents after --secrets-activate-after. Running servers notice and then encrypt all documents again; the old keys stay in the file."` //nolint:lll // a tag
}

type keysetFile struct {
	SecretsKeyset string `help:"The keyset file." type:"path" required:"" placeholder:"FILE"`
	kmsFlags      `embed:""`
}

// kmsFlags name the key that encrypts a file of keys.
type kmsFlags struct {
	SecretsKMS string `help:"KMS key that encrypts the file." name:"secrets-kms" placeholder:"URI"`

	SecretsKMSTokenFile string `help:"File with the token for Vault, instead of VAULT_TOKEN." name:"secrets-kms-token-file" type:"path" placeholder:"FILE"` //nolint:lll // a tag
}

func (f kmsFlags) kms() (tink.AEAD, error) {
	return keysetFlags{SecretsKMS: f.SecretsKMS, SecretsKMSTokenFile: f.SecretsKMSTokenFile}.kms()
}

// rotate adds a key to a file of keys, to be used after a time, or at once. It is secrets.Rotate or attest.Rotate.
type rotate func(path string, kms tink.AEAD, now time.Time, after time.Duration) (uint32, time.Time, error)

// rotated rotates a file that a flag names, and returns the id of the key, and the time from which it is used: zero if
// it is used already.
func (f kmsFlags) rotated(flag, path string, after time.Duration, atOnce bool, by rotate) (uint32, time.Time, error) {
	kms, err := f.kms()
	if err != nil {
		return 0, time.Time{}, err
	}
	if atOnce {
		after = 0
	}
	key, from, err := by(path, kms, time.Now(), after)
	if err != nil {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return key, from, err
}

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
		return fmt.Errorf("--secrets-keyset: %w", err)
	}
	fmt.Fprintf(stderr, "created %s; back it up: secrets cannot be decrypted without it\n", c.SecretsKeyset)
	return nil
}

type rotateKeysetCommand struct {
	keysetFile           `embed:""`
	SecretsActivateAfter time.Duration `help:"How long servers only decrypt with the new key, to copy the file to other hosts. The file has the time from which they also encrypt with it." default:"10m"` //nolint:lll // a tag
	Activate             bool          `help:"Encrypt with the key at once. If an added key is not in use yet, it is used, and no other is added."`                                                        //nolint:lll // a tag
}

// Validate refuses a negative time.
func (c *rotateKeysetCommand) Validate() error {
	if c.SecretsActivateAfter < 0 {
		return errors.New("--secrets-activate-after must not be negative")
	}
	return nil
}

// Run adds a key to the keyset file.
func (c *rotateKeysetCommand) Run(stderr io.Writer) error {
	key, from, err := c.rotated("--secrets-keyset", c.SecretsKeyset, c.SecretsActivateAfter, c.Activate, secrets.Rotate)
	if err != nil {
		return err
	}
	if from.IsZero() {
		fmt.Fprintf(stderr, "documents are encrypted with key %d from now on; copy the file to the other hosts of "+
			"the site at once, and back it up again\n", key)
		return nil
	}
	fmt.Fprintf(stderr, "added key %d; documents are encrypted with it from %s on: until then, copy the file to "+
		"the other hosts of the site; back it up again\n", key, from.Format(time.RFC3339))
	return nil
}
