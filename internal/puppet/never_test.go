package puppet_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/puppet"
)

// Rules across parameters are judged on the resource that the catalog gets after all instances.
func TestApply_together(t *testing.T) {
	t.Parallel()
	const (
		creators    = "Validation of File[/a] failed: You cannot specify more than one of content, source, target"
		unqualified = "Validation of Exec[reload] failed: The command is not qualified and no path was specified. Please " +
			"qualify the command or specify a path."
	)
	for name, c := range map[string]struct {
		catalog, instances string // instances are separated by ;
		want               []string
	}{
		"content, where the catalog has a source": {
			"{'File[/a]': {source: /s}}", "{file: {/a: {content: x}}}", []string{"0 configuration.file./a: " + creators},
		},
		"content and a source in one override": {
			"{'File[/a]': {}}", "{file: {/a: {content: x, source: /s}}}", []string{"0 configuration.file./a: " + creators},
		},
		"content and a source in two overrides": {
			"{'File[/a]': {}}", "{file: {/a: {content: x}}}; {file: {/a: {source: /s}}}; {file: {/a: {mode: '0644'}}}",
			[]string{"1 configuration.file./a: " + creators},
		},
		"what the catalog has already": {
			"{'File[/a]': {source: /s, content: x}}", "{file: {/a: {mode: '0644'}}}", nil,
		},
		"a command, where the catalog has a path": {
			"{'Exec[reload]': {command: /bin/x, path: /bin}}", "{exec: {reload: {command: x}}}", nil,
		},
		"a command, where a later override has a path": {
			"{'Exec[reload]': {command: /bin/x}}", "{exec: {reload: {command: x}}}; {exec: {reload: {path: /bin}}}", nil,
		},
		"a command without a path": {
			"{'Exec[reload]': {command: /bin/x}}", "{exec: {reload: {command: x}}}",
			[]string{"0 configuration.exec.reload: " + unqualified},
		},
		"a title that is a command": {"{}", "{exec: {/bin/x: {}}}", nil},
		"a title that is no command": {
			"{}", "{exec: {reload: {timeout: 5}}}", []string{"0 configuration.exec.reload: " + unqualified},
		},
		"a command that the agent computes": {
			"{'Exec[reload]': {command: /bin/x}}", "{exec: {reload: {command: {__ptype: Deferred, name: x}}}}", nil,
		},
		"a filebucket that another override makes": {
			"{'File[/a]': {}}", "{file: {/a: {backup: main}}}; {filebucket: {main: {path: false}}}", nil,
		},
		"a filebucket that is missing": {
			"{'File[/a]': {}}", "{file: {/a: {backup: main}}}",
			[]string{"0 configuration.file./a: Validation of File[/a] failed: Could not find the filebucket specified in backup; " +
				"add it, or write false"},
		},
		"a filebucket that an override no longer needs": {
			"{'File[/a]': {backup: main}}", "{file: {/a: {backup: other}}}; {file: {/a: {backup: false}}}", nil,
		},
		"a defined type of the same name": {
			"{'Exec[reload]': {_kind: defined_type}}", "{exec: {reload: {command: x}}}", nil,
		},
		"two resources": {
			"{'File[/a]': {source: /s}, 'Exec[reload]': {command: /bin/x}}",
			"{file: {/a: {content: x}}, exec: {reload: {command: x}}}",
			[]string{"0 configuration.file./a: " + creators, "0 configuration.exec.reload: " + unqualified},
		},
	} {
		var instances []puppet.Instance
		for i, text := range strings.Split(c.instances, "; ") {
			instances = append(instances, instance(t, strconv.Itoa(i), "configuration: "+text))
		}
		var got []string
		for _, p := range apply(t, catalog(t, c.catalog), nil, instances...).Problems {
			got = append(got, strconv.Itoa(p.Instance)+" "+messages([]puppet.Problem{p})[0])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Without a catalog, only what an override says itself is judged.
func TestCheck_together(t *testing.T) {
	t.Parallel()
	in := instance(t, "x", `configuration: {file: {
		/a: {content: x, source: /s}, b: {mode: '0644'}, /c: {content: x, checksum: mtime}, /d: {checksum_value: x}, /e: {recurse: remote}},
		exec: {reload: {command: x}, restart: {command: x, path: /bin}},
		tidy: {/t: {matches: x}, /u: {matches: x, recurse: false}}, resources: {exec: {}}}`)
	problems, err := puppet.Check(budget.NewMeter(t.Context()), in, puppet.NewTypes(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"configuration.file./a: Validation of File[/a] failed: You cannot specify more than one of content, source, target",
		"configuration.file./c: Validation of File[/c] failed: You cannot specify content when using a checksum that is not of " +
			"content; use sha256 or another digest",
		"configuration.tidy./u: Validation of Tidy[/u] failed: Tidy can't use matches with recurse 0, false, or undef",
	}
	if diff := cmp.Diff(want, messages(problems.All())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A refusal says what is wrong, in Puppet's words, and what to write.
func TestApply_refusals(t *testing.T) {
	t.Parallel()
	for override, want := range map[string]string{
		"file: {/a: {mode: 0640}}": "mode failed on File[/a]: The file mode specification must be a string such as '0644' or " +
			"u=rw,g=r, in quotes if it is octal, not 416",
		"file: {/a: {content: 123}}": "content failed on File[/a]: The content must be a string, not 123; write it in " +
			"quotes",
		"file: {/a: {source: s3://b/k}}": "source failed on File[/a]: Cannot use 's3://b/k' as a source; write an " +
			"absolute path or a URL that begins with puppet:, http:, https: or file: and a slash",
		"exec: {/bin/x: {cwd: tmp}}": "cwd failed on Exec[/bin/x]: cwd must be a single fully qualified path, not 'tmp'",
		"exec: {/bin/x: {tries: 0}}": "tries failed on Exec[/bin/x]: Tries must be an integer >= 1, not 0",
		"exec: {/bin/x: {umask: 22}}": "umask failed on Exec[/bin/x]: The umask specification is invalid: 22; write an " +
			"octal number in quotes, such as '022'",
		"group: {g: {gid: staff}}": "gid failed on Group[g]: Invalid GID 'staff'; write a number",
		"tidy: {/t: {age: 5}}": "age failed on Tidy[/t]: Invalid tidy age 5; write a number with the unit s, m, h, d " +
			"or w in quotes, such as '30d'",
		"file: {/a: {tag: a b}}": "tag failed on File[/a]: Invalid tag 'a b'; write letters, digits and _, with ::, . " +
			"and - after the first",
		"file: {/a: {audit: modes}}": "audit failed on File[/a]: Cannot audit \"modes\": not a valid attribute for " +
			"File[/a]; did you mean 'mode'?",
		"resources: {nosuch: {}}": "name failed on Resources[nosuch]: Could not find resource type \"nosuch\"; " +
			"describe it with a fuel/PuppetType/v1",
		"service: {s: {enable: [1, no]}}": "enable failed on Service[s]: Invalid value 1. Valid values are true, " +
			"false, manual, mask, delayed.",
		"file: {/a: {links: [follow]}}": "links failed on File[/a]: Invalid value a list. Valid values are follow, " +
			"manage.",
	} {
		got := messages(apply(t, catalog(t, "{}"), nil, instance(t, "x", "configuration: {"+override+"}")).Problems)
		if len(got) != 1 || !strings.HasSuffix(got[0], ": Parameter "+want) {
			t.Errorf("%s: got %q, want %q", override, got, want)
		}
	}
}

// A type that nothing describes is refused, whatever its name, unless the catalog has resources of it.
func TestApply_unknownTypes(t *testing.T) {
	t.Parallel()
	in := instance(t, "x", "configuration: {nosuch_config: {DEFAULT/debug: {value: true}}}")
	const want = "configuration.nosuch_config.DEFAULT/debug: Resource type 'nosuch_config' was not found; describe it with a " +
		"fuel/PuppetType/v1"
	problems, err := puppet.Check(budget.NewMeter(t.Context()), in, puppet.NewTypes(nil))
	if diff := cmp.Diff([]string{want}, messages(problems.All())); diff != "" || err != nil {
		t.Errorf("Check: %v (-want +got)\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{want}, messages(apply(t, catalog(t, "{}"), nil, in).Problems)); diff != "" {
		t.Errorf("Apply (-want +got)\n%s", diff)
	}
	if found := apply(t, catalog(t, "{'Nosuch_config[a/b]': {}}"), nil, in).Problems; found != nil {
		t.Errorf("the catalog has such resources, but: %v", messages(found))
	}
}
