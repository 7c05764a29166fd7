package diff

import (
	"cmp"
	"strconv"
	"strings"

	"purser/internal/document"
)

// typeName returns Python's name for the type of a value.
func typeName(value any) string {
	switch v := value.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case document.Number:
		if isFloat(v) {
			return "float"
		}
		return "int"
	case string:
		return "str"
	case []any:
		return "list"
	case document.Mapping:
		return "dict"
	}
	panic("diff: a value of a type that no document holds")
}

// identity is the same for scalars that are equal and of one type.
func (m *meter) identity(scalar any) any {
	if n, ok := scalar.(document.Number); ok {
		m.charge(valueCost + byteCost*len(n))
		return numeralOf(n)
	}
	return scalar
}

func (m *meter) identities(list []any) []any {
	m.charge(valueCost * len(list))
	all := make([]any, len(list))
	for i, item := range list {
		m.compareTexts(item, nil) // to be entered in an index
		all[i] = m.identity(item)
	}
	return all
}

// numeral is a number by its value: equal for numbers of one type that are equal, however they are written. Nothing is
// computed, so digits are never lost and an exponent costs what its own digits cost.
type numeral struct {
	float    bool
	digits   string // with sign, without zeros at either end; empty for zero
	exponent int    // the digits are multiplied by ten to this power
}

func numeralOf(n document.Number) numeral {
	mantissa, power, _ := strings.Cut(strings.ToLower(string(n)), "e")
	exponent, err := strconv.ParseInt(cmp.Or(power, "0"), 10, 32)
	if err != nil { // no reader lets it in
		return numeral{float: true, digits: string(n)}
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	value := numeral{float: isFloat(n)}
	if significant == "" {
		return value
	}
	value.digits = significant
	value.exponent = int(exponent) - len(fraction) + len(digits) - len(significant)
	if negative {
		value.digits = "-" + significant
	}
	return value
}

// isFloat reports whether Python reads a number as a float.
func isFloat(n document.Number) bool { return strings.ContainsAny(string(n), ".eE") }
