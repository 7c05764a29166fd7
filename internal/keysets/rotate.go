package keysets

import (
	"fmt"
	"time"

	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/files"
)

// Rotate adds a key to a keyset file. Servers with the file know the key at once, and use it after a time, so that the
// file can be copied to other hosts first. If the time is 0, they use it at once; then the key that an earlier rotation
// added is taken, if it is not in use yet. The older keys stay. Running servers notice within a second.
//
// It returns the id of the key, and the time from which it is used, which is zero if it is used already. Concurrent
// rotations run one after the other. The new key is on disk before any server can use it. An error leaves all keys in
// the file.
func (k Kind[C, K]) Rotate(path string, kms tink.AEAD, now time.Time, after time.Duration) (
	key uint32, from time.Time, err error,
) {
	path, unlock, err := files.Lock(path)
	if err != nil {
		return 0, from, fmt.Errorf("rotate the keyset file: %w", err)
	}
	defer unlock()
	text, err := files.ReadPrivate(path, MaxFileSize)
	if err != nil {
		return 0, from, fmt.Errorf("rotate the keyset file %w", err)
	}
	r := rotation[C, K]{kind: k, path: path, kms: kms}
	if r.content, err = k.Parse(text); err == nil {
		key, from, err = r.run(now, after)
	}
	if err != nil {
		return 0, from, fmt.Errorf("rotate the keyset file %s: %w", path, err)
	}
	return key, from, nil
}

// rotation is the rotation of one file, which is locked.
type rotation[C any, K Keys] struct {
	kind    Kind[C, K]
	path    string
	content C
	kms     tink.AEAD
}

// run writes the file twice if the key is to be used at once. If it were the primary one in the first, a server could
// use it before the directory is on disk; a power cut would then bring the old file back, without the key.
func (r *rotation[C, K]) run(now time.Time, after time.Duration) (key uint32, from time.Time, err error) {
	if _, err := r.kind.Keys(r.content, r.kms); err != nil {
		return 0, from, err
	}
	rotated := r.kind.Rotated(&r.content)
	handle, err := Unpack(*rotated.Keyset, r.kms)
	if err != nil {
		return 0, from, err
	}
	manager, next := keyset.NewManagerFromHandle(handle), *rotated.Next
	isWaiting := next != nil && now.Before(next.From)
	if *rotated.Next = nil; isWaiting && after == 0 {
		return next.Key, from, r.use(manager, next.Key)
	}
	if next != nil && !isWaiting {
		if err := manager.SetPrimary(next.Key); err != nil {
			return 0, from, fmt.Errorf("keep the key in use: %w", err)
		}
	}
	if key, err = manager.Add(r.kind.Template()); err != nil {
		return 0, from, fmt.Errorf("add a key: %w", err)
	}
	if after > 0 {
		from = now.Add(after).UTC().Truncate(time.Second)
		*rotated.Next = &Succession{key, from}
	}
	if err = r.write(manager); err == nil && after == 0 {
		err = r.use(manager, key)
	}
	return key, from, err
}

// use makes a key the primary one.
func (r *rotation[C, K]) use(manager *keyset.Manager, key uint32) error {
	if err := manager.SetPrimary(key); err != nil {
		return fmt.Errorf("make the new key the primary one: %w", err)
	}
	return r.write(manager)
}

// write writes the manager's keys to the file, after checking that they can be read again.
func (r *rotation[C, K]) write(manager *keyset.Manager) error {
	handle, err := manager.Handle()
	if err != nil {
		return fmt.Errorf("collect the keys: %w", err)
	}
	if *r.kind.Rotated(&r.content).Keyset, err = pack(handle, r.kms); err != nil {
		return err
	}
	if _, err := r.kind.Keys(r.content, r.kms); err != nil {
		return fmt.Errorf("read the new keyset again: %w", err)
	}
	text, err := Text(r.content)
	if err != nil {
		return err
	}
	return files.Replace(r.path, text)
}
