package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/secrets"
	"purser/internal/validations"
	"purser/internal/validations/jsonschema"
)

// failingNames lists the documents that fail in a judgement, in order of entry.
func failingNames(c changed) (list []string) {
	all := byID(slices.Concat(c.snapshot.Governed, c.diff.Result, c.diff.Added, c.snapshot.Failing))
	for _, failure := range c.judgement.Failures {
		name := fmt.Sprintf("#%d", failure.Document)
		if doc := all[failure.Document]; doc != nil {
			name = doc.Name
		}
		if !failure.Rule.IsZero() {
			list = append(list, name)
		}
	}
	return list
}

// judgeCase is a PUT to bucket b, or another one, of a site with documents in the buckets a and schemas.
type judgeCase struct {
	name             string
	site, schemas    string // buckets a and schemas
	names            string // bucket names
	bucket, body     string
	compat           bool
	failing          []string // names; documents elsewhere as #id
	entries, checked int
}

func TestJudge_judge(t *testing.T) {
	t.Parallel()
	good, bad := widget("good", "{x: y}"), widget("bad", "{x: 1}")
	referring := control(validations.DataSchemaKind, "acme/Widget/v1", "{properties: {x: {$ref: acme/Name/v1}}}")
	name := func(of string) string {
		return control(validations.DataSchemaKind, "acme/Name/v1",
			"{$ref: '#/definitions/n', definitions: {n: {type: "+of+"}}}")
	}
	schema, first := dataSchema("string"), strings.Replace(dataSchema("string"), "name: acme/Widget/v1",
		"name: acme/Widget/v1\n  layeringDefinition: {layer: global}", 1)
	unusable := control(validations.DataSchemaKind, "acme/Widget/v1", "{type: 7}")
	for _, c := range []judgeCase{
		{name: "no schema", body: bad, entries: 1},
		{name: "the registered schema", schemas: schema, body: good + bad, failing: []string{"bad"}, entries: 2, checked: 2},
		{
			name: "one check of equal contents", schemas: schema, body: bad + widget("worse", "{x: 1}"),
			failing: []string{"bad", "worse"}, entries: 2, checked: 1,
		},
		{
			name: "a check that was made before", schemas: schema, site: bad, body: widget("worse", "{x: 1}"),
			failing: []string{"worse", "#2"}, entries: 2,
		},
		{
			name: "failing elsewhere is inherited", schemas: schema, site: good + bad, body: widget("w", "{x: z}"),
			failing: []string{"#3"}, entries: 2, checked: 1,
		},
		{
			name: "failing elsewhere, and nothing left here", schemas: schema, site: bad, bucket: "c", body: "",
			failing: nil, entries: 0,
		},
		{
			name: "a schema comes", site: good + bad, bucket: "schemas", body: schema, failing: []string{"bad"}, entries: 2,
			checked: 3,
		},
		{name: "a schema goes", site: good + bad, schemas: schema, bucket: "schemas", entries: 1},
		{
			name: "a schema is replaced", site: good + bad, schemas: schema, bucket: "schemas", body: dataSchema("integer"),
			failing: []string{"good"}, entries: 2, checked: 3,
		},
		{
			name: "the first of two of one name goes", site: good + bad, schemas: first + dataSchema("integer"),
			bucket: "schemas", body: dataSchema("integer"), failing: []string{"good"}, entries: 2, checked: 2,
		},
		{
			name: "the second of two of one name goes", site: good + bad, schemas: first + dataSchema("integer"),
			bucket: "schemas", body: first, failing: []string{"bad"}, entries: 2, checked: 0,
		},
		{
			name: "a schema that another refers to is replaced", site: good + bad, schemas: referring, names: name("string"),
			bucket: "names", body: name("integer"), failing: []string{"good"}, entries: 2, checked: 3,
		},
		{
			name: "a schema that another refers to comes", site: good + bad, schemas: referring, bucket: "names",
			body: name("string"), failing: []string{"bad"}, entries: 2, checked: 3,
		},
		{
			name: "a document of a schema that refers to another", schemas: referring + name("string"), body: bad,
			failing: []string{"bad"}, entries: 1, checked: 1,
		},
		{
			name: "a schema that cannot be used", site: bad, bucket: "schemas", body: unusable,
			failing: []string{"acme/Widget/v1"}, entries: 1, checked: 2,
		},
		{
			name: "a schema that registers nothing", site: bad, bucket: "schemas",
			body: control(validations.DataSchemaKind, "no kind", "{type: string}"), entries: 1,
		},
		{
			name: "an abstract document", schemas: schema, entries: 1,
			body: strings.Replace(bad, "{layer: site}", "{layer: site, abstract: true}", 1),
		},
		{name: "a substituted document", schemas: schema, entries: 1, body: widget("bad", "{x: 1}",
			"substitutions: [{src: {schema: s/S/v1, name: n, path: .}, dest: {path: .x}}]")},
		{
			name: "a control document", body: control("deckhand/LayeringPolicy/v1", "lp", "{layers: []}"),
			failing: []string{"lp"}, entries: 1, checked: 1,
		},
		{
			name: "compat checks control documents alone", schemas: schema, compat: true,
			body: bad + control("deckhand/LayeringPolicy/v1", "lp", "{layers: []}"), failing: []string{"lp"}, entries: 2,
			checked: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := service()
			s.Compat = c.compat
			put(t, s, "schemas", c.schemas)
			put(t, s, "names", c.names)
			put(t, s, "a", c.site)
			bucket := c.bucket
			if bucket == "" {
				bucket = "b"
			}
			got := judged(t, s, bucket, c.body)
			if diff := cmp.Diff(c.failing, failingNames(got)); diff != "" {
				t.Errorf("failing (-want +got)\n%s", diff)
			}
			if made := got.judgement; made.Entries != c.entries || len(made.Checks) != c.checked {
				t.Errorf("%d entries, %d checks; want %d, %d", made.Entries, len(made.Checks), c.entries, c.checked)
			}
		})
	}
}

