package secrets

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"purser/internal/document"
)

func TestIsEmpty(t *testing.T) {
	t.Parallel()
	for _, value := range []any{nil, "", []any{}, []any(nil), document.Mapping{}, document.Mapping(nil)} {
		if !IsEmpty(value) {
			t.Errorf("%#v would be sealed", value)
		}
	}
	for _, value := range []any{false, true, document.Number("0"), document.Number("0.0"), " ", []any{nil}, document.Mapping{{}}} {
		if IsEmpty(value) {
			t.Errorf("%#v would not be sealed", value)
		}
	}
}

func TestPlace_encode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyPlace().Draw(t, "a"), anyPlace().Draw(t, "b")
		one, other := a.encode(sealPurpose), b.encode(sealPurpose)
		if a != b && (bytes.HasPrefix(one, other) || bytes.HasPrefix(other, one)) {
			t.Fatalf("%+v and %+v are mistaken for each other", a, b)
		}
		if bytes.Equal(one, a.encode(digestPurpose)) {
			t.Fatal("the purpose does not count")
		}
	})
}
