package changes

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/puppet"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// drawnSite draws documents of all kinds that are judged with a memory of earlier outcomes.
func drawnSite(t *rapid.T) string {
	draw := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	of := func(schema, name, data string) string {
		storage := "storagePolicy: " + draw("storage", "cleartext", "cleartext", "encrypted")
		return text(schema, "metadata/Document/v1", name, data, "layeringDefinition: {layer: site}", storage)
	}
	var body strings.Builder
	body.WriteString(layeringPolicy("layers"))
	for range rapid.IntRange(0, 4).Draw(t, "types") {
		name := draw("type", "a_config", "b_config", "c_config", "d_config")
		if strings.Contains(body.String(), "name: "+name+"\n") {
			continue
		}
		body.WriteString(of(puppet.TypeKind, name, "{name: "+draw("describes", name, "a_config", "9")+", parameters: "+
			draw("parameters", "{properties: {v: {type: string}}}", "{properties: {v: {type: strong}}}", "{}")+"}"))
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "overrides") {
		used := draw("used", "a_config", "b_config", "c_confg", "file", "nosuch")
		problems := rapid.SampledFrom([]int{1, 60, 120}).Draw(t, "resources")
		resources := make([]string, problems)
		for j := range resources {
			resources[j] = fmt.Sprintf("t%d: {%s: x}", j, draw("parameter", "v", "w"))
		}
		body.WriteString(of(puppet.OverrideKind, fmt.Sprint("o", i), "{configuration: {"+used+": {"+strings.Join(resources, ", ")+"}}}"))
	}
	if schema := draw("schema", "", "{properties: {x: {type: string}}}", "{properties: {x: {type: strong}}}",
		"{properties: {x: {items: {type: string}}}}"); schema != "" {
		body.WriteString(schemaOf("acme/Widget/v1", schema))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "widgets") {
		body.WriteString(of("acme/Widget/v1", fmt.Sprint("w", i), "{x: "+draw("x", "1", "a", "[1, 2]", "["+repeated(2000, "1")+"]")+"}"))
	}
	return body.String()
}

// What is remembered of earlier revisions changes no outcome, with secrets or without.
func TestRenderer_remembers_law(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, _ := service()
		s.Vault = fakeVault{}
		renderer := func(documents *DocumentCache, engine *validations.Engine, withhold bool) Renderer {
			return Renderer{Engine: engine, Vault: s.Vault, Documents: documents, Withhold: withhold}
		}
		kept, engine := NewDocumentCache(1<<20), validations.NewEngine(validations.Options{})
		for range rapid.IntRange(2, 4).Draw(rt, "revisions") {
			documents := storedOf(rt, s, drawnSite(rt))
			for _, name := range []string{validations.RenderingValidation, validations.PuppetValidation} {
				withhold := rapid.Bool().Draw(rt, "withhold")
				got, _, err := renderer(kept, engine, withhold).ValidateRevision(rt.Context(), name, 1, documents, nil)
				fresh := validations.NewEngine(validations.Options{})
				want, _, wantErr := renderer(nil, fresh, withhold).ValidateRevision(rt.Context(), name, 1, documents, nil)
				if err != nil || wantErr != nil {
					rt.Fatal(err, wantErr)
				}
				if reflect.DeepEqual(want, got) { // far faster than a Diff of long sections
					continue
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					rt.Fatalf("%s (-without a memory +with one)\n%s", name, diff)
				}
			}
		}
	})
}

// storedOf returns the documents of a body as those of a revision.
func storedOf(t tester, s *Service, body string) (documents []*revisions.Stored) {
	for i, item := range payload(t, s, "b", body, "b").Items {
		id := int64(i + 1)
		doc := revisions.Stored{Document: item.Document, ID: id, Place: id, Bucket: "b", Revision: 1, Shared: true}
		documents = append(documents, &doc)
	}
	return documents
}

// After a start a change does not pay for what others brought, even if that takes more than a request may, and its
// author still pays for what he brings.
func TestService_Put_afterStart(t *testing.T) {
	t.Parallel()
	ofSecret := "substitutions: [{src: {schema: acme/Other/v1, name: secret, path: .x}, dest: {path: .y}}]"
	for name, of := range map[string]struct {
		metadata []string
		steps    int // of the check of a document
	}{"open": {nil, 2 * budget.Second / 5}, "of secrets": {[]string{ofSecret}, budget.Second / 7}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			putAfterStart(t, of.steps, of.metadata...)
		})
	}
}