// Removing or fixing a failing document elsewhere leaves no failure.
func TestJudge_judge_mended(t *testing.T) {
	t.Parallel()
	s, _ := service()
	put(t, s, "schemas", dataSchema("string"))
	put(t, s, "a", widget("bad", "{x: 1}"))
	for name, body := range map[string]string{"mended": widget("bad", "{x: y}"), "removed": ""} {
		got := judged(t, s, "a", body)
		if got.judgement.Failed() || got.judgement.Entries != 1 {
			t.Errorf("%s: %+v", name, got.judgement)
		}
	}
}

// Notes about documents elsewhere are not failures.
func TestJudge_judge_notes(t *testing.T) {
	t.Parallel()
	s, _ := service()
	put(t, s, "a", widget("noted", "{x: 1, x: 2}"))
	if got := judged(t, s, "b", widget("w", "{}")).judgement; got.Failed() || got.Entries != 1 {
		t.Errorf("judgement %+v", got)
	}
}

// An error while reading a schema ends the judgement, wherever the schema is read.
func TestJudge_judge_schemaUnread(t *testing.T) {
	t.Parallel()
	s, _ := service(keyword{})
	s.ClientVersions = map[string]string{"p": "1"}
	put(t, s, "a", versioned())
	change := judged(t, s, "b", clientVersions(`{p: "2"}`))
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	s.Engine = validations.NewEngine(validations.Options{Extensions: []validations.Extension{keyword{}}})
	if _, err := s.newValidator(revisions.Options{}).Validate(ctx, change.snapshot, change.diff); !errors.Is(err, gone) {
		t.Errorf("error %v, want the cause of the context's end", err)
	}
	if _, err := s.newValidator(revisions.Options{}).Need(ctx, change.snapshot, change.diff); !errors.Is(err, gone) {
		t.Errorf("error %v, want the cause of the context's end", err)
	}
}

// A diff that changes nothing needs nothing and is not judged.
func TestJudge_need_nothing(t *testing.T) {
	t.Parallel()
	s, _ := service()
	put(t, s, "a", widget("w1", "{}"))
	got := judged(t, s, "a", widget("w1", "{ }"))
	need, err := s.newValidator(revisions.Options{}).Need(t.Context(), got.snapshot, got.diff)
	if err != nil || !cmp.Equal(need, revisions.Need{}) || got.judgement.Entries != 0 {
		t.Errorf("need %+v, %v, judgement %+v", need, err, got.judgement)
	}
}

