package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/files"
	"purser/internal/keysets"
)

var passphrase = Place{"default", document.Identity{Schema: "deckhand/Passphrase/v1", Layer: "site", Name: "ceph"}}

// clock is a time that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// tester is implemented by *testing.T, *testing.B, *testing.F and *rapid.T.
type tester interface {
	Helper()
	Cleanup(done func())
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// directory makes a directory that goes away with the test, also within a law.
func directory(t tester) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "secrets")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func openKeyring(t tester, path string, options Options) *Keyring {
	t.Helper()
	k, err := Open(t.Context(), path, options)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func rotate(t tester, path string) uint32 {
	t.Helper()
	id, _, err := Rotate(path, nil, time.Time{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func seal(t tester, k *Keyring, place Place, cleartext []byte) []byte {
	t.Helper()
	sealed, err := k.Seal(t.Context(), place, cleartext)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func anyPlace() *rapid.Generator[Place] {
	part := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "ab", "a/b", "site", "\x01a"}), rapid.String())
	return rapid.Custom(func(t *rapid.T) Place {
		return Place{part.Draw(t, "site"), document.Identity{
			Schema: part.Draw(t, "schema"), Layer: part.Draw(t, "layer"), Name: part.Draw(t, "name"),
		}}
	})
}

// secret is a sealed value of a property test.
type secret struct {
	place     Place
	cleartext []byte
	sealed    []byte
	digest    document.Digest
}

func TestKeyring_laws(t *testing.T) {
	t.Parallel()
	t.Run("what was sealed opens after any sequence of rotations and resealings, and digests stay", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			path, hands := filepath.Join(directory(t), "keyset"), &clock{}
			k := openKeyring(t, path, Options{Create: true, Now: hands.now})
			var kept []secret
			t.Repeat(map[string]func(*rapid.T){
				"seal": func(t *rapid.T) {
					place, cleartext := anyPlace().Draw(t, "place"), rapid.SliceOf(rapid.Byte()).Draw(t, "clear text")
					kept = append(kept, secret{place, cleartext, seal(t, k, place, cleartext), k.Digest(place, cleartext)})
				},
				"rotate": func(t *rapid.T) {
					rotate(t, path)
					hands.advance(rapid.SampledFrom([]time.Duration{0, files.Interval}).Draw(t, "pause"))
				},
				"restart": func(t *rapid.T) { k = openKeyring(t, path, Options{Now: hands.now}) },
				"reseal": func(t *rapid.T) {
					for i, s := range kept {
						sealed, err := k.Reseal(t.Context(), s.place, s.sealed)
						if err != nil || k.NeedsReseal(t.Context(), sealed) || !bytes.HasPrefix(sealed, k.Prefix(t.Context())) {
							t.Fatalf("resealed %d: %v, needs it still: %v", i, err, k.NeedsReseal(t.Context(), sealed))
						}
						kept[i].sealed = sealed
					}
				},
				"": func(t *rapid.T) {
					for i, s := range kept {
						opened, err := k.Open(t.Context(), s.place, s.sealed)
						if err != nil || !bytes.Equal(opened, s.cleartext) {
							t.Fatalf("secret %d opens as %q, %v; sealed was %q", i, opened, err, s.cleartext)
						}
						if k.Digest(s.place, s.cleartext) != s.digest {
							t.Fatalf("the digest of secret %d is another one", i)
						}
					}
				},
			})
		})
	})

	path := filepath.Join(directory(t), "keyset")
	k := openKeyring(t, path, Options{Create: true})
	t.Run("a sealed text does not contain the clear text, and no two are the same", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			cleartext := rapid.SliceOfN(rapid.Byte(), 6, 300).Draw(t, "clear text")
			one, other := seal(t, k, passphrase, cleartext), seal(t, k, passphrase, cleartext)
			if bytes.Contains(one, cleartext) || bytes.Equal(one, other) {
				t.Fatal("the sealed text tells something")
			}
			if len(one) != len(cleartext)+45 {
				t.Fatalf("%d bytes become %d", len(cleartext), len(one))
			}
		})
	})
	t.Run("what was sealed for one place opens for no other", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			from, to := anyPlace().Draw(t, "from"), anyPlace().Draw(t, "to")
			if from == to {
				t.Skip("the same place")
			}
			wantUnopened(t, k, to, seal(t, k, from, []byte("hunter2")), Unopened{Place: to, Cause: Damaged})
		})
	})
	t.Run("a sealed text with a byte changed, missing or added does not open", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			sealed := seal(t, k, passphrase, rapid.SliceOf(rapid.Byte()).Draw(t, "clear text"))
			at := rapid.IntRange(0, len(sealed)-1).Draw(t, "at")
			want := Unopened{Place: passphrase, Cause: Damaged}
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				sealed[at] ^= rapid.ByteRange(1, 255).Draw(t, "flip")
				if id, known := KeyOf(sealed); at > 0 && at < prefixSize && known {
					want.Cause, want.Key = LostKey, id
				}
			case 1:
				sealed = sealed[:at]
			case 2:
				sealed = append(sealed, rapid.Byte().Draw(t, "more"))
			}
			wantUnopened(t, k, passphrase, sealed, want)
		})
	})
	t.Run("digests are equal if and only if place and content are", func(t *testing.T) {
		t.Parallel()
		content := rapid.OneOf(rapid.SampledFrom([][]byte{nil, {'a'}, {1, 'a'}}), rapid.SliceOf(rapid.Byte()))
		rapid.Check(t, func(t *rapid.T) {
			a, b := anyPlace().Draw(t, "a"), anyPlace().Draw(t, "b")
			x, y := content.Draw(t, "x"), content.Draw(t, "y")
			if same := a == b && bytes.Equal(x, y); same != (k.Digest(a, x) == k.Digest(b, y)) {
				t.Fatalf("same content: %v, same digest: %v", same, !same)
			}
		})
	})
}

