package main

import "testing"

func TestStatusLine(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"success; findings=0":  "Status: success",
		"failure; findings=12": "Status: failure; failing documents and validations: 12",
		"failure":              "Status: failure",
	} {
		if got := statusLine(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}