// putAfterStart puts documents whose checks count work that they do not do, and then a small one after a start.
func putAfterStart(t *testing.T, steps int, metadata ...string) {
	t.Helper()
	const few, buckets = 3, 3
	expensive := keyword{check: func(meter *budget.Meter) error { return meter.Spend(steps) }}
	slow := func(i int) string { return widget(fmt.Sprint("slow", i), fmt.Sprintf("{x: %d}", i), metadata...) }
	s, m := service(expensive)
	s.Vault = fakeVault{}
	put(t, s, "b", versioned()+layeringPolicy("policy")+strings.ReplaceAll(secret("secret", "{x: 1}"), "acme/Widget", "acme/Other"))
	for i := range buckets {
		put(t, s, fmt.Sprint("b", i), each(few, func(j int) string { return slow(i*few + j) }))
	}
	tenant := &tenant{change: func(i int) string { return strings.ReplaceAll(ownWidget(i), "acme/Widget", "acme/Mine") }}
	tenant.service, _ = service(expensive)
	tenant.service.Store, tenant.service.Vault = m, fakeVault{}
	tenant.service.DefaultValidations = append(tenant.service.DefaultValidations, validations.RenderingValidation)
	var attempts []int64
	for err := error(nil); err != nil || len(attempts) == 0; {
		var steps int64
		if steps, err = tenant.tryPut(); err != nil {
			wantFault(t, err, fault.Unavailable, "it goes on from there")
		}
		if attempts = append(attempts, steps); steps > 4*budget.Second {
			t.Errorf("the %d. attempt takes %d steps", len(attempts), steps)
		}
	}
	t.Logf("attempts: %d steps", attempts)
	if next := tenant.put(t); len(attempts) > buckets || next > budget.Second/100 {
		t.Errorf("the first change takes %d steps, the next %d", attempts, next)
	}
	if result := m.commits[len(m.commits)-1].Results[0]; string(result.Errors) != "[]" {
		t.Errorf("%s: %.200s", result.Name, result.Errors)
	}
	if len(metadata) > 0 {
		return // what he brings fails instead, see secretSteps
	}
	ctx, end := budget.NewPool(1, time.Minute).Begin(context.Background())
	defer end()
	own := each(2*buckets*few, func(i int) string { return slow(100 + i) })
	_, err := tenant.service.Put(ctx, "own", []byte(own), document.YAML, revisions.Options{})
	wantFault(t, err, fault.TooLarge, "check document [acme/Widget/v1, site] slow1")
}

// A document that takes too much work alone fails, and the others are judged: also for who changes something else.
func TestService_Put_tooMuchAlone(t *testing.T) {
	t.Parallel()
	expensive := keyword{check: func(meter *budget.Meter) error { return meter.Spend(5 * budget.Second) }}
	s, m := service(expensive)
	parent := strings.Replace(widget("parent", "{}", "labels: {is: parent}"), "layer: site", "layer: global, abstract: true", 1)
	layered := func(name string) string {
		return strings.Replace(widget(name, "{x: 1}"), "{layer: site}",
			"{layer: site, parentSelector: {is: parent}, actions: [{method: merge, path: .}]}", 1)
	}
	put(t, s, "a", layeringPolicy("p")+strings.ReplaceAll(versioned()+parent+layered("w"), "acme/Widget", "acme/Slow")+
		dataSchema("string")+strings.Replace(parent, "is: parent", "is: other", 1)+widget("failing", "{x: 1}"))
	s, _ = service(expensive)
	s.Store, s.DefaultValidations = m, append(s.DefaultValidations, validations.RenderingValidation)
	for i := range 3 {
		ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
		_, err := s.Put(ctx, "b", []byte(widget("mine", fmt.Sprintf("{x: a%d}", i))), document.YAML, revisions.Options{})
		if end(); err != nil && (i > 0 || fault.KindOf(err) != fault.Unavailable) { // the first one checks it again
			t.Fatal(err)
		}
	}
	result := m.commits[len(m.commits)-1].Results[0]
	for _, want := range []string{validations.TooMuchWork, `"failing"`} {
		if !strings.Contains(string(result.Errors), want) {
			t.Errorf("the errors are %s, which lack %s", result.Errors, want)
		}
	}
}

