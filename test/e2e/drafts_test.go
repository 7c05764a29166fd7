package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// draftSuite is where the cases of the official test suite are, if this is a clone beside the team's folder.
const draftSuite = "../../../shared/cases/json-schema"

// Documents pass or fail as the official test suite says, in each draft that a DataSchema can name.
func TestDrafts_suite(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(draftSuite + "/draft*")
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) == 0 {
		t.Skip("the cases are not at hand")
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			documents, names, want := draftDocuments(t, folder)
			s := startFresh(t)
			put, err := s.try(t.Context(), request{ // without the contract, which takes long to hold against so many
				method: http.MethodPut, path: "buckets/suite/documents", body: "[" + strings.Join(documents, ",") + "]",
				header: map[string]string{"Content-Type": "application/json"},
			})
			if err != nil {
				t.Fatal(err)
			}
			put.is(t, http.StatusOK)
			var got []string
			for len(got) < len(want) {
				page := s.get(t, fmt.Sprintf("revisions/1/validations/%s?limit=1000&offset=%d", own, len(got))).results(t)
				if len(page) == 0 {
					break
				}
				for _, item := range page {
					entry, _ := item.(map[string]any)
					got = append(got, fmt.Sprint(entry["status"]))
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%d entries for %d documents", len(got), len(want))
			}
			for i, status := range want {
				if got[i] != status {
					t.Errorf("%s is %s, want %s", names[i], got[i], status)
				}
			}
		})
	}
}

