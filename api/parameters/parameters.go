package parameters

import (
	"errors"
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
)

// The parameters that more than the handlers know.
const (
	// CleartextSecrets selects hashes instead of secrets.
	CleartextSecrets = "cleartext-secrets"
	// Search is a text to search documents for, which may be a secret.
	Search = "search"
)

// Query reads the query parameters of a request and keeps the first fault.
type Query struct {
	values url.Values
	fault  *fault.Fault
}

// Of returns the query of a request.
func Of(r *http.Request) *Query {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &Query{values: values}
	if err != nil {
		q.fault = fault.New(fault.Invalid, "HTTPBadRequest", "The query of the URL cannot be read: %w; write percent signs "+
			"as %%25, semicolons as %%3B and ampersands in values as %%26", err)
	}
	return q
}

// Fail notes that a parameter is invalid, with what it must be.
func (q *Query) Fail(parameter, what string, args ...any) {
	if q.fault == nil {
		q.fault = fault.New(fault.Invalid, "HTTPInvalidParam", `The %q parameter is invalid. `+what,
			append([]any{revisions.Truncate(parameter)}, args...)...)
	}
}

// failHeader notes that a header is invalid, with what it must be.
func (q *Query) failHeader(header, what string, args ...any) {
	if q.fault == nil {
		q.fault = fault.New(fault.Invalid, "HTTPInvalidHeader", "The value provided for the %q header is invalid. "+what,
			append([]any{header}, args...)...)
	}
}

// Err returns the first fault, or nil.
func (q *Query) Err() error {
	if q.fault == nil {
		return nil
	}
	return q.fault
}

// Given reports whether a parameter is present.
func (q *Query) Given(parameter string) bool { return q.values.Has(parameter) }

// maxValues bounds the values of one parameter.
const maxValues = 500

// Texts returns all values of a parameter, nil if it is absent.
func (q *Query) Texts(parameter string) []string {
	values := q.values[parameter]
	if len(values) > maxValues {
		q.Fail(parameter, "It has %d values, but at most %d are allowed.", len(values), maxValues)
		return nil
	}
	for _, value := range values {
		switch {
		case !utf8.ValidString(value):
			q.Fail(parameter, "One of its values is not valid UTF-8.")
		case strings.ContainsRune(value, 0):
			q.Fail(parameter, "A value of it holds a NUL character.")
		default:
			continue
		}
		return nil
	}
	return values
}

// Text returns the value of a parameter that may be given once, "" if it is absent.
func (q *Query) Text(parameter string) string {
	values := q.Texts(parameter)
	if len(values) == 0 {
		return ""
	}
	if len(values) > 1 {
		q.Fail(parameter, "It may be given only once.")
	}
	return values[0]
}

// Count returns the value of a parameter as a number of at least 0.
func (q *Query) Count(parameter string, absent int) int {
	values, ok := q.values[parameter]
	if !ok {
		return absent
	}
	n, err := strconv.Atoi(values[0])
	switch {
	case len(values) == 1 && n > 0 && errors.Is(err, strconv.ErrRange):
		q.Fail(parameter, "It must be a smaller whole number.")
	case err != nil, n < 0, len(values) > 1:
		q.Fail(parameter, "It must be given once, as a whole number that is not negative.")
	}
	return min(n, maxCount)
}

// maxCount bounds all numbers in parameters. No real count is as large, and sums with it do not overflow.
const maxCount = 1 << 40

// Flag returns the value of a parameter as a boolean, in the words that the reference accepts. An empty value is true.
func (q *Query) Flag(parameter string, absent bool) bool {
	values, ok := q.values[parameter]
	switch {
	case !ok:
		return absent
	case len(values) > 1:
		q.Fail(parameter, "It must be given once.")
		return false
	case slices.Contains([]string{"", "true", "True", "t", "yes", "y", "1", "on"}, values[0]):
		return true
	case slices.Contains([]string{"false", "False", "f", "no", "n", "0", "off"}, values[0]):
		return false
	}
	q.Fail(parameter, `The value of the parameter must be "true" or "false".`)
	return false
}

// Time returns the value of a parameter as a time, zero if it is absent.
func (q *Query) Time(parameter string) time.Time {
	text := q.Text(parameter)
	if text == "" {
		return time.Time{}
	}
	for _, format := range []string{time.RFC3339, wire.TimeFormat} {
		if t, err := time.Parse(format, text); err == nil {
			return t
		}
	}
	q.Fail(parameter, "It must be a time such as 2026-01-31T12:00:00Z.")
	return time.Time{}
}
