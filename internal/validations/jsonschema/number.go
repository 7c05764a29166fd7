package jsonschema

import (
	"cmp"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"purser/internal/document"
)

// Costs in steps.
const (
	numberSteps = 100 // reading a number, comparing it, and writing it
	numberByte  = 8   // additionally, for each of its characters
	divideSteps = 400 // dividing a number by another one
)

// number is the value of a number, which is compared and divided exactly.
type number document.Decimal

// numberOf reads a number, and counts the cost of that and of comparing it.
func numberOf(w counter, n document.Number) number {
	w.spend(numberSteps + len(n)*numberByte)
	return number(n.Decimal())
}

// String formats a number so that equal numbers, and no others, have the same text.
func (n number) String() string {
	sign := ""
	if n.Negative {
		sign = "-"
	}
	return sign + n.Digits + "e" + strconv.Itoa(n.Exponent)
}

// isWhole reports whether a number has no fraction.
func (n number) isWhole() bool { return n.Digits == "" || n.Exponent >= len(n.Digits) }

func (n number) sign() int {
	switch {
	case n.Digits == "":
		return 0
	case n.Negative:
		return -1
	}
	return 1
}

// compare returns -1, 0 or +1, as n is less than, equal to or greater than another number.
func (n number) compare(other number) int {
	if of, than := n.sign(), other.sign(); of != than {
		return cmp.Compare(of, than)
	}
	if n.Digits == "" || other.Digits == "" {
		return 0
	}
	return n.sign() * cmp.Or(cmp.Compare(n.Exponent, other.Exponent), strings.Compare(n.Digits, other.Digits))
}

// isMultipleOf reports whether n is a multiple of a divisor. Every number is a multiple of 0.
func (n number) isMultipleOf(w counter, divisor number) bool {
	w.spend(divideSteps + len(n.Digits)*numberByte)
	if n.Digits == "" || divisor.Digits == "" {
		return true
	}
	// The power of ten that remains if both are divided by the last place of the divisor. Without one, n is no multiple:
	// its digits do not end with 0.
	zeros := (n.Exponent - len(n.Digits)) - (divisor.Exponent - len(divisor.Digits))
	if zeros < 0 {
		return false
	}
	d, err := strconv.ParseUint(divisor.Digits, 10, 64)
	if err != nil {
		w.spend(longSteps(len(n.Digits), len(divisor.Digits)))
		return isMultipleOfLong(n.Digits, zeros, divisor.Digits)
	}
	return remainder(n.Digits, zeros, d) == 0
}

// remainder returns DIGITS × 10^zeros modulo d.
func remainder(digits string, zeros int, d uint64) uint64 {
	times := func(a, b uint64) uint64 {
		high, low := bits.Mul64(a, b)
		return bits.Rem64(high, low, d)
	}
	rest := uint64(0)
	for i := range len(digits) {
		digit := uint64(digits[i] - '0')
		high, low := bits.Mul64(rest, 10)
		low, carry := bits.Add64(low, digit, 0)
		rest = bits.Rem64(high+carry, low, d)
	}
	for square := 10 % d; zeros > 0; zeros >>= 1 {
		if zeros&1 == 1 {
			rest = times(rest, square)
		}
		square = times(square, square)
	}
	return rest
}

// longSteps returns the cost of isMultipleOfLong for two numbers of digits: reading both, and multiplying their digits,
// many at a time.
func longSteps(digits, divisor int) int {
	const read, powers, atOnce = 32, 8, 16
	return read*(digits+divisor) + (digits+powers*divisor)*divisor/atOnce
}

// isMultipleOfLong reports whether DIGITS × 10^zeros is a multiple of a divisor of more than 64 bits.
func isMultipleOfLong(digits string, zeros int, divisor string) bool {
	n, _ := new(big.Int).SetString(digits, 10)
	d, _ := new(big.Int).SetString(divisor, 10)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(zeros)), d)
	return n.Rem(n.Mul(n, power), d).Sign() == 0
}