// draftDocuments returns a DataSchema for each group of cases and a document for each case, with the status of each.
func draftDocuments(t *testing.T, folder string) (documents, names, want []string) {
	t.Helper()
	uri := map[string]string{
		"draft4": "http://json-schema.org/draft-04/schema#", "draft6": "http://json-schema.org/draft-06/schema#",
		"draft7": "http://json-schema.org/draft-07/schema#", "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
		"draft2020-12": "https://json-schema.org/draft/2020-12/schema",
	}[filepath.Base(folder)]
	files, err := filepath.Glob(folder + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	add := func(schema, metadata, name string, data json.RawMessage, status string) {
		documents = append(documents, fmt.Sprintf(
			`{"schema":%q,"metadata":{"schema":%q,"name":%q,"layeringDefinition":{"layer":"site"},"storagePolicy":"cleartext"},"data":%s}`,
			schema, metadata, name, data))
		names, want = append(names, filepath.Base(folder)+" "+name), append(want, status)
	}
	add("deckhand/LayeringPolicy/v1", "metadata/Control/v1", "layers", json.RawMessage(`{"layerOrder":["site"]}`), "success")
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []struct {
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"schema"`
			Tests       []struct {
				Description string          `json:"description"`
				Data        json.RawMessage `json:"data"`
				Valid       bool            `json:"valid"`
			} `json:"tests"`
		}
		if err := json.Unmarshal(text, &groups); err != nil {
			t.Fatal(err)
		}
		for j, g := range groups {
			if strings.Contains(string(g.Schema), "localhost:1234") || strings.Contains(string(text), `\u0000`) {
				continue // it needs a document of that server; NUL is refused in documents
			}
			kind := fmt.Sprintf("suite/Case/v%d", 1000*i+j)
			add("deckhand/DataSchema/v1", "metadata/Control/v1", kind, withDialect(g.Schema, uri), "success")
			for k, c := range g.Tests {
				name := strings.Join([]string{filepath.Base(file), g.Description, c.Description, strconv.Itoa(k)}, " / ")
				status := "failure"
				if c.Valid {
					status = "success"
				}
				add(kind, "metadata/Document/v1", name[:min(len(name), 200)], c.Data, status)
			}
		}
	}
	return documents, names, want
}

// withDialect returns a schema that names its draft. A boolean is put into a mapping, which a DataSchema must be.
func withDialect(schema json.RawMessage, uri string) json.RawMessage {
	text := strings.TrimSpace(string(schema))
	switch {
	case text == "true" || text == "false":
		return json.RawMessage(fmt.Sprintf(`{"$schema":%q,"allOf":[%s]}`, uri, text))
	case strings.Contains(text, `"$schema"`):
		return schema
	case text == "{}":
		return json.RawMessage(fmt.Sprintf(`{"$schema":%q}`, uri))
	}
	return json.RawMessage(fmt.Sprintf(`{"$schema":%q,`, uri) + strings.TrimPrefix(text, "{"))
}

// A DataSchema refers to another one by its name. When that changes, its own documents are checked again.
func TestDrafts_references(t *testing.T) {
	t.Parallel()
	s := startFresh(t)
	address := func(kind string) string {
		return dataSchema("acme/Address/v1", "{definitions: {street: {type: "+kind+"}}}")
	}
	s.put(t, "schemas", dataSchema("acme/Person/v1",
		"{$schema: 'https://json-schema.org/draft/2020-12/schema', properties: {home: {$ref: 'acme/Address/v1#/definitions/street'}}}"),
	).is(t, http.StatusOK)
	s.put(t, "people", widgetOf("acme/Person/v1", "anna", "{home: 1}")).is(t, http.StatusOK)
	s.isMessages(t, "2", 0, ".data.home: the DataSchema acme/Address/v1 is not registered, or cannot be used")
	s.put(t, "addresses", address("string")).is(t, http.StatusOK)
	s.isOutcomes(t, "3", "success", "failure") // of acme/Address/v1, and of anna
	s.put(t, "addresses", address("integer")).is(t, http.StatusOK)
	s.isOutcomes(t, "4", "success")
	s.put(t, "addresses", "").is(t, http.StatusOK)
	s.isOutcomes(t, "5", "success", "failure")
}

// A finding of anyOf tells what is wrong with the branch that was meant; a misspelt property, what was meant.
func TestDrafts_causes(t *testing.T) {
	t.Parallel()
	s := startFresh(t)
	s.put(t, "a", dataSchema("acme/Disk/v1", `{anyOf: [
		{properties: {kind: {enum: [ssd]}, size: {type: integer}}, required: [kind, size], additionalProperties: false},
		{properties: {kind: {enum: [hdd]}, rpm: {type: integer}}, required: [kind, rpm]}]}`)+
		widgetOf("acme/Disk/v1", "d", "{kind: ssd, szie: 3}")).is(t, http.StatusOK)
	faults := s.faults(t, "1", 1)
	if len(faults) != 1 {
		t.Fatalf("%d errors", len(faults))
	}
	fault, _ := faults[0].(map[string]any)
	want := []any{
		map[string]any{
			"message": "Additional properties are not allowed ('szie' was unexpected)", "path": ".data",
			"schema_path": ".anyOf.0.additionalProperties", "hint": `did you mean "size" for "szie"?`,
		},
		map[string]any{"message": "'size' is a required property", "path": ".data", "schema_path": ".anyOf.0.required"},
	}
	if diff := cmp.Diff(want, fault["causes"]); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}

// Formats are checked if the server is told to, and a $schema that is not known fails the DataSchema.
func TestDrafts_formats(t *testing.T) {
	t.Parallel()
	documents := dataSchema("acme/Host/v1", "{$schema: 'http://json-schema.org/draft-07/schema#', properties: {ip: {format: ipv4}}}") +
		widgetOf("acme/Host/v1", "h", "{ip: nowhere}") +
		dataSchema("acme/Odd/v1", "{$schema: 'http://json-schema.org/draft-17/schema#'}")
	for flag, want := range map[string]string{"--assert-formats": "failure", "--cache-size=1048576": "success"} {
		s := start(t, flag)
		s.put(t, "a", documents).is(t, http.StatusOK)
		s.isOutcomes(t, "1", "success", want, "failure")
	}
}

// widgetOf is a document of a schema.
func widgetOf(schema, name, data string) string {
	return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Document/v1, name: %s, layeringDefinition: {layer: site}, storagePolicy: cleartext}\ndata: %s\n",
		schema, name, data)
}
