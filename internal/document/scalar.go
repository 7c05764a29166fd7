package document

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Number is a number as JSON text: an integer of at most 64 bits, or a float as Python prints it.
type Number string

const (
	notFinite     rule = "JSON has no infinity and no NaN; quote it to keep the text"
	floatTooBig   rule = "numbers with a fraction or an exponent are below 1.8e+308 here; quote it to keep the text"
	integerTooBig rule = "integers have at most 64 bits here; write it with a fraction, such as 18446744073709551616.0, " +
		"to keep a number (of 53 bits), or quote it to keep the text"
	notDate      rule = "there is no such date; quote it to keep the text"
	notTimestamp rule = "!!timestamp needs a date or a time, such as 2001-12-14 or 2001-12-14 21:59:43; remove the tag"
	reserved     rule = "YAML 1.1 reserves this scalar; quote it to keep the text"
	notNumber    rule = "the tag asks for a number, and this is none; remove the tag"
	notBoolean   rule = "the tag asks for true or false, and this is neither; remove the tag"
)

// Patterns of plain scalars in YAML 1.1, from PyYAML's safe loader.
var (
	integerPattern = regexp.MustCompile(
		`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	floatPattern = regexp.MustCompile(
		`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?` +
			`|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	datePattern = regexp.MustCompile(`^(\d{4})-(\d\d?)-(\d\d?)$`)
	timePattern = regexp.MustCompile(`^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?` +
		`(?:[ \t]*(Z|([-+])(\d\d?)(?::(\d\d))?))?$`)
)

// IsPlainInteger reports whether a plain scalar is an integer in YAML 1.1.
func IsPlainInteger(text string) bool { return integerPattern.MatchString(text) }

// IsPlainFloat reports whether a plain scalar is a float in YAML 1.1.
func IsPlainFloat(text string) bool { return floatPattern.MatchString(text) }

// PlainBoolean returns the boolean value of a plain scalar in YAML 1.1; ok is false if it is not a boolean.
func PlainBoolean(text string) (truth, ok bool) {
	truth, ok = booleans[text]
	return truth, ok
}

// PlainDate parses a plain scalar that is a date or time in YAML 1.1. parts are substrings: year, month, day and, for a
// time, hour, minute, second, fraction, zone, and the zone's sign, hours and minutes. parts is nil if the text is
// neither a date nor a time; valid is false if there is no such date or time. t excludes the fraction and the zone.
func PlainDate(text string) (t time.Time, parts []string, valid bool) {
	if len(text) < len(time.DateOnly) { // such as 2001-1-1, which only a tag makes a date
		return t, nil, false
	}
	return TaggedDate(text)
}

// TaggedDate parses a scalar with the tag !!timestamp, as PlainDate does.
func TaggedDate(text string) (t time.Time, parts []string, valid bool) {
	if parts = datePattern.FindStringSubmatch(text); parts == nil {
		if parts = timePattern.FindStringSubmatch(text); parts == nil {
			return t, nil, false
		}
	}
	parts = parts[1:]
	var n [6]int
	for i := range min(len(parts), len(n)) {
		n[i], _ = strconv.Atoi(parts[i])
	}
	t = time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.UTC)
	same := t.Year() == n[0] && int(t.Month()) == n[1] && t.Day() == n[2] &&
		t.Hour() == n[3] && t.Minute() == n[4] && t.Second() == n[5]
	return t, parts, same && n[0] != 0
}

// TaggedBoolean returns the boolean value of a scalar with the tag !!bool; ok is false if it is not a boolean.
func TaggedBoolean(text string) (truth, ok bool) { return PlainBoolean(strings.ToLower(text)) }

var booleans = map[string]bool{
	"yes": true, "Yes": true, "YES": true, "no": false, "No": false, "NO": false,
	"true": true, "True": true, "TRUE": true, "false": false, "False": false, "FALSE": false,
	"on": true, "On": true, "ON": true, "off": false, "Off": false, "OFF": false,
}

