package diff

import "purser/internal/document"

// identity is the same for scalars that are equal and of one type.
func (m *meter) identity(scalar any) any {
	if n, ok := scalar.(document.Number); ok {
		m.charge(valueCost + byteCost*len(n))
		if value := n.Decimal(); value.Exponent == int(int32(value.Exponent)) { //nolint:gosec // whether it fits
			return numeral{n.IsFloat(), value}
		} // otherwise by its text
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

// numeral is a number by its value: equal for numbers of one type that are equal, however they are written.
type numeral struct {
	isFloat bool
	document.Decimal
}
