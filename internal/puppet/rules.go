package puppet

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"purser/internal/document"
)

// values describe the values that a parameter may have. The zero value allows all.
type values struct {
	whole    []alternative // for the value itself, even if it is a list
	items    string        // which items of a list the others are for; "" for the list itself
	allowed  []alternative
	shown    int    // how many of the allowed ones a message lists, which omits aliases; 0 for all
	sentence string // why other values are refused; "" to list the allowed ones
}

// Which items of a list are judged.
const (
	eachItem  = "each"
	flatItems = "flat"
	headItem  = "head"
)

// alternative is one way in which a value is allowed: all of what is set must hold.
type alternative struct {
	class   string // of the value; "" for any scalar
	word    string
	pattern *regexp.Regexp
}

// of returns the parts of a value that are judged.
func (v values) of(value any) []any {
	list, isList := value.([]any)
	switch {
	case !isList || v.items == "":
		return []any{value}
	case v.items == flatItems:
		return flatten(list)
	case v.items == headItem && len(list) > 0:
		return list[:1]
	case v.items == headItem:
		return []any{nil}
	}
	return list
}

// check returns why a value is invalid, in Puppet's words where these help, or "" if it is valid. Rich data, such as a
// function that the agent calls, is always valid.
func (v values) check(value any) string {
	if v.allowed == nil {
		return ""
	}
	if accepts(v.whole, value) {
		return ""
	}
	for _, item := range v.of(value) {
		if !isRich(item) && !accepts(v.allowed, item) {
			return v.refuse(item)
		}
	}
	return ""
}

// accepts reports whether one of the alternatives allows a value.
func accepts(allowed []alternative, value any) bool {
	text, isScalar := textOf(value)
	for _, a := range allowed {
		switch {
		case a.class == "" && !isScalar, a.class != "" && !isOf(value, a.class):
		case a.word != "" && a.word != text:
		case a.pattern != nil && (!isScalar || !a.pattern.MatchString(text)):
		default:
			return true
		}
	}
	return false
}

// isOf reports whether a value is of a class of the table or of Ruby.
func isOf(value any, class string) bool {
	switch is := rubyClass(value); class {
	case "Numeric":
		return is == "Integer" || is == "Float"
	case "Boolean":
		return is == "TrueClass" || is == "FalseClass"
	case "Options":
		m, ok := value.(document.Mapping)
		return ok && !slices.ContainsFunc(m, func(o document.Member) bool {
			return !isOf(o.Value, "String") && !isOf(o.Value, "Array")
		})
	case "Other":
		return is != "String"
	default:
		return is == class
	}
}

// isRich reports whether a value is Puppet's rich data, such as a function that the agent calls.
func isRich(value any) bool {
	m, ok := value.(document.Mapping)
	if !ok {
		return false
	}
	_, typed := m.Lookup("__ptype")
	return typed
}

// refuse returns why an item is invalid.
func (v values) refuse(item any) (text string) {
	switch {
	case strings.Contains(v.sentence, "%s"):
		text = fmt.Sprintf(v.sentence, quoted(item))
	case v.sentence != "":
		text = v.sentence
	default:
		text = fmt.Sprintf("Invalid value %s.%s", shown(item), v.describe())
	}
	number, isScalar := textOf(item)
	if _, isText := item.(string); !isText && isScalar && accepts(v.allowed, number) && !strings.Contains(text, "quotes") {
		text += "; write it in quotes"
	}
	return text
}

// quoted is like shown, but strings are in the quotes that Puppet uses in sentences.
func quoted(item any) string {
	text := shown(item)
	if _, isText := item.(string); isText {
		text = "'" + text[1:len(text)-1] + "'"
	}
	return text
}

// describe returns sentences about the allowed values, in Puppet's words.
func (v values) describe() (text string) {
	var words, patterns []string
	for i, a := range v.allowed {
		switch {
		case v.shown > 0 && i >= v.shown, a.class != "":
		case a.pattern != nil:
			patterns = append(patterns, rubyRegexp(a.pattern))
		default:
			words = append(words, a.word)
		}
	}
	if words != nil {
		text += fmt.Sprintf(" Valid values are %s.", strings.Join(words, ", "))
	}
	if patterns != nil {
		text += fmt.Sprintf(" Valid values match %s.", strings.Join(patterns, ", "))
	}
	return text
}

// rubyRegexp formats a regular expression as Ruby does.
func rubyRegexp(pattern fmt.Stringer) string {
	return "/" + strings.ReplaceAll(pattern.String(), "/", `\/`) + "/"
}

// costOf returns the cost of checking a value, in steps.
func costOf(allowed []alternative, value any) int {
	const stepsPerByte = 50
	matched := 0
	for _, a := range allowed {
		if a.pattern != nil {
			matched++
		}
	}
	return sizeOf(value) * max(1, matched*stepsPerByte)
}

// sizeOf returns about the number of bytes of a value.
func sizeOf(value any) int {
	const each = 16
	size := each
	switch v := value.(type) {
	case string:
		size += len(v)
	case []any:
		for _, item := range v {
			size += sizeOf(item)
		}
	case document.Mapping:
		size += each * len(v)
	}
	return size
}