func TestJudge_need(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "schemas", dataSchema("string"))
	put(t, s, "a", widget("w1", "{x: 1}"))
	p := payload(t, s, "b", widget("w2", "{x: 1}")+control(validations.DataSchemaKind, "acme/Widget/v2", "{type: object}"),
		"b")
	snapshot := needed(t, s, p)
	diff, err := p.plan(snapshot, false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.newValidator(revisions.Options{}).Need(t.Context(), snapshot, diff)
	if err != nil {
		t.Fatal(err)
	}
	rule := m.violated[0].Rule
	want := revisions.Need{
		Evidence: true, Schemas: true, Governed: []string{"acme/Widget/v2"},
		Checks: []revisions.Pair{{Content: diff.Added[0].Digest, Rule: rule}},
		Kinds:  []string{"acme/Widget/v1", validations.DataSchemaKind, "acme/Widget/v2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("need (-want +got)\n%s", diff)
	}
}

// keyword is an extension whose keyword "versioned" requires a version of the client plugin p.
type keyword struct {
	check func(meter *budget.Meter) error // called for each object; nil does nothing
}

func (keyword) Keywords() []string { return []string{"versioned"} }

func (k keyword) Compile(schema document.Mapping) (jsonschema.Keyword, error) {
	version, ok := schema.At("versioned").(string)
	if !ok {
		return nil, nil
	}
	return needsVersion{k, version}, nil
}

func (keyword) Examine(any) []validations.Finding { return nil }

type needsVersion struct {
	keyword

	version string
}

func (r needsVersion) Check(meter *budget.Meter, _ document.Mapping, versions map[string]string) (
	[]jsonschema.Violation, error,
) {
	if r.check != nil {
		return nil, r.check(meter)
	}
	if versions["p"] == r.version {
		return nil, nil
	}
	return []jsonschema.Violation{{Keyword: []string{"versioned"}, Message: "p is " + versions["p"]}}, nil
}

func (r needsVersion) NamesVersions() bool { return true }

// versioned returns a DataSchema that requires version 1 of p.
func versioned() string {
	return control(validations.DataSchemaKind, "acme/Widget/v1", `{versioned: "1"}`)
}

// layeredVersions returns client versions to which layering adds a version of p.
func layeredVersions(action string) string {
	parent := text(validations.ClientVersionsKind, "metadata/Document/v1", "parent", `{p: "1"}`,
		"storagePolicy: cleartext", "labels: {k: v}", "layeringDefinition: {layer: global, abstract: true}")
	child := text(validations.ClientVersionsKind, "metadata/Document/v1", "child", "{}", "storagePolicy: cleartext",
		"layeringDefinition: {layer: site, parentSelector: {k: v}, actions: [{method: "+action+"}]}")
	return layeringPolicy("lp") + parent + child
}

func TestJudge_clientVersions(t *testing.T) {
	t.Parallel()
	w := widget("w", "{}")
	for _, c := range []struct {
		name             string
		defaults         map[string]string
		site, body       string // buckets a and b
		want             map[string]string
		failing          []string
		checked          int
		exact, documents bool
	}{
		{
			name: "none", site: versioned() + w, body: widget("other", "{y: 1}"), want: map[string]string{},
			failing: []string{"other", "#2"}, checked: 1,
		},
		{
			name: "defaults", defaults: map[string]string{"p": "1"}, site: versioned() + w,
			body: widget("other", "{y: 1}"), want: map[string]string{"p": "1"}, checked: 1,
		},
		{
			name: "a document before the defaults", defaults: map[string]string{"p": "2", "q": "3"},
			site: versioned() + w, body: clientVersions(`{p: "1"}`), want: map[string]string{"p": "1", "q": "3"},
			checked: 2,
		},
		{
			name: "rendered", site: versioned() + w, body: layeredVersions("merge, path: ."),
			want: map[string]string{"p": "1"}, checked: 3,
		},
		{
			name: "those that need no rendering, where it fails", site: versioned() + w + clientVersions(`{p: "1"}`),
			body: layeredVersions("delete, path: .missing"), want: map[string]string{"p": "1"}, checked: 2,
		},
		{
			name: "a schema that does not depend on them", site: dataSchema("integer") + w, body: clientVersions(`{p: "1"}`),
			want: map[string]string{"p": "1"}, checked: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := service(keyword{})
			s.ClientVersions = c.defaults
			put(t, s, "a", c.site)
			got := judged(t, s, "b", c.body)
			if diff := cmp.Diff(c.want, got.judgement.ClientVersions.ByPlugin); diff != "" {
				t.Errorf("versions (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.failing, failingNames(got)); diff != "" {
				t.Errorf("failing (-want +got)\n%s", diff)
			}
			if len(got.judgement.Checks) != c.checked {
				t.Errorf("%d checks, want %d", len(got.judgement.Checks), c.checked)
			}
		})
	}
}

// Changed client versions make documents outside the change fail or pass.
func TestJudge_clientVersions_elsewhere(t *testing.T) {
	t.Parallel()
	s, m := service(keyword{})
	put(t, s, "a", versioned()+widget("w", "{}")+control(validations.DataSchemaKind, "not/Named", "{}"))
	for i, step := range []struct {
		body    string
		failing int
	}{
		{clientVersions(`{p: "1"}`), 0}, {clientVersions(`{p: "2"}`), 1}, {clientVersions(`{p: "1"}`), 0}, {"", 1},
	} {
		put(t, s, "versions", step.body)
		if len(m.violated) != step.failing {
			t.Errorf("step %d: violations %+v, want %d", i, m.violated, step.failing)
		}
	}
}

// An exhausted budget is reported with the work it was spent on, and nothing is stored.
func TestJudge_judge_budget(t *testing.T) {
	t.Parallel()
	s, m := service(keyword{check: func(meter *budget.Meter) error { return meter.Spend(100 * budget.Second) }})
	put(t, s, "a", versioned())
	_, err := judgingPut(t.Context(), t, s, "b", widget("w", "{x: 1}"))
	wantFault(t, err, fault.TooLarge,
		"check document [acme/Widget/v1, site] w by schema acme/Widget/v1: it takes more than")
	if len(m.commits) != 1 {
		t.Errorf("%d commits, want the first one", len(m.commits))
	}
}

// This also holds for compiling a DataSchema that it brings, and for finding the client versions that it needs.
func TestJudge_judge_budgetOfSchema(t *testing.T) {
	t.Parallel()
	var properties strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&properties, "p%d: {type: string}, ", i)
	}
	large := strings.Replace(dataSchema("string"), "{x: {", "{"+properties.String()+"x: {", 1)
	for name, c := range map[string]struct {
		schema string
		want   string
	}{
		"compiling": {large, "compile the DataSchema acme/Widget/v1: it takes more than"},
		"reading": {
			strings.Replace(large, "data: {", `data: {versioned: "1", `, 1),
			"read the DataSchema acme/Widget/v1: it takes more than",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := service(keyword{})
			s.ClientVersions = map[string]string{"p": "1"}
			change := judged(t, s, "b", c.schema+widget("w", "{x: y}"))
			s.Engine = validations.NewEngine(validations.Options{Extensions: []validations.Extension{keyword{}}}) // which has compiled nothing
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			defer end()
			nearly := budget.NewMeter(ctx)
			nearly.Charge(2*budget.Second - budget.Second/500) // enough to read the text
			if err := nearly.Check(); err != nil {
				t.Fatal(err)
			}
			_, err := s.newValidator(revisions.Options{}).Validate(ctx, change.snapshot, change.diff)
			wantFault(t, err, fault.TooLarge, c.want)
		})
	}
}

