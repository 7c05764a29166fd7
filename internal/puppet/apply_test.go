package puppet_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/puppet"
)

func TestApply(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		catalog, override string
		want              map[string]string // parameters of resources as JSON; "" for none
	}{
		"type in capitals": {
			"{'Package[mc]': {ensure: present}}", "configuration: {PACKAGE: {mc: {ensure: absent}}}",
			map[string]string{"Package[mc]": `{"ensure":"absent"}`},
		},
		"type with a leading ::": {
			"{'Package[mc]': {ensure: present}}", "configuration: {'::package': {mc: {ensure: absent}}}",
			map[string]string{"Package[mc]": `{"ensure":"absent"}`},
		},
		"file by its path, slashes at the end ignored": {
			"{'File[web]': {path: /srv/www/}}", "configuration: {file: {/srv/www: {mode: '0700'}}}",
			map[string]string{"File[web]": `{"path":"/srv/www/","mode":"0700"}`, "File[/srv/www]": ""},
		},
		"exec not by its command": {
			"{'Exec[reload]': {command: /bin/true}}",
			"{configuration: {exec: {/bin/true: {timeout: 5}}}, configuration_options: {create: 'No'}}",
			map[string]string{"Exec[reload]": `{"command":"/bin/true"}`, "Exec[/bin/true]": ""},
		},
		"class by its name, whatever the case": {
			"{'Class[Foo::Bar]': {_kind: class, debug: false}}", "configuration: {class: {'foo::bar': {debug: true}}}",
			map[string]string{"Class[Foo::Bar]": `{"debug":true}`},
		},
		"defined type in the catalog": {
			"{'Foo::Bar[x]': {_kind: defined_type, port: 80}}", "configuration: {'foo::bar': {x: {port: 81}}}",
			map[string]string{"Foo::Bar[x]": `{"port":81}`},
		},
		"unknown type in the catalog": {
			"{'Nova_thing[x]': {a: 1}}", "configuration: {nova_thing: {x: {anything: 2}, y: {}}}",
			map[string]string{"Nova_thing[x]": `{"a":1,"anything":2}`, "Nova_thing[y]": `{}`},
		},
		"defaults in another spelling": {
			"{'File[/a]': {mode: '0600'}}",
			"{configuration: {file: {/a: {}}}, configuration_options: {defaults: {File: {owner: root}}}}",
			map[string]string{"File[/a]": `{"mode":"0600","owner":"root"}`},
		},
		"relationships from defaults, each once": {
			"{'Service[s]': {}, 'Service[t]': {}, 'File[/a]': {notify: ['Service[s]']}}",
			"{configuration: {file: {/a: {}}}, configuration_options: {defaults: {file: {notify: [['service[s]'], 'Service[t]']}}}}",
			map[string]string{"File[/a]": `{"notify":["Service[s]","Service[t]"]}`},
		},
		"a relationship that is there": {
			"{'Service[s]': {}, 'File[/a]': {notify: ['Service[s]']}}",
			"configuration: {file: {/a: {notify: 'Service[s]'}}}",
			map[string]string{"File[/a]": `{"notify":["Service[s]"]}`},
		},
		"a target by its alias": {
			"{'Service[s]': {alias: web}, 'File[/a]': {}}", "configuration: {file: {/a: {notify: 'Service[web]'}}}",
			map[string]string{"File[/a]": `{"notify":"Service[web]"}`},
		},
		"rich data passes": {
			"{'Service[s]': {}}", "configuration: {service: {s: {ensure: {__ptype: Deferred, name: x}}}}",
			map[string]string{"Service[s]": `{"ensure":{"__ptype":"Deferred","name":"x"}}`},
		},
		"words of ensure": {
			"{'Service[s]': {}}", "configuration: {service: {s: {ensure: true, enable: false}}}",
			map[string]string{"Service[s]": `{"ensure":true,"enable":false}`},
		},
		"nulls are absent": {
			"{'Package[mc]': {}}",
			"{configuration: {package: {mc: {ensure: absent}}}, configuration_options: null, create: null, defaults: null}",
			map[string]string{"Package[mc]": `{"ensure":"absent"}`},
		},
		"one text for a list": {
			"{'Package[mc]': {}, 'Service[s]': {}}",
			"{configuration: {package: {mc: {ensure: absent}}, service: {s: {enable: true}}}, types_filter: service}",
			map[string]string{"Package[mc]": `{}`, "Service[s]": `{"enable":true}`},
		},
		"a name that somebody else gives up": {
			"{'Service[a]': {name: x}}", "configuration: {service: {a: {name: y}, b: {name: x}}}",
			map[string]string{"Service[a]": `{"name":"y"}`, "Service[b]": `{"name":"x"}`},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := apply(t, catalog(t, c.catalog), nil, instance(t, "x", c.override))
			if result.Problems != nil {
				t.Fatal(messages(result.Problems))
			}
			for text, want := range c.want {
				ref, _ := puppet.ParseRef(text)
				got := ""
				if parameters, found := result.Catalog.Parameters(ref); found {
					got = string(document.AppendJSON(nil, parameters))
				}
				if got != want {
					t.Errorf("%s: got %s, want %s", text, got, want)
				}
			}
		})
	}
}

