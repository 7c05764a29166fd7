package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	overrideKind   = "fuel/PuppetOverride/v1"
	overridesCheck = "puppet-override-validation"
)

// motd is a catalog with one file.
const motd = `{"name":"cmp-1","version":1.50,"resources":[{"type":"File","title":"/etc/motd","kind":"compilable_type",` +
	`"parameters":{"content":"welcome"}}],"edges":[]}`

func override(name, data, more string) string { return docWith(overrideKind, name, data, more) }

func (s site) catalog(t *testing.T, path, catalog string, header ...string) response {
	t.Helper()
	return s.do(t, http.MethodPost, path, catalog, append([]string{"Content-Type", typeJSON, "Accept", typeJSON}, header...)...)
}

// Mistakes in overrides fail their revision if a policy lists the validation. Findings have paths and hints.
func TestPuppet_validation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	site := layeringPolicy("lp") + policy("ready", overridesCheck)
	// An abstract override is not checked itself; its mistakes are found in its child.
	base := strings.Replace(override("base", "{configuration: {file: {/a: {onwer: root}}}}", ", labels: {base: 'yes'}"),
		"{layer: site}", "{layer: global, abstract: true}", 1)
	s.put(t, "site", site+base).is(t, http.StatusOK)
	s.isVerdict(t, "1", "success; ready: "+overridesCheck+"=success; ignored: "+own+"=success")
	child := strings.Replace(override("child", "{configuration: {pakage: {mc: {}}}, configuration_options: {types_create_exception: [exec]}}", ""),
		"{layer: site}", "{layer: site, parentSelector: {base: 'yes'}, actions: [{method: merge, path: .}]}", 1)
	s.put(t, "site", site+base+child).is(t, http.StatusOK)
	s.isVerdict(t, "2", "failure; ready: "+overridesCheck+"=failure; ignored: "+own+"=success")
	const want = `[fuel/PuppetOverride/v1, site] child .data.configuration.file./a.onwer: no parameter named 'onwer' of File[/a]; did you mean 'owner'?
[fuel/PuppetOverride/v1, site] child .data.configuration.pakage.mc: Resource type 'pakage' was not found; did you mean 'package'?; describe it with a fuel/PuppetType/v1
[fuel/PuppetOverride/v1, site] child .data.configuration_options.types_create_exception: The exception 'Exec' matches nothing in the configuration
`
	if diff := cmp.Diff(want, s.get(t, "revisions/2/findings", "Accept", "text/plain").text); diff != "" {
		t.Errorf("findings (-want +got)\n%s", diff)
	}
	pakage := doc("fuel/PuppetType/v1", "pakage", "{name: pakage}")
	fixed := strings.Replace(child, ", configuration_options: {types_create_exception: [exec]}", "", 1)
	s.put(t, "site", site+strings.Replace(base, "onwer", "owner", 1)+fixed+pakage).is(t, http.StatusOK)
	s.isVerdict(t, "3", "success; ready: "+overridesCheck+"=success; ignored: "+own+"=success")
	s.post(t, "revisions/3/validations/"+overridesCheck, "{status: success, validator: x}").
		isFault(t, http.StatusForbidden, "HTTPForbidden", "performed by the server")
}

