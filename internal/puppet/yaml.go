package puppet

import (
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
)

// YAML returns the data for Hiera as YAML text that Ruby reads as what it is. All texts are in quotes, because Ruby
// takes some for something else that other YAML libraries do not, such as 80,443 for a number and :name for a symbol.
// The error is the meter's, unwrapped.
func YAML(meter *budget.Meter, data document.Mapping) ([]byte, error) {
	w := yamlWriter{meter: meter}
	err := w.mapping(data, "")
	return w.text, err
}

// JSON returns the data for Hiera as JSON text. The error is the meter's, unwrapped.
func JSON(meter *budget.Meter, data document.Mapping) ([]byte, error) {
	text, err := appendCounted(meter, nil, data)
	return append(text, '\n'), err
}

type yamlWriter struct {
	meter *budget.Meter
	text  []byte
}

// maxSimpleKey is how long a key may be, in bytes, that stands on one line with its value.
const maxSimpleKey = 1000

// mapping writes a mapping that is not empty, one member a line.
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

// flow returns a value on one line. JSON text is YAML, but for a few characters and for numbers like 1e-07.
func flow(value any) []byte {
	text := document.AppendJSON(nil, spelt(value))
	return []byte(escapes.Replace(string(text)))
}

// escapes replaces characters that JSON text may have as they are, and that YAML takes for line breaks or refuses.
//
//nolint:gochecknoglobals // never changes
var escapes = strings.NewReplacer("\u007f", `\u007f`, "\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`,
	"\ufeff", `\ufeff`)

// spelt returns a value with numbers that YAML takes for numbers.
func spelt(value any) any {
	switch v := value.(type) {
	case document.Number:
		if at := strings.IndexAny(string(v), "eE"); at >= 0 && !strings.Contains(string(v), ".") {
			return v[:at] + ".0" + v[at:]
		}
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = spelt(item)
		}
		return list
	case document.Mapping:
		m := make(document.Mapping, len(v))
		for i, member := range v {
			m[i] = document.Member{Key: member.Key, Value: spelt(member.Value)}
		}
		return m
	}
	return value
}