// A panic while checking a document ends only that call.
func TestJudge_judge_panics(t *testing.T) {
	t.Parallel()
	s, m := service(keyword{check: func(*budget.Meter) error { panic("at the disco") }})
	put(t, s, "a", versioned())
	_, err := s.Put(t.Context(), "b", []byte(widget("w", "{x: 1}")), document.YAML, revisions.Options{})
	if err == nil || !strings.Contains(err.Error(), "panic: at the disco") || fault.KindOf(err) != fault.Internal {
		t.Errorf("error %v, want the panic", err)
	}
	put(t, s, "c", control("deckhand/LayeringPolicy/v1", "lp", "{layerOrder: [site]}"))
	if len(m.commits) != 2 {
		t.Errorf("%d commits, want those without the panic", len(m.commits))
	}
}

// A disconnected caller ends the checks.
func TestJudge_judge_cancelled(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	s, _ := service(keyword{check: func(meter *budget.Meter) error {
		cancel(gone)
		return meter.Check()
	}})
	put(t, s, "a", versioned())
	if _, err := judgingPut(ctx, t, s, "b", widget("w", "{x: 1}")); !errors.Is(err, gone) {
		t.Errorf("error %v, want the cause of the context's end", err)
	}
}

// An encrypted document is checked, but findings do not show its data.
func TestJudge_judge_encrypted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		body string
		want []string // messages
	}{
		{"passes", secret("s", "{x: y}"), nil},
		{"fails", secret("s", "{x: 12345}"), []string{"Sanitized to avoid exposing secret."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, m := service()
			s.Vault = fakeVault{}
			put(t, s, "a", dataSchema("string"))
			put(t, s, "b", c.body)
			var got []string
			for _, check := range m.commits[1].Checks {
				for _, finding := range check.Findings {
					got = append(got, finding.Message)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("messages (-want +got)\n%s", diff)
			}
		})
	}
}

