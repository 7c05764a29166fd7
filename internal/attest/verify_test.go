package attest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"purser/internal/attest"
	"purser/internal/keysets"
)

// changed returns an envelope with a changed payload and the same signature.
func changed(t *testing.T, envelope []byte, change func(payload string) string) []byte {
	t.Helper()
	var parsed attest.Envelope
	if err := json.Unmarshal(envelope, &parsed); err != nil {
		t.Fatal(err)
	}
	payload, err := base64.StdEncoding.DecodeString(parsed.Payload)
	if err != nil {
		t.Fatal(err)
	}
	before := string(payload)
	after := change(before)
	if after == before {
		t.Fatal("nothing was changed in " + before)
	}
	parsed.Payload = base64.StdEncoding.EncodeToString([]byte(after))
	text, err := json.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestVerify(t *testing.T) {
	t.Parallel()
	keyring, _, _ := openKeys(t)
	other, _, _ := openKeys(t)
	facts := factsOf(t, widgets, takingName)
	envelope, keys := sign(t, keyring, facts), keyring.Public()
	replaced := func(before, after string) []byte {
		return changed(t, envelope, func(payload string) string { return strings.Replace(payload, before, after, 1) })
	}
	signed := func(change func(*attest.Statement)) []byte {
		statement := facts.Statement()
		change(&statement)
		text, err := keyring.Sign(statement)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, c := range map[string]struct {
		envelope []byte
		keys     []attest.Key
		at       time.Time
		want     string
	}{
		"verified":               {envelope, keys, now, ""},
		"one of several keys":    {envelope, append(other.Public(), keys...), now, ""},
		"spaces around":          {bytes.Join([][]byte{nil, envelope, nil}, []byte("\n")), keys, now, ""},
		"another key ID":         {bytes.Replace(envelope, []byte("SHA256:"), []byte("SHA25x:"), 1), keys, now, ""}, // a hint
		"at its end":             {envelope, keys, now.Add(time.Hour).Truncate(time.Second), ""},
		"a second later":         {envelope, keys, now.Add(time.Hour + time.Second), "it was valid until 2026-11-28T08:30:00Z"},
		"before it was made":     {envelope, keys, now.Add(-time.Hour), "later than now"},
		"a clock behind":         {envelope, keys, now.Add(-time.Minute), ""},
		"another key":            {envelope, other.Public(), now, "none of the given keys has signed it: it names the key SHA256:"},
		"no key":                 {envelope, nil, now, "none of the given keys"},
		"another revision":       {replaced("revisions/17", "revisions/18"), keys, now, "its signature does not fit"},
		"another digest":         {replaced(facts.Rendered.Digest.String()[:2], "zz"), keys, now, "its signature does not fit"},
		"another end":            {replaced("2026-11-28T08", "2026-11-28T09"), keys, now, "its signature does not fit"},
		"a space":                {replaced(":", ": "), keys, now, "its signature does not fit"},
		"another payload type":   {bytes.Replace(envelope, []byte("vnd.in-toto"), []byte("vnd.in-tota"), 1), keys, now, "its signature does not fit"},
		"another signature":      {bytes.Replace(envelope, []byte(`"sig":"MEU`), []byte(`"sig":"MEV`), 1), keys, now, "?"},
		"no signature":           {bytes.Replace(envelope, []byte(`"signatures":[`), []byte(`"other":[`), 1), keys, now, "it has no signature"},
		"not base64":             {bytes.Replace(envelope, []byte(`"payload":"`), []byte(`"payload":"!`), 1), keys, now, "not base64"},
		"cut off":                {envelope[:len(envelope)/2], keys, now, "not an envelope"},
		"two":                    {append(bytes.Clone(envelope), envelope...), keys, now, "not an envelope"},
		"empty":                  {nil, keys, now, "not an envelope"},
		"another predicate":      {signed(func(s *attest.Statement) { s.PredicateType = "x" }), keys, now, `its predicate is of the type "x"`},
		"another statement":      {signed(func(s *attest.Statement) { s.Type = "x" }), keys, now, `its statement is of the type "x"`},
		"no success":             {signed(func(s *attest.Statement) { s.Predicate.Properties = s.Predicate.Properties[1:] }), keys, now, "no success"},
		"no revision":            {signed(func(s *attest.Statement) { s.Subject = s.Subject[1:] }), keys, now, "names no revision"},
		"no time":                {signed(func(s *attest.Statement) { s.Predicate.TimeCreated = "" }), keys, now, "when it was made"},
		"an end that is no time": {signed(func(s *attest.Statement) { s.Predicate.ValidUntil = "never" }), keys, now, "until when"},
		"without an end":         {signed(func(s *attest.Statement) { s.Predicate.ValidUntil = "" }), keys, now.AddDate(10, 0, 0), ""},
	} {
		if c.want == "?" && bytes.Equal(c.envelope, envelope) { // it began otherwise
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := verify(t, c.envelope, c.keys, nil, c.at)
			if c.want == "?" {
				c.want = "its signature does not fit"
			}
			isRefused(t, found, c.want)
			if signed := found.KeyID != ""; signed != (found.Statement != nil) {
				t.Errorf("a statement that nobody has signed: %+v", found)
			}
		})
	}
}

// Each byte of an envelope matters, but for the hint at the key and the space at the end.
func TestVerify_eachByte(t *testing.T) {
	t.Parallel()
	keyring, _, _ := openKeys(t)
	envelope := sign(t, keyring, factsOf(t, widgets))
	hint, signature := bytes.Index(envelope, []byte(`"keyid"`)), bytes.Index(envelope, []byte(`"sig"`))
	for i := range len(envelope) - 1 {
		flipped := bytes.Clone(envelope)
		if flipped[i] ^= 1; hint <= i && i < signature {
			continue
		}
		if found := verify(t, flipped, keyring.Public(), nil, now); found.Verified() {
			t.Errorf("byte %d of %d can be changed: %.20s", i, len(envelope), flipped[max(0, i-10):])
		}
	}
}

func TestVerify_documents(t *testing.T) {
	t.Parallel()
	keyring, _, _ := openKeys(t)
	envelope := sign(t, keyring, factsOf(t, widgets, takingName))
	for name, c := range map[string]struct {
		text, want string
		notCovered int
	}{
		"the same":                        {widgets, "", 0},
		"with those of a trusted reader":  {widgets + secretWidget + taking, "", 2},
		"a secret more":                   {widgets + secretWidget, "", 1},
		"a document more":                 {widgets + strings.Replace(taking, "name: taking", "name: other", 1), "the digest of the 3 documents", 0},
		"a document less":                 {strings.Split(widgets, "---\ndata: text")[0], "the digest of the 1 document is", 0},
		"another value":                   {strings.Replace(widgets, "100.0", "100.5", 1), "are not those that it is about", 0},
		"a value in the name of a secret": {strings.Replace(widgets, "cleartext", "encrypted", 1), "are not those that it is about", 1},
		"none":                            {"", "the digest of the 0 documents", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents := read(t, c.text)
			found := verify(t, envelope, keyring.Public(), &documents, now)
			isRefused(t, found, c.want)
			if found.Documents.Same != (c.want == "") || len(found.Documents.NotCovered) != c.notCovered {
				t.Errorf("compared: %+v", found.Documents)
			}
		})
	}
	statement := factsOf(t, widgets).Statement()
	statement.Subject = statement.Subject[:1]
	without, err := keyring.Sign(statement)
	if err != nil {
		t.Fatal(err)
	}
	documents := read(t, widgets)
	isRefused(t, verify(t, without, keyring.Public(), &documents, now), "it is not about rendered documents")
}

// Whatever the bytes are, nothing but what a key has signed is verified, and nothing panics.
func FuzzVerify(f *testing.F) {
	path := filepath.Join(f.TempDir(), "signing.json")
	keyring, err := attest.Open(f.Context(), path, keysets.Options{Create: true})
	if err != nil {
		f.Fatal(err)
	}
	other := filepath.Join(f.TempDir(), "other.json")
	stranger, err := attest.Open(f.Context(), other, keysets.Options{Create: true})
	if err != nil {
		f.Fatal(err)
	}
	envelope, err := keyring.Sign(attest.Facts{At: now}.Statement())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(envelope)
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"sig":""}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := attest.Verify(t.Context(), text, stranger.Public(), nil, now)
		if err != nil || found.Verified() || found.Statement != nil {
			t.Errorf("%+v, %v", found, err)
		}
	})
}
