package secrets

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"
)

const (
	healthyPause = time.Second      // between two looks at the file
	illPause     = 10 * time.Second // after it could not be used: a KMS that does not answer costs a request some seconds
)

// current returns the keys to work with, after a look at the file if that is due. Who looks may wait for the KMS;
// everybody else goes on meanwhile.
func (k *Keyring) current(ctx context.Context) *keys {
	if k.watch.TryLock() {
		defer k.watch.Unlock()
		if now := k.now(); !now.Before(k.next) {
			k.look(ctx, now)
		}
	}
	return k.keys.Load()
}

// latest looks at the file even if that is not due yet, unless it was ill just now.
func (k *Keyring) latest(ctx context.Context) *keys {
	k.watch.Lock()
	defer k.watch.Unlock()
	if now := k.now(); !k.ill || !now.Before(k.next) {
		k.look(ctx, now)
	}
	return k.keys.Load()
}

// look reads the file again if it is not as it was. If it cannot be used, the keys stay. k.watch is held.
func (k *Keyring) look(ctx context.Context, now time.Time) {
	err := k.reread(ctx)
	k.ill, k.next = err != nil, now.Add(healthyPause)
	if err != nil {
		k.next = now.Add(illPause)
		k.log.LogAttrs(ctx, slog.LevelError, "the changed keyset file cannot be used: the old keys stay in use until it can",
			slog.String("path", k.path), slog.String("error", err.Error()))
	}
}

var errOtherDigest = errors.New(
	`its "digest" is another one than before, by which every content would look changed; only "aead" can be rotated`)

func (k *Keyring) reread(ctx context.Context) error {
	info, err := os.Stat(k.path)
	if err != nil {
		return fmt.Errorf("look at the keyset file: %w", err)
	}
	if sameState(info, k.seen) {
		return nil
	}
	loaded, info, err := load(k.path, k.kms)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(loaded.digestKey, k.keys.Load().digestKey) == 0 {
		return errOtherDigest
	}
	k.keys.Store(loaded)
	k.seen = info
	k.log.LogAttrs(ctx, slog.LevelInfo, "keyset file read again", slog.String("path", k.path),
		slog.Uint64("primary_key", uint64(loaded.primary)), slog.Int("keys", len(loaded.enabled)))
	return nil
}

func sameState(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime())
}