// A value that Puppet refuses fails the validation, and the catalog, which the agent would refuse as a whole. So does a
// type that nothing describes, and what an override and the catalog say together.
func TestPuppet_values(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "site", layeringPolicy("lp")+policy("ready", overridesCheck)+
		override("perms", "{configuration: {file: {/etc/motd: {mode: 0640}}, nosuch_config: {DEFAULT/debug: {value: true}}}}", "")).
		is(t, http.StatusOK)
	s.isVerdict(t, "1", "failure; ready: "+overridesCheck+"=failure; ignored: "+own+"=success")
	const want = `[fuel/PuppetOverride/v1, site] perms .data.configuration.file./etc/motd.mode: Parameter mode failed on File[/etc/motd]: The file mode specification must be a string such as '0644' or u=rw,g=r, in quotes if it is octal, not 416
[fuel/PuppetOverride/v1, site] perms .data.configuration.nosuch_config.DEFAULT/debug: Resource type 'nosuch_config' was not found; describe it with a fuel/PuppetType/v1
`
	if diff := cmp.Diff(want, s.get(t, "revisions/1/findings", "Accept", "text/plain").text); diff != "" {
		t.Errorf("findings (-want +got)\n%s", diff)
	}
	refused := s.catalog(t, "revisions/1/puppet/catalog", motd)
	refused.isFault(t, http.StatusBadRequest, "PuppetOverrideInvalid", "must be a string such as '0644'")
	s.put(t, "site", layeringPolicy("lp")+policy("ready", overridesCheck)+
		override("source", "{configuration: {file: {/etc/motd: {source: /usr/share/motd}}}}", "")).is(t, http.StatusOK)
	s.isVerdict(t, "2", "success; ready: "+overridesCheck+"=success; ignored: "+own+"=success")
	refused = s.catalog(t, "revisions/2/puppet/catalog", motd)
	refused.isFault(t, http.StatusBadRequest, "PuppetOverrideInvalid", "You cannot specify more than one of content, source, target")
	for _, want := range []string{`".data.configuration.file./etc/motd: Validation of File[/etc/motd] failed`, `"name":"source"`} {
		if !strings.Contains(refused.text, want) {
			t.Errorf("the refusal has no %s: %s", want, refused.text)
		}
	}
}

// The schemas of both kinds are in force unless a DataSchema replaces them, but not with --compat=deckhand.
func TestPuppet_schemas(t *testing.T) {
	t.Parallel()
	wrong := override("o", "{configuration: {file: 5}, crate: true}", "")
	s := newSite(t)
	s.put(t, "site", layeringPolicy("lp")+wrong+doc("fuel/PuppetType/v1", "t", "{namevar: name}")).is(t, http.StatusOK)
	s.isVerdict(t, "1", "failure; reported: "+fitting+"=success "+rendering+"=failure "+own+"=failure")
	got := s.get(t, "revisions/1/findings", "Accept", "text/plain").text
	for _, want := range []string{"The 'resources' should be a hash", "'crate'", "'name' is a required property"} {
		if !strings.Contains(got, want) {
			t.Errorf("findings have no %s:\n%s", want, got)
		}
	}
	s.get(t, "revisions/1/schemas/fuel/PuppetOverride/v1").is(t, http.StatusOK)
	s.put(t, "schema", dataSchema(overrideKind, "{type: object}")+dataSchema("fuel/PuppetType/v1", "{type: object}")).is(t, http.StatusOK)
	s.isVerdict(t, "2", "success; reported: "+fitting+"=success "+rendering+"=success "+own+"=success")
	compat := compatSite(t)
	compat.put(t, "site", layeringPolicy("lp")+wrong).is(t, http.StatusOK)
	compat.isVerdict(t, "1", "success; reported: "+own+"=success")
	compat.get(t, "revisions/1/rendered-documents").is(t, http.StatusOK)
	compat.get(t, "revisions/1/schemas/fuel/PuppetOverride/v1").isFault(t, http.StatusNotFound, "SchemaNotFound", "no schema for")
}

