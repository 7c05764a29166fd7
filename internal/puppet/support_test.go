package puppet_test

import (
	"context"
	"strings"
	"testing"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/puppet"
)

// read parses a mapping in YAML.
func read(t testing.TB, yaml string) document.Mapping {
	t.Helper()
	value, err := document.ParseOne(t.Context(), []byte(yaml), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatalf("%s: %v", yaml, err)
	}
	m, _ := value.(document.Mapping)
	return m
}

// catalog parses a catalog from YAML: a mapping from references to parameters.
func catalog(t testing.TB, yaml string) *puppet.Catalog {
	t.Helper()
	resources := []any{}
	for _, member := range read(t, yaml) {
		ref, ok := puppet.ParseRef(member.Key)
		if !ok {
			t.Fatalf("%s is no reference", member.Key)
		}
		resource := document.Mapping{{Key: "type", Value: ref.Type}, {Key: "title", Value: ref.Title}}
		parameters, _ := member.Value.(document.Mapping)
		for _, key := range []string{"kind", "sensitive_parameters"} {
			if value, given := parameters.Lookup("_" + key); given {
				resource = resource.With(key, value)
			}
		}
		own := document.Mapping{}
		for _, p := range parameters {
			if !strings.HasPrefix(p.Key, "_") {
				own = append(own, p)
			}
		}
		resources = append(resources, resource.With("parameters", own))
	}
	return parsed(t, document.AppendJSON(nil, document.Mapping{{Key: "resources", Value: resources}}))
}

func parsed(t testing.TB, text []byte) *puppet.Catalog {
	t.Helper()
	c, err := puppet.Read(budget.NewMeter(context.Background()), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

func instance(t testing.TB, name, yaml string) puppet.Instance {
	t.Helper()
	in, problems := puppet.ParseInstance(meterOf(), name, strings.HasPrefix(name, "secret"), read(t, yaml))
	if problems != nil {
		t.Fatalf("%s: %v", yaml, problems)
	}
	return in
}

func apply(t testing.TB, c *puppet.Catalog, types *puppet.Types, instances ...puppet.Instance) puppet.Result {
	t.Helper()
	if types == nil {
		types = puppet.NewTypes(nil)
	}
	result, err := puppet.Apply(budget.NewMeter(context.Background()), c, instances, types)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func textOf(t testing.TB, c *puppet.Catalog) string {
	t.Helper()
	text, err := c.JSON(budget.NewMeter(context.Background()))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func messages(problems []puppet.Problem) (texts []string) {
	for _, p := range problems {
		texts = append(texts, strings.Join(p.Path, ".")+": "+p.Message)
	}
	return texts
}
