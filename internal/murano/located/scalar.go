package located

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The patterns of plain scalars, from PyYAML's safe loader.
var (
	intPattern = regexp.MustCompile(
		`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	floatPattern = regexp.MustCompile(
		`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?` +
			`|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	datePattern = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)$`)
	timePattern = regexp.MustCompile(`^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?` +
		`(?:[ \t]*(Z|([-+])(\d\d?)(?::(\d\d))?))?$`)
)

// booleans are the words that are true or false.
var booleans = map[string]bool{
	"yes": true, "Yes": true, "YES": true, "no": false, "No": false, "NO": false,
	"true": true, "True": true, "TRUE": true, "false": false, "False": false, "FALSE": false,
	"on": true, "On": true, "ON": true, "off": false, "Off": false, "OFF": false,
}

// maxNumber bounds the length of numbers, in bytes: Python refuses longer ones.
const maxNumber = 4300

// maxLooks bounds the length of texts that may look like a number or a date, in bytes.
const maxLooks = 2 * maxNumber

// resolve sets the kind and text of a plain scalar without a tag.
func (v *Value) resolve(text string) error {
	switch text {
	case "", "~", "null", "Null", "NULL":
		v.Kind, v.Text = Null, "null"
		return nil
	case "=":
		return errors.New("a value = has no meaning in YAML 1.1; quote it")
	case "<<":
		return errors.New("a value << has no meaning in YAML 1.1; quote it")
	}
	if _, is := booleans[text]; is {
		return v.boolean(text)
	}
	if strings.IndexByte("+-.0123456789", text[0]) >= 0 && len(text) < maxLooks {
		switch {
		case intPattern.MatchString(text):
			return v.integer(text)
		case floatPattern.MatchString(text):
			return v.float(text)
		case datePattern.MatchString(text) || timePattern.MatchString(text):
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

func errTag(tag string) error { return fmt.Errorf("the tag %.100q is not known", tag) }

func (v *Value) boolean(text string) error {
	truth, is := booleans[text]
	if lower, ok := booleans[strings.ToLower(text)]; !is && ok {
		truth, is = lower, true
	}
	if !is {
		return fmt.Errorf("%.100q is no boolean", text)
	}
	v.Kind, v.Text, v.falsy = Bool, "True", !truth
	if !truth {
		v.Text = "False"
	}
	return nil
}

func (v *Value) integer(text string) error {
	if len(text) > maxNumber {
		return fmt.Errorf("the number has more than %d digits", maxNumber)
	}
	digits := strings.ReplaceAll(text, "_", "")
	negative := strings.HasPrefix(digits, "-")
	digits = strings.TrimLeft(digits, "+-")
	value, ok := new(big.Int), true
	switch {
	case digits == "0":
	case strings.HasPrefix(digits, "0b"):
		_, ok = value.SetString(digits[2:], 2)
	case strings.HasPrefix(digits, "0x"):
		_, ok = value.SetString(digits[2:], 16)
	case strings.HasPrefix(digits, "0"):
		_, ok = value.SetString(digits, 8)
	default:
		for part := range strings.SplitSeq(digits, ":") {
			n, isNumber := new(big.Int).SetString(part, 10)
			if !isNumber {
				ok = false
				break
			}
			value.Add(value.Mul(value, big.NewInt(60)), n)
		}
	}
	if !ok {
		return fmt.Errorf("%.100q is no integer", text)
	}
	if negative {
		value.Neg(value)
	}
	v.Kind, v.Text, v.falsy = Int, value.String(), value.Sign() == 0
	return nil
}

func (v *Value) float(text string) error {
	if len(text) > maxNumber {
		return fmt.Errorf("the number has more than %d digits", maxNumber)
	}
	digits := strings.ToLower(strings.ReplaceAll(text, "_", ""))
	negative := strings.HasPrefix(digits, "-")
	digits = strings.TrimLeft(digits, "+-")
	sum := 0.0
	switch digits {
	case ".inf":
		sum = math.Inf(1)
	case ".nan":
		sum = math.NaN()
	default:
		for part := range strings.SplitSeq(digits, ":") {
			f, err := strconv.ParseFloat(part, 64)
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				return fmt.Errorf("%.100q is no number", text)
			}
			sum = sum*60 + f
		}
	}
	if negative {
		sum = -sum
	}
	v.Kind, v.Text, v.falsy = Float, formatFloat(sum), sum == 0
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
	exponent := strconv.FormatFloat(f, 'e', -1, 64)
	if _, power, _ := strings.Cut(exponent, "e"); f != 0 {
		if n, _ := strconv.Atoi(power); n < -4 || n >= 16 {
			return exponent
		}
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// date reads a date or a time.
func (v *Value) date(text string) error {
	parts := datePattern.FindStringSubmatch(text)
	if parts == nil {
		if parts = timePattern.FindStringSubmatch(text); parts == nil {
			return fmt.Errorf("%.100q is no date", text)
		}
	}
	var n [6]int
	for i := range min(len(parts)-1, len(n)) {
		n[i], _ = strconv.Atoi(parts[i+1])
	}
	t := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.UTC)
	if t.Year() != n[0] || int(t.Month()) != n[1] || t.Day() != n[2] || t.Hour() != n[3] || t.Minute() != n[4] ||
		t.Second() != n[5] || n[0] == 0 {
		return fmt.Errorf("there is no date %.100q", text)
	}
	v.Kind = Date
	if len(parts) == 4 {
		v.Text = text
		return nil
	}
	v.Text = t.Format("2006-01-02 15:04:05")
	if fraction := (parts[7] + "000000")[:6]; parts[7] != "" && strings.Trim(fraction, "0") != "" {
		v.Text += "." + fraction
	}
	if parts[8] != "" {
		v.Text += zone(parts[9], parts[10], parts[11])
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
		return errors.New("it is no base64")
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

// escape writes a character by its number.
func escape(b *strings.Builder, r rune) {
	switch {
	case r <= 0xff:
		fmt.Fprintf(b, `\x%02x`, r)
	case r <= 0xffff:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}
