package secrets

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/mac"
	"github.com/tink-crypto/tink-go/v2/prf"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/files"
	"purser/internal/keysets"
)

// keysetOf makes a keyset file with keys of the given kinds.
func keysetOf(t *testing.T, aeadTemplate, digestTemplate *tinkpb.KeyTemplate) string {
	t.Helper()
	sealing, err := keysets.New(aeadTemplate, nil)
	digesting, otherErr := keysets.New(digestTemplate, nil)
	text, textErr := keysets.Text(envelope{AEAD: sealing, Digest: digesting})
	if err := errors.Join(err, otherErr, textErr); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestOpen_refuses(t *testing.T) {
	t.Parallel()
	good := keysetOf(t, aead.XChaCha20Poly1305KeyTemplate(), prf.HMACSHA256PRFKeyTemplate())
	value := keyMaterial(t, good)
	for _, c := range []struct {
		name, text string
		mode       fs.FileMode
		want       string
	}{
		{"group can read", good, 0o640, "PATH: it is open to others (mode 0640): chmod 600 PATH"},
		{"others can read", good, 0o604, "PATH: it is open to others (mode 0604): chmod 600 PATH"},
		{"others can write", good, 0o602, "PATH: it is open to others (mode 0602): chmod 600 PATH"},
		{"empty", "", 0o600, "PATH: it is empty"},
		{"a space", " ", 0o600, errNoKeyset.Error()},
		{"null", "null", 0o600, errNoKeyset.Error()},
		{"too large", strings.Repeat(" ", keysets.MaxFileSize) + good, 0o600, "has more than 1048576 bytes"},
		{"no JSON", "hunter2", 0o600, errNoKeyset.Error()},
		{"cut off", good[:len(good)/2], 0o600, errNoKeyset.Error()},
		{"twice", good + good, 0o600, errNoKeyset.Error()},
		{"more members", `{"hunter2": 1,` + good[1:], 0o600, errNoKeyset.Error()},
		{"a bare keyset of Tink's", string(member(t, good, "aead")), 0o600, errNoKeyset.Error()},
		{"no digest", `{"aead": ` + string(member(t, good, "aead")) + `}`, 0o600, errNoKeyset.Error()},
		{"no keys", `{"aead": {}, "digest": {}}`, 0o600, `read its "aead": ` + keysets.ErrNoSuch.Error()},
		{"other types", `{"aead": 1, "digest": "hunter2"}`, 0o600, `read its "aead": ` + keysets.ErrNoSuch.Error()},
		{"a key cut off", strings.Replace(good, value, value[:8], 1), 0o600, `"aead": ` + keysets.ErrNoSuch.Error()},
		{"no key material", strings.Replace(good, value, "", 1), 0o600, `"aead": ` + keysets.ErrNoSuch.Error()},
		{"no such primary", strings.Replace(good, `"primaryKeyId": `, `"primaryKeyId": 1`, 1), 0o600, `"aead": ` + keysets.ErrNoSuch.Error()},
		{"keys exchanged", keysetOf(t, prf.HMACSHA256PRFKeyTemplate(), aead.AES256GCMKeyTemplate()), 0o600, `use its "aead": ` + errUnfitAEAD.Error()},
		{"a MAC for digests", keysetOf(t, aead.AES256GCMKeyTemplate(), mac.HMACSHA256Tag256KeyTemplate()), 0o600, errUnfitPRF.Error()},
		{"digests too short", keysetOf(t, aead.AES256GCMKeyTemplate(), prf.AESCMACPRFKeyTemplate()), 0o600, errUnfitPRF.Error()},
		{"sealing without key ids", keysetOf(t, aead.AES256GCMNoPrefixKeyTemplate(), prf.HMACSHA256PRFKeyTemplate()), 0o600, errUnfitKey.Error()},
		{"a next key that is not there", withNext(good, `{"key": 7, "from": "2026-11-26T18:20:00Z"}`), 0o600, keysets.ErrUnfitNext.Error()},
		{"a next key without a time", withNext(good, `{"key": `+idOf(t, good)+`}`), 0o600, keysets.ErrUnfitNext.Error()},
		{"a next key at no time", withNext(good, `{"key": `+idOf(t, good)+`, "from": "hunter2"}`), 0o600, errNoKeyset.Error()},
		{"encrypted", `{"aead": {"encryptedKeyset": "eA=="}, "digest": {"encryptedKeyset": "eA=="}}`, 0o600, keysets.ErrNeedsKMS.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(directory(t), "keyset")
			if err := errors.Join(os.WriteFile(path, []byte(c.text), 0o600), os.Chmod(path, c.mode)); err != nil {
				t.Fatal(err)
			}
			wantRefused(t, path, strings.ReplaceAll(c.want, "PATH", path), value)
			if text, err := os.ReadFile(path); err != nil || string(text) != c.text {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
	t.Run("a directory", func(t *testing.T) {
		t.Parallel()
		wantRefused(t, directory(t), "is not a regular file", value)
	})
	t.Run("a pipe", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(directory(t), "keyset")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, path, "is not a regular file", value)
	})
	t.Run("no file", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(directory(t), "keyset")
		if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("opened: %v", err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("a file was made unasked")
		}
	})
	t.Run("a link to nowhere", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(directory(t), "keyset")
		if err := os.Symlink(path+"-gone", path); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, path, "no such file", value)
	})
}

