package changes

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/puppet"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// load is a kind of documents that are costly to check, validate or compile.
type load struct {
	name     string
	requires string // the validation that does so
	// costly and harmless return the bodies of buckets with the same number of documents, at least n.
	costly, harmless func(n int) []string
	// change returns the body of the i-th change of somebody else.
	change func(i int) string
}

// loads are all kinds of them. New ones belong here.
func loads() []load {
	return []load{
		{"failing", validations.RenderingValidation, widgets(dataSchema("string"), "{x: 1}"), harmlessWidgets, ownWidget},
		{
			"failing a hundred times", validations.RenderingValidation,
			widgets(schemaOf("acme/Widget/v1", "{properties: {x: {items: {type: string}}}}"), "{x: ["+repeated(100, "1")+"]}"),
			harmlessWidgets, ownWidget,
		},
		{
			"failing slowly", validations.RenderingValidation,
			widgets(schemaOf("acme/Widget/v1", "{properties: {x: {items: {anyOf: ["+repeated(50, "{minimum: 2, type: integer}")+"]}}}}"),
				"{x: ["+repeated(500, "1")+"]}"),
			harmlessWidgets, ownWidget,
		},
		{"failing with secrets", validations.RenderingValidation, func(n int) []string {
			return []string{dataSchema("string") + each(n, func(i int) string { return secret(fmt.Sprint("s", i), "{x: 1}") })}
		}, func(n int) []string {
			return []string{dataSchema("string") + each(n, func(i int) string { return secret(fmt.Sprint("s", i), "{x: a}") })}
		}, ownWidget},
		{"failing where layered", validations.RenderingValidation, layeredWidgets("{x: 1}"), layeredWidgets("{x: a}"), ownWidget},
		{
			"unusable DataSchemas", validations.RenderingValidation, dataSchemas("{properties: {x: {type: strong}}}"),
			dataSchemas("{properties: {x: {type: string}}}"), ownWidget,
		},
		{
			"large DataSchemas", validations.RenderingValidation,
			dataSchemas("{properties: " + properties(300) + "}"), dataSchemas("{properties: {}}"), ownWidget,
		},
		{"large types of Puppet", validations.PuppetValidation, puppetTypes(2000, "{type: string}"), puppetTypes(1, "{type: string}"), ownType},
		{"unusable types of Puppet", validations.PuppetValidation, puppetTypes(100, "{type: strong}"), puppetTypes(1, "{type: string}"), ownType},
		{"large overrides of Puppet", validations.PuppetValidation, overridesOf(1000, "{value: a}"), overridesOf(1, "{value: a}"), ownType},
		{"failing overrides of Puppet", validations.PuppetValidation, overridesOf(200, "{valu: a}"), overridesOf(1, "{value: a}"), ownType},
		{"packages", validations.PackageValidation, packagesOf(300), packagesOf(1), ownWidget},
	}
}

func ownWidget(i int) string { return widget("mine", fmt.Sprintf("{x: a%d}", i)) }

// ownType describes a type of Puppet, each time in another way.
func ownType(i int) string { return puppetType("mine_config", fmt.Sprintf("{p%d: {type: string}}", i)) }

// widgets returns a DataSchema in one bucket, and documents in another.
func widgets(schema, data string) func(n int) []string {
	return func(n int) []string {
		return []string{schema, each(n, func(i int) string { return widget(fmt.Sprint("w", i), data) })}
	}
}

func harmlessWidgets(n int) []string { return widgets(dataSchema("string"), "{x: a}")(n) }

// layeredWidgets returns documents that have a parent.
func layeredWidgets(data string) func(n int) []string {
	return func(n int) []string {
		parent := strings.Replace(widget("parent", "{}", "labels: {is: parent}"), "layer: site", "layer: global", 1)
		return []string{dataSchema("string") + parent, each(n, func(i int) string {
			return strings.Replace(widget(fmt.Sprint("c", i), data), "{layer: site}",
				"{layer: site, parentSelector: {is: parent}, actions: [{method: merge, path: .}]}", 1)
		})}
	}
}

func schemaOf(kind, schema string) string { return control(validations.DataSchemaKind, kind, schema) }

func dataSchemas(schema string) func(n int) []string {
	return func(n int) []string {
		return []string{each(n/10, func(i int) string { return schemaOf("acme/"+word(i)+"/v1", schema) })}
	}
}

func puppetType(name, properties string) string {
	return text(puppet.TypeKind, "metadata/Document/v1", name, "{name: "+name+", parameters: {properties: "+properties+"}}",
		"layeringDefinition: {layer: site}", "storagePolicy: cleartext")
}

