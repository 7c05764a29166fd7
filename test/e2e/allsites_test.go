package e2e_test

import (
	"testing"
)

// One worker does the work of all sites, with the commands that read and wait for all.
func TestAllSites_commands(t *testing.T) {
	t.Parallel()
	p := at(t, startFresh(t))
	p.writes(t, "policy.yaml", "---\nschema: deckhand/ValidationPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: p}\n"+
		"data: {validations: [{name: a-validation}]}\n")
	for _, site := range []string{"atl1", "bos1"} {
		p.does(t, "sites", "set", site)
		p.does(t, "push", "policies", "policy.yaml", "--site", site)
	}
	p.run(t, "claims", "--all-sites").exits(t, 0, "atl1", "bos1", "open")
	p.does(t, "waive", "a-validation", "latest", "--for", "1h", "-m", "the lab is closed", "--site", "bos1")
	p.run(t, "waivers", "--all-sites").exits(t, 0, "bos1", "the lab is closed")
	for range 2 {
		p.run(t, "work", "--all-sites", "--once", "--wait", "30s", "a-validation", "--", "sh", "-c",
			`test "$PURSER_SITE" = atl1 -o "$PURSER_SITE" = bos1`).exits(t, 0)
	}
	p.run(t, "claims", "--all-sites", "-o", "json").exits(t, 0, "[]")
	for _, site := range []string{"atl1", "bos1"} {
		p.run(t, "status", "--site", site).exits(t, 0, "success")
	}
}