// wantRefused expects that neither Open nor Rotate takes a file, with an error that does not hold a secret.
func wantRefused(t *testing.T, path, want, value string) {
	t.Helper()
	_, openErr := Open(t.Context(), path, Options{Create: true})
	_, _, rotateErr := Rotate(path, nil, time.Time{}, 0)
	for _, err := range []error{openErr, rotateErr} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		} else if strings.Contains(err.Error(), value[:8]) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error tells a secret: %v", err)
		}
	}
}

// withNext adds a member "next" to a keyset file.
func withNext(text, next string) string { return `{"next": ` + next + "," + text[1:] }

// idOf returns the id of the only sealing key of a keyset file.
func idOf(t *testing.T, text string) string {
	t.Helper()
	return string(regexp.MustCompile(`"primaryKeyId":\s*(\d+)`).FindSubmatch(member(t, text, "aead"))[1])
}

func member(t *testing.T, text, key string) json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Fatal(err)
	}
	return members[key]
}

// keyMaterial returns the first sealing key of a keyset file, as it stands there.
func keyMaterial(t *testing.T, text string) string {
	t.Helper()
	match := regexp.MustCompile(`"value":\s*"([^"]+)"`).FindSubmatch(member(t, text, "aead"))
	return string(match[1])
}

func TestCreate(t *testing.T) {
	t.Parallel()
	t.Run("the file is its owner's alone, and so is a directory that was missing", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(directory(t), "state", "secrets")
		openKeyring(t, filepath.Join(dir, "keyset"), Options{Create: true})
		for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "keyset"): 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
		wantAlone(t, dir)
	})
	t.Run("nothing is overwritten", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(directory(t), "keyset")
		if err := errors.Join(os.WriteFile(path, []byte("mine"), 0o600), Create(path, nil)); !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
		if text, _ := os.ReadFile(path); string(text) != "mine" {
			t.Errorf("now it says %q", text)
		}
		wantAlone(t, filepath.Dir(path))
	})
	t.Run("of servers that start at once all work with the same keys", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(directory(t), "keyset")
		digests := make([][]byte, 8)
		var work sync.WaitGroup
		for i := range digests {
			work.Go(func() {
				k, err := Open(t.Context(), path, Options{Create: true})
				if err != nil {
					t.Error(err)
					return
				}
				digest := k.Digest(passphrase, nil)
				digests[i] = digest[:]
			})
		}
		work.Wait()
		for _, digest := range digests {
			if !bytes.Equal(digest, digests[0]) {
				t.Error("two servers have different keys")
			}
		}
	})
}

// wantAlone expects nothing but a keyset in a directory.
func wantAlone(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left over: %v, %v", entries, err)
	}
}

