package document

import (
	"strconv"
	"strings"
)

// Decimal is the value of a number: 0.DIGITS × 10^Exponent. It is as short as the number's text, and equal for numbers
// that are equal. It is exact for exponents up to maxExponent.
type Decimal struct {
	Negative bool
	Digits   string // without zeros at either end, "" for 0
	Exponent int
}

// maxExponent bounds exponents, so that they can be added.
const maxExponent = 1 << 40

// Decimal returns the value of a number. It writes out no digits for an exponent.
func (n Number) Decimal() Decimal {
	unsigned, negative := strings.CutPrefix(string(n), "-")
	power := 0
	if i := strings.IndexAny(unsigned, "eE"); i >= 0 {
		power, _ = strconv.Atoi(unsigned[i+1:]) // the nearest integer if it is out of range
		power = max(-maxExponent, min(power, maxExponent))
		unsigned = unsigned[:i]
	}
	whole, fraction, _ := strings.Cut(unsigned, ".")
	digits := whole
	if fraction != "" {
		digits += fraction
	}
	significant := strings.TrimLeft(digits, "0")
	exponent := power + len(whole) - (len(digits) - len(significant))
	if significant = strings.TrimRight(significant, "0"); significant == "" {
		return Decimal{}
	}
	return Decimal{negative, significant, exponent}
}

// IsFloat reports whether a number is written with a fraction or an exponent, so that Python reads it as a float.
func (n Number) IsFloat() bool {
	for i := range len(n) {
		switch n[i] {
		case '.', 'e', 'E':
			return true
		}
	}
	return false
}
