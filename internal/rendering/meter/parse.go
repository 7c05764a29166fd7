package meter

import (
	"fmt"

	"purser/internal/document"
)

// Parse parses JSON text, and returns the bytes that the value takes.
func (m *Meter) Parse(text []byte) (value any, size int, err error) {
	m.Charge(ParseByte * len(text))
	if value, err = document.ParseJSON(text); err != nil {
		return nil, 0, fmt.Errorf("parse JSON: %w", err)
	}
	size = len(text) + m.SizeOf(value)
	m.Hold(size)
	return value, size, nil
}

// SizeOf returns the bytes that a value takes besides its texts.
func (m *Meter) SizeOf(value any) int {
	switch v := value.(type) {
	case document.Mapping:
		m.Charge(Visit * len(v))
		size := List + Member*cap(v)
		for i := range v {
			size += m.SizeOf(v[i].Value)
		}
		return size
	case []any:
		m.Charge(Visit * len(v))
		size := List + Word*cap(v)
		for _, item := range v {
			size += m.SizeOf(item)
		}
		return size
	case string, document.Number:
		return Word
	}
	return 0
}
