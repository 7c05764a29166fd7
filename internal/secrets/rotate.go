package secrets

import (
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/files"
)

// Create makes a keyset file with a key for each purpose, mode 0600, and its directory, mode 0700, if that is missing.
// kms encrypts the keys; nil leaves them in the clear. It never overwrites: the error is os.ErrExist if anything has
// the name already.
func Create(path string, kms tink.AEAD) error {
	e, err := newEnvelope(kms)
	if err != nil {
		return err
	}
	text, err := e.text()
	if err != nil {
		return err
	}
	if err := files.Create(path, text); err != nil {
		return fmt.Errorf("make the keyset file: %w", err)
	}
	return nil
}

// Rotate adds a key to a keyset file and makes it the one that seals from now on; it returns its id. All older keys
// stay, to open what they sealed, and so does the key of the digests. Running servers notice within a second. Those
// that have a copy of the file on another machine must get the new one before they meet a text that was sealed with the
// new key.
//
// Rotations at the same time happen one after the other. The new key is safely on disk before anybody can seal with it.
// After an error, every key that was there still is.
func Rotate(path string, kms tink.AEAD) (primary uint32, err error) {
	path, unlock, err := files.Lock(path)
	if err != nil {
		return 0, fmt.Errorf("rotate the keyset file: %w", err)
	}
	defer unlock()
	text, err := files.ReadPrivate(path, maxFileSize)
	if err != nil {
		return 0, fmt.Errorf("rotate the keyset file %w", err)
	}
	r := rotation{path: path, kms: kms}
	if r.envelope, err = parseEnvelope(text); err == nil {
		primary, err = r.run()
	}
	if err != nil {
		return 0, fmt.Errorf("rotate the keyset file %s: %w", path, err)
	}
	return primary, nil
}

// rotation is the work on one file, which is locked.
type rotation struct {
	path string
	envelope
	kms tink.AEAD
}

// run writes the file twice. If the new key came with being the primary one, a server could seal with it and the power
// fail before the directory is on disk: the old file would be back, the new key gone and the sealed text with it.
func (r *rotation) run() (primary uint32, err error) {
	if _, err := r.keys(r.kms); err != nil {
		return 0, err
	}
	handle, err := unpack(r.AEAD, r.kms)
	if err != nil {
		return 0, err
	}
	manager := keyset.NewManagerFromHandle(handle)
	if primary, err = manager.Add(aead.XChaCha20Poly1305KeyTemplate()); err != nil {
		return 0, fmt.Errorf("add a key: %w", err)
	}
	if err := r.write(manager); err != nil {
		return 0, err
	}
	if err := manager.SetPrimary(primary); err != nil {
		return 0, fmt.Errorf("make the new key the primary one: %w", err)
	}
	return primary, r.write(manager)
}

// write puts the manager's keys into the file, after a trial whether they can be read again.
func (r *rotation) write(manager *keyset.Manager) error {
	handle, err := manager.Handle()
	if err != nil {
		return fmt.Errorf("collect the keys: %w", err)
	}
	if r.AEAD, err = pack(handle, r.kms); err != nil {
		return err
	}
	if _, err := r.keys(r.kms); err != nil {
		return fmt.Errorf("read the new keyset again: %w", err)
	}
	text, err := r.text()
	if err != nil {
		return err
	}
	return files.Replace(r.path, text)
}
