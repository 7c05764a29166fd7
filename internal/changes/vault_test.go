package changes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"

	"purser/internal/document"
	"purser/internal/secrets"
)

// fakeVault seals by writing the place before the text.
type fakeVault struct{ broken error }

func (v fakeVault) prefix(place secrets.Place) []byte {
	return []byte("sealed for " + place.String() + ": ")
}

func (v fakeVault) Seal(_ context.Context, place secrets.Place, cleartext []byte) ([]byte, error) {
	return append(v.prefix(place), cleartext...), v.broken
}

func (v fakeVault) Open(_ context.Context, place secrets.Place, sealed []byte) ([]byte, error) {
	text, own := bytes.CutPrefix(sealed, v.prefix(place))
	if !own {
		return nil, errors.New("sealed for another place")
	}
	return text, v.broken
}

func (v fakeVault) Digest(place secrets.Place, content []byte) document.Digest {
	return sha256.Sum256(append(v.prefix(place), content...))
}

func (fakeVault) Prefix(context.Context) []byte { return []byte("sealed for") }

func (fakeVault) Reseal(_ context.Context, _ secrets.Place, sealed []byte) ([]byte, error) {
	return sealed, nil
}
