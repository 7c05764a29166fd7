package secrets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
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
	return createFile(path, text)
}

// Rotate adds a key to a keyset file and makes it the one that seals from now on; it returns its id. All older keys
// stay, to open what they sealed, and so does the key of the digests. Running servers notice within a second. Those
// that have a copy of the file on another machine must get the new one before they meet a text that was sealed with the
// new key.
//
// Rotations at the same time happen one after the other. Nothing changes if there is an error.
func Rotate(path string, kms tink.AEAD) (primary uint32, err error) {
	path, err = filepath.EvalSymlinks(path) // or the new file would replace a link to it
	if err != nil {
		return 0, fmt.Errorf("find the keyset file: %w", err)
	}
	unlock, err := lock(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	e, info, err := readEnvelope(path)
	if err != nil {
		return 0, err
	}
	if e.AEAD, err = withNewPrimary(e, kms); err != nil {
		return 0, fmt.Errorf("rotate the keyset file %s: %w", path, err)
	}
	return replaceEnvelope(path, e, kms, info)
}

func withNewPrimary(e envelope, kms tink.AEAD) ([]byte, error) {
	if _, err := e.keys(kms); err != nil {
		return nil, err
	}
	handle, err := unpack(e.AEAD, kms)
	if err != nil {
		return nil, err
	}
	manager := keyset.NewManagerFromHandle(handle)
	id, err := manager.Add(aead.XChaCha20Poly1305KeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("add a key: %w", err)
	}
	if err := manager.SetPrimary(id); err != nil {
		return nil, fmt.Errorf("make the new key the primary one: %w", err)
	}
	if handle, err = manager.Handle(); err != nil {
		return nil, fmt.Errorf("add a key: %w", err)
	}
	return pack(handle, kms)
}

// replaceEnvelope writes an envelope if it can be read again.
func replaceEnvelope(path string, e envelope, kms tink.AEAD, was os.FileInfo) (primary uint32, err error) {
	k, err := e.keys(kms)
	if err != nil {
		return 0, fmt.Errorf("read the rotated keyset again: %w", err)
	}
	text, err := e.text()
	if err != nil {
		return 0, err
	}
	return k.primary, replaceFile(path, text, was)
}

func readEnvelope(path string) (envelope, os.FileInfo, error) {
	text, info, err := readFile(path)
	if err != nil {
		return envelope{}, nil, err
	}
	e, err := parseEnvelope(text)
	if err != nil {
		return envelope{}, nil, fmt.Errorf("read the keyset file %s: %w", path, err)
	}
	return e, info, nil
}
