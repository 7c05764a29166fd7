package secrets

import (
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/files"
)

// Create makes a keyset file with a key for each purpose, mode 0600, and its directory, mode 0700, if that is missing.
// kms encrypts the keys; nil leaves them in cleartext. It never overwrites a file: the error is os.ErrExist if the name
// is taken.
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

// Rotate adds a key to a keyset file, makes it the primary one and returns its id. The older keys stay, to open the
// texts that they sealed, and so does the key of the digests. Running servers notice within a second. Servers with a
// copy of the file need the new one before they read a text that was sealed with the new key.
//
// Concurrent rotations run one after the other. The new key is on disk before any server can seal with it. An error
// leaves all keys in the file.
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

// rotation is the rotation of one file, which is locked.
type rotation struct {
	path string
	envelope
	kms tink.AEAD
}

// run writes the file twice. If the new key were the primary one at once, a server could seal with it before the
// directory is on disk; a power cut would then bring the old file back, and the sealed text could not be opened.
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

// write writes the manager's keys to the file, after checking that they can be read again.
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
