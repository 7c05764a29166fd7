package cases_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"purser/internal/budget"
	"purser/internal/validations/jsonschema"
)

// schemaCases are the cases about one schema in the official test suite of JSON Schema.
type schemaCases struct {
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Tests       []struct {
		Description string          `json:"description"`
		Data        json.RawMessage `json:"data"`
		Valid       bool            `json:"valid"`
	} `json:"tests"`
}

// All required cases of the official suite hold in each draft.
func TestJSONSchema(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "cases/json-schema/*/*.json") {
		draft := filepath.Base(filepath.Dir(file))
		t.Run(draft+"/"+filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			var groups []schemaCases
			if err := json.Unmarshal(fileText(t, file), &groups); err != nil {
				t.Fatal(err)
			}
			for _, group := range groups {
				group.run(t, draft)
			}
		})
	}
}

func (g schemaCases) run(t *testing.T, draft string) {
	t.Helper()
	if strings.Contains(string(g.Schema), "localhost:1234") {
		return // refers to a document of the suite's own HTTP server
	}
	schema, err := jsonschema.Compile(budget.NewMeter(t.Context()), inDraft(g.Schema, draft), jsonschema.Options{})
	if err != nil {
		t.Errorf("%s: %v", g.Description, err)
		return
	}
	for _, c := range g.Tests {
		found, err := schema.Check(budget.NewMeter(t.Context()), c.Data)
		if err != nil || (len(found) == 0) != c.Valid {
			t.Errorf("%s: %s: valid is %v, want %v: %v, %v", g.Description, c.Description, len(found) == 0, c.Valid, found, err)
		}
	}
}

// inDraft adds $schema to a schema that has none. A boolean becomes a mapping, because a DataSchema must be one.
func inDraft(schema json.RawMessage, draft string) []byte {
	uri := map[string]string{
		"draft4": "http://json-schema.org/draft-04/schema#", "draft6": "http://json-schema.org/draft-06/schema#",
		"draft7": "http://json-schema.org/draft-07/schema#", "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
		"draft2020-12": "https://json-schema.org/draft/2020-12/schema",
	}[draft]
	text := strings.TrimSpace(string(schema))
	switch {
	case text == "true" || text == "false":
		return []byte(`{"$schema":"` + uri + `","allOf":[` + text + `]}`)
	case strings.Contains(text, `"$schema"`):
		return schema
	case text == "{}":
		return []byte(`{"$schema":"` + uri + `"}`)
	}
	return []byte(`{"$schema":"` + uri + `",` + strings.TrimPrefix(text, "{"))
}
