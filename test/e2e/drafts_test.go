package e2e_test

import (
	"net/http"
	"testing"
)

// Formats are checked with --assert-formats, and a DataSchema with an unknown $schema fails.
func TestDrafts_formats(t *testing.T) {
	t.Parallel()
	documents := dataSchema("acme/Host/v1", "{$schema: 'http://json-schema.org/draft-07/schema#', properties: {ip: {format: ipv4}}}") +
		widgetOf("acme/Host/v1", "h", "{ip: nowhere}") +
		dataSchema("acme/Odd/v1", "{$schema: 'http://json-schema.org/draft-17/schema#'}")
	for flag, want := range map[string]string{"--assert-formats": "failure", "--memory=128MiB": "success"} {
		s := startFresh(t, flag)
		s.put(t, "a", documents).is(t, http.StatusOK)
		s.isOutcomes(t, "1", "success", want, "failure")
	}
}