// Puppet fetches Hiera data as a file, for the nodes that labels select.
func TestPuppet_hiera(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	all := strings.Replace(override("all", "{configuration: {file: {/etc/motd: {content: '80,443', mode: '0644'}}}, configuration_options: {create: false}}", ""),
		"{layer: site}", "{layer: global}", 1)
	s.put(t, "site", layeringPolicy("lp")+all+
		override("one", "{configuration: {file: {/etc/motd: {content: ':x'}}}}", ", labels: {node: cmp-1, role: compute}")).is(t, http.StatusOK)
	for query, want := range map[string]string{
		"":                         "80,443",
		"?node=cmp-1":              "80,443",
		"?node=cmp-1&role=compute": ":x",
		"?node=cmp-2&role=compute": "80,443",
	} {
		got := s.get(t, "revisions/1/puppet/hiera.yaml"+query, "Accept", "*/*").is(t, http.StatusOK)
		text := "\"configuration\":\n  \"file\":\n    \"/etc/motd\":\n      \"content\": \"" + want + "\"\n      \"mode\": \"0644\"\n" +
			"\"configuration_options\":\n  \"create\": false\n"
		if diff := cmp.Diff(text, got.text); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
		sum := sha256.Sum256([]byte(got.text))
		if got.Header.Get("X-Checksum-Sha256") != hex.EncodeToString(sum[:]) || got.Header.Get("Content-Type") != "application/yaml" {
			t.Errorf("%s: headers %v", query, got.Header)
		}
		head := s.do(t, http.MethodHead, "revisions/1/puppet/hiera.yaml"+query, "").is(t, http.StatusOK)
		for _, name := range []string{"X-Checksum-Sha256", "ETag", "Last-Modified", "Content-Length"} {
			if head.Header.Get(name) != got.Header.Get(name) || head.Header.Get(name) == "" {
				t.Errorf("%s of HEAD is %q, of GET %q", name, head.Header.Get(name), got.Header.Get(name))
			}
		}
		s.get(t, "revisions/1/puppet/hiera.yaml"+query, "If-None-Match", got.Header.Get("ETag")).is(t, http.StatusNotModified)
	}
	const json = `{"configuration":{"file":{"/etc/motd":{"content":"80,443","mode":"0644"}}},"configuration_options":{"create":false}}` + "\n"
	for path, accept := range map[string]string{"hiera.json": "*/*", "hiera": "application/json", "hiera.json?node=x": "application/yaml"} {
		if got := s.get(t, "revisions/latest/puppet/"+path, "Accept", accept).is(t, http.StatusOK).text; got != json {
			t.Errorf("%s as %s: %s", path, accept, got)
		}
	}
	s.get(t, "revisions/1/puppet/hiera?nodes=1").isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "node")
	s.get(t, "revisions/9/puppet/hiera").is(t, http.StatusNotFound)
}

