package secrets

import (
	"fmt"
	"time"

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

// Rotate adds a key to a keyset file. Servers with the file open texts with the key at once, and seal with it after a
// time, so that the file can be copied to other hosts first. If the time is 0, they seal with it at once; then the key
// that an earlier rotation added is taken, if it is not in use yet. The older keys stay, to open the texts that they
// sealed, and so does the key of the digests. Running servers notice within a second.
//
// It returns the id of the key, and the time from which it is used, which is zero if it is used already. Concurrent
// rotations run one after the other. The new key is on disk before any server can seal with it. An error leaves all
// keys in the file.
func Rotate(path string, kms tink.AEAD, now time.Time, after time.Duration) (key uint32, from time.Time, err error) {
	path, unlock, err := files.Lock(path)
	if err != nil {
		return 0, from, fmt.Errorf("rotate the keyset file: %w", err)
	}
	defer unlock()
	text, err := files.ReadPrivate(path, maxFileSize)
	if err != nil {
		return 0, from, fmt.Errorf("rotate the keyset file %w", err)
	}
	r := rotation{path: path, kms: kms}
	if r.envelope, err = parseEnvelope(text); err == nil {
		key, from, err = r.run(now, after)
	}
	if err != nil {
		return 0, from, fmt.Errorf("rotate the keyset file %s: %w", path, err)
	}
	return key, from, nil
}

// rotation is the rotation of one file, which is locked.
type rotation struct {
	path string
	envelope
	kms tink.AEAD
}

// run writes the file twice if the key is to be used at once. If it were the primary one in the first, a server could
// seal with it before the directory is on disk; a power cut would then bring the old file back, and the sealed text
// could not be opened.
func (r *rotation) run(now time.Time, after time.Duration) (key uint32, from time.Time, err error) {
	if _, err := r.keys(r.kms); err != nil {
		return 0, from, err
	}
	handle, err := unpack(r.AEAD, r.kms)
	if err != nil {
		return 0, from, err
	}
	manager, next := keyset.NewManagerFromHandle(handle), r.Next
	isWaiting := next != nil && now.Before(next.From)
	if r.Next = nil; isWaiting && after == 0 {
		return next.Key, from, r.use(manager, next.Key)
	}
	if next != nil && !isWaiting {
		if err := manager.SetPrimary(next.Key); err != nil {
			return 0, from, fmt.Errorf("keep the key in use: %w", err)
		}
	}
	if key, err = manager.Add(aead.XChaCha20Poly1305KeyTemplate()); err != nil {
		return 0, from, fmt.Errorf("add a key: %w", err)
	}
	if after > 0 {
		from = now.Add(after).UTC().Truncate(time.Second)
		r.Next = &succession{key, from}
	}
	if err = r.write(manager); err == nil && after == 0 {
		err = r.use(manager, key)
	}
	return key, from, err
}

// use makes a key the primary one.
func (r *rotation) use(manager *keyset.Manager, key uint32) error {
	if err := manager.SetPrimary(key); err != nil {
		return fmt.Errorf("make the new key the primary one: %w", err)
	}
	return r.write(manager)
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
