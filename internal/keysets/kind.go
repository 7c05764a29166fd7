package keysets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/files"
)

// Kind is a kind of keyset files, whose content is a C and whose keys are used as a K.
type Kind[C any, K Keys] struct {
	New       func(kms tink.AEAD) (C, error) // makes the content of a new file
	Template  func() *tinkpb.KeyTemplate     // of the keys that a rotation adds
	Rotated   func(*C) Rotated
	Complete  func(C) bool // whether the file has all keysets that it must have
	NoKeyset  error        // the reason why a file that lacks some cannot be read
	Keys      func(C, tink.AEAD) (K, error)
	Created   func(log *slog.Logger, path string) // logs that a file was created
	Unchanged func(before, after K) error         // refuses changes of the file while it is in use; nil refuses none
}

// Rotated are the parts of a content that a rotation changes.
type Rotated struct {
	Keyset *json.RawMessage
	Next   **Succession
}

// Keys are the keys of a file.
type Keys interface {
	// Described returns the key that is used at a time, the number of keys, and the key that follows, nil if none does.
	Described(now time.Time) (primary uint32, keys int, next *Succession)
}

// Options are the options of Open.
type Options struct {
	Create bool             // make the file if there is none; for a server with a private database
	KMS    tink.AEAD        // decrypts the keysets (secrets/vault); nil: they are in cleartext
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // for changes of the file, good and bad; nil: none
}

// Filled returns the options with the defaults of those that are nil.
func (o Options) Filled() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

const (
	// MaxFileSize bounds a file, in bytes; thousands of keys need much less.
	MaxFileSize = 1 << 20
	// RetryAfter is the time after which a file that could not be used is tried again: a KMS that does not answer delays
	// a request by some seconds.
	RetryAfter = 10 * time.Second
)

// Open reads a file, now and when it has changed. The error explains the problem and the remedy.
func (k Kind[C, K]) Open(ctx context.Context, path string, options Options) (*files.Watched[K], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	options = options.Filled()
	file, err := k.watch(path, options)
	if options.Create && errors.Is(err, os.ErrNotExist) {
		if err := k.make(path, options); err != nil {
			return nil, err
		}
		file, err = k.watch(path, options)
	}
	if err != nil {
		return nil, fmt.Errorf("keyset file %w", err)
	}
	return file, nil
}

// make creates the file, unless another server has done so meanwhile.
func (k Kind[C, K]) make(path string, options Options) error {
	err := k.Create(path, options.KMS)
	if err == nil {
		k.Created(options.Log, path)
	}
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

func (k Kind[C, K]) watch(path string, options Options) (*files.Watched[K], error) {
	var before K
	read := false
	return files.Watch(files.Source[K]{
		Paths: []string{path}, MaxBytes: MaxFileSize, Private: []string{path}, Now: options.Now, Retry: RetryAfter,
		Parse: func(texts [][]byte) (loaded K, err error) {
			content, err := k.Parse(texts[0])
			if err == nil {
				loaded, err = k.Keys(content, options.KMS)
			}
			if err == nil && read && k.Unchanged != nil {
				err = k.Unchanged(before, loaded)
			}
			if err != nil {
				return loaded, fmt.Errorf("%s: %w", path, err)
			}
			before, read = loaded, true
			return loaded, nil
		},
		Report: func(loaded K, err error) { report(options, path, loaded, err) },
	})
}

// report logs that a file has changed, or that it cannot be used.
func report(options Options, path string, loaded Keys, err error) {
	if err != nil {
		options.Log.Error("the changed keyset file cannot be used: the old keys stay in use until it can",
			slog.String("path", path), slog.String("error", err.Error()))
		return
	}
	now := options.Now()
	primary, keys, next := loaded.Described(now)
	read := []any{
		slog.String("path", path), slog.Uint64("primary_key", uint64(primary)), slog.Int("keys", keys),
	}
	if next != nil && now.Before(next.From) {
		read = append(read, slog.Uint64("next_key", uint64(next.Key)), slog.Time("from", next.From))
	}
	options.Log.Info("keyset file read again", read...)
}

// Create makes a file, mode 0600, and its directory, mode 0700, if that is missing. kms encrypts the keys; nil leaves
// them in cleartext. It never overwrites a file: the error is os.ErrExist if the name is taken.
func (k Kind[C, K]) Create(path string, kms tink.AEAD) error {
	content, err := k.New(kms)
	if err != nil {
		return err
	}
	text, err := Text(content)
	if err != nil {
		return err
	}
	if err := files.Create(path, text); err != nil {
		return fmt.Errorf("make the keyset file: %w", err)
	}
	return nil
}

// Parse parses the text of a file, without the keysets in it.
func (k Kind[C, K]) Parse(text []byte) (content C, err error) {
	if len(text) == 0 {
		return content, errEmpty
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&content) != nil || decoder.More() || !k.Complete(content) {
		var none C
		return none, k.NoKeyset
	}
	return content, nil
}

// Text returns the text of a file.
func Text(content any) ([]byte, error) {
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write a keyset file: %w", err)
	}
	return append(text, '\n'), nil
}