// Checks of secrets that take too much work are remembered, too, so that they end after a start.
func TestService_Put_tooMuchOfSecrets(t *testing.T) {
	t.Parallel()
	expensive := keyword{check: func(meter *budget.Meter) error { return meter.Spend(5 * budget.Second) }}
	s, m := service(expensive)
	s.Vault = fakeVault{}
	const secrets, most = 20, 6
	put(t, s, "a", layeringPolicy("p")+versioned())
	for i := range secrets {
		put(t, s, fmt.Sprint("s", i), secret(fmt.Sprint("w", i), "{x: 1}"))
	}
	s, _ = service(expensive)
	s.Store, s.Vault, s.DefaultValidations = m, fakeVault{}, append(s.DefaultValidations, validations.RenderingValidation)
	for attempts := 1; ; attempts++ {
		ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
		_, err := s.Put(ctx, "b", []byte(control("acme/Other/v1", "mine", "{}")), document.YAML, revisions.Options{})
		if end(); err == nil {
			return
		}
		if attempts == most || fault.KindOf(err) != fault.Unavailable {
			t.Fatalf("attempt %d: %v", attempts, err)
		}
	}
}

// holding are documents of each kind that is judged, which hold a secret.
func holding() map[string]func(secret string) string {
	encrypted := func(schema, name, data string) string {
		return text(schema, "metadata/Document/v1", name, data, "layeringDefinition: {layer: site}", "storagePolicy: encrypted")
	}
	taking := widget("w", "{}", "substitutions: [{src: {schema: acme/Other/v1, name: s, path: .x}, dest: {path: .x}}]")
	return map[string]func(secret string) string{
		"document": func(of string) string { return versioned() + secret("w", "{x: "+of+"}") },
		"taking":   func(of string) string { return versioned() + encrypted("acme/Other/v1", "s", "{x: "+of+"}") + taking },
		"DataSchema": func(of string) string {
			return encrypted(validations.DataSchemaKind, "acme/Widget/v1", "{properties: {x: {const: "+of+"}}}") + widget("w", "{x: 0}")
		},
		"unusable DataSchema": func(of string) string {
			return encrypted(validations.DataSchemaKind, "acme/Widget/v1", "{type: "+of+"}") + widget("w", "{x: 0}")
		},
		"versions": func(of string) string {
			return versioned() + encrypted(validations.ClientVersionsKind, "v", "{client: "+of+"}") + widget("w", "{x: 0}")
		},
		"type": func(of string) string {
			return encrypted(puppet.TypeKind, "a_config", "{name: a_config, parameters: {properties: {v: {const: "+of+"}}}}")
		},
		"overrides": func(of string) string {
			return encrypted(puppet.OverrideKind, "o", "{configuration: {file: {/a: {owner: "+of+"}}}}")
		},
	}
}

// What a server remembers of secrets of a site is not used for the same secrets of another site: else who guesses one
// could find out by the time that he is right.
func TestService_Put_secretsOfOthers(t *testing.T) {
	t.Parallel()
	for name, body := range holding() {
		for _, cached := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", cached), func(t *testing.T) {
				t.Parallel()
				other, same := stepsAfter(t, cached, body("'2222'"), body("'1111'")), stepsAfter(t, cached, body("'1111'"), body("'1111'"))
				if same != other {
					t.Errorf("it takes %d steps after a site with the same secret, %d after one with another", same, other)
				}
			})
		}
	}
}

// stepsAfter returns the steps of the last of some changes, each to a site of its own of one server.
func stepsAfter(t *testing.T, cached bool, bodies ...string) (steps int64) {
	t.Helper()
	var kept *DocumentCache
	if cached {
		kept = NewDocumentCache(1 << 20)
	}
	costly := keyword{check: func(meter *budget.Meter) error { return meter.Spend(budget.Second / 100) }}
	engine := validations.NewEngine(validations.Options{Extensions: []validations.Extension{costly}})
	for site, body := range bodies {
		s, _ := service()
		s.Site, s.Engine, s.Vault, s.Documents = fmt.Sprint("s", site), engine, fakeVault{}, kept
		s.DefaultValidations = append(s.DefaultValidations, RevisionValidations()...)
		ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
		defer end()
		if _, err := s.Put(ctx, "b", []byte(layeringPolicy("p")+body), document.YAML, revisions.Options{}); err != nil {
			t.Fatal(err)
		}
		steps, _ = budget.From(ctx).Spent()
	}
	return steps
}
