package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestHostile_results(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	const frame = "{status: failure, validator: x, errors: [%s]}"
	for name, c := range map[string]struct {
		body   string
		status int
		help   string
	}{
		"depth":         {fmt.Sprintf(frame, strings.Repeat("[", 5_000)+strings.Repeat("]", 5_000)), http.StatusRequestEntityTooLarge, "--max-depth"},
		"alias bomb":    {"status: failure\nvalidator: x\nerrors:\n- " + aliasBomb(30)[3:], http.StatusRequestEntityTooLarge, "--max-values"},
		"body":          {fmt.Sprintf(frame, strings.Repeat("x", maxBody)), http.StatusRequestEntityTooLarge, "the most that is read here"},
		"items":         {fmt.Sprintf(frame, strings.Repeat("1,", 500_000)), http.StatusRequestEntityTooLarge, "--max-values"},
		"invalid UTF-8": {fmt.Sprintf(frame, "\xff"), http.StatusBadRequest, "UTF-8"},
		"not a number":  {fmt.Sprintf(frame, ".nan"), http.StatusBadRequest, "line 1"},
		"large integer": {fmt.Sprintf(frame, "18446744073709551616"), http.StatusBadRequest, "line 1"},
		"python object": {fmt.Sprintf(frame, "!!python/object:x {a: b}"), http.StatusBadRequest, "line 1"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			path := "revisions/1/validations/" + strings.ReplaceAll(name, " ", "-")
			errorType := "HTTPBadRequest"
			if c.status == http.StatusRequestEntityTooLarge {
				errorType = "HTTPPayloadTooLarge"
			}
			s.send(t, request{
				method: http.MethodPost, path: path, body: c.body, header: yamlBody(), bad: true,
			}).fails(t, c.status, errorType, c.help)
			if n := len(s.get(t, path).results(t)); n != 0 {
				t.Errorf("%d entries, want none", n)
			}
		})
	}
}
