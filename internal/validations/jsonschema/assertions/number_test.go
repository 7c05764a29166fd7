package assertions

import (
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"purser/internal/document"
)

// Numbers that fit into an int64 are compared and divided as exactly as all others.
func TestNumber_law(t *testing.T) {
	t.Parallel()
	decimal := func(n int64) string { return strconv.FormatInt(n, 10) }
	written := rapid.OneOf(
		rapid.Map(rapid.Int64(), decimal), rapid.Map(rapid.Int64Range(-9, 9), decimal),
		rapid.SampledFrom([]string{
			"-0", "0.0", "1.0", "2.5", "-2.5", "0.1", "0.3", "1e3", "-1e400", "1e-400", "9223372036854775807",
			"-9223372036854775808", "9223372036854775808", "-9223372036854775809", "99999999999999999999999999999999",
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		a, b := document.Number(written.Draw(t, "a")), document.Number(written.Draw(t, "b"))
		x, y := rational(bounded(a)), rational(bounded(b))
		if got, want := numberOf(a).compare(numberOf(b)), x.Cmp(y); got != want {
			t.Errorf("%s to %s: %d, want %d", a, b, got, want)
		}
		want := y.Sign() == 0 || new(big.Rat).Quo(x, y).IsInt()
		if got := numberOf(a).isMultipleOf(numberOf(b)); got != want {
			t.Errorf("%s is a multiple of %s: %v, want %v", a, b, got, want)
		}
	})
}
