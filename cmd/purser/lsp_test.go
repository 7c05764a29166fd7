package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// An editor gets messages of the protocol on the standard output and nothing else; a broken message is an error.
func TestLsp(t *testing.T) {
	t.Parallel()
	framed := func(messages ...string) string {
		var b strings.Builder
		for _, m := range messages {
			fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(m), m)
		}
		return b.String()
	}
	for _, c := range []struct {
		in, stdout, stderr string
		code               int
	}{
		{
			framed(`{"jsonrpc":"2.0","id":1,"method":"none"}`, `{"jsonrpc":"2.0","method":"exit"}`),
			framed(`{"id":1,"error":{"code":-32002,"message":"send initialize first"},"jsonrpc":"2.0"}`),
			"purser: the client has sent exit without shutdown\n", exitFailed,
		},
		{"GET / HTTP/1.1\r\n\r\n", "", "purser: a message has no header Content-Length\n", exitFailed},
		{"", "", "", 0},
	} {
		var out, said bytes.Buffer
		code := run(t.Context(), []string{"lsp"}, surroundings{stdin: strings.NewReader(c.in), stdout: &out, stderr: &said})
		if out.String() != c.stdout || said.String() != c.stderr || code != c.code {
			t.Errorf("%q: %q, %q, exit code %d", c.in, out.String(), said.String(), code)
		}
	}
}
