package jsonschema

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"purser/internal/document"
)

// longNumber is the length up to which numbers without an exponent are not changed.
const longNumber = 64

// bounded returns a number that exact arithmetic can afford, which would write out every digit of 1e999999. Numbers
// with an exponent become the nearest float64, as in Python, with 1e309 for infinity. An integer of more than 64 digits
// loses the rest.
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
