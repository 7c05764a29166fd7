package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	library "github.com/santhosh-tekuri/jsonschema/v5"

	"purser/internal/budget"
	"purser/internal/check"
	"purser/internal/document"
	"purser/internal/murano"
	"purser/internal/propertygroups"
	"purser/internal/puppet"
	"purser/internal/validations"
	"purser/internal/validations/jsonschema"
)

const (
	groupedKeys = 40 // keys of a document of about 2 KB
	groupCount  = 10 // groups of its schema
)

// groupChecks measures row 14: checking a document with and without property groups.
func (r *run) groupChecks() {
	const checksOfTurn = 500 // with fewer, a turn would be too short to time
	r.sayf("row 14: checking a document with and without property groups")
	engine := validations.NewEngine(validations.Options{Extensions: []validations.Extension{propertygroups.Extension{}}})
	data := groupedData()
	check := func(groups int) func() {
		schema := validations.DataSchema{Text: groupedSchema(groups)}
		checker, err := engine.Compile(budget.NewMeter(r.ctx), schema, validations.ClientVersions{})
		must("compile the DataSchema", err)
		return repeat(checksOfTurn, func() {
			must("check", noFindings(checker.Check(budget.NewMeter(r.ctx), data)))
		})
	}
	r.compare(14, compared{
		limit: 1.3, repeats: often, against: check(0), measured: check(groupCount),
		what: fmt.Sprintf("check a document of %.1f KB with %d property groups, to without", float64(len(data))/1000,
			groupCount),
	})
}

func groupedData() []byte {
	var members []string
	for i := range groupedKeys {
		members = append(members, fmt.Sprintf(`"key%d":{"host":"host-%d.example.com","port":%d}`, i, i, 1000+i))
	}
	return []byte("{" + strings.Join(members, ",") + "}")
}

// groupedSchema returns a schema with the given number of property groups, of both kinds, none of which the document
// violates.
func groupedSchema(groups int) []byte {
	var properties, rules []string
	for i := range groupedKeys {
		properties = append(properties, fmt.Sprintf(`"key%d":{"type":"object","required":["host"],"properties":{`+
			`"host":{"type":"string","minLength":1},"port":{"type":"integer","minimum":1,"maximum":65535}}}`, i))
	}
	for i := range groups {
		rules = append(rules, fmt.Sprintf([]string{
			`{"AND":[["key%d","host"],["key%d","port"]]}`,
			`{"OR":[["other%d"],["key%d"]]}`,
			`{"XOR":[["key%d","host"],["other%d"],{"AND":[["other"],["more"]]}]}`,
		}[i%3], i, i+1))
	}
	text := `{"type":"object","properties":{` + strings.Join(properties, ",") + "}"
	if groups > 0 {
		text += `,"properties_groups_schema":[` + strings.Join(rules, ",") + "]"
	}
	return []byte(text + "}")
}

// drafts are the drafts in which a DataSchema may be written.
var drafts = []struct{ name, uri string }{
	{"4", "http://json-schema.org/draft-04/schema#"},
	{"6", "http://json-schema.org/draft-06/schema#"},
	{"7", "http://json-schema.org/draft-07/schema#"},
	{"2019-09", "https://json-schema.org/draft/2019-09/schema"},
	{"2020-12", "https://json-schema.org/draft/2020-12/schema"},
}

// checks measures row 21: checking a decoded document of 2 KB against a compiled schema of 3 KB, relative to the
// library.
func (r *run) checks() {
	const checksOfTurn = 200
	r.sayf("row 21: checks by JSON Schema")
	chart := newSite(large(), 1)
	data, err := dataOf(r.ctx, chart.documents[0])
	must("read a chart", err)
	value, err := document.ParseJSON(data)
	must("read the data", err)
	plain, err := parseStandard(data)
	must("read the data", err)
	for _, draft := range drafts {
		schema, err := dataOf(r.ctx, strings.Replace(chart.schema, "http://json-schema.org/schema#", draft.uri, 1))
		must("read a schema", err)
		ours, err := jsonschema.Compile(budget.NewMeter(r.ctx), schema, jsonschema.Options{})
		must("compile in draft "+draft.name, err)
		theirs, err := library.CompileString("bench:///schema", string(schema))
		must("compile with the library", err)
		r.compare(21, compared{
			limit: 1.3, repeats: often,
			measured: repeat(checksOfTurn, func() {
				must("check", noFindings(ours.CheckValue(budget.NewMeter(r.ctx), value)))
			}),
			against: repeat(checksOfTurn, func() { must("check", theirs.Validate(plain)) }),
			what: fmt.Sprintf("check %.1f KB by a schema of %.1f KB in draft %s, to github.com/santhosh-tekuri/jsonschema",
				float64(len(data))/1000, float64(len(schema))/1000, draft.name),
		})
	}
}

