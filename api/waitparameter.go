package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sosodev/duration"
)

// waitParameter is the parameter that makes a request wait for a change.
const waitParameter = "wait"

// maxWait is the longest time that a request may wait.
const maxWait = 10 * time.Minute

// limitOf reads how long a request may wait; ok is false if it does not ask to wait.
func waitLimit(q *params) (limit time.Duration, ok bool) {
	text := q.text(waitParameter)
	if text == "" {
		if q.given(waitParameter) {
			q.fail(waitParameter, "It must be a duration such as 90s, 10m or PT10M.")
		}
		return 0, false
	}
	limit, err := time.ParseDuration(text)
	if err != nil {
		var iso *duration.Duration
		if iso, err = duration.Parse(text); err == nil {
			limit = iso.ToTimeDuration()
			if iso.Years != 0 || iso.Months != 0 || iso.Weeks > 1 || iso.Days > 1 || iso.Hours > 1 { // which could overflow
				limit = maxWait + 1
			}
		}
	}
	switch {
	case err != nil, limit < 0:
		q.fail(waitParameter, "It must be a duration such as 90s, 10m or PT10M.")
	case limit > maxWait:
		q.fail(waitParameter, "A request may wait for at most 10 minutes; ask again after that.")
	}
	return limit, true
}

// withoutWait returns a copy of a request without the parameter wait.
func withoutWait(r *http.Request) *http.Request {
	parts := strings.Split(r.URL.RawQuery, "&")
	parts = slices.DeleteFunc(parts, func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		return err == nil && name == waitParameter
	})
	same := *r
	same.URL = new(*r.URL)
	same.URL.RawQuery = strings.Join(parts, "&")
	return &same
}
