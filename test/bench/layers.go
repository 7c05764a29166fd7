package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"purser/internal/document"
)

// The generated site has three layers and resembles real ones: charts, some of which are templates or replace others,
// and catalogues and secrets that are substituted into them.
const (
	baseCharts   = 80
	templates    = 18 // charts that are templates, each for another chart
	replacements = 15 // charts that replace another one
	passphrases  = 70
	certificates = 72
	groups       = 45
	scripts      = 26
	settings     = 20 // each of a different kind
)

// frame is a document without its data.
type frame struct {
	kind, name, layer     string
	labels                string // comma-separated pairs; "" for none
	parent                string // labels of its parent; "" for none
	actions               string // on the parent's data; "" to merge
	abstract, replacement bool
	links                 []link
}

// link is a substitution of a document.
type link struct{ kind, name, from, to, pattern string }

func (f frame) write(b *strings.Builder, data string) {
	fmt.Fprintf(b, `---
schema: %s
metadata:
  schema: metadata/Document/v1
  name: %s
  storagePolicy: cleartext
  replacement: %t
  layeringDefinition:
    abstract: %t
    layer: %s
`, f.kind, f.name, f.replacement, f.abstract, f.layer)
	if f.parent != "" {
		actions := cmp.Or(f.actions, "{method: merge, path: .}")
		fmt.Fprintf(b, "    parentSelector: {%s}\n    actions: [%s]\n", f.parent, actions)
	}
	if f.labels != "" {
		fmt.Fprintf(b, "  labels: {%s}\n", f.labels)
	}
	if len(f.links) > 0 {
		b.WriteString("  substitutions:\n")
	}
	for _, l := range f.links {
		l.write(b)
	}
	b.WriteString("data:" + data)
}

func (l link) write(b *strings.Builder) {
	fmt.Fprintf(b, "    - src: {schema: %s, name: %s, path: %s}\n      dest:\n        path: %s\n",
		l.kind, l.name, l.from, l.to)
	if l.pattern != "" {
		fmt.Fprintf(b, "        pattern: %s\n", l.pattern)
	}
}

const layerOrder = `---
schema: deckhand/LayeringPolicy/v1
metadata:
  schema: metadata/Control/v1
  name: layering-policy
data:
  layerOrder: [global, type, site]
`

// twoLayers is the policy of sites without templates.
const twoLayers = "---\nschema: deckhand/LayeringPolicy/v1\n" +
	"metadata: {schema: metadata/Control/v1, name: layering-policy}\ndata: {layerOrder: [global, site]}\n"

// layered is a site whose documents are rendered from one another.
type layered struct {
	label     string
	body      []byte
	documents []*document.Document
}

// layered returns a real site, if available, and otherwise the generated one.
func (r *run) layered() layered {
	name := "tm19-airskiff"
	body := r.corpus(name)
	if body == nil {
		name, body = "our own site", layeredSite()
	}
	site, err := newLayered(r.ctx, name, body)
	must("read a site", err)
	return site
}

func newLayered(ctx context.Context, name string, body []byte) (layered, error) {
	documents, err := decodeAndCheck(ctx, body, unchecked{}, cores())
	if err != nil {
		return layered{}, fmt.Errorf("%s: %w", name, err)
	}
	label := fmt.Sprintf("%s (%d documents, %d substitutions)", name, len(documents), substitutions(documents))
	return layered{label, body, documents}, nil
}

func substitutions(documents []*document.Document) (n int) {
	for _, doc := range documents {
		value, _ := document.ParseJSON(doc.Metadata)
		metadata, _ := value.(document.Mapping)
		links, _ := metadata.At("substitutions").([]any)
		n += len(links)
	}
	return n
}

// layeredSite returns the whole site, which is the same in every run.
func layeredSite() []byte {
	var b strings.Builder
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // made up, and the same every time
	b.WriteString(layerOrder)
	writeSchemas(&b)
	writeSecrets(&b, r)
	writeCatalogues(&b, r)
	for i := range baseCharts {
		writeFamily(&b, r, i)
	}
	writeOthers(&b, r)
	return []byte(b.String())
}

