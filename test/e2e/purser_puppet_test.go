package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// purser puppet takes catalogs from files and pipes, and prints the server's answer.
func TestPurser_puppet(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := at(t, s)
	site := layeringPolicy("lp") + override("motd", "{configuration: {file: {/etc/motd: {content: VALUE}, /etc/issue: {}}, exec: {x: {}}}, "+
		"configuration_options: {types_create_exception: [exec]}}", ", labels: {node: cmp-1}")
	s.put(t, "site", strings.Replace(site, "VALUE", "a", 1))
	s.put(t, "site", strings.Replace(site, "VALUE", "b", 1))
	p.writes(t, "compiled.json", "Notice: Compiled catalog for cmp-1 in environment production in 0.01 seconds\n"+motd)
	if got := p.does(t, "puppet", "apply", "compiled.json", "--node", "cmp-1"); !strings.Contains(got, `"parameters":{"content":"b"}`) {
		t.Errorf("the catalog is %s", got)
	}
	if got := p.does(t, "puppet", "apply", "compiled.json"); got != motd+"\n" {
		t.Errorf("without a node the catalog is %s", got)
	}
	for want, args := range map[string][]string{
		"updated  File[/etc/motd]  [fuel/PuppetOverride/v1, site] motd  content\n" +
			"created  File[/etc/issue]  [fuel/PuppetOverride/v1, site] motd  \n" +
			"skipped  Exec[x]  [fuel/PuppetOverride/v1, site] motd  not in the catalog, and excepted by types_create_exception\n": {
			"apply", "compiled.json", "1", "--node", "cmp-1", "--report",
		},
		"updated  File[/etc/motd]  [fuel/PuppetOverride/v1, site] motd  content=\"a\"\n": {
			"apply", "compiled.json", "1", "--node", "cmp-1", "--explain", "File[/etc/motd]",
		},
		"changed  File[/etc/motd]\n  content: \"a\" -> \"b\"\n": {"diff", "1", "2", "compiled.json", "--node", "cmp-1"},
		"File[/etc/motd]\n": {"diff", "latest~1", "latest", "--node", "cmp-1", "-o", "name"},
	} {
		if diff := cmp.Diff(want, p.does(t, append([]string{"puppet"}, args...)...)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", args, diff)
		}
	}
	p.run(t, "puppet", "apply", "none.json").exits(t, 2, "read the catalog")
	p.writes(t, "empty.json", "{}")
	p.run(t, "puppet", "apply", "empty.json").exits(t, 2, "no list of resources")
}