// resolvePlain returns the value of an untagged plain scalar: nil, bool, Number or string.
func resolvePlain(text string) (any, rule) {
	switch {
	case isString(text):
		return text, ""
	case looksNumeric(text):
		return resolveNumeric(text)
	case text == "<<" || text == "=":
		return nil, reserved
	}
	if truth, ok := booleans[text]; ok {
		return truth, ""
	}
	return nil, ""
}

// isString reports whether a plain scalar is a string that does not look like a number.
func isString(text string) bool {
	switch {
	case looksNumeric(text):
		return false
	case len(text) > len("false"):
		return true
	}
	switch text {
	case "", "~", "null", "Null", "NULL", "<<", "=":
		return false
	}
	_, isBoolean := booleans[text]
	return !isBoolean
}

// looksNumeric reports whether a text begins like a number or a date.
func looksNumeric(text string) bool {
	return text != "" && strings.IndexByte("+-.0123456789", text[0]) >= 0
}

// maxNumber bounds the length of numbers. Longer texts are not matched against the patterns.
const maxNumber = 1024

func resolveNumeric(text string) (any, rule) {
	switch {
	case len(text) > maxNumber:
		if strings.Trim(text, "+-0123456789abcdefABCDEFx_.:") == "" {
			return nil, integerTooBig
		}
		return text, ""
	case isDecimal(text):
		return Number(text), ""
	case isNumeric(text) && integerPattern.MatchString(text):
		return integer(text)
	case isNumeric(text) && floatPattern.MatchString(text):
		return float(text)
	case len(text) >= len("2001-01-01") && text[4] == '-':
		return text, checkDate(text)
	}
	return text, ""
}

// isDecimal reports whether a text is a short decimal integer in the form that JSON uses.
func isDecimal(text string) bool {
	const maxLength = 18 // fits in 64 bits
	if len(text) > maxLength || text[0] == '0' && len(text) > 1 {
		return false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// isNumeric reports whether a text may match the pattern of integers or floats. It quickly rules out addresses and
// versions, which are common.
func isNumeric(text string) bool {
	points := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
		case c == '.':
			points++
		case strings.IndexByte("+-_:abcdefxABCDEFinIN", c) < 0:
			return false
		}
	}
	return points <= 1
}

// maxInteger bounds the length of integers: 64 binary digits with some leading zeros.
const maxInteger = 128

// integer returns an integer in any notation of YAML 1.1.
func integer(text string) (any, rule) {
	if len(strings.ReplaceAll(strings.TrimLeft(text, "+-"), "_", "")) > maxInteger {
		return nil, integerTooBig // arithmetic would take quadratic time
	}
	value, ok := ParseInteger(text)
	switch {
	case !ok:
		return nil, notNumber
	case !value.IsInt64() && !value.IsUint64():
		return nil, integerTooBig
	}
	return Number(value.String()), ""
}

// ParseInteger parses an integer in any notation of YAML 1.1, and octal ones with 0o. It takes quadratic time.
func ParseInteger(text string) (value *big.Int, ok bool) {
	digits := strings.ReplaceAll(text, "_", "")
	negative := strings.HasPrefix(digits, "-")
	digits = strings.TrimLeft(digits, "+-")
	value = new(big.Int)
	switch {
	case strings.HasPrefix(digits, "0b"):
		_, ok = value.SetString(digits[2:], 2)
	case strings.HasPrefix(digits, "0x"):
		_, ok = value.SetString(digits[2:], 16)
	case strings.HasPrefix(digits, "0") && !strings.Contains(digits, ":"):
		_, ok = value.SetString(strings.TrimPrefix(digits, "0o"), 8)
	default:
		ok = sexagesimal(value, digits)
	}
	if negative {
		value.Neg(value)
	}
	return value, ok
}