func puppetTypes(parameters int, schema string) func(n int) []string {
	return func(n int) []string {
		return []string{each(n/10, func(i int) string {
			return puppetType(word(i)+"_config", strings.ReplaceAll(properties(parameters), "{type: string}", schema))
		})}
	}
}

// overridesOf returns types of Puppet, and documents that override so many resources of them.
func overridesOf(resources int, parameters string) func(n int) []string {
	return func(n int) []string {
		return []string{
			each(n/10, func(i int) string { return puppetType(word(i)+"_config", "{value: {type: string}}") }),
			each(n/10, func(i int) string {
				titles := make([]string, resources)
				for j := range titles {
					titles[j] = fmt.Sprintf("t%d: %s", j, parameters)
				}
				return text(puppet.OverrideKind, "metadata/Document/v1", fmt.Sprint("o", i),
					"{configuration: {"+word(i)+"_config: {"+strings.Join(titles, ", ")+"}}}",
					"layeringDefinition: {layer: site}", "storagePolicy: cleartext")
			}),
		}
	}
}

// packagesOf returns packages, each with so many classes, which others have too, and requirements that are not met.
func packagesOf(classes int) func(n int) []string {
	return func(n int) []string {
		return []string{each(n/10, func(i int) string {
			names, required := make([]string, classes), make([]string, classes)
			for j := range names {
				names[j], required[j] = fmt.Sprintf("a.C%d: c.yaml", j), fmt.Sprintf("b.R%d: '1'", j)
			}
			return control(validations.PackageKind, "a."+word(i), "{manifest: {FullName: a."+word(i)+", Classes: {"+
				strings.Join(names, ", ")+"}, Require: {"+strings.Join(required, ", ")+"}}, files: {}}")
		})}
	}
}

func each(n int, document func(i int) string) string {
	var body strings.Builder
	for i := range max(1, n) {
		body.WriteString(document(i))
	}
	return body.String()
}

func repeated(n int, item string) string { return strings.Repeat(item+", ", n-1) + item }

func properties(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("p%d: {type: string}", i)
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// word returns the i-th word of letters.
func word(i int) string {
	const letters = 26
	text := ""
	for ; i >= 0; i = i/letters - 1 {
		text = string(rune('a'+i%letters)) + text
	}
	return "w" + text
}

// tenant is somebody who changes a small document of a site, whose other documents belong to others.
type tenant struct {
	service *Service
	change  func(i int) string
	changes int
}

// tenantOf fills a site, and begins anew with empty caches.
func tenantOf(t testing.TB, of load, bodies []string) *tenant {
	t.Helper()
	s, m := service()
	s.Vault, s.Compat = fakeVault{}, of.requires == validations.PackageValidation // its documents come from archives
	for i, body := range append(bodies, layeringPolicy("policy"), validationPolicy(of.requires)) {
		put(t, s, fmt.Sprint("b", i), body)
	}
	again, _ := service()
	again.Store, again.Vault, again.Documents = m, fakeVault{}, NewDocumentCache(64<<20)
	again.DefaultValidations = append(revisions.Defaults{validations.SchemaValidation}, of.requires)
	return &tenant{service: again, change: of.change}
}

// put makes a change and returns the steps that it takes, in all budgets.
func (of *tenant) put(t testing.TB) int64 {
	t.Helper()
	steps, err := of.tryPut()
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

func (of *tenant) tryPut() (steps int64, err error) {
	of.changes++
	pool := budget.NewPool(1, time.Minute)
	ctx, end := pool.Begin(context.Background())
	defer end()
	_, err = of.service.Put(ctx, "mine", []byte(of.change(of.changes)), document.YAML, revisions.Options{})
	return pool.Steps(), err
}

// A small change costs about the same beside documents of others that are costly to judge as beside harmless ones, from
// the second one after a restart.
func TestCost_remembered_law(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		of, n := rapid.SampledFrom(loads()).Draw(rt, "load"), rapid.IntRange(20, 200).Draw(rt, "documents")
		compareLoads(t, of, n)
	})
}

// Each of the loads.
func TestCost_remembered(t *testing.T) {
	t.Parallel()
	for _, of := range loads() {
		t.Run(strings.ReplaceAll(of.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			compareLoads(t, of, 200)
		})
	}
}

// compareLoads compares the cost of changes.
func compareLoads(t testing.TB, of load, n int) {
	t.Helper()
	costly, usual := tenantOf(t, of, of.costly(n)), tenantOf(t, of, of.harmless(n))
	compareCosts(t, fmt.Sprintf("%s, %d documents", of.name, n), 0, func() int64 { return costly.put(t) },
		func() int64 { return usual.put(t) })
}
