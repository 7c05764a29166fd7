package api_test

import "testing"

// request is a request of a table.
type request struct {
	method, path, body string
	header             []string
	bad                bool // breaks the contract, though it is accepted
}

func (s site) send(t *testing.T, r request) response {
	t.Helper()
	s.lax = s.lax || r.bad
	return s.do(t, r.method, r.path, r.body, r.header...)
}