func TestApply_problems(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ catalog, override, want string }{
		"all of an instance": {
			"{}", "configuration: {package: {mc: {bogus: 1, ensure: null}}, service: {s: {enable: banana}}}",
			"configuration.package.mc.bogus: no parameter named 'bogus' of Package[mc]\n" +
				"configuration.package.mc.ensure: Got nil value for ensure of Package[mc]; a parameter cannot be unset, only " +
				"set to another value\n" +
				`configuration.service.s.enable: Parameter enable failed on Service[s]: Invalid value "banana". Valid values ` +
				"are true, false, manual, mask, delayed.",
		},
		"misspelt": {
			"{}", "configuration: {pakage: {mc: {}}, file: {/a: {onwer: root}}}",
			"configuration.pakage.mc: Resource type 'pakage' was not found; did you mean 'package'?; describe it with a " +
				"fuel/PuppetType/v1\nconfiguration.file./a.onwer: no parameter named 'onwer' of File[/a]; did you mean 'owner'?",
		},
		"unknown type, though nothing is created": {
			"{}", "{configuration: {nosuch: {x: {}}}, create: false}",
			"configuration.nosuch.x: Resource type 'nosuch' was not found; describe it with a fuel/PuppetType/v1",
		},
		"a class cannot be created": {
			"{'Class[Foo]': {_kind: class}}", "configuration: {class: {bar: {}}}",
			"configuration.class.bar: Resource type 'class' was not found: classes and defined types cannot be created in a " +
				"compiled catalog; override the resources that they would declare",
		},
		"a file needs a path": {
			"{}", "configuration: {file: {web: {mode: '0600'}}}",
			"configuration.file.web: Parameter path failed on File[web]: File paths must be fully qualified, not 'web'",
		},
		"a relative path": {
			"{'File[web]': {path: /a}}", "configuration: {file: {web: {path: a}}}",
			"configuration.file.web.path: Parameter path failed on File[web]: File paths must be fully qualified, not 'a'",
		},
		"a name that is taken": {
			"{'File[/a]': {}}", "configuration: {file: {web: {path: /a/}}}",
			"configuration.file.web: Duplicate declaration: File[/a] is already declared; File[web] cannot have the same path",
		},
		"a null default": {
			"{'File[/a]': {}}", "{configuration: {file: {/a: {}}}, configuration_options: {defaults: {file: {mode: null}}}}",
			"configuration.file./a.mode: Got nil value for mode of File[/a]; a parameter cannot be unset, only set to another " +
				"value",
		},
		"a cycle": {
			"{'File[/a]': {}, 'File[/b]': {require: 'File[/a]'}}", "configuration: {file: {/a: {require: 'File[/b]'}}}",
			": Found 1 dependency cycle: (File[/a] => File[/b] => File[/a])",
		},
		"a cycle of one": {
			"{'File[/a]': {}}", "configuration: {file: {/a: {before: 'File[/a]'}}}",
			": Found 1 dependency cycle: (File[/a] => File[/a])",
		},
		"two cycles": {
			"{'File[/a]': {}, 'File[/b]': {}, 'File[/c]': {}, 'File[/d]': {}}",
			"configuration: {file: {/a: {before: 'File[/b]'}, /b: {notify: 'File[/a]'}, /c: {subscribe: 'File[/d]'}, " +
				"/d: {require: 'File[/c]'}}}",
			": Found 2 dependency cycles: (File[/a] => File[/b] => File[/a]), (File[/c] => File[/d] => File[/c])",
		},
		"no title": {
			"{}", "configuration: {file: {'': {}}, service: 5, '': {}, 'a b': {}}",
			"configuration.file.: The 'title' should be the title of the Puppet resource and should not be empty! Got: \"\"\n" +
				"configuration.service: The 'resources' should be a hash with the override Puppet resources! Got: 5; write titles " +
				"with their parameters, such as {/etc/motd: {mode: '0644'}}\n" +
				"configuration.: The 'type' should be the name of the Puppet type and not be empty! Got: \"\"\n" +
				"configuration.a b: The 'type' should be the name of the Puppet type, such as file or nova_config! Got: \"a b\"",
		},
		"a target that nothing makes": {
			"{'File[/a]': {}}", "configuration: {FILE: {/a: {require: ['File[/b]']}}}",
			"configuration.FILE./a.require: Could not retrieve dependency 'File[/b]' of File[/a]",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := apply(t, catalog(t, c.catalog), nil, instance(t, "x", c.override))
			if result.Catalog != nil {
				t.Errorf("there is a catalog, though something is wrong")
			}
			if diff := cmp.Diff(c.want, strings.Join(messages(result.Problems), "\n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A missing target is a problem of the instance that names it. If the catalog names it, the problem belongs to the last
// instance that changes the resource.
func TestApply_missingTargets(t *testing.T) {
	t.Parallel()
	const innocent = "configuration: {file: {/a: {owner: root}}}"
	for name, c := range map[string]struct {
		catalog   string
		instances []string
		want      []puppet.Problem
	}{
		"of the first": {
			"{'File[/a]': {}}",
			[]string{"configuration: {file: {/a: {require: 'File[/no]'}}}", innocent},
			[]puppet.Problem{{Instance: 0, Path: []string{"configuration", "file", "/a", "require"}}},
		},
		"of a default": {
			"{'File[/a]': {}}",
			[]string{
				"{configuration: {file: {/a: {}}}, configuration_options: {defaults: {file: {require: 'File[/no]'}}}}",
				innocent,
			},
			[]puppet.Problem{{Instance: 0, Path: []string{"configuration", "file", "/a", "require"}}},
		},
		"of a new resource": {
			"{}",
			[]string{innocent, "configuration: {file: {/a: {before: ['File[/no]']}}}", innocent},
			[]puppet.Problem{{Instance: 1, Path: []string{"configuration", "file", "/a", "before"}}},
		},
		"of the catalog": {
			"{'File[/a]': {require: 'File[/no]'}}", []string{innocent, innocent}, []puppet.Problem{{Instance: 1}},
		},
		"that is made later": {
			"{}", []string{"configuration: {file: {/a: {require: 'File[/b]'}}}", "configuration: {file: {/b: {}}}"}, nil,
		},
	} {
		var instances []puppet.Instance
		for i, text := range c.instances {
			instances = append(instances, instance(t, strconv.Itoa(i), text))
		}
		for i := range c.want {
			c.want[i].Message = "Could not retrieve dependency 'File[/no]' of File[/a]"
		}
		result := apply(t, catalog(t, c.catalog), nil, instances...)
		if diff := cmp.Diff(c.want, result.Problems); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// A class begins before the resources it contains and ends after them.
func TestApply_cycleThroughAClass(t *testing.T) {
	t.Parallel()
	c := parsed(t, []byte(`{"resources":[{"type":"Class","title":"A","kind":"class"},{"type":"File","title":"/in"},
		{"type":"File","title":"/out","parameters":{"require":"Class[A]"}}],
		"edges":[{"source":"Class[A]","target":"File[/in]"}]}`))
	result := apply(t, c, nil, instance(t, "x", "configuration: {file: {/in: {require: 'File[/out]'}}}"))
	want := []string{": Found 1 dependency cycle: (Class[A] => File[/out] => File[/in] => Class[A])"}
	if diff := cmp.Diff(want, messages(result.Problems)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if result := apply(t, c, nil, instance(t, "x", "configuration: {file: {/in: {before: 'File[/out]'}}}")); result.Problems != nil {
		t.Errorf("what a class holds comes before what requires the class: %v", messages(result.Problems))
	}
}

func TestApply_untouched(t *testing.T) {
	t.Parallel()
	text := `{"name":"vm","version":1.50,"big":123456789012345678901234567890,"resources":[` +
		`{"title":"a","x-other":[1.0,{"b":1E5,"a":null}],"type":"Notify","line":3,"parameters":{"message":1.10}},` +
		`{"type":"Notify","title":"b","parameters":{"withpath":false},"sensitive_parameters":["message"]}],` +
		`"edges":[],"metadata":{"é":"\u00e9"}}`
	result := apply(t, parsed(t, []byte(text)), nil, instance(t, "x", "configuration: {notify: {b: {message: new}}}"))
	want := strings.Replace(strings.Replace(text, `{"withpath":false}`, `{"withpath":false,"message":"new"}`, 1), `\u00e9`, "é", 1)
	if diff := cmp.Diff(want+"\n", textOf(t, result.Catalog)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A created resource has everything that Puppet requires.
func TestApply_created(t *testing.T) {
	t.Parallel()
	result := apply(t, parsed(t, []byte(`{"catalog_format":2,"resources":[]}`)), nil,
		instance(t, "secret", "configuration: {user: {bob: {password: x, require: 'Package[p]'}}, package: {p: {}}}"))
	want := `{"catalog_format":2,"resources":[{"type":"User","title":"bob","tags":["user","bob"],"exported":false,` +
		`"kind":"compilable_type","sensitive_parameters":["password"],"parameters":{"password":"x","require":"Package[p]"}},` +
		`{"type":"Package","title":"p","tags":["package","p"],"exported":false,"kind":"compilable_type"}]}` + "\n"
	if diff := cmp.Diff(want, textOf(t, result.Catalog)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestApply_report(t *testing.T) {
	t.Parallel()
	c := catalog(t, "{'Package[mc]': {ensure: present}, 'Class[A]': {_kind: class}, 'Service[s]': {}}")
	result := apply(t, c, nil,
		instance(t, "low", "{configuration: {package: {mc: {ensure: absent}, htop: {}}, class: {a: {x: 1}}, exec: {e: {}}}, "+
			"configuration_options: {create: false, titles_create_exception: [htop], types_filter: [package, class]}}"),
		instance(t, "high", "{configuration: {package: {mc: {ensure: latest, notify: 'Service[s]'}, vim: {}, joe: {}}, "+
			"notify: {a/b: {message: x}}}, configuration_options: {titles_create_exception: [vim], titles_filter: [mc, vim, a/b]}}"))
	var got []string
	for _, change := range result.Report.Changes {
		words := []string{change.Ref.String(), "updated"}
		if change.Created {
			words[1] = "created"
		}
		for _, setting := range change.Settings {
			words = append(words, setting.Parameter)
		}
		got = append(got, strings.Join(words, " "))
	}
	for _, skip := range result.Report.Skipped {
		got = append(got, skip.Ref.String()+" "+skip.Reason)
	}
	for _, warning := range result.Report.Warnings {
		got = append(got, warning.Ref.String()+" "+warning.Message)
	}
	want := []string{
		"Package[mc] updated ensure", "Package[htop] created", "Class[A] updated x", "Package[mc] updated ensure notify",
		"Notify[a/b] created message",
		"Exec[] left out by types_filter", "Package[vim] not in the catalog, and excepted by titles_create_exception",
		"Package[joe] left out by titles_filter",
		"Class[A] parameters of a compiled class or defined type have no effect",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	mc, _ := puppet.ParseRef("Package[mc]")
	explained := result.Report.Explain(mc)
	if len(explained) != 2 || explained[1].Instance != 1 {
		t.Errorf("Package[mc] was set by two instances, but is explained by %v", explained)
	}
}

// A document can describe a type.
func TestParseType(t *testing.T) {
	t.Parallel()
	meter := budget.NewMeter(t.Context())
	nova, problems, err := puppet.ParseType(meter, read(t, "{name: nova_config, namevar: name, title_pattern: '^\\S+/\\S+$', "+
		"parameters: {type: object, required: [value], properties: {value: {type: [string, integer]}, secret: {type: boolean}}}}"))
	if err != nil || problems != nil {
		t.Fatal(err, problems)
	}
	types := puppet.NewTypes([]*puppet.Type{nova})
	c := catalog(t, "{'Nova_config[a/b]': {value: 1}}")
	for override, want := range map[string]string{
		"nova_config: {a/b: {secret: true}}": "",
		"nova_config: {a/b: {value: [1]}}": "configuration.nova_config.a/b.value: Invalid value for value of " +
			"Nova_config[a/b]: [1] is not of type 'string', 'integer'",
		"nova_config: {a/c: {secret: true}}": "configuration.nova_config.a/c: Invalid parameters of Nova_config[a/c]: 'value' is " +
			"a required property",
		"nova_config: {a/b: {vaule: 1}}": "configuration.nova_config.a/b.vaule: no parameter named 'vaule' of " +
			"Nova_config[a/b]; did you mean 'value'?",
		"nova_config: {x: {value: 1}}": "configuration.nova_config.x: Parameter name failed on Nova_config[x]: Invalid value " +
			`"x". Valid values match /^\S+\/\S+$/.`,
		"nova_config: {a/b: {value: 1, noop: maybe}}": "configuration.nova_config.a/b.noop: Parameter noop failed on " +
			`Nova_config[a/b]: Invalid value "maybe". Valid values are true, false.`,
	} {
		result := apply(t, c, types, instance(t, "x", "configuration: {"+override+"}"))
		if diff := cmp.Diff(want, strings.Join(messages(result.Problems), "\n")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", override, diff)
		}
	}
	for _, wrong := range []string{"{}", "{name: 'a b'}", "{name: a, title_pattern: '('}", "{name: a, parameters: {type: 5}}"} {
		if _, problems, err := puppet.ParseType(meter, read(t, wrong)); err != nil || len(problems) != 1 {
			t.Errorf("%s: %v %v", wrong, problems, err)
		}
	}
}

// The cost of a title_pattern is counted: once to compile it, and to match it before it is matched.
func TestParseType_pattern(t *testing.T) {
	t.Parallel()
	steps := func(pattern string) int64 {
		ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
		defer end()
		meter := budget.NewMeter(ctx)
		if _, _, err := puppet.ParseType(meter, read(t, "{name: a, title_pattern: '"+pattern+"'}")); err != nil {
			t.Fatal(err)
		}
		if err := meter.Check(); err != nil {
			t.Fatal(err)
		}
		spent, _ := budget.From(ctx).Spent()
		return spent
	}
	for _, pattern := range []string{"of a type[a-z]{1000}", "of a type(" + strings.Repeat("[a-z]", 500)} {
		if first, second := steps(pattern), steps(pattern); first < 400_000 || second > 10_000 {
			t.Errorf("%.20s costs %d steps, then %d", pattern, first, second)
		}
	}
	slow, _, err := puppet.ParseType(bounded(t), read(t, "{name: nova_config, title_pattern: '^(?:[a-z]*/?){500}$'}"))
	if err != nil {
		t.Fatal(err)
	}
	of := instance(t, "x", "configuration: {nova_config: {x: {name: '"+strings.Repeat("a/", 500_000)+"'}}}")
	_, err = puppet.Check(bounded(t), of, puppet.NewTypes([]*puppet.Type{slow}))
	if fault.KindOf(err) != fault.TooLarge {
		t.Errorf("a long title that would be matched for long: %v", err)
	}
}

// Messages about secret instances and about values that secret types refuse are marked secret.
func TestApply_secret(t *testing.T) {
	t.Parallel()
	result := apply(t, catalog(t, "{}"), nil, instance(t, "secret", "configuration: {service: {s: {enable: hunter2}, t: {x: 1}}}"),
		instance(t, "open", "configuration: {service: {u: {x: 1}}}"))
	var got []bool
	for _, problem := range result.Problems {
		got = append(got, problem.Secret)
	}
	if diff := cmp.Diff([]bool{true, true, false}, got); diff != "" {
		t.Errorf("(-want +got)\n%s\n%v", diff, messages(result.Problems))
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	in := instance(t, "x", "{configuration: {foo::bar: {x: {}}, package: {mc: {ensur: absent}}, nova_config: {x: {value: 1}}, exec: "+
		"{a: {bogus: 1}}}, configuration_options: {types_create_exception: [File], titles_create_exception: [mcc, mc], "+
		"types_filter: [package, nova_config, foo::bar]}}")
	problems, err := puppet.Check(budget.NewMeter(t.Context()), in, puppet.NewTypes(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"configuration.foo::bar.x: Resource type 'foo::bar' was not found; describe it with a fuel/PuppetType/v1",
		"configuration.package.mc.ensur: no parameter named 'ensur' of Package[mc]; did you mean 'ensure'?",
		"configuration.nova_config.x: Resource type 'nova_config' was not found; describe it with a fuel/PuppetType/v1",
		"configuration_options.types_create_exception: The exception 'File' matches nothing in the configuration",
		"configuration_options.titles_create_exception: The exception 'mcc' matches nothing in the configuration; did you mean 'mc'?",
	}
	if diff := cmp.Diff(want, messages(problems.All())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	got, err := puppet.Merge(budget.NewMeter(t.Context()), []document.Mapping{
		read(t, "{configuration: {file: {/a: {mode: '0600', ignore: [a], notify: 'Service[s]'}}}, "+
			"configuration_options: {create: true, types_filter: [file]}}"),
		read(t, "{configuration: {service: {s: {enable: true}}, file: {/a: {ignore: [b], notify: ['Service[t]']}, /b: {}}}, "+
			"configuration_options: {types_filter: [service, file], defaults: {file: {owner: root}}}, create: false}"),
		read(t, "{configuration: {file: {/a: {mode: null}}}}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"configuration":{"file":{"/a":{"mode":"0600","ignore":["b"],"notify":["Service[s]","Service[t]"]},"/b":{}},` +
		`"service":{"s":{"enable":true}}},"configuration_options":{"create":false,"types_filter":["file","service"],` +
		`"defaults":{"file":{"owner":"root"}}}}`
	if diff := cmp.Diff(want, string(document.AppendJSON(nil, got))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	before := catalog(t, "{'File[/a]': {mode: '1', owner: x}, 'File[/b]': {}, 'File[/c]': {mode: '1'}, 'User[u]': "+
		"{password: a, _sensitive_parameters: [password]}}")
	after := catalog(t, "{'File[/a]': {mode: '2', group: y}, 'File[/c]': {mode: '1'}, 'File[/d]': {mode: '3'}, 'User[u]': {password: b}}")
	got, err := puppet.Diff(budget.NewMeter(t.Context()), before, after)
	if err != nil {
		t.Fatal(err)
	}
	ref := func(text string) puppet.Ref {
		ref, _ := puppet.ParseRef(text)
		return ref
	}
	want := []puppet.Difference{
		{Ref: ref("File[/a]"), Parameters: []puppet.Altered{
			{Name: "mode", From: "1", To: "2"}, {Name: "owner", From: "x"}, {Name: "group", To: "y"},
		}},
		{Ref: ref("File[/b]"), Removed: true},
		{Ref: ref("User[u]"), Parameters: []puppet.Altered{{Name: "password", Sensitive: true}}},
		{Ref: ref("File[/d]"), Added: true, Parameters: []puppet.Altered{{Name: "mode", To: "3"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Relationships of secret instances are not sensitive for Puppet, but their values are not shown either.
func TestDiff_secretRelationships(t *testing.T) {
	t.Parallel()
	c := catalog(t, "{'File[/a]': {}, 'File[hunter2]': {}, 'File[/b]': {}}")
	before := apply(t, c, nil, instance(t, "open", "configuration: {file: {/a: {require: 'File[/b]'}}}"))
	after := apply(t, c, nil, instance(t, "secret", "configuration: {file: {/a: {require: 'File[hunter2]'}}}"))
	if text := textOf(t, after.Catalog); strings.Contains(text, "sensitive") {
		t.Errorf("a relationship is sensitive: %s", text)
	}
	merged := func(secret bool, data string) *puppet.Catalog {
		overrides, err := puppet.Gather(budget.NewMeter(t.Context()), []puppet.Document{{
			Identity: document.Identity{Schema: puppet.OverrideKind, Name: "x"}, Data: []byte(data), Secret: secret,
		}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := overrides.AsCatalog(budget.NewMeter(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, pair := range [][2]*puppet.Catalog{
		{before.Catalog, after.Catalog},
		{after.Catalog, before.Catalog},
		{
			merged(false, `{"configuration":{"file":{"/a":{"require":"File[/b]"}}}}`),
			merged(true, `{"configuration":{"file":{"/a":{"require":"File[hunter2]"}}}}`),
		},
	} {
		got, err := puppet.Diff(budget.NewMeter(t.Context()), pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		ref, _ := puppet.ParseRef("File[/a]")
		want := []puppet.Difference{{Ref: ref, Parameters: []puppet.Altered{{Name: "require", Sensitive: true}}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

func TestGather(t *testing.T) {
	t.Parallel()
	doc := func(layer, name, labels, data string, secret bool) puppet.Document {
		schema := puppet.OverrideKind
		if labels == "type" {
			schema, labels = puppet.TypeKind, "{}"
		}
		return puppet.Document{
			Identity: document.Identity{Schema: schema, Layer: layer, Name: name}, Labels: read(t, labels),
			Data: document.AppendJSON(nil, read(t, data)), Secret: secret,
		}
	}
	documents := []puppet.Document{
		doc("site", "b", "{}", "configuration: {nova_thing: {x: {a: 3}}}", false),
		doc("site", "a", "{role: compute}", "configuration: {nova_thing: {x: {a: 2}}}", false),
		doc("global", "z", "{node: n1}", "configuration: {nova_thing: {x: {a: 1, b: 1}}}", true),
		doc("site", "t", "type", "{name: nova_thing, parameters: {properties: {a: {}, b: {}}}}", false),
		doc("global", "bad", "{cluster: 1}", "{configuration: 5}", false),
	}
	meter := budget.NewMeter(t.Context())
	for node, want := range map[puppet.Node][]string{
		{Name: "n1", Role: "compute"}: {"z", "a", "b", "t"},
		{Role: "compute"}:             {"a", "b", "t"},
		{Name: "n2", Role: "control"}: {"b", "t"},
	} {
		o, err := puppet.Gather(meter, documents, []string{"global", "site"}, &node)
		if err != nil || o.Problems != nil {
			t.Fatal(err, messages(o.Problems))
		}
		var got []string
		for _, d := range o.Documents {
			got = append(got, d.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got)\n%s", node, diff)
		}
	}
	o, err := puppet.Gather(meter, documents, nil, nil)
	if err != nil || len(o.Instances) != 4 || len(o.Problems) != 1 || o.Documents[o.Problems[0].Instance].Name != "bad" {
		t.Errorf("all: %v, %v", o.Problems, err)
	}
	before, _ := puppet.Gather(meter, documents[1:], []string{"global", "site"}, &puppet.Node{Name: "n1", Role: "compute"})
	after, _ := puppet.Gather(meter, documents, []string{"global", "site"}, &puppet.Node{Name: "n1", Role: "compute"})
	was, _ := before.AsCatalog(meter)
	is, _ := after.AsCatalog(meter)
	got, err := puppet.Diff(meter, was, is)
	x := puppet.Ref{Type: "Nova_thing", Title: "x"}
	wanted := []puppet.Difference{{Ref: x, Parameters: []puppet.Altered{{Name: "a", Sensitive: true}}}}
	if diff := cmp.Diff(wanted, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
