package rendering

import (
	"fmt"

	"purser/internal/document"
)

// parseJSON parses JSON text, and returns the bytes that the value takes.
func (m *meter) parseJSON(text []byte) (value any, size int, err error) {
	m.charge(parseByteCost * len(text))
	if value, err = document.ParseJSON(text); err != nil {
		return nil, 0, fmt.Errorf("parse JSON: %w", err)
	}
	size = len(text) + m.memoryOf(value)
	m.hold(size)
	return value, size, nil
}

// memoryOf returns the bytes that a value takes besides its texts.
func (m *meter) memoryOf(value any) int {
	switch v := value.(type) {
	case document.Mapping:
		m.charge(visitCost * len(v))
		size := listSize + memberSize*cap(v)
		for i := range v {
			size += m.memoryOf(v[i].Value)
		}
		return size
	case []any:
		m.charge(visitCost * len(v))
		size := listSize + wordSize*cap(v)
		for _, item := range v {
			size += m.memoryOf(item)
		}
		return size
	case string, document.Number:
		return wordSize
	}
	return 0
}