// plainSchema is the template of DataSchemas that differ only in the kind.
const plainSchema = `---
schema: deckhand/DataSchema/v1
metadata:
  schema: metadata/Control/v1
  name: %[1]s
data:
  $schema: http://json-schema.org/schema#
  title: %[1]s
  type: %[2]s
  additionalProperties: {type: [string, integer, boolean, object, array]}
`

func writeSchemas(b *strings.Builder) {
	b.WriteString(chartSchema)
	b.WriteString(endpointSchema)
	for _, kind := range []string{"Versions", "Endpoints", "Accounts", "Group"} {
		fmt.Fprintf(b, plainSchema, "bench/"+kind+"/v1", "object")
	}
	fmt.Fprintf(b, plainSchema, "bench/Script/v1", "string")
	for i := range settings {
		b.WriteString(strings.Replace(chartSchema, "bench/Chart/v1", settingKind(i), 1))
		fmt.Fprintf(b, "  title: %s\n", settingKind(i)) // otherwise, all kinds would share one schema
	}
}

func settingKind(i int) string { return fmt.Sprintf("bench/Setting%c/v1", 'A'+i) }

func passphrase(i int) string { return fmt.Sprintf("passphrase-%02d", i%passphrases) }

func certificate(i int) string { return fmt.Sprintf("certificate-%02d", i%certificates) }

func chart(i int) string { return fmt.Sprintf("chart-%03d", i) }