const pythonLoad = "import sys, yaml; list(yaml.load_all(open(sys.argv[1], 'rb'), yaml.CSafeLoader))"

// offlineChecks measures row 22: a whole process of purser check on a site, relative to yaml.v3 parsing the same text
// into nodes. The sites are a real one, if available, and a generated one with as many documents.
func (r *run) offlineChecks() {
	const documents = 383
	binary, s := r.build("purser"), r.start("checking")
	if body := r.corpus("tm19-airskiff"); body != nil {
		r.checkSite(binary, s, "tm19-airskiff", r.corpusFile("tm19-airskiff"), body)
	}
	own := newSite(large(), documents)
	body := append([]byte(twoLayers+own.schema), own.body()...)
	r.checkSite(binary, s, fmt.Sprintf("%d x %s", documents, own.label), r.writeFile("own.yaml", body), body)
	r.checkFolder(binary)
}

func (r *run) checkSite(binary string, s *server, label, file string, body []byte) {
	r.sayf("row 22: %s", label)
	run := func() { r.output(binary, "check", file) }
	r.compare(22, compared{
		limit: 2, repeats: rarely, measured: run, against: func() { readNodes(body) },
		what: label + ": purser check, to yaml.v3 reading it into nodes",
	}, compared{
		repeats: rarely, measured: run, against: func() { s.put("site", body) }, before: func() { s.reset("") },
		what: label + ": purser check, to a PUT into an empty site, schemas compiled before",
	})
	load := func() { r.output("python3", "-c", pythonLoad, file) }
	if attempt(load) == nil { // PyYAML is installed
		r.compare(22, compared{
			repeats: rarely, measured: run, against: load,
			what: label + ": purser check, to PyYAML's C loader reading it",
		})
	}
	checker := check.New(check.Options{})
	again := func(i int) {
		changed := fmt.Appendf(nil, "%s# changed %d\n", body, i)
		report, err := checker.Check(r.ctx, []check.File{{Name: "site.yaml", Text: changed}})
		if err == nil && report.Documents < 2 {
			err = errOther
		}
		must("check again", err)
	}
	again(-1)
	r.within(22, medianTime(r.rounds, again), 100*time.Millisecond,
		label+": checked again after a change, as --watch does")
}

// checkFolder measures a folder of many documents, each in its own file.
func (r *run) checkFolder(binary string) {
	const limit, mib = 512, 1 << 10 // in KiB
	many := newSite(small(), r.wide)
	for i, text := range append(many.documents, twoLayers+many.schema) {
		r.writeFile(fmt.Sprintf("many/%06d.yaml", i), []byte(text))
	}
	cmd := exec.CommandContext(r.ctx, binary, "check", filepath.Join(r.dir, "many"))
	took := timed(func() { must("check many files", cmd.Run()) })
	what := fmt.Sprintf("%d files of a document each: purser check", r.wide)
	r.within(22, took, 5*time.Second, what)
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage) // as on every Unix
	r.add(22, usage.Maxrss <= limit*mib, "<= 512 MiB", what+", memory", fmt.Sprintf("%d MiB", usage.Maxrss/mib))
}

const (
	catalogResources = 5000
	catalogOverrides = 500
)

// overrides measures row 23: overriding a compiled catalog, from text to text, relative to decoding the text.
func (r *run) overrides() {
	r.sayf("row 23: overriding a catalog")
	catalog, override := catalogText(), overrideText()
	run := func() {
		meter := budget.NewMeter(r.ctx)
		parsed, err := puppet.Read(meter, catalog)
		must("read the catalog", err)
		doc := puppet.Document{Identity: document.Identity{Schema: puppet.OverrideKind, Name: "bench"}, Data: override}
		overrides, err := puppet.Gather(meter, []puppet.Document{doc}, nil, nil)
		must("read the overrides", err)
		result, err := puppet.Apply(meter, parsed, overrides.Instances, overrides.Types)
		if err == nil && len(result.Report.Changes) != catalogOverrides {
			err = errOther
		}
		must("override the catalog", err)
		_, err = result.Catalog.JSON(meter)
		must("write the catalog", err)
	}
	r.compare(23, compared{
		limit: 3, repeats: often, measured: run,
		against: func() {
			var value any
			must("decode the catalog", json.Unmarshal(catalog, &value))
		},
		what: fmt.Sprintf("%d overrides of a catalog of %d resources, %.1f MB: read, override and write, to encoding/json "+
			"decoding it", catalogOverrides, catalogResources, float64(len(catalog))/1e6),
	})
}