func TestRotate(t *testing.T) {
	t.Parallel()
	t.Run("the file keeps its mode and its link", func(t *testing.T) {
		t.Parallel()
		dir, link := directory(t), filepath.Join(directory(t), "keyset")
		path := filepath.Join(dir, "keyset")
		if err := errors.Join(Create(path, nil), os.Symlink(path, link), os.Chmod(path, 0o400)); err != nil {
			t.Fatal(err)
		}
		rotate(t, link)
		if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Errorf("the link is %v, %v", info.Mode(), err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o400 {
			t.Errorf("the file is %v, %v", info.Mode(), err)
		}
		wantAlone(t, dir)
	})
	t.Run("the file keeps its owner", func(t *testing.T) {
		t.Parallel()
		if os.Getuid() != 0 {
			t.Skip("only root can give files away")
		}
		path := filepath.Join(directory(t), "keyset")
		if err := errors.Join(Create(path, nil), os.Chown(path, 12345, 23456)); err != nil {
			t.Fatal(err)
		}
		rotate(t, path)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if stat, _ := info.Sys().(*syscall.Stat_t); stat.Uid != 12345 || stat.Gid != 23456 {
			t.Errorf("now it is owned by %d:%d", stat.Uid, stat.Gid)
		}
	})
	t.Run("the digest keyset stays to the byte", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(directory(t), "keyset")
		if err := Create(path, nil); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		rotate(t, path)
		after, _ := os.ReadFile(path)
		if diff := cmp.Diff(string(member(t, string(before), "digest")), string(member(t, string(after), "digest"))); diff != "" {
			t.Error("the digest keyset changed")
		}
		if bytes.Equal(before, after) {
			t.Error("nothing changed")
		}
	})
	t.Run("a key made by other means is rotated too", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(directory(t), "keyset")
		text := keysetOf(t, aead.AES256GCMKeyTemplate(), prf.HKDFSHA256PRFKeyTemplate())
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sealed := seal(t, openKeyring(t, path, Options{}), passphrase, []byte("hunter2"))
		rotate(t, path)
		k := openKeyring(t, path, Options{})
		if opened, err := k.Open(t.Context(), passphrase, sealed); err != nil || string(opened) != "hunter2" || !k.NeedsReseal(t.Context(), sealed) {
			t.Errorf("opened as %q, %v", opened, err)
		}
	})
}

