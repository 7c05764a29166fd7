package validations

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"sync"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

//go:embed schemas/*.yaml
var schemaFiles embed.FS

// schema is a built-in schema. It is compiled when it is first used, which most programs do for few of them.
type schema struct {
	digest   document.Digest
	text     []byte
	compiled func() *worded
}

// The built-in schemas.
var (
	baseSchema     = mustLoad("base")
	controlSchema  = mustLoad("control")
	documentSchema = mustLoad("document")
	dataSchema     = mustLoad("dataschema") // its digest identifies the check that a DataSchema is usable

	// deckhandPolicy is the schema of ValidationPolicies with --compat=deckhand.
	deckhandPolicy = mustLoad("deckhandpolicy")

	builtins = loadBuiltins() //nolint:gochecknoglobals // never changes after start

	// provided holds the schemas of kinds that Deckhand does not know, by kind. A DataSchema takes precedence over
	// them, and --compat=deckhand ignores them.
	provided = map[string]*schema{
		"fuel/PuppetOverride/v1": mustLoad("puppetoverride"),
		"fuel/PuppetType/v1":     mustLoad("puppettype"),
	}
)

func loadBuiltins() map[string]*schema {
	secret := mustLoad("secret")
	kinds := map[string]*schema{
		"deckhand/LayeringPolicy/v1": mustLoad("layeringpolicy"),
		policyKind:                   mustLoad("validationpolicy"),
		ClientVersionsKind:           mustLoad("clientversions"),
	}
	for _, kind := range []string{
		"Certificate", "CertificateKey", "CertificateAuthority", "CertificateAuthorityKey",
		"Passphrase", "PrivateKey", "PublicKey",
	} {
		kinds["deckhand/"+kind+"/v1"] = secret
	}
	return kinds
}

// policyKind is the schema of ValidationPolicies.
const policyKind = PolicyPrefix + "v1"

// policySchema returns the schema of ValidationPolicies.
func policySchema(compat bool) *schema {
	if compat {
		return deckhandPolicy
	}
	return builtins[policyKind]
}

// builtinByDigest returns the built-in schema with a digest, nil if there is none.
func builtinByDigest(digest document.Digest) *schema {
	for _, s := range []*schema{dataSchema, deckhandPolicy} {
		if s.digest == digest {
			return s
		}
	}
	for _, kinds := range []map[string]*schema{builtins, provided} {
		for _, s := range kinds {
			if s.digest == digest {
				return s
			}
		}
	}
	return nil
}

// mustLoad reads an embedded schema.
func mustLoad(name string) *schema {
	text, err := schemaFiles.ReadFile("schemas/" + name + ".yaml")
	if err != nil {
		panic(fmt.Sprintf("validations: read built-in schema %s: %v", name, err))
	}
	value, err := document.ParseOne(context.Background(), text, document.YAML, document.DefaultLimits())
	if err != nil {
		panic(fmt.Sprintf("validations: parse built-in schema %s: %v", name, err))
	}
	json := document.AppendJSON(nil, value)
	compiled := sync.OnceValue(func() *worded { return &worded{mustCompile(name, json), value} })
	return &schema{digest: document.DigestOf(value), text: json, compiled: compiled}
}

func mustCompile(name string, json []byte) *jsonschema.Schema {
	compiled, err := jsonschema.Compile(budget.NewMeter(context.Background()), json, jsonschema.Options{})
	if err != nil {
		panic(fmt.Sprintf("validations: compile built-in schema %s: %v", name, err))
	}
	return compiled
}

// worded is a built-in schema with messages of its own: the keyword errorMessage of a subschema has the message about
// a violation of each of its keywords, which quotes no values.
type worded struct {
	*jsonschema.Schema

	root any
}

// Check is like that of the schema, with its own messages.
func (w *worded) Check(meter *budget.Meter, data []byte) ([]Finding, error) {
	findings, err := w.Schema.Check(meter, data)
	for i, finding := range findings {
		at := strings.Split(finding.SchemaPath, ".")
		subschema := w.subschema(at[1 : len(at)-1])
		messages, _ := subschema.At("errorMessage").(document.Mapping)
		if message, ok := messages.At(at[len(at)-1]).(string); ok {
			findings[i].Message = message
		}
	}
	return findings, err
}

// subschema returns the subschema at a path that omits references.
func (w *worded) subschema(path []string) (found document.Mapping) {
	found, _ = w.root.(document.Mapping)
	for _, step := range path {
		found, _ = found.At(step).(document.Mapping)
		if ref, ok := found.At("$ref").(string); ok {
			found, _ = document.Locate(w.root, strings.Split(ref, "/")[1:]).(document.Mapping)
		}
	}
	return found
}

// BuiltIn returns the JSON texts of the built-in schemas that are always in force, by the schema of the documents that
// they check.
func BuiltIn() map[string][]byte { return textsOf(builtins) }

// Provided returns the JSON texts of the built-in schemas that are in force unless a DataSchema replaces them, by the
// schema of the documents that they check.
func Provided() map[string][]byte { return textsOf(provided) }

// MetadataSchema returns the JSON text of the schema of metadata, by the schema that the metadata names. It is nil if
// there is none.
func MetadataSchema(named string) []byte {
	switch {
	case strings.HasPrefix(named, "metadata/Document/"):
		return documentSchema.text
	case strings.HasPrefix(named, "metadata/Control/"):
		return controlSchema.text
	}
	return nil
}

func textsOf(kinds map[string]*schema) map[string][]byte {
	texts := make(map[string][]byte, len(kinds))
	for kind, s := range kinds {
		texts[kind] = s.text
	}
	return texts
}
