package murano

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"purser/internal/document"
)

// maxNumber bounds the length of numbers, in bytes, because Python refuses longer ones. Messages name it.
const maxNumber = 4300

// maxLooks bounds the length of texts that are matched as a number or a date, in bytes.
const maxLooks = 2 * maxNumber

// resolve sets the kind and text of a plain scalar without a tag.
func (v *Value) resolve(text string) error {
	switch text {
	case "", "~", "null", "Null", "NULL":
		v.Kind, v.Text = Null, "null"
		return nil
	case "=":
		return rule("a value = has no meaning in YAML 1.1; quote it")
	case "<<":
		return rule("a value << has no meaning in YAML 1.1; quote it")
	}
	if _, is := document.PlainBoolean(text); is {
		return v.boolean(text)
	}
	if strings.IndexByte("+-.0123456789", text[0]) >= 0 && len(text) < maxLooks {
		switch {
		case document.IsPlainInteger(text):
			return v.integer(text)
		case document.IsPlainFloat(text):
			return v.float(text)
		}
		if _, parts, _ := document.PlainDate(text); parts != nil {
			return v.date(text)
		}
	}
	v.Kind, v.Text, v.Plain = String, text, true
	return nil
}

// tagged sets the kind and text of a scalar with a tag.
func (v *Value) tagged(tag, text string) error {
	switch tag {
	case "!!str":
		v.Kind, v.Text = String, text
		return nil
	case "!yaql":
		v.Kind, v.Text, v.YAQL = String, text, true
		return nil
	case "!!null":
		v.Kind, v.Text = Null, "null"
		return nil
	case "!!bool":
		return v.boolean(text)
	case "!!int":
		return v.integer(text)
	case "!!float":
		return v.float(text)
	case "!!timestamp":
		return v.date(text)
	case "!!binary":
		return v.binary(text)
	}
	return errTag(tag)
}

// errTag returns the rule about a tag that is not known where it stands. It names only tags of YAML.
func errTag(tag string) rule {
	if document.IsYAMLTag(tag) {
		return rule("the tag " + tag + " is not known here")
	}
	return "'!' begins a tag, and this one is not known; quote a value that begins with '!'"
}

func (v *Value) boolean(text string) error {
	truth, is := document.TaggedBoolean(text)
	if !is {
		return rule("the tag !!bool needs true or false")
	}
	v.Kind, v.Text, v.falsy = Bool, "True", !truth
	if !truth {
		v.Text = "False"
	}
	return nil
}

func (v *Value) integer(text string) error {
	if len(text) > maxNumber {
		return rule("the number has more than 4300 digits")
	}
	value, ok := document.ParseInteger(text)
	if !ok {
		return rule("the tag !!int needs an integer")
	}
	v.Kind, v.Text, v.falsy = Int, value.String(), value.Sign() == 0
	return nil
}

func (v *Value) float(text string) error {
	if len(text) > maxNumber {
		return rule("the number has more than 4300 digits")
	}
	f, ok := document.ParseFloat(text)
	if !ok {
		return rule("the tag !!float needs a number")
	}
	v.Kind, v.Text, v.falsy = Float, formatFloat(f), f == 0
	return nil
}

// formatFloat formats a float as Python does.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.Trim(strings.ToLower(strconv.FormatFloat(f, 'f', -1, 64)), "+")
	}
	return string(document.FormatFloat(f))
}

// date parses a date or a time.
func (v *Value) date(text string) error {
	t, parts, valid := document.TaggedDate(text)
	switch {
	case parts == nil:
		return rule("the tag !!timestamp needs a date")
	case !valid:
		return rule("there is no such date")
	}
	v.Kind = Date
	const date, fraction, zoned, sign = 3, 6, 7, 8 // the number of parts of a date, and the positions of parts of a time
	if len(parts) == date {
		v.Text = t.Format(time.DateOnly)
		return nil
	}
	v.Text = t.Format("2006-01-02 15:04:05")
	if micros := (parts[fraction] + "000000")[:6]; parts[fraction] != "" && strings.Trim(micros, "0") != "" {
		v.Text += "." + micros
	}
	if parts[zoned] != "" {
		v.Text += zone(parts[sign], parts[sign+1], parts[sign+2])
	}
	return nil
}

// zone formats an offset from UTC.
func zone(sign, hours, minutes string) string {
	if sign == "" {
		return "+00:00"
	}
	h, _ := strconv.Atoi(hours)
	m, _ := strconv.Atoi(minutes)
	if h == 0 && m == 0 {
		sign = "+"
	}
	return fmt.Sprintf("%s%02d:%02d", sign, h, m)
}

// dateConstructor returns a date as Python prints it within a list.
func dateConstructor(text string) string {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return "datetime.datetime(" + text + ")"
	}
	return fmt.Sprintf("datetime.date(%d, %d, %d)", t.Year(), t.Month(), t.Day())
}

func (v *Value) binary(text string) error {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return rule("it is not base64")
	}
	var b strings.Builder
	b.WriteString("b'")
	for _, c := range data[:min(len(data), maxShown)] {
		if c < ' ' || c > '~' || c == '\'' || c == '\\' {
			fmt.Fprintf(&b, `\x%02x`, c)
			continue
		}
		b.WriteByte(c)
	}
	b.WriteByte('\'')
	v.Kind, v.Text, v.falsy = Other, b.String(), len(data) == 0
	return nil
}
