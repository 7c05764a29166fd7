package puppet_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/document"
	"purser/internal/puppet"
)

// Few types and titles, so that overrides often match resources.
var (
	lawTypes  = []string{"file", "package", "service", "Package", "nova_config"}
	lawTitles = []string{"/a", "/b", "a/b"}
)

func lawParameters() *rapid.Generator[document.Mapping] {
	return rapid.Custom(func(t *rapid.T) document.Mapping {
		m := document.Mapping{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"noop", "tag", "loglevel"}), 0, 3, rapid.ID).Draw(t, "names") {
			value := map[string]any{
				"noop": rapid.Bool().Draw(t, "noop"), "tag": rapid.SampledFrom([]string{"x", "y"}).Draw(t, "tag"), "loglevel": "info",
			}[name]
			m = append(m, document.Member{Key: name, Value: value})
		}
		return m
	})
}

func lawConfiguration(titles []string) *rapid.Generator[document.Mapping] {
	return rapid.Custom(func(t *rapid.T) document.Mapping {
		m := document.Mapping{}
		for _, typ := range rapid.SliceOfNDistinct(rapid.SampledFrom(lawTypes), 0, 4, rapid.ID).Draw(t, "types") {
			resources := document.Mapping{}
			for _, title := range rapid.SliceOfNDistinct(rapid.SampledFrom(titles), 0, 3, rapid.ID).Draw(t, "titles") {
				switch typ {
				case "nova_config":
					title = "s" + title
				case "file":
					title = "/" + title
				}
				resources = append(resources, document.Member{Key: title, Value: lawParameters().Draw(t, "parameters")})
			}
			m = append(m, document.Member{Key: typ, Value: resources})
		}
		return m
	})
}

func lawCatalog(t *rapid.T) *puppet.Catalog {
	resources := []any{}
	for i, typ := range []string{"File", "Package", "Service"} {
		for _, title := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"/a", "/b"}), 0, 2, rapid.ID).Draw(t, "there") {
			resources = append(resources, document.Mapping{
				{Key: "x-unknown", Value: document.Number(fmt.Sprintf("%d.50", i))},
				{Key: "type", Value: typ},
				{Key: "title", Value: title},
				{Key: "parameters", Value: lawParameters().Draw(t, "parameters")},
			})
		}
	}
	text := document.AppendJSON(nil, document.Mapping{{Key: "later", Value: nil}, {Key: "resources", Value: resources}})
	c, err := puppet.Read(meterOf(), text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func lawInstance(t *rapid.T, name string, data document.Mapping) puppet.Instance {
	in, problems := puppet.ParseInstance(meterOf(), name, false, data)
	if problems != nil {
		t.Fatal(problems)
	}
	return in
}

// lawApply returns the resulting catalog and its resources by reference, as JSON text.
func lawApply(t *rapid.T, c *puppet.Catalog, instances ...puppet.Instance) (*puppet.Catalog, map[string]string, puppet.Report) {
	nova, _, _ := puppet.ParseType(meterOf(), document.Mapping{{Key: "name", Value: "nova_config"}})
	result, err := puppet.Apply(meterOf(), c, instances, puppet.NewTypes([]*puppet.Type{nova}))
	if err != nil || result.Problems != nil {
		t.Fatal(err, messages(result.Problems))
	}
	text, err := result.Catalog.JSON(meterOf())
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Resources []json.RawMessage `json:"resources"`
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	resources := map[string]string{}
	for _, text := range out.Resources {
		var r struct {
			Type  string `json:"type"`
			Title string `json:"title"`
		}
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		resources[r.Type+"["+r.Title+"]"] = string(text)
	}
	return result.Catalog, resources, result.Report
}

func configured(configuration document.Mapping, options ...document.Member) document.Mapping {
	return document.Mapping{
		{Key: "configuration", Value: configuration}, {Key: "configuration_options", Value: document.Mapping(options)},
	}
}

// Filters only remove work: each resource is changed as without them, or not at all.
func TestApply_lawFilters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := lawCatalog(t)
		configuration := lawConfiguration(lawTitles).Draw(t, "configuration")
		filter := document.Member{Key: "types_filter", Value: []any{rapid.SampledFrom(lawTypes).Draw(t, "filter")}}
		titles := document.Member{Key: "titles_filter", Value: []any{rapid.SampledFrom(lawTitles).Draw(t, "title")}}
		_, was, _ := lawApply(t, c)
		_, all, whole := lawApply(t, c, lawInstance(t, "all", configured(configuration)))
		_, some, part := lawApply(t, c, lawInstance(t, "some", configured(configuration, filter, titles)))
		for ref, text := range some {
			if text != was[ref] && text != all[ref] {
				t.Fatalf("%s: %s is neither %q nor %q", ref, text, was[ref], all[ref])
			}
		}
		if len(part.Changes) > len(whole.Changes) {
			t.Fatalf("with filters more is done: %v, %v", whole.Changes, part.Changes)
		}
	})
}

// Instances with disjoint resources commute, apart from the order of what they create.
func TestApply_lawCommute(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := lawCatalog(t)
		a := lawInstance(t, "a", configured(lawConfiguration([]string{"/a", "/x/y"}).Draw(t, "a")))
		b := lawInstance(t, "b", configured(lawConfiguration([]string{"/b", "/z/y"}).Draw(t, "b")))
		_, ab, _ := lawApply(t, c, a, b)
		_, ba, _ := lawApply(t, c, b, a)
		if diff := cmp.Diff(ab, ba); diff != "" {
			t.Fatalf("(-ab +ba)\n%s", diff)
		}
	})
}

// Applying instances twice has the same result as applying them once; each reference of a relationship is added once.
func TestApply_lawTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		configuration := lawConfiguration(lawTitles).Draw(t, "configuration")
		create := document.Member{Key: "create", Value: rapid.Bool().Draw(t, "create")}
		defaults := document.Member{Key: "defaults", Value: document.Mapping{
			{Key: "file", Value: document.Mapping{{Key: "mode", Value: "0600"}}},
		}}
		in := lawInstance(t, "x", configured(configuration, create, defaults))
		once, first, _ := lawApply(t, lawCatalog(t), in)
		_, second, _ := lawApply(t, once, in)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("(-once +twice)\n%s", diff)
		}
	})
}

// A resource that no instance changes is preserved.
func TestApply_lawUntouched(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := lawCatalog(t)
		_, was, _ := lawApply(t, c)
		_, is, report := lawApply(t, c, lawInstance(t, "x", configured(lawConfiguration(lawTitles).Draw(t, "configuration"))))
		for ref, text := range was {
			parsed, _ := puppet.ParseRef(ref)
			if len(report.Explain(parsed)) == 0 && is[ref] != text {
				t.Fatalf("%s: %s became %s", ref, text, is[ref])
			}
		}
		if _, again, _ := lawApply(t, c); cmp.Diff(was, again) != "" {
			t.Fatal("the catalog itself was changed")
		}
	})
}
