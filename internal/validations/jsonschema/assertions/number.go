package assertions

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"

	"purser/internal/document"
)

// longNumber is the length up to which numbers without an exponent are not changed.
const longNumber = 64

// bounded returns a number that exact arithmetic can handle cheaply; it would write out every digit of 1e999999.
// Numbers with an exponent or a long fraction become the nearest float64, as in Python, with 1e309 for infinity.
// Integers are cut to 64 characters.
func bounded(n document.Number) document.Number {
	if isInteger(n) {
		return n[:min(len(n), longNumber)]
	}
	if len(n) <= longNumber && !strings.ContainsAny(string(n), "eE") {
		return n
	}
	f, _ := strconv.ParseFloat(string(n), 64) // infinity if out of range
	if math.IsInf(f, 0) {
		if f < 0 {
			return "-1e309"
		}
		return "1e309"
	}
	s := document.Number(strconv.FormatFloat(f, 'g', -1, 64))
	if isInteger(s) {
		s += ".0" // keep it a float
	}
	return s
}

// rational converts a bounded number for exact arithmetic. It returns 0 if n is not a number.
func rational(n document.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// number is a number to compare and divide exactly.
type number struct {
	whole int64
	exact *big.Rat // nil if whole is the number
}

// numberOf converts a number; most are integers that fit.
func numberOf(n document.Number) number {
	n = bounded(n)
	if whole, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return number{whole: whole}
	}
	return number{exact: rational(n)}
}

func (n number) rational() *big.Rat {
	if n.exact != nil {
		return n.exact
	}
	return new(big.Rat).SetInt64(n.whole)
}

// compare returns -1, 0 or +1, as n is less than, equal to or greater than another number.
func (n number) compare(other number) int {
	if n.exact == nil && other.exact == nil {
		return cmp.Compare(n.whole, other.whole)
	}
	return n.rational().Cmp(other.rational())
}

// isMultipleOf reports whether n is a multiple of a divisor. Every number is a multiple of 0.
func (n number) isMultipleOf(divisor number) bool {
	switch {
	case n.exact == nil && divisor.exact == nil:
		return divisor.whole == 0 || n.whole%divisor.whole == 0
	case divisor.rational().Sign() == 0:
		return true
	}
	return new(big.Rat).Quo(n.rational(), divisor.rational()).IsInt()
}