func wantUnopened(t tester, k *Keyring, place Place, sealed []byte, want Unopened) {
	t.Helper()
	cleartext, err := k.Open(t.Context(), place, sealed)
	u, ok := errors.AsType[*Unopened](err)
	if cleartext != nil || !ok {
		t.Fatalf("opened as %q, %v", cleartext, err)
	}
	if diff := cmp.Diff(want, *u); diff != "" {
		t.Fatal(diff)
	}
	if !strings.Contains(err.Error(), place.Identity.String()) || !strings.Contains(err.Error(), "site "+place.Site) {
		t.Fatalf("the error does not name the document: %v", err)
	}
}

func TestKeyring_Open(t *testing.T) {
	t.Parallel()
	dir := directory(t)
	k := openKeyring(t, filepath.Join(dir, "keyset"), Options{Create: true})
	other := openKeyring(t, filepath.Join(dir, "other"), Options{Create: true})
	sealed := seal(t, other, passphrase, []byte("hunter2"))
	lost, _ := KeyOf(sealed)
	t.Run("a missing key is said", func(t *testing.T) {
		t.Parallel()
		wantUnopened(t, k, passphrase, sealed, Unopened{passphrase, LostKey, lost})
		_, err := k.Open(t.Context(), passphrase, sealed)
		want := fmt.Sprintf("the secret of document [deckhand/Passphrase/v1, site] ceph of site default cannot be opened: it was "+
			"sealed with key %d, which the keyset of this server does not hold; copy the newest keyset file, which holds it, to "+
			"this server", lost)
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a missing key is a fault of the server, which names the document only to those who may see it", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			err  error
			want string
		}{
			{&Unopened{passphrase, LostKey, 7}, "A secret cannot be opened: it was sealed with key 7, which the keyset of this " +
				"server does not hold; copy the newest keyset file, which holds it, to this server"},
			{WithoutKeyset(passphrase, []byte("\x01\x00\x00\x00\x07…")), "A secret cannot be opened: it was sealed with key 7, and " +
				"this server has no keyset; start it with the --secrets-keyset of the other servers"},
		} {
			f, ok := errors.AsType[*fault.Fault](c.err)
			if !ok || f.Kind != fault.Unavailable || f.Type != "SecretUnopened" || f.RetryAfter != 10*time.Second || f.Secret {
				t.Fatalf("the fault is %+v", f)
			}
			if diff := cmp.Diff(c.want, f.Message); diff != "" {
				t.Error(diff)
			}
			named := f.Messages[1]
			if f.Messages[0].Message != f.Message || !named.Secret || !strings.Contains(named.Message, passphrase.Identity.String()) {
				t.Errorf("the messages are %+v", f.Messages)
			}
		}
	})
	t.Run("a damaged text is a fault that shows the same", func(t *testing.T) {
		t.Parallel()
		_, err := k.Reseal(t.Context(), passphrase, []byte("\x01"))
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok || f.Kind != fault.Internal || f.Message != err.Error() || f.Type != "SecretUnopened" {
			t.Errorf("the fault is %+v", f)
		}
	})
	t.Run("what no keyring sealed is damaged", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"", "\x01", "\x01\x00\x00\x00", `"hunter2"`, `{"a": 1}`, "\x28\xb5\x2f\xfd 12345"} {
			wantUnopened(t, k, passphrase, []byte(text), Unopened{Place: passphrase, Cause: Damaged})
			if !k.NeedsReseal(t.Context(), []byte(text)) {
				t.Errorf("%q counts as sealed under the primary key", text)
			}
		}
	})
}