func writeSecrets(b *strings.Builder, r *rand.Rand) {
	for i := range passphrases {
		frame{kind: "deckhand/Passphrase/v1", name: passphrase(i), layer: "site"}.
			write(b, fmt.Sprintf(" p%016x\n", r.Uint64()))
	}
	for i := range certificates {
		var text strings.Builder
		text.WriteString(" |\n  -----BEGIN CERTIFICATE-----\n")
		for range 22 {
			fmt.Fprintf(&text, "  %016x%016x%016x%016x\n", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
		}
		text.WriteString("  -----END CERTIFICATE-----\n")
		frame{kind: "deckhand/Certificate/v1", name: certificate(i), layer: "site"}.write(b, text.String())
	}
}

// writeCatalogues writes the documents from which charts take their sources, images, endpoints and accounts.
func writeCatalogues(b *strings.Builder, r *rand.Rand) {
	var sources, images strings.Builder
	for i := range baseCharts {
		fmt.Fprintf(&sources, "    %s:\n      type: git\n      location: https://git.example.com/%[1]s\n"+
			"      subpath: %[1]s\n      reference: %016[2]x%016[3]x\n", chart(i), r.Uint64(), r.Uint64())
		fmt.Fprintf(&images, "    %s:\n", chart(i))
		for _, part := range parts {
			fmt.Fprintf(&images, "      %s: quay.example.com/%s/%[1]s:1.0.%[3]d\n", part, chart(i), r.IntN(40))
		}
	}
	frame{kind: "bench/Versions/v1", name: "versions", layer: "global"}.
		write(b, "\n  charts:\n"+sources.String()+"  images:\n"+images.String())

	var endpoints, accounts strings.Builder
	for _, service := range services {
		fmt.Fprintf(&endpoints, "  %s:\n    host: %[1]s.example.com\n    port: %d\n", service, 1024+r.IntN(60000))
		fmt.Fprintf(&accounts, "  %s:\n    user: %[1]s-user\n    region: %s\n", service, pick(r, regions))
	}
	frame{kind: "bench/Endpoints/v1", name: "endpoints", layer: "type"}.write(b, "\n"+endpoints.String())
	var links []link
	for i := range 28 {
		to := fmt.Sprintf(".%s.password_%d", services[i%len(services)], i/len(services))
		links = append(links, link{"deckhand/Passphrase/v1", passphrase(i), ".", to, ""})
	}
	frame{kind: "bench/Accounts/v1", name: "accounts", layer: "type", links: links}.write(b, "\n"+accounts.String())
}

// writeFamily writes chart i and the chart that uses it as a template or replaces it, if there is one.
func writeFamily(b *strings.Builder, r *rand.Rand, i int) {
	service := services[i%len(services)]
	base := "name: " + chart(i) + ", component: " + service
	frame{
		kind: "bench/Chart/v1", name: chart(i), layer: "global", labels: base, abstract: i < templates,
		links: baseLinks(i, service),
	}.write(b, chartData(r, service, i, connections))
	child := frame{kind: "bench/Chart/v1", name: chart(i), parent: base, links: childLinks(i, service)}
	switch {
	case i < templates:
		child.name += "-type"
		child.layer = "type"
	case i < templates+replacements:
		child.layer, child.replacement = "site", true
	default:
		return
	}
	child.write(b, fmt.Sprintf("\n  values:\n    pod:\n      replicas:\n        api: %d\n    conf:\n"+
		"      admin:\n        url: https://admin:PASSWORD@%s.example.com/\n", 1+r.IntN(5), service))
}

// connections is the part of a chart's configuration into which secrets are substituted.
const connections = `      connections:
        database: mysql://keystone:PASSWORD@mariadb.example.com:3306/
        messages: rabbit://keystone:PASSWORD@rabbitmq.example.com:5672/
`

// chartData returns the data of a chart. more is the end of its configuration.
func chartData(r *rand.Rand, service string, i int, more string) string {
	var data strings.Builder
	data.WriteString("\n")
	writeRelease(&data, r, service, pick(r, parts), i)
	writeValues(&data, r, service, 0)
	data.WriteString(more)
	writeSource(&data, r, service)
	return data.String()
}

func baseLinks(i int, service string) []link {
	const values = ".values.conf.connections"
	return []link{
		{"bench/Versions/v1", "versions", ".charts." + chart(i), ".source", ""},
		{"bench/Versions/v1", "versions", ".images." + chart(i), ".values.images.tags", ""},
		{"bench/Endpoints/v1", "endpoints", "." + service + ".host", ".values.endpoints[0].host", ""},
		{"bench/Endpoints/v1", "endpoints", "." + service + ".port", ".values.endpoints[0].port", ""},
		{"deckhand/Passphrase/v1", passphrase(2 * i), ".", values + ".database", "PASSWORD"},
		{"deckhand/Passphrase/v1", passphrase(2*i + 1), ".", values + ".messages", "PASSWORD"},
		{"bench/Accounts/v1", "accounts", "." + service + ".user", values + ".user", ""},
		{"deckhand/Certificate/v1", certificate(i), ".", ".values.conf.tls.crt", ""},
	}
}

func childLinks(i int, service string) []link {
	return []link{
		{"deckhand/Passphrase/v1", passphrase(3 * i), ".", ".values.conf.admin.url", "PASSWORD"},
		{"deckhand/Certificate/v1", certificate(i + 1), ".", ".values.conf.tls.ca", ""},
		{"bench/Accounts/v1", "accounts", "." + service, ".values.conf.account", ""},
		{"bench/Endpoints/v1", "endpoints", "." + service + ".host", ".values.conf.admin.host", ""},
	}
}

func writeOthers(b *strings.Builder, r *rand.Rand) {
	for i := range groups {
		members := []string{chart(i), chart(i + 1), chart((i + 7) % baseCharts)}
		frame{kind: "bench/Group/v1", name: fmt.Sprintf("group-%02d", i), layer: "global"}.
			write(b, fmt.Sprintf("\n  sequenced: true\n  charts: [%s]\n", strings.Join(members, ", ")))
	}
	for i := range scripts {
		lines := slices.Repeat([]string{"  install -m 0644 " + pick(r, words) + " /etc/" + pick(r, services) + "\n"}, 30)
		frame{kind: "bench/Script/v1", name: fmt.Sprintf("script-%02d", i), layer: pick(r, []string{"global", "type"})}.
			write(b, " |\n"+strings.Join(lines, ""))
	}
	for i := range settings {
		frame{kind: settingKind(i), name: "setting", layer: "site"}.write(b, chartData(r, services[i%len(services)], i, ""))
	}
}