// sexagesimal sets sum to the value of a number in base 60, such as 190:20:30, or of a decimal one.
func sexagesimal(sum *big.Int, text string) bool {
	sixty := big.NewInt(60)
	for part := range strings.SplitSeq(text, ":") {
		n, ok := new(big.Int).SetString(part, 10)
		if !ok {
			return false
		}
		sum.Add(sum.Mul(sum, sixty), n)
	}
	return true
}

func float(text string) (any, rule) {
	f, ok := ParseFloat(text)
	switch {
	case !ok:
		return nil, notNumber
	case math.IsNaN(f), math.IsInf(f, 0) && strings.HasSuffix(strings.ToLower(text), "inf"):
		return nil, notFinite
	case math.IsInf(f, 0):
		return nil, floatTooBig
	}
	return FormatFloat(f), ""
}

// ParseFloat parses a float in any notation of YAML 1.1. A number that is too large is an infinity.
func ParseFloat(text string) (f float64, ok bool) {
	digits := strings.ToLower(strings.ReplaceAll(text, "_", ""))
	sign := 1.0
	if strings.HasPrefix(digits, "-") {
		sign = -1
	}
	digits = strings.TrimLeft(digits, "+-")
	switch {
	case digits == ".inf":
		return sign * math.Inf(1), true
	case digits == ".nan":
		return math.NaN(), true
	case strings.Contains(digits, "x"): // strconv reads hexadecimal floats
		return 0, false
	}
	for part := range strings.SplitSeq(digits, ":") {
		value, err := strconv.ParseFloat(part, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, false
		}
		f = f*60 + value
	}
	return sign * f, true
}

// FormatFloat formats a finite float like Python's repr, as the reference does.
func FormatFloat(f float64) Number {
	exponent := strconv.FormatFloat(f, 'e', -1, 64)
	if _, power, _ := strings.Cut(exponent, "e"); f != 0 {
		if n, _ := strconv.Atoi(power); n < -4 || n >= 16 {
			return Number(exponent)
		}
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return Number(text)
}

// checkDate checks that text in the form of a date or time is valid, as the reference's loader does. The value of a
// date remains its text.
func checkDate(text string) rule {
	if _, parts, valid := PlainDate(text); parts != nil && !valid {
		return notDate
	}
	return ""
}

// resolveTagged returns the value of a scalar with an explicit tag, given in short form.
func resolveTagged(tag, text string) (any, rule) {
	switch tag {
	case "!!str", "!":
		return text, ""
	case "!!null":
		return nil, ""
	case "!!bool":
		if truth, ok := TaggedBoolean(text); ok {
			return truth, ""
		}
		return nil, notBoolean
	case "!!int":
		return taggedInteger(text)
	case "!!float":
		return float(text)
	case "!!timestamp":
		switch _, parts, valid := TaggedDate(text); {
		case parts == nil:
			return nil, notTimestamp
		case !valid:
			return nil, notDate
		}
		return text, ""
	}
	return nil, unreadTag(tag)
}

// IsYAMLTag reports whether a tag, in short form, is one of YAML 1.1. Messages name no others: they may be secrets that
// begin with an exclamation mark.
func IsYAMLTag(tag string) bool {
	return slices.Contains(strings.Fields("!!binary !!bool !!float !!int !!map !!merge !!null !!omap !!pairs !!seq !!set "+
		"!!str !!timestamp !!value !!yaml"), tag)
}

// unreadTag returns the rule about a tag that is not read where it stands.
func unreadTag(tag string) rule {
	if IsYAMLTag(tag) {
		return rule("the tag " + tag + " is not read here; use plain YAML values")
	}
	return "'!' begins a tag, and this one is not read; quote a value that begins with '!', or remove the tag"
}

func taggedInteger(text string) (any, rule) {
	if octal, ok := strings.CutPrefix(text, "0o"); ok { // as of YAML 1.2; Python reads it too
		text = "0" + octal
	}
	if !integerPattern.MatchString(text) {
		return nil, notNumber
	}
	return integer(text)
}