func TestPuppet_catalog(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "site", layeringPolicy("lp")+override("a", "{configuration: {file: {/etc/motd: {content: a, mode: '0600'}, /etc/issue: {}}}}", "")+
		override("b", "{configuration: {file: {/etc/motd: {content: b}}, exec: {x: {}}}, configuration_options: {create: false}}", ", labels: {node: n1}")).
		is(t, http.StatusOK)
	s.put(t, "site", layeringPolicy("lp")+override("a", "{configuration: {file: {/etc/motd: {content: c}}}}", "")).is(t, http.StatusOK)
	const path = "revisions/1/puppet/catalog"
	got := s.catalog(t, path+"?node=n1", motd).is(t, http.StatusOK)
	const want = `{"name":"cmp-1","version":1.50,"resources":[{"type":"File","title":"/etc/motd","kind":"compilable_type",` +
		`"parameters":{"content":"b","mode":"0600"}},{"type":"File","title":"/etc/issue","tags":["file"],"exported":false,` +
		`"kind":"compilable_type"}],"edges":[]}` + "\n"
	if diff := cmp.Diff(want, got.text); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	const report = `{"revision":1,"changes":[{"resource":"File[/etc/motd]","action":"updated","by":{"schema":"fuel/PuppetOverride/v1","name":"a","layer":"site"},"parameters":[{"name":"content","from":"configuration","added":false},{"name":"mode","from":"configuration","added":false}]},{"resource":"File[/etc/issue]","action":"created","by":{"schema":"fuel/PuppetOverride/v1","name":"a","layer":"site"},"parameters":[]},{"resource":"File[/etc/motd]","action":"updated","by":{"schema":"fuel/PuppetOverride/v1","name":"b","layer":"site"},"parameters":[{"name":"content","from":"configuration","added":false}]}],"skipped":[{"resource":"Exec[x]","by":{"schema":"fuel/PuppetOverride/v1","name":"b","layer":"site"},"reason":"not in the catalog, and create is false"}],"warnings":[]}` + "\n"
	if diff := cmp.Diff(report, s.catalog(t, path+"?node=n1&report=true", motd).is(t, http.StatusOK).text); diff != "" {
		t.Errorf("report (-want +got)\n%s", diff)
	}
	const explained = `{"resource":"File[/etc/issue]","changes":[{"resource":"File[/etc/issue]","action":"created","by":{"schema":"fuel/PuppetOverride/v1","name":"a","layer":"site"},"parameters":[]}]}` + "\n"
	if diff := cmp.Diff(explained, s.catalog(t, path+"?explain=File[/etc/issue]", motd).is(t, http.StatusOK).text); diff != "" {
		t.Errorf("explanation (-want +got)\n%s", diff)
	}
	const differences = `{"resources":[{"resource":"File[/etc/motd]","change":"changed","parameters":[{"name":"content","from":"a","to":"c"},{"name":"mode","from":"0600"}]},{"resource":"File[/etc/issue]","change":"removed","parameters":[]}],"options":[]}` + "\n"
	if diff := cmp.Diff(differences, s.catalog(t, "revisions/1/puppet/diff/2", motd).is(t, http.StatusOK).text); diff != "" {
		t.Errorf("difference (-want +got)\n%s", diff)
	}
	const withoutCatalog = `{"resources":[{"resource":"File[/etc/motd]","change":"changed","parameters":[{"name":"content","from":"b","to":"c"},{"name":"mode","from":"0600"}]},{"resource":"File[/etc/issue]","change":"removed","parameters":[]},{"resource":"Exec[x]","change":"removed","parameters":[]}],"options":[{"name":"create","from":false}]}` + "\n"
	if diff := cmp.Diff(withoutCatalog, s.get(t, "revisions/1/puppet/diff/2?node=n1", "Accept", "application/json").is(t, http.StatusOK).text); diff != "" {
		t.Errorf("difference without a catalog (-want +got)\n%s", diff)
	}
	s.catalog(t, "revisions/0/puppet/diff/2", motd).is(t, http.StatusOK)
	s.catalog(t, path, "{}").isFault(t, http.StatusBadRequest, "InvalidCatalog", "no list of resources")
	s.catalog(t, path+"?explain=x", motd).isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "Name a resource")
	s.catalog(t, path+"?explain=File[/no]", motd).isFault(t, http.StatusNotFound, "ResourceNotFound", "File[/no]")
	s.catalog(t, path, `{"resources":[],"x":`+strings.Repeat("[", 500)+strings.Repeat("]", 500)+`}`).
		isFault(t, http.StatusBadRequest, "InvalidCatalog", "deeper than 100")
	s.catalog(t, path, `{"resources":[],"x":[`+strings.Repeat("[],", 5_000_000)+`0]}`).
		isFault(t, http.StatusRequestEntityTooLarge, "HTTPPayloadTooLarge", "read the catalog")
	s.put(t, "site", layeringPolicy("lp")+override("a", "{configuration: {file: {/etc/motd: {contnet: c}}}}", "")).is(t, http.StatusOK)
	refused := s.catalog(t, "revisions/3/puppet/catalog", motd)
	refused.isFault(t, http.StatusBadRequest, "PuppetOverrideInvalid", "The overrides of revision 3 cannot be applied")
	for _, want := range []string{`".data.configuration.file./etc/motd.contnet: no`, `"name":"a"`} {
		if !strings.Contains(refused.text, want) {
			t.Errorf("the refusal has no %s: %s", want, refused.text)
		}
	}
	if audit := s.get(t, "audit").text; strings.Contains(audit, "puppet/catalog") {
		t.Errorf("the audit has what stored nothing:\n%s", audit)
	}
}