// Two hosts have copies of a keyset. Whenever the file is copied before the new key is used, each opens what the other
// seals, and both change the key at the same time, also after a restart.
func TestRotate_later(t *testing.T) {
	t.Parallel()
	const wait = 10 * time.Minute
	start := time.Date(2026, 11, 26, 18, 10, 0, 999, time.UTC)
	begin := func(t *testing.T) (here, there string, hands *clock, first uint32) {
		t.Helper()
		here, there, hands = filepath.Join(directory(t), "keyset"), filepath.Join(directory(t), "keyset"), &clock{at: start}
		if err := Create(here, nil); err != nil {
			t.Fatal(err)
		}
		copyFile(t, here, there)
		first, _ = KeyOf(seal(t, openKeyring(t, here, Options{}), passphrase, nil))
		return here, there, hands, first
	}
	later := func(t *testing.T, path string, hands *clock, after time.Duration) (uint32, time.Time) {
		t.Helper()
		key, from, err := Rotate(path, nil, hands.now(), after)
		if err != nil {
			t.Fatal(err)
		}
		return key, from
	}
	wantKey := func(t *testing.T, k *Keyring, want uint32) {
		t.Helper()
		sealed := seal(t, k, passphrase, nil)
		if got, _ := KeyOf(sealed); got != want || !bytes.HasPrefix(sealed, k.Prefix(t.Context())) {
			t.Errorf("sealed with key %d, want %d; Prefix is %x", got, want, k.Prefix(t.Context()))
		}
	}
	t.Run("a copy in time", func(t *testing.T) {
		t.Parallel()
		here, there, hands, first := begin(t)
		a, b := openKeyring(t, here, Options{Now: hands.now}), openKeyring(t, there, Options{Now: hands.now})
		key, from := later(t, here, hands, wait)
		if want := start.Add(wait).Truncate(time.Second); !from.Equal(want) {
			t.Errorf("used from %s, want %s", from, want)
		}
		old := seal(t, a, passphrase, []byte("hunter2"))
		hands.advance(wait - 2*time.Second) // the last moment to copy the file
		copyFile(t, here, there)
		hands.advance(time.Second)
		for _, k := range []*Keyring{a, b, openKeyring(t, here, Options{Now: hands.now})} {
			if wantKey(t, k, first); k.NeedsReseal(t.Context(), old) {
				t.Error("texts need resealing before the new key is used")
			}
		}
		hands.advance(time.Second)
		for _, k := range []*Keyring{a, b, openKeyring(t, there, Options{Now: hands.now})} {
			if wantKey(t, k, key); !k.NeedsReseal(t.Context(), old) {
				t.Error("texts of the old key need no resealing")
			}
			for _, text := range [][]byte{old, seal(t, a, passphrase, []byte("hunter2"))} {
				if opened, err := k.Open(t.Context(), passphrase, text); err != nil || string(opened) != "hunter2" {
					t.Errorf("opened as %q, %v", opened, err)
				}
			}
		}
	})
	t.Run("a copy that is late", func(t *testing.T) {
		t.Parallel()
		here, there, hands, _ := begin(t)
		a, b := openKeyring(t, here, Options{Now: hands.now}), openKeyring(t, there, Options{Now: hands.now})
		key, _ := later(t, here, hands, 0)
		hands.advance(files.Interval)
		sealed := seal(t, a, passphrase, []byte("hunter2"))
		wantUnopened(t, b, passphrase, sealed, Unopened{passphrase, LostKey, key})
		copyFile(t, here, there)
		if opened, err := b.Open(t.Context(), passphrase, sealed); err != nil || string(opened) != "hunter2" {
			t.Errorf("opened as %q, %v", opened, err)
		}
	})
	t.Run("activated early", func(t *testing.T) {
		t.Parallel()
		here, _, hands, _ := begin(t)
		key, _ := later(t, here, hands, wait)
		same, from := later(t, here, hands, 0)
		k := openKeyring(t, here, Options{Now: hands.now})
		if wantKey(t, k, key); same != key || !from.IsZero() || len(k.file.Current().enabled) != 2 {
			t.Errorf("activated key %d from %s of %d keys, want %d", same, from, len(k.file.Current().enabled), key)
		}
		if text, err := os.ReadFile(here); err != nil || bytes.Contains(text, []byte(`"next"`)) {
			t.Errorf("earlier versions cannot read the file: %v", err)
		}
	})
	t.Run("again before it is used, and after", func(t *testing.T) {
		t.Parallel()
		here, _, hands, first := begin(t)
		unused, _ := later(t, here, hands, wait)
		second, _ := later(t, here, hands, 2*wait)
		hands.advance(wait)
		k := openKeyring(t, here, Options{Now: hands.now})
		if wantKey(t, k, first); !k.file.Current().enabled[unused] {
			t.Error("a key was lost")
		}
		hands.advance(wait)
		wantKey(t, k, second)
		third, _ := later(t, here, hands, wait)
		hands.advance(files.Interval)
		wantKey(t, k, second)
		hands.advance(wait)
		wantKey(t, k, third)
	})
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// brokenKMS is a KMS that does not answer.
type brokenKMS struct{ tink.AEAD }

func (brokenKMS) Decrypt(_, _ []byte) ([]byte, error) { return nil, errors.New("connection refused") }

// tiredKMS encrypts a few times and then no more.
type tiredKMS struct {
	tink.AEAD
	left int
}

func (k *tiredKMS) Encrypt(text, associated []byte) ([]byte, error) {
	if k.left--; k.left < 0 {
		return nil, errors.New("too many requests")
	}
	return k.AEAD.Encrypt(text, associated)
}

func TestOpen_kms(t *testing.T) {
	t.Parallel()
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		t.Fatal(err)
	}
	kms, err := aead.New(handle)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(directory(t), "keyset")
	k := openKeyring(t, path, Options{Create: true, KMS: kms})
	sealed := seal(t, k, passphrase, []byte("hunter2"))
	if _, _, err := Rotate(path, kms, time.Time{}, 0); err != nil {
		t.Fatal(err)
	}
	t.Run("what was sealed opens with the KMS", func(t *testing.T) {
		t.Parallel()
		again := openKeyring(t, path, Options{KMS: kms})
		if opened, err := again.Open(t.Context(), passphrase, sealed); err != nil || string(opened) != "hunter2" {
			t.Errorf("opened as %q, %v", opened, err)
		}
		if text, _ := os.ReadFile(path); strings.Contains(string(text), `"keyData"`) {
			t.Error("the file has keys in the clear")
		}
	})
	t.Run("not without it", func(t *testing.T) {
		t.Parallel()
		wantRefused(t, path, keysets.ErrNeedsKMS.Error(), "????????")
	})
	t.Run("not while it does not answer", func(t *testing.T) {
		t.Parallel()
		if _, err := Open(t.Context(), path, Options{KMS: brokenKMS{kms}}); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Error(err)
		}
	})
	t.Run("a rotation that is cut short has lost nothing, and its key is there before it seals", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(directory(t), "keyset")
		before := openKeyring(t, path, Options{Create: true, KMS: kms}).Prefix(t.Context())
		for left, keys := range []int{1, 2} {
			if _, _, err := Rotate(path, &tiredKMS{kms, left}, time.Time{}, 0); err == nil || !strings.Contains(err.Error(), "too many requests") {
				t.Error(err)
			}
			k := openKeyring(t, path, Options{KMS: kms})
			if !bytes.Equal(before, k.Prefix(t.Context())) || len(k.file.Current().enabled) != keys {
				t.Errorf("after %d writes there are %d keys, and texts begin with %x", left, len(k.file.Current().enabled), k.Prefix(t.Context()))
			}
		}
	})
	t.Run("a keyset in the clear is refused with it", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(directory(t), "keyset")
		if _, err := Open(t.Context(), path, Options{Create: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), path, Options{KMS: kms}); !errors.Is(err, keysets.ErrNoKMS) {
			t.Error(err)
		}
	})
}
