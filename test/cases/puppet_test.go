package cases_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/puppet"
)

// TestPuppet runs all cases through puppet.Apply. Parameters that a case does not mention may have any value. Scalars
// are compared as text, and a list of one item equals its item.
func TestPuppet(t *testing.T) {
	t.Parallel()
	if *shared == "" {
		t.Skip("no -shared folder given")
	}
	files, err := filepath.Glob(filepath.Join(*shared, "cases/puppet/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		value, err := document.ParseOne(t.Context(), fileText(t, file), document.YAML,
			document.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list(value) {
			c, _ := item.(document.Mapping)
			t.Run(text(c.At("id")), func(t *testing.T) {
				t.Parallel()
				checkPuppetCase(t, c)
			})
		}
	}
}

func checkPuppetCase(t *testing.T, c document.Mapping) {
	t.Helper()
	got, problems := applied(t, list(c.At("catalog")), list(c.At("overrides")))
	expect, _ := c.At("expect").(document.Mapping)
	if failure, ok := expect.At("error").(document.Mapping); ok {
		if !strings.Contains(strings.Join(problems, "\n"), text(failure.At("match"))) {
			t.Fatalf("%s: got %q, want an error with %q", text(c.At("note")), problems, text(failure.At("match")))
		}
		return
	}
	if len(problems) > 0 {
		t.Fatalf("%s: %q", text(c.At("note")), problems)
	}
	resources := list(got.At("resources"))
	want := list(expect.At("catalog"))
	if len(resources) != len(want) {
		t.Fatalf("%d resources, want %d: %s", len(resources), len(want), document.AppendJSON(nil, got))
	}
	for _, item := range want {
		resource, _ := item.(document.Mapping)
		parameters, _ := resource.At("parameters").(document.Mapping)
		found := parametersOf(t, resources, resource)
		for _, p := range parameters {
			if !sameText(p.Value, found.At(p.Key)) {
				t.Errorf("%s: %s[%s] has %s %v, want %v", text(c.At("note")), resource.At("type"), resource.At("title"), p.Key,
					found.At(p.Key), p.Value)
			}
		}
	}
}

// applied returns the catalog of resources with the overrides applied, or messages.
func applied(t *testing.T, resources, overrides []any) (catalog document.Mapping, problems []string) {
	t.Helper()
	meter := budget.NewMeter(t.Context())
	read, err := puppet.Read(meter, document.AppendJSON(nil, document.Mapping{{Key: "resources", Value: resources}}))
	if err != nil {
		t.Fatal(err)
	}
	var instances []puppet.Instance
	for _, item := range overrides {
		override, _ := item.(document.Mapping)
		var data document.Mapping
		for _, member := range override {
			switch member.Key {
			case "name":
				continue
			case "options":
				member.Key = "configuration_options"
			}
			data = append(data, member)
		}
		instance, wrong := puppet.ParseInstance(meter, text(override.At("name")), false, data)
		for _, problem := range wrong {
			problems = append(problems, problem.Message)
		}
		instances = append(instances, instance)
	}
	result, err := puppet.Apply(meter, read, instances, moduleTypes(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range result.Problems {
		problems = append(problems, problem.Message)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	out, err := result.Catalog.JSON(meter)
	if err != nil {
		t.Fatal(err)
	}
	value, err := document.ParseJSON(out)
	if err != nil {
		t.Fatal(err)
	}
	catalog, _ = value.(document.Mapping)
	return catalog, nil
}

// moduleTypes returns the types of modules that the cases use.
func moduleTypes(t *testing.T) *puppet.Types {
	t.Helper()
	keystone, problems, err := puppet.ParseType(budget.NewMeter(t.Context()), document.Mapping{
		{Key: "name", Value: "keystone_config"}, {Key: "title_pattern", Value: `\S+/\S+`},
	})
	if err != nil || problems != nil {
		t.Fatal(problems, err)
	}
	return puppet.NewTypes([]*puppet.Type{keystone})
}

// providers are values that depend on the provider or the platform: Purser accepts what any of them accepts.
var providers = map[string]bool{
	`exec {"provider":"x"}`: true, `package {"provider":"nope"}`: true, `package {"ensure":"disabled"}`: true,
	`service {"enable":"delayed"}`: true, `service {"enable":"mask"}`: true, `service {"enable":"manual"}`: true,
	`user {"ensure":"role"}`: true,
	// The verdict was recorded without a catalog, which aliases need.
	`file {"alias":"z"}`: true,
}

// TestPuppet_values creates resources with values that Puppet accepts or refuses. Their titles may be empty, which
// overrides do not allow, and their references to resources that a catalog would have.
func TestPuppet_values(t *testing.T) {
	t.Parallel()
	if *shared == "" {
		t.Skip("no -shared folder given")
	}
	value, err := document.ParseJSON(fileText(t, filepath.Join(*shared, "cases/puppet/values.json")))
	if err != nil {
		t.Fatal(err)
	}
	all, _ := value.(document.Mapping)
	there := []any{document.Mapping{{Key: "type", Value: "Package"}, {Key: "title", Value: "mc"}}}
	judged, differ := 0, 0
	for _, item := range list(all.At("cases")) {
		c, _ := item.(document.Mapping)
		typ, title, parameters := text(c.At("type")), text(c.At("title")), c.At("parameters")
		if title == "" && c.At("refused") == nil {
			title = "/empty"
		}
		resources := document.Mapping{{Key: title, Value: parameters}}
		_, problems := applied(t, there, []any{document.Mapping{
			{Key: "configuration", Value: document.Mapping{{Key: typ, Value: resources}}},
		}})
		judged++
		if _, refused := c.At("refused").(string); refused != (len(problems) > 0) {
			differ++
			if what := typ + " " + string(document.AppendJSON(nil, parameters)); !providers[what] {
				t.Errorf("%s: %q, but Puppet says %v", what, problems, c.At("refused"))
			}
		}
	}
	t.Logf("%d of %d verdicts differ, all of them because of providers", differ, judged)
}

func parametersOf(t *testing.T, resources []any, wanted document.Mapping) document.Mapping {
	t.Helper()
	for _, item := range resources {
		r, _ := item.(document.Mapping)
		if r.At("type") == wanted.At("type") && r.At("title") == wanted.At("title") {
			parameters, _ := r.At("parameters").(document.Mapping)
			return parameters
		}
	}
	t.Fatalf("no %s[%s] among %v", wanted.At("type"), wanted.At("title"), resources)
	return nil
}

func sameText(want, got any) bool {
	wants, gots := listed(want), listed(got)
	if len(wants) != len(gots) {
		return false
	}
	for i := range wants {
		a, b := strings.Trim(string(document.AppendJSON(nil, wants[i])), `"`), strings.Trim(string(document.AppendJSON(nil, gots[i])), `"`)
		x, errA := strconv.ParseFloat(a, 64)
		y, errB := strconv.ParseFloat(b, 64)
		if !strings.EqualFold(a, b) && (errA != nil || errB != nil || x != y) {
			return false
		}
	}
	return true
}

func listed(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	return []any{value}
}
