package puppet

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// maxDepth bounds the nesting of a catalog. Catalogs are usually nested about ten deep.
const maxDepth = 100

// byteSteps is the cost of reading or writing a byte of text, in steps.
const byteSteps = 12

// Costs of the values of a catalog, in bytes.
const (
	valueBytes  = 80
	memberBytes = 112
)

// malformed returns the fault of a text that is not a catalog.
func malformed(format string, args ...any) error {
	return fault.New(fault.Invalid, "InvalidCatalog", format, args...)
}

// parseCatalog parses the JSON text of a catalog. Numbers keep their spelling. A notice of "puppet catalog compile"
// before the catalog is skipped. Faults: Invalid, or TooLarge if the budget is exceeded.
func parseCatalog(meter *budget.Meter, text []byte) (any, error) {
	text = withoutNotice(text)
	if err := meter.Spend(len(text) * byteSteps); err != nil {
		return nil, err
	}
	if !utf8.Valid(text) {
		return nil, malformed("The catalog is not UTF-8")
	}
	size, err := measure(text)
	if err != nil {
		return nil, err
	}
	if err := meter.Hold(size + len(text)); err != nil {
		return nil, err
	}
	if err := document.JSONSyntax(text); err != nil {
		if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
			return nil, malformed("The catalog is not JSON, which begins with a brace; send the output of \"puppet catalog " +
				"compile NODE --render-as json\" without other messages")
		}
		return nil, malformed("The catalog is not JSON: %w", err)
	}
	value, err := document.ParseJSON(text)
	if err != nil {
		return nil, malformed("The catalog is not JSON: %w", err)
	}
	return value, nil
}

// withoutNotice returns the text from the first line that begins with a brace.
func withoutNotice(text []byte) []byte {
	if !bytes.Contains(text[:min(len(text), 200)], []byte("Notice:")) {
		return text
	}
	if i := bytes.Index(text, []byte("\n{")); i >= 0 {
		return text[i+1:]
	}
	return text
}

// measure estimates the memory of the values of a JSON text, in bytes. Fault: Invalid if the text is nested too deeply,
// or escapes half of a surrogate pair.
func measure(text []byte) (size int, err error) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			size += valueBytes
			if depth++; depth > maxDepth {
				return 0, malformed("The catalog is nested deeper than %d levels", maxDepth)
			}
		case '}', ']':
			depth--
		case ',':
			size += valueBytes
		case ':':
			size += memberBytes - valueBytes
		case '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				length := 1
				if text[end] == '\\' {
					if length = escapeLength(text[end:]); length == 0 {
						return 0, malformed("The catalog has half of a surrogate pair at byte %d", end)
					}
				}
				end += length
			}
			i = end
		}
	}
	return size, nil
}

// escapeLength returns the length of the escape at the start of text. A surrogate pair is one escape; the length is 0
// for half of one, which is not a character.
func escapeLength(text []byte) int {
	const high, low, end = 0xd800, 0xdc00, 0xe000
	const short, long = len(`\n`), len(`\ud800`)
	unit := func(at int) uint64 {
		if at+long > len(text) || text[at] != '\\' || text[at+1] != 'u' {
			return 0
		}
		n, _ := strconv.ParseUint(string(text[at+short:at+long]), 16, 16) // other texts are not valid JSON
		return n
	}
	switch n := unit(0); {
	case n < high || n >= end:
		return short
	case n >= low:
		return 0
	}
	if n := unit(long); n < low || n >= end {
		return 0
	}
	return 2 * long
}