// catalogText returns a catalog with members similar to those that Puppet writes.
func catalogText() []byte {
	resources := []string{`{"type":"Class","title":"Service","kind":"class"}`, `{"type":"Package","title":"service"}`}
	var edges []string
	for i := range catalogResources {
		resources = append(resources, fmt.Sprintf(`{"type":"File","title":"/etc/service-%d/service.conf","tags":["file",`+
			`"class","service","service_%d"],"file":"/etc/puppetlabs/code/environments/production/modules/service/init.pp",`+
			`"line":%d,"exported":false,"kind":"compilable_type","parameters":{"ensure":"file","owner":"root",`+
			`"group":"root","mode":"0644","content":"[DEFAULT]\nport = %d\ndebug = false\n",`+
			`"require":"Package[service]"}}`, i, i/10, i%1000, 1000+i))
		edges = append(edges, fmt.Sprintf(`{"source":"Class[Service]","target":"File[/etc/service-%d/service.conf]"}`, i))
	}
	return []byte(`{"name":"node","catalog_format":2,"resources":[` + strings.Join(resources, ",") + `],"edges":[` +
		strings.Join(edges, ",") + `]}`)
}

// overrideText returns overrides of every tenth resource, including relationships.
func overrideText() []byte {
	entries := make([]string, catalogOverrides)
	for i := range entries {
		entries[i] = fmt.Sprintf(`"/etc/service-%d/service.conf":{"mode":"0600","content":"[DEFAULT]\nport = %d\n",`+
			`"before":"File[/etc/service-%d/service.conf]"}`, 10*i, 2000+i, 10*i+1)
	}
	return []byte(`{"configuration":{"file":{` + strings.Join(entries, ",") + `}}}`)
}

// pythonLoadAll loads YAML files with PyYAML's C loader and prints the time in seconds, without that of reading the
// files and starting the interpreter. It counts a file that fails to load up to the failure.
const pythonLoadAll = `
import sys, time, yaml
texts = [open(name, 'rb').read() for name in sys.stdin.read().split('\n')]
began = time.perf_counter()
for text in texts:
    try:
        list(yaml.load_all(text, yaml.CSafeLoader))
    except yaml.YAMLError:
        pass
print(time.perf_counter() - began)
`

// packages measures row 24: checking Murano packages, relative to PyYAML's C loader parsing their YAML.
func (r *run) packages() {
	folder := filepath.Join(r.shared, "cases", "murano", "packages")
	files := yamlFiles(folder)
	if len(files) == 0 {
		r.sayf("row 24: there are no packages in %s", folder)
		return
	}
	if err := attempt(func() { r.output("python3", "-c", "import yaml; yaml.CSafeLoader") }); err != nil {
		r.sayf("row 24: PyYAML with its C loader is not installed: %v", err)
		return
	}
	took := series{}
	for range max(3, r.rounds) {
		took.time("checked", func() { checkPackages(r.ctx, folder) })
		cmd := exec.CommandContext(r.ctx, "python3", "-c", pythonLoadAll)
		cmd.Stdin = strings.NewReader(strings.Join(files, "\n"))
		text, err := cmd.Output()
		must("load the files with python3", err)
		seconds, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
		must("read the time of python3", err)
		took.add("loaded", time.Duration(seconds*float64(time.Second)))
	}
	checked, loaded := took["checked"].least(), took["loaded"].least()
	r.atMost(24, ratio(checked, loaded), 3,
		fmt.Sprintf("%d files of Murano packages checked, to PyYAML's C loader reading them", len(files)),
		"%s, %s", short(checked), short(loaded))
}

// yamlFiles returns the YAML files in a folder and its subfolders, none if the folder is missing.
func yamlFiles(folder string) (files []string) {
	_ = filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(name) == ".yaml" {
			files = append(files, name)
		}
		return err
	})
	return files
}

func checkPackages(ctx context.Context, folder string) {
	results, err := murano.RunPath(ctx, folder, murano.Options{Discover: true})
	if err == nil && len(results) == 0 {
		err = errOther
	}
	must("check the packages", err)
}
