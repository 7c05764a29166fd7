package jsonschema

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"purser/internal/document"
)

// longNumber is the length up to which a number without an exponent is not changed.
const longNumber = 64

// bounded returns a number that exact arithmetic can afford, which writes out every digit of 1e999999. Numbers with an
// exponent become what a float64 holds, as they are in Python, with 1e309 for infinity; an integer of more than 64
// digits loses those beyond.
func bounded(n document.Number) document.Number {
	if isInteger(n) {
		return n[:min(len(n), longNumber)]
	}
	if len(n) <= longNumber && !strings.ContainsAny(string(n), "eE") {
		return n
	}
	f, _ := strconv.ParseFloat(string(n), 64) // out of range gives an infinity
	if math.IsInf(f, 0) {
		if f < 0 {
			return "-1e309"
		}
		return "1e309"
	}
	s := document.Number(strconv.FormatFloat(f, 'g', -1, 64))
	if isInteger(s) {
		s += ".0" // it must stay what it was: no integer
	}
	return s
}

// rational returns a bounded number as exact arithmetic takes it; 0 for what is not a number.
func rational(n document.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return new(big.Rat)
	}
	return r
}