// A damaged secret is a finding about its document. If the server lacks its key, or cannot open it for another reason,
// there is no verdict: the change is refused, so that no check is recorded that was not made.
func TestJudge_judge_unopened(t *testing.T) {
	t.Parallel()
	begin := func(broken error) (*Service, *memory) {
		s, m := service()
		s.Vault = fakeVault{}
		put(t, s, "b", secret("s", "{x: y}"))
		s.Vault = fakeVault{broken: broken}
		return s, m
	}
	s, m := begin(&secrets.Unopened{Cause: secrets.Damaged})
	put(t, s, "a", dataSchema("string"))
	check := m.commits[1].Checks
	if len(m.violated) != 1 || len(check) != 2 || check[1].Findings[0].Message != validations.Unopened {
		t.Errorf("violations %+v, checks %+v", m.violated, check)
	}
	for _, c := range []struct {
		broken error
		kind   fault.Kind
		want   string
	}{
		{&secrets.Unopened{Cause: secrets.LostKey, Key: 7}, fault.Unavailable, "to this server; nothing was stored"},
		{errors.New("out of order"), fault.Internal, "out of order"},
	} {
		s, m := begin(c.broken)
		_, err := s.Put(t.Context(), "a", []byte(dataSchema("string")), document.YAML, revisions.Options{})
		if wantFault(t, err, c.kind, c.want); len(m.commits) != 1 {
			t.Errorf("%v: %d commits", c.broken, len(m.commits))
		}
	}
}

func TestJudge_validateWhole(t *testing.T) {
	t.Parallel()
	both := validationPolicy(validations.PolicyValidation, validations.RenderingValidation)
	orphan := strings.Replace(widget("w", "{}"), "{layer: site}",
		"{layer: nowhere}", 1)
	for _, c := range []struct {
		name     string
		policies string // bucket a
		body     string // bucket b
		want     map[string]string
		rendered bool
	}{
		{"nothing required", validationPolicy("other-validation"), widget("w", "{}"), map[string]string{}, false},
		{"fits and renders", both + layeringPolicy("lp"), widget("w", "{}"), map[string]string{
			validations.PolicyValidation: "success", validations.RenderingValidation: "success",
		}, true},
		{"does not fit", validationPolicy(validations.PolicyValidation) + layeringPolicy("lp"), orphan, map[string]string{
			validations.PolicyValidation: "failure",
		}, false},
		{"does not render", validationPolicy(validations.RenderingValidation), widget("w", "{}"), map[string]string{
			validations.RenderingValidation: "failure",
		}, false},
		{"renders to what fails", validationPolicy(validations.RenderingValidation) + layeringPolicy("lp") +
			dataSchema("string"), widget("w", "{x: 1}"), map[string]string{validations.RenderingValidation: "failure"}, false},
		{"a policy that comes with the change", layeringPolicy("lp"), both, map[string]string{
			validations.PolicyValidation: "success", validations.RenderingValidation: "success",
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, m := service()
			put(t, s, "a", c.policies)
			got := judged(t, s, "b", c.body)
			statuses := map[string]string{}
			for _, result := range got.judgement.Results {
				shown := result.For(authz.Viewer{})
				statuses[shown.Name] = shown.Status
				if (string(shown.Errors) == "[]") != (shown.Status == "success") {
					t.Errorf("%s: %s", shown.Name, shown.Errors)
				}
			}
			if diff := cmp.Diff(c.want, statuses); diff != "" {
				t.Errorf("results (-want +got)\n%s", diff)
			}
			if (got.judgement.Rendered != nil) != c.rendered {
				t.Errorf("rendered %v", got.judgement.Rendered != nil)
			}
			written := put(t, s, "b", c.body)
			if _, kept := s.Rendered.Get(RenderKey{
				Site: s.Site, Revision: written.Revision, Stamp: written.Stamp,
				Cleartext: false,
			}); kept != c.rendered {
				t.Errorf("the rendered revision is kept: %v", kept)
			}
			if len(m.needs) == 0 {
				t.Error("no snapshot")
			}
		})
	}
}

