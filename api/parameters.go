package api

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/wire"
	"purser/internal/words"
)

// The parameters that more than the handlers know.
const (
	// cleartextSecrets selects hashes instead of secrets.
	cleartextSecrets = "cleartext-secrets"
	// Search is a text to search documents for, which may be a secret.
	searchParameter = "search"
	// FormParameter selects documents as they were submitted.
	formParameter = "form"
)

// params reads the query parameters of a request and keeps the first fault.
type params struct {
	values url.Values
	fault  *fault.Fault
}

// paramsOf returns the query of a request.
func paramsOf(r *http.Request) *params {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &params{values: values}
	if err != nil {
		q.fault = fault.New(fault.Invalid, "HTTPBadRequest", "The query of the URL cannot be read: %w; write percent signs "+
			"as %%25, semicolons as %%3B and ampersands in values as %%26", err)
	}
	return q
}

// fail notes that a parameter is invalid, with what it must be.
func (q *params) fail(parameter, what string, args ...any) {
	if q.fault == nil {
		q.fault = fault.New(fault.Invalid, "HTTPInvalidParam", `The %q parameter is invalid. `+what,
			append([]any{revisions.Truncate(parameter)}, args...)...)
	}
}

// failHeader notes that a header is invalid, with what it must be.
func (q *params) failHeader(header, what string, args ...any) {
	if q.fault == nil {
		q.fault = fault.New(fault.Invalid, "HTTPInvalidHeader", "The value provided for the %q header is invalid. "+what,
			append([]any{header}, args...)...)
	}
}

// err returns the first fault, or nil.
func (q *params) err() error {
	if q.fault == nil {
		return nil
	}
	return q.fault
}

// given reports whether a parameter is present.
func (q *params) given(parameter string) bool { return q.values.Has(parameter) }

// maxValues bounds the values of one parameter.
const maxValues = 500

// texts returns all values of a parameter, nil if it is absent.
func (q *params) texts(parameter string) []string {
	values := q.values[parameter]
	if len(values) > maxValues {
		q.fail(parameter, "It has %d values, but at most %d are allowed.", len(values), maxValues)
		return nil
	}
	for _, value := range values {
		switch {
		case !utf8.ValidString(value):
			q.fail(parameter, "One of its values is not valid UTF-8.")
		case strings.ContainsRune(value, 0):
			q.fail(parameter, "A value of it holds a NUL character.")
		default:
			continue
		}
		return nil
	}
	return values
}

// text returns the value of a parameter that may be given once, "" if it is absent.
func (q *params) text(parameter string) string {
	values := q.texts(parameter)
	if len(values) == 0 {
		return ""
	}
	if len(values) > 1 {
		q.fail(parameter, "It may be given only once.")
	}
	return values[0]
}

// count returns the value of a parameter as a number of at least 0.
func (q *params) count(parameter string, absent int) int {
	values, ok := q.values[parameter]
	if !ok {
		return absent
	}
	n, err := strconv.Atoi(values[0])
	switch {
	case len(values) == 1 && n > 0 && errors.Is(err, strconv.ErrRange):
		q.fail(parameter, "It must be a smaller whole number.")
	case err != nil, n < 0, len(values) > 1:
		q.fail(parameter, "It must be given once, as a whole number that is not negative.")
	}
	return min(n, maxCount)
}

// maxCount bounds all numbers in parameters. No real count is as large, and sums with it do not overflow.
const maxCount = 1 << 40

// flag returns the value of a parameter as a boolean, in the words that Deckhand accepts. An empty value is true.
func (q *params) flag(parameter string, absent bool) bool {
	values, ok := q.values[parameter]
	switch {
	case !ok:
		return absent
	case len(values) > 1:
		q.fail(parameter, "It must be given once.")
		return false
	}
	value, valid := wire.ParseFlag(values[0])
	if !valid {
		q.fail(parameter, `The value of the parameter must be "true" or "false".`)
	}
	return value
}

// time returns the value of a parameter as a time, zero if it is absent.
func (q *params) time(parameter string) time.Time {
	text := q.text(parameter)
	if text == "" {
		return time.Time{}
	}
	for _, format := range []string{time.RFC3339, wire.TimeFormat} {
		if t, err := time.Parse(format, text); err == nil {
			return t
		}
	}
	q.fail(parameter, "It must be a time such as 2026-01-31T12:00:00Z.")
	return time.Time{}
}

// checkParameters refuses parameters of a request that its route does not know, since they may be misspelt, and empty
// ones, since the variable that they come from may be unset: the request would not do what the caller meant. If
// lenient, it ignores the former and passes the latter on, as Deckhand does.
func checkParameters(r *http.Request, known []string, lenient bool) error {
	q := paramsOf(r)
	if !lenient {
		for _, parameter := range slices.Sorted(maps.Keys(q.values)) {
			switch {
			case !slices.Contains(known, parameter):
				q.fail(parameter, "%s", unknownParameter(parameter, known))
			case slices.Contains(q.values[parameter], "") && !mayBeEmpty(parameter):
				q.fail(parameter, "It must not be empty: give it a value, or leave it out.")
			}
		}
	}
	if slices.Contains(known, cleartextSecrets) {
		q.flag(cleartextSecrets, true) // read when the caller is authorized
	}
	return q.err()
}

// mayBeEmpty reports whether an empty value of a parameter has a meaning: of a flag true; of a message, and of a node's
// role and cluster, that there is none.
func mayBeEmpty(parameter string) bool {
	switch parameter {
	case cleartextSecrets, "dry-run", "findings", "rendered", "report", "message", "role", "cluster":
		return true
	}
	return false
}

// unknownParameter suggests alternatives to an unknown parameter.
func unknownParameter(parameter string, known []string) string {
	if len(known) == 0 {
		return "This endpoint has no parameters."
	}
	if nearest := words.Nearest(parameter, known); nearest != "" {
		return fmt.Sprintf("This endpoint has no parameter of that name; did you mean %q?", nearest)
	}
	return "This endpoint has no parameter of that name; it has " + strings.Join(known, ", ") + "."
}
