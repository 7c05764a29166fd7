// Package cases_test runs the worked cases that developers share outside the repository. It is skipped without -shared:
// the project's own tests do not depend on these cases.
package cases_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations"
)

var shared = flag.String("shared", "", "folder that holds cases/")

// read decodes a file of cases.
func read(t *testing.T, name string, into any) {
	t.Helper()
	if *shared == "" {
		t.Skip("no -shared folder given")
	}
	text, err := os.ReadFile(filepath.Join(*shared, "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func TestScalars(t *testing.T) {
	t.Parallel()
	var file struct {
		Cases []struct {
			Scalar  string
			Value   json.RawMessage
			Refused bool
		}
	}
	read(t, "scalars.json", &file)
	for _, c := range file.Cases {
		t.Run(c.Scalar, func(t *testing.T) {
			t.Parallel()
			value, err := document.ParseOne(t.Context(), []byte("k: "+c.Scalar), document.YAML, document.DefaultLimits())
			if c.Refused {
				if err == nil {
					t.Fatalf("%q was read as %v, but must be refused", c.Scalar, value)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			recorded := bytes.Replace(c.Value, []byte("!!timestamp "), nil, 1) // a date's text is stored without its tag
			want := normal(t, append(append([]byte(`{"k":`), recorded...), '}'))
			if diff := gocmp.Diff(want, normal(t, document.AppendJSON(nil, value))); diff != "" {
				t.Errorf("%q (-want +got)\n%s", c.Scalar, diff)
			}
		})
	}
}

// normal decodes JSON text, with its numbers as text.
func normal(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

type message struct {
	Message    string
	Path       string
	SchemaPath string `json:"schema_path"`
}

func TestMessages(t *testing.T) {
	t.Parallel()
	var file struct {
		Cases []struct {
			Schema, Data json.RawMessage
			Errors       []message
		}
	}
	read(t, "messages.json", &file)
	for _, c := range file.Cases {
		t.Run(string(c.Schema), func(t *testing.T) {
			t.Parallel()
			meter := budget.NewMeter(t.Context())
			checker, err := validations.NewEngine(validations.Options{}).Compile(meter, validations.DataSchema{Text: canonical(t, c.Schema)}, validations.ClientVersions{})
			if err != nil {
				t.Fatal(err)
			}
			findings, err := checker.Check(meter, canonical(t, c.Data))
			if err != nil {
				t.Fatal(err)
			}
			var got []message
			for _, finding := range findings {
				path := strings.Join(append([]string{".data"}, finding.Instance...), ".")
				got = append(got, message{finding.Message, path, finding.SchemaPath})
			}
			if diff := gocmp.Diff(sorted(c.Errors), sorted(got)); diff != "" {
				t.Errorf("%s of %s (-want +got)\n%s", c.Schema, c.Data, diff)
			}
		})
	}
}

func canonical(t *testing.T, text []byte) []byte {
	t.Helper()
	value, err := document.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return document.AppendJSON(nil, value)
}

func sorted(messages []message) []message {
	return slices.SortedFunc(slices.Values(messages), func(a, b message) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
}
