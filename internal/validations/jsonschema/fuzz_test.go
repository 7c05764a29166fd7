package jsonschema

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzCheck searches for inputs that make Compile or Check panic, return an unexpected error or different findings when
// repeated, or exceed the size limits of findings.
func FuzzCheck(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"string"}`, `1`},
		{`{"properties":{"":{"enum":[1e400]}},"additionalProperties":false}`, `{"":-1E-9,"a~/%":0}`},
		{`{"patternProperties":{"":{"$ref":"#"},"a$":{"type":"null"}}}`, `{"":{"":[]},"a":1}`},
		{`{"items":[{"oneOf":[{},{}]}],"additionalItems":{"not":{}},"uniqueItems":true}`, `[1,1.0,true]`},
		{`{"dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1,"c":2}`},
		{`{"$ref":"#/definitions/a~1b","definitions":{"a/b":{"allOf":[{"$ref":"#/nowhere"}]}}}`, `null`},
		{`{"minimum":1,"exclusiveMinimum":true,"multipleOf":0.1,"maxLength":99999999999}`, `-0`},
		{doubling(20), `1`},
		{`{"$ref":"#"}`, `{}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, schema, data []byte) {
		s, err := Compile(unmetered(), schema, Options{})
		if err != nil {
			var unusable *Unusable
			if !errors.As(err, &unusable) || len(unusable.Findings) == 0 {
				t.Fatalf("compile gives %v, want an *Unusable", err)
			}
			wellFormed(t, unusable.Findings)
			return
		}
		found := check(t, s, data)
		wellFormed(t, found)
		if diff := cmp.Diff(found, check(t, s, data)); diff != "" {
			t.Errorf("the second check differs (-first +second):\n%s", diff)
		}
	})
}

func wellFormed(t *testing.T, findings []Finding) {
	t.Helper()
	if len(findings) > maxFindings {
		t.Errorf("%d findings", len(findings))
	}
	for _, f := range findings {
		if f.Message == "" || len(f.Message) > maxMessage || !utf8.ValidString(f.Message) || f.Instance == nil || f.SchemaPath == "" {
			t.Errorf("a finding is malformed: %+v", f)
		}
	}
}

const ordinarySchema = `{
	"type": "object", "required": ["chart_name", "release", "values"], "additionalProperties": false,
	"properties": {
		"chart_name": {"type": "string", "pattern": "^[a-z-]+$"}, "release": {"type": "string"},
		"values": {"type": "object", "additionalProperties": {"$ref": "#/definitions/pod"}}
	},
	"definitions": {"pod": {
		"type": "object", "required": ["image"], "additionalProperties": false,
		"properties": {
			"image": {"type": "string"}, "replicas": {"type": "integer", "minimum": 0},
			"labels": {"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "null"}]}}
		}
	}}
}`

// ordinaryData returns a valid document of about 2 KB.
func ordinaryData() string {
	return `{"chart_name":"neutron","release":"neutron","values":{` +
		numbered(`"pod-%d":{"image":"docker.io/openstackhelm/neutron:ocata-newton","replicas":3,"labels":["control",null]}`, 18) + `}}`
}

// BenchmarkSchema_Check checks a valid document of about 2 KB.
func BenchmarkSchema_Check(b *testing.B) {
	s, data := mustCompile(b, ordinarySchema), []byte(ordinaryData())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if found := check(b, s, data); found != nil {
			b.Fatal(found)
		}
	}
}

// BenchmarkCompile compiles a schema of common size.
func BenchmarkCompile(b *testing.B) {
	schema := []byte(`{"type":"object","properties":{` + numbered(`"p%d":{"type":"string","pattern":"^[a-z]+$"}`, 50) + `}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(unmetered(), schema, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