// A policy removed by the change requires nothing any more, and a kept or replaced one counts once.
func TestPoliciesAfter(t *testing.T) {
	t.Parallel()
	s, _ := service()
	put(t, s, "a", validationPolicy("old-validation")+widget("w", "{}"))
	for body, want := range map[string]int{
		widget("w", "{}"): 0,
		validationPolicy("new-validation") + widget("w", "{}"):            1,
		validationPolicy("old-validation") + widget("w", "{y: 1}"):        1,
		validationPolicy("old-validation") + control("a/B/v1", "x", "{}"): 1,
	} {
		got := judged(t, s, "a", body).judgement.Policies
		if len(got) != want {
			t.Errorf("policies %+v, want %d", got, want)
		}
		if strings.Contains(body, "new") && got[0].Requirements[0].Name != "new-validation" {
			t.Errorf("policies %+v, want the new one", got)
		}
	}
}

// reader is an extension that counts the compilations of each schema.
type reader struct {
	mu       *sync.Mutex
	compiled map[string]int
}

func (reader) Keywords() []string { return nil }

func (reader) Compile(document.Mapping) (jsonschema.Keyword, error) { return nil, nil }

func (r reader) Examine(schema any) []validations.Finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.compiled[string(document.Canonical(schema))]++
	return nil
}

// A DataSchema is compiled once for its content: for checking its usability, for checking documents, and for checking
// rendered documents, in any bucket and revision.
func TestService_Put_compilesOnce(t *testing.T) {
	t.Parallel()
	r := reader{new(sync.Mutex), map[string]int{}}
	s, _ := service(r)
	s.DefaultValidations = append(s.DefaultValidations, validations.RenderingValidation)
	unused := control(validations.DataSchemaKind, "acme/Unused/v1", "{type: object}")
	var bodies []string
	for _, kind := range []string{"integer", "string"} {
		bodies = append(bodies, layeringPolicy("p")+dataSchema(kind)+unused+widget("w1", "{x: 1}")+widget("w2", "{x: a}"))
	}
	for _, body := range append(bodies, bodies...) {
		put(t, s, "a", body)
	}
	put(t, s, "a", "")
	put(t, s, "b", bodies[0])
	want := map[string]int{
		`{"properties":{"x":{"type":"integer"}}}`: 1, `{"properties":{"x":{"type":"string"}}}`: 1, `{"type":"object"}`: 1,
	}
	if diff := cmp.Diff(want, r.compiled); diff != "" {
		t.Errorf("schemas compiled (-want +got)\n%s", diff)
	}
}

// A check is made once, whether it passes or fails: not again after a dry run, in another bucket, or in rendering.
func TestService_Put_checksOnce(t *testing.T) {
	t.Parallel()
	var checks atomic.Int32
	s, m := service(keyword{check: func(*budget.Meter) error { checks.Add(1); return nil }})
	s.DefaultValidations = append(s.DefaultValidations, validations.RenderingValidation)
	schema := control(validations.DataSchemaKind, "acme/Widget/v1", `{versioned: "1", properties: {x: {type: integer}}}`)
	body := layeringPolicy("p") + schema + widget("w1", "{x: 1}") + widget("w2", "{x: a}")
	for _, step := range []struct {
		do     func()
		checks int32
	}{
		{func() {
			_, err := s.Put(t.Context(), "a", []byte(body), document.YAML, revisions.Options{DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
		}, 2},
		{func() { put(t, s, "a", body) }, 0},
		{func() { put(t, s, "a", "") }, 0},
		{func() { clear(m.checks); put(t, s, "b", body) }, 0}, // as a prune does
	} {
		step.do()
		if got := checks.Swap(0); got != step.checks {
			t.Errorf("%d checks, want %d", got, step.checks)
		}
	}
}