// Secrets are sensitive parameters. Callers who may not see them get a catalog without them.
func TestPuppet_secrets(t *testing.T) {
	t.Parallel()
	s := guarded(t, "")
	put := func(documents string) {
		s.put(t, "site", documents, as("admin")...).is(t, http.StatusOK)
	}
	const secret = "hunter2-hunter2"
	open := override("open", "{configuration: {file: {/etc/motd: {mode: '0600'}}}}", "")
	hidden := sealed(override("hidden", "{configuration: {file: {/etc/motd: {content: "+secret+"}}}}", ""))
	put(layeringPolicy("lp") + open)
	put(layeringPolicy("lp") + open + hidden)
	full := s.catalog(t, "revisions/2/puppet/catalog", motd, as("admin")...).is(t, http.StatusOK)
	if !strings.Contains(full.text, `"content":"`+secret+`"`) || !strings.Contains(full.text, `"sensitive_parameters":["content"]`) ||
		!strings.Contains(full.Header.Get("Cache-Control"), "no-transform") {
		t.Errorf("the admin gets %s\n%v", full.text, full.Header)
	}
	for _, path := range []string{
		"revisions/2/puppet/catalog", "revisions/2/puppet/catalog?report=true", "revisions/2/puppet/catalog?explain=File[/etc/motd]",
		"revisions/1/puppet/diff/2",
	} {
		writer := s.catalog(t, path, motd, as("writer")...).is(t, http.StatusOK).text
		if strings.Contains(writer, secret) || strings.Contains(writer, "hidden") || strings.Contains(writer, `"sensitive`) {
			t.Errorf("%s: the writer gets %s", path, writer)
		}
		if strings.Contains(path, "?") || strings.Contains(path, "diff") {
			if admin := s.catalog(t, path, motd, as("admin")...).text; strings.Contains(admin, secret) {
				t.Errorf("%s shows a secret value: %s", path, admin)
			}
		}
	}
	get := func(path, user string) string {
		return s.get(t, path, as(user)...).is(t, http.StatusOK).text
	}
	if got := get("revisions/2/puppet/hiera.yaml", "admin"); !strings.Contains(got, secret) {
		t.Errorf("the admin's file is %s", got)
	}
	if a, b := get("revisions/1/puppet/hiera.yaml", "writer"), get("revisions/2/puppet/hiera.yaml", "writer"); a != b {
		t.Errorf("the writer sees that an encrypted override was added:\n%s%s", a, b)
	}
	if got := get("revisions/1/puppet/diff/2", "admin"); strings.Contains(got, secret) || !strings.Contains(got, "sensitive: true") {
		t.Errorf("the difference is %s", got)
	}
	// Errors in a secret override reveal only that it fails.
	put(layeringPolicy("lp") + policy("ready", overridesCheck) + sealed(override("hidden", "{configuration: {"+secret+"x: {a: {}}}}", "")))
	if got := get("revisions/3/findings", "writer"); strings.Contains(got, "hunter") || strings.Contains(got, "hidden") {
		t.Errorf("the writer's findings: %s", got)
	}
	// Even for the admin, a finding locates a secret value but does not quote it; the answer about a catalog does.
	wrong := override("hidden", "{configuration: {service: {sshd: {enable: "+secret+"}}}}", "")
	put(layeringPolicy("lp") + policy("ready", overridesCheck) + sealed(wrong))
	got := get("revisions/4/findings", "admin")
	if strings.Contains(got, secret) || !strings.Contains(got, ".data.configuration.service.sshd.enable") {
		t.Errorf("the admin's findings: %s", got)
	}
	if got := s.catalog(t, "revisions/4/puppet/catalog", motd, as("admin")...).text; !strings.Contains(got, "Invalid value \\\""+secret) {
		t.Errorf("the admin's catalog: %s", got)
	}
}
