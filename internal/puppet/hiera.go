package puppet

import (
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
)

// YAML returns data for Hiera as YAML text for Ruby. It quotes all strings, because Ruby's YAML library reads some
// plain ones as other types: 80,443 as a number, :name as a symbol.
func YAML(meter *budget.Meter, data document.Mapping) ([]byte, error) {
	w := yamlWriter{meter: meter}
	err := w.mapping(data, "")
	return w.text, err
}

// JSON returns data for Hiera as JSON text.
func JSON(meter *budget.Meter, data document.Mapping) ([]byte, error) {
	text, err := appendJSON(meter, nil, data)
	return append(text, '\n'), err
}

// appendJSON appends value as JSON text and charges steps and bytes to the budget.
func appendJSON(meter *budget.Meter, text []byte, value any) ([]byte, error) {
	const often = 1 << 16 // bytes between updates of the memory in the budget
	before := len(text)
	text = document.AppendJSON(text, value)
	meter.Charge((len(text) - before) * byteSteps)
	if before/often == len(text)/often {
		return text, nil
	}
	return text, meter.Hold((len(text)/often - before/often) * often)
}

type yamlWriter struct {
	meter *budget.Meter
	text  []byte
}

// maxSimpleKey is the maximum length of a key written on one line with its value, in bytes.
const maxSimpleKey = 1000

// mapping writes a non-empty mapping, one member per line.
func (w *yamlWriter) mapping(m document.Mapping, indent string) error {
	for _, member := range m {
		w.text = append(w.text, indent...)
		if key := flow(member.Key); len(key) > maxSimpleKey {
			w.text = append(append(append(w.text, "? "...), key...), "\n"+indent...)
		} else {
			w.text = append(w.text, key...)
		}
		w.text = append(w.text, ':')
		if below, ok := member.Value.(document.Mapping); ok && len(below) > 0 {
			w.text = append(w.text, '\n')
			if err := w.mapping(below, indent+"  "); err != nil {
				return err
			}
			continue
		}
		text := flow(member.Value)
		if err := w.meter.Hold(len(text)); err != nil {
			return err
		}
		w.meter.Charge(len(text) * byteSteps)
		w.text = append(append(append(w.text, ' '), text...), '\n')
	}
	return nil
}

// flow formats a value on one line. JSON is valid YAML except for a few characters and numbers like 1e-07.
func flow(value any) []byte {
	text := document.AppendJSON(nil, document.MapScalars(value, yamlNumber))
	return []byte(escapes.Replace(string(text)))
}

// escapes replaces characters that JSON allows unescaped, but that YAML forbids or treats as line breaks.
//
//nolint:gochecknoglobals // never changes
var escapes = strings.NewReplacer("\u007f", `\u007f`, "\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`,
	"\ufeff", `\ufeff`)

// yamlNumber returns a number in a form that YAML reads as a number. It returns other values unchanged.
func yamlNumber(value any) any {
	n, _ := value.(document.Number)
	if at := strings.IndexAny(string(n), "eE"); at >= 0 && !strings.Contains(string(n), ".") {
		return n[:at] + ".0" + n[at:]
	}
	return value
}
