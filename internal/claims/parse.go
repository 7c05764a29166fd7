package claims

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sosodev/duration"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/validations"
	"purser/internal/words"
)

// Bounds of what a worker sends. Those of texts are in characters.
const (
	maxNames, maxWorker, maxProgress, maxReason = 50, 100, 200, 1000

	minTimeout, maxTimeout = time.Second, time.Hour
	defaultTimeout         = 5 * time.Minute
)

// ParseAsk parses the request of a worker. Faults: Invalid, Forbidden for a reserved name.
func ParseAsk(value any) (ask Ask, err error) {
	fields, err := fieldsOf("A claim", value, "validations", "worker", "timeout")
	if err != nil {
		return ask, err
	}
	if ask.Names, err = parseNames(fields["validations"]); err != nil {
		return ask, err
	}
	if ask.Worker, err = parseText("worker", fields["worker"], maxWorker); err != nil {
		return ask, err
	}
	if ask.Worker == "" {
		return ask, bad("A claim must have a worker: a name that tells people who works on it, such as a host and a " +
			"process.")
	}
	ask.Timeout = defaultTimeout
	if given := fields["timeout"]; given != nil {
		text, _ := given.(string)
		if ask.Timeout, err = parseTimeout(text); err != nil {
			return ask, err
		}
	}
	return ask, nil
}

// ParseProgress parses the body of a request that extends a claim; nil if it says nothing about the progress.
func ParseProgress(value any) (*string, error) {
	if value == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	fields, err := fieldsOf("The body", value, "progress")
	if err != nil || fields["progress"] == nil {
		return nil, err
	}
	progress, err := parseText("progress", fields["progress"], maxProgress)
	return &progress, err
}

// ParseReason parses the body of a request for a new result.
func ParseReason(value any) (string, error) {
	if value == nil {
		return "", nil
	}
	fields, err := fieldsOf("The body", value, "reason")
	if err != nil || fields["reason"] == nil {
		return "", err
	}
	return parseText("reason", fields["reason"], maxReason)
}

// CheckName checks the name of a validation that a worker asks for. Faults: Invalid, Forbidden for a reserved name.
func CheckName(name string) error {
	const what = "The name of the validation"
	if err := validations.CheckName(name, what); err != nil {
		return err
	}
	return validations.CheckPostable(name)
}

// fieldsOf returns the values of a mapping by their keys, which must be known.
func fieldsOf(what string, value any, known ...string) (map[string]any, error) {
	mapping, isMapping := value.(document.Mapping)
	if !isMapping {
		return nil, bad(what + " must be a mapping, with the keys " + words.List(known) + ".")
	}
	fields := map[string]any{}
	for _, field := range mapping {
		if !slices.Contains(known, field.Key) {
			hint := "it can have " + words.List(known)
			if nearest := words.Nearest(field.Key, known); nearest != "" {
				hint = "did you mean " + nearest + "?"
			}
			return nil, bad(what + " has the unknown key " + strconv.Quote(words.Excerpt(field.Key)) + "; " + hint)
		}
		fields[field.Key] = field.Value
	}
	return fields, nil
}

func parseNames(value any) (names []string, err error) {
	items, isList := value.([]any)
	if !isList || len(items) == 0 || len(items) > maxNames {
		return nil, bad(fmt.Sprintf("A claim must have a list of validations, of 1 to %d names.", maxNames))
	}
	for _, item := range items {
		name, isText := item.(string)
		if !isText {
			return nil, bad("The validations of a claim must be a list of names.")
		}
		if err := CheckName(name); err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// parseText parses a text with a limit in characters, without control characters.
func parseText(key string, value any, most int) (string, error) {
	text, isText := value.(string)
	switch {
	case value == nil:
		return "", nil
	case !isText || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return "", bad("The " + key + " must be a text on one line.")
	case utf8.RuneCountInString(text) > most:
		return "", bad(fmt.Sprintf("The %s has %d characters, but at most %d are allowed.", key,
			utf8.RuneCountInString(text), most))
	}
	return text, nil
}

// parseTimeout parses a duration such as PT5M or 5m.
func parseTimeout(text string) (time.Duration, error) {
	timeout, err := time.ParseDuration(text)
	if err != nil {
		var iso *duration.Duration
		if iso, err = duration.Parse(text); err == nil {
			if timeout = iso.ToTimeDuration(); iso.Years != 0 || iso.Months != 0 || iso.Weeks != 0 || iso.Days != 0 ||
				iso.Hours > 1 || iso.Minutes > 60 || iso.Seconds > 3600 { // which could overflow
				timeout = maxTimeout + 1
			}
		}
	}
	if err != nil || timeout < minTimeout || timeout > maxTimeout {
		return 0, bad("The timeout must be a duration from 1 second to 1 hour, such as PT5M or 5m.")
	}
	return timeout, nil
}

func bad(message string) error { return fault.New(fault.Invalid, "HTTPBadRequest", "%s", message) }
