package jsonschema

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"purser/internal/document"
)

// genNumber returns numbers in any notation of JSON. Most are short, so that some are equal, or multiples.
func genNumber() *rapid.Generator[document.Number] {
	few := rapid.Int64Range(-120, 120)
	integer := rapid.OneOf(rapid.Int64(), few, few)
	return rapid.OneOf(
		rapid.Map(integer, func(n int64) document.Number { return document.Number(strconv.FormatInt(n, 10)) }),
		rapid.Map(rapid.Uint64(), func(n uint64) document.Number { return document.Number(strconv.FormatUint(n, 10)) }),
		rapid.Map(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), document.FormatFloat),
		rapid.Custom(func(t *rapid.T) document.Number {
			whole := strconv.FormatInt(integer.Draw(t, "whole"), 10)
			fraction := rapid.StringMatching(`(\.[0-9]{1,3}|\.0|\.[0-9]{1,40})?`).Draw(t, "fraction")
			exponent := rapid.StringMatching(`([eE][-+]?([0-9]|[0-9][0-9]|[1-3][0-9][0-9]))?`).Draw(t, "exponent")
			return document.Number(whole + fraction + exponent)
		}),
		rapid.SampledFrom([]document.Number{
			"-0", "0.0", "0e5", "1.0", "2.5", "-2.5", "0.1", "0.3", "1e3", "-1e400", "1e-400", "9223372036854775807", "5e-324",
			"-9223372036854775808", "18446744073709551615", "18446744073709551616", "99999999999999999999999999999999", "1.1e-300",
		}),
	)
}

// Numbers are compared, divided and written as exactly as fractions of any size.
func TestNumber_law(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := genNumber().Draw(t, "a"), genNumber().Draw(t, "b")
		if rapid.Bool().Draw(t, "isProduct") { // which is a multiple, and mostly has many digits
			product := new(big.Rat).Mul(rational(t, a), rational(t, b))
			a = document.Number(product.FloatString(1000))
		}
		x, y := rational(t, a), rational(t, b)
		n, m := numberOf(counter{}, a), numberOf(counter{}, b)
		if got, want := n.compare(m), x.Cmp(y); got != want {
			t.Errorf("%s to %s: %d, want %d", a, b, got, want)
		}
		if got, want := n.String() == m.String(), x.Cmp(y) == 0; got != want {
			t.Errorf("%s is written as %s, and %s as %s", a, n, b, m)
		}
		if got, want := n.isWhole(), x.IsInt(); got != want {
			t.Errorf("%s is whole: %v, want %v", a, got, want)
		}
		want := y.Sign() == 0 || new(big.Rat).Quo(x, y).IsInt()
		if got := n.isMultipleOf(counter{}, m); got != want {
			t.Errorf("%s is a multiple of %s: %v, want %v", a, b, got, want)
		}
	})
}

func rational(t *rapid.T, n document.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		t.Fatalf("%s is not a number", n)
	}
	return r
}

// Exponents of any size are compared and divided at once.
func TestNumber_exponents(t *testing.T) {
	t.Parallel()
	of := func(n document.Number) number { return numberOf(counter{}, n) }
	for _, tt := range []struct {
		a, b       document.Number
		compared   int
		isMultiple bool
	}{
		{"1e999999999", "1e999999998", 1, true},
		{"1e999999999", "7", 1, false},
		{"7e999999999", "7", 1, true},
		{"1e-999999999", "1e-999999998", -1, false},
		{"3e99999999999999999999", "3e999999999999999999999", 0, true}, // beyond the largest exponent
		{"1e999999999", "123456789012345678901234567890", 1, false},
		{"123456789012345678901234567890e999999999", "123456789012345678901234567890", 1, true},
	} {
		a, b := of(tt.a), of(tt.b)
		if a.compare(b) != tt.compared || a.isMultipleOf(counter{}, b) != tt.isMultiple || !a.isWhole() && a.Exponent > 0 {
			t.Errorf("%s and %s: compared %d, multiple %v", tt.a, tt.b, a.compare(b), a.isMultipleOf(counter{}, b))
		}
	}
}