func TestKeyring_rereads(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (k *Keyring, path string, hands *clock, log *bytes.Buffer) {
		t.Helper()
		path, hands, log = filepath.Join(directory(t), "keyset"), &clock{}, &bytes.Buffer{}
		k = openKeyring(t, path, Options{Create: true, Now: hands.now, Log: slog.New(slog.NewTextHandler(log, nil))})
		log.Reset()
		return k, path, hands, log
	}
	t.Run("a rotation is noticed within a second, and not before", func(t *testing.T) {
		t.Parallel()
		k, path, hands, log := start(t)
		sealed := seal(t, k, passphrase, []byte("hunter2"))
		id := rotate(t, path)
		if k.NeedsReseal(t.Context(), sealed) {
			t.Error("noticed at once")
		}
		hands.advance(files.Interval)
		if !k.NeedsReseal(t.Context(), sealed) {
			t.Error("not noticed")
		}
		if got, _ := KeyOf(seal(t, k, passphrase, nil)); got != id {
			t.Errorf("sealed with %d instead of %d", got, id)
		}
		if want := fmt.Sprintf("primary_key=%d keys=2", id); !strings.Contains(log.String(), want) {
			t.Errorf("the log says %s", log)
		}
	})
	t.Run("what another server sealed with a new key opens at once", func(t *testing.T) {
		t.Parallel()
		k, path, _, _ := start(t)
		rotate(t, path)
		sealed := seal(t, openKeyring(t, path, Options{}), passphrase, []byte("hunter2"))
		if opened, err := k.Open(t.Context(), passphrase, sealed); err != nil || string(opened) != "hunter2" {
			t.Errorf("opened as %q, %v", opened, err)
		}
	})
	t.Run("a broken file is ignored loudly until it is mended", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			name, log string
			harm      func(path string) error
		}{
			{"gone", "no such file", os.Remove},
			{"open to others", "chmod 600", func(path string) error { return os.Chmod(path, 0o640) }},
			{"damaged", "no keyset file of Purser", func(path string) error { return os.WriteFile(path, []byte(`{"aead": {"x`), 0o600) }},
			{"emptied", "is empty", func(path string) error { return os.Truncate(path, 0) }},
			{"another", "has changed, which would make", func(path string) error { return errors.Join(os.Remove(path), Create(path, nil)) }},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				k, path, hands, log := start(t)
				good, err := os.ReadFile(path)
				sealed, digest := seal(t, k, passphrase, []byte("hunter2")), k.Digest(passphrase, []byte("hunter2"))
				if err := errors.Join(err, c.harm(path)); err != nil {
					t.Fatal(err)
				}
				for range 3 {
					hands.advance(files.Interval)
					opened, err := k.Open(t.Context(), passphrase, sealed)
					if err != nil || string(opened) != "hunter2" || k.Digest(passphrase, opened) != digest {
						t.Errorf("opened as %q, %v", opened, err)
					}
				}
				if strings.Contains(log.String(), keyMaterial(t, string(good))[:8]) {
					t.Errorf("the log has a key: %s", log)
				}
				if strings.Count(log.String(), "level=ERROR") != 1 || !strings.Contains(log.String(), c.log) {
					t.Errorf("the log says %s", log)
				}
				if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, good, 0o600)); err != nil {
					t.Fatal(err)
				}
				id := rotate(t, path)
				hands.advance(keysets.RetryAfter)
				if got, _ := KeyOf(seal(t, k, passphrase, nil)); got != id {
					t.Errorf("the mended file is not read: %s", log)
				}
			})
		}
	})
	t.Run("unknown keys do not make it read a broken file again and again", func(t *testing.T) {
		t.Parallel()
		k, path, hands, log := start(t)
		sealed := seal(t, openKeyring(t, filepath.Join(directory(t), "other"), Options{Create: true}), passphrase, nil)
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		hands.advance(files.Interval)
		for range 10 {
			k.Open(t.Context(), passphrase, sealed)
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
			t.Errorf("%d attempts", n)
		}
	})
}

func TestKeyring_concurrent(t *testing.T) {
	t.Parallel()
	path, hands := filepath.Join(directory(t), "keyset"), &clock{}
	k := openKeyring(t, path, Options{Create: true, Now: hands.now})
	digest := k.Digest(passphrase, []byte("hunter2"))
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 200 {
				sealed, err := k.Seal(t.Context(), passphrase, []byte("hunter2"))
				if err == nil {
					sealed, err = k.Reseal(t.Context(), passphrase, sealed)
				}
				opened, openErr := k.Open(t.Context(), passphrase, sealed)
				if err := errors.Join(err, openErr); err != nil || k.Digest(passphrase, opened) != digest {
					t.Errorf("opened as %q, %v", opened, err)
				}
			}
		})
	}
	for range 2 {
		work.Go(func() {
			for range 10 {
				if _, _, err := Rotate(path, nil, time.Time{}, 0); err != nil {
					t.Error(err)
				}
				hands.advance(files.Interval)
			}
		})
	}
	work.Wait()
	if n := len(k.file.Latest().enabled); n != 21 {
		t.Errorf("%d keys are left of 21: a rotation lost another one's", n)
	}
}
