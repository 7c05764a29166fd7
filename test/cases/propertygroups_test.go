package cases_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/propertygroups"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// groupCase is a worked case of property groups.
type groupCase struct {
	id, note     string
	schema, data any
	versions     document.Mapping
	valid        bool
	errors       []string // instance, keyword path and message of each
	schemaError  string
}

func groupCases(t *testing.T, name string) (cases []groupCase) {
	t.Helper()
	value, err := document.ParseOne(t.Context(), fileText(t, name), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range list(value) {
		m, _ := item.(document.Mapping)
		expect, _ := m.At("expect").(document.Mapping)
		c := groupCase{id: text(m.At("id")), note: text(m.At("note")), schema: m.At("schema"), data: m.At("data")}
		c.versions, _ = m.At("client_versions").(document.Mapping)
		c.valid, c.schemaError = expect.At("valid") == true, text(expect.At("schema_error"))
		for _, item := range list(expect.At("errors")) {
			e, _ := item.(document.Mapping)
			c.errors = append(c.errors, text(e.At("instance"))+" "+text(e.At("keyword"))+" "+text(e.At("message")))
		}
		slices.Sort(c.errors)
		cases = append(cases, c)
	}
	return cases
}

// TestPropertyGroups checks all cases with the checkers that ingest uses.
func TestPropertyGroups(t *testing.T) {
	t.Parallel()
	for _, name := range files(t, "cases/property-groups/*.yaml") {
		for _, c := range groupCases(t, name) {
			t.Run(c.id, func(t *testing.T) {
				t.Parallel()
				engine := validations.NewEngine(validations.Options{Extensions: []validations.Extension{propertygroups.Extension{}}})
				meter := budget.NewMeter(t.Context())
				schema := document.AppendJSON(nil, c.schema)
				if c.schemaError != "" {
					usable, _ := engine.BuiltIn(ruleOfSchemas(t), "")
					var got []string
					findings, err := usable.Check(meter, schema)
					if err != nil {
						t.Fatal(err)
					}
					for _, finding := range findings {
						got = append(got, finding.Message)
					}
					if !slices.Contains(got, c.schemaError) {
						t.Errorf("%s: %q, want %q", c.note, got, c.schemaError)
					}
					return
				}
				said := &document.Document{Data: document.AppendJSON(nil, c.versions)}
				versions := validations.ReadClientVersions([]*document.Document{said}, nil)
				checker, err := engine.Compile(meter, validations.DataSchema{Text: schema}, versions)
				if err != nil {
					t.Fatal(err)
				}
				findings, err := checker.Check(meter, document.AppendJSON(nil, c.data))
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, f := range findings {
					instance := strings.Join(append([]string{""}, f.Instance...), "/")
					got = append(got, instance+" "+strings.ReplaceAll(f.SchemaPath, ".", "/")+" "+f.Message)
				}
				slices.Sort(got)
				if diff := gocmp.Diff(c.errors, got); diff != "" {
					t.Errorf("%s (-want +got)\n%s", c.note, diff)
				}
			})
		}
	}
}

// ruleOfSchemas returns the rule that checks DataSchemas themselves.
func ruleOfSchemas(t *testing.T) validations.Rule {
	t.Helper()
	rule, ok := validations.Rules{}.For(decode(t, dataSchema(document.Mapping{{Key: "type", Value: "object"}}), document.JSON)[0])
	if !ok {
		t.Fatal("DataSchemas are not checked")
	}
	return rule
}

func dataSchema(schema any) []byte {
	return document.AppendJSON(nil, document.Mapping{
		{Key: "schema", Value: "deckhand/DataSchema/v1"},
		{Key: "data", Value: schema},
		{Key: "metadata", Value: document.Mapping{{Key: "schema", Value: "metadata/Control/v1"}, {Key: "name", Value: "example/Case/v1"}}},
	})
}

// TestPropertyGroups_put stores the cases as documents, and compares the messages that are recorded about them.
func TestPropertyGroups_put(t *testing.T) {
	t.Parallel()
	names := files(t, "cases/property-groups/*.yaml")
	db, err := store.Open(t.Context(), storetest.URL(t), store.Options{CacheSize: 1 << 20, Deadlines: store.DefaultDeadlines()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	kept := db.Site(revisions.DefaultSite)
	engine := validations.NewEngine(validations.Options{Extensions: []validations.Extension{propertygroups.Extension{}}})
	rendered := cache.New[changes.RenderKey, changes.Rendering](1 << 20)
	service := changes.NewService(changes.Config{
		DefaultValidations: revisions.Defaults{validations.SchemaValidation},
		Store:              kept, Engine: engine, Limits: document.DefaultLimits(), Rendered: rendered, Now: time.Now,
		Observe: func(string, time.Duration) {},
	})
	questions := queries.NewService(queries.Config{
		DefaultValidations: revisions.Defaults{validations.SchemaValidation},
		Store:              kept, Renderer: changes.Renderer{Engine: engine}, Rendered: rendered,
	}).For(authz.Viewer{Encrypted: true})
	for _, name := range names {
		for _, c := range groupCases(t, name) {
			if err := service.Purge(t.Context(), revisions.Options{}); err != nil {
				t.Fatal(err)
			}
			got := putCase(t, service, questions, c)
			want := []string{c.schemaError}
			if c.schemaError == "" {
				want = nil
				for _, e := range c.errors {
					want = append(want, strings.SplitN(e, " ", 3)[2])
				}
			}
			slices.Sort(want)
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s of %s: %s (-want +got)\n%s", c.id, filepath.Base(name), c.note, diff)
			}
		}
	}
}

// putCase stores a case as a DataSchema, a document and client versions, and returns the recorded messages.
func putCase(t *testing.T, service *changes.Service, questions queries.View, c groupCase) (messages []string) {
	t.Helper()
	frame := func(schema, name string, data any) []byte {
		return document.AppendJSON(nil, document.Mapping{
			{Key: "schema", Value: schema},
			{Key: "data", Value: data},
			{Key: "metadata", Value: document.Mapping{
				{Key: "schema", Value: "metadata/Document/v1"},
				{Key: "name", Value: name},
				{Key: "storagePolicy", Value: "cleartext"},
				{Key: "layeringDefinition", Value: document.Mapping{{Key: "layer", Value: "site"}}},
			}},
		})
	}
	body := fmt.Sprintf("[%s,\n%s", dataSchema(c.schema), frame("example/Case/v1", "case", c.data))
	if c.versions != nil {
		body += ",\n" + string(frame(validations.ClientVersionsKind, "versions", c.versions))
	}
	put, err := service.Put(t.Context(), "site", []byte(body+"]"), document.JSON, revisions.Options{})
	if err != nil {
		t.Fatalf("%s: %v", c.id, err)
	}
	found, err := questions.Entries(t.Context(), put.Revision, validations.SchemaValidation, queries.Page{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range found.Entries {
		for _, text := range entry.Errors {
			var said struct {
				Message string `json:"message"`
			}
			if err := json.Unmarshal(text, &said); err != nil {
				t.Fatal(err)
			}
			messages = append(messages, said.Message)
		}
	}
	slices.Sort(messages)
	return messages
}
