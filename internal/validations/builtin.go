package validations

import (
	"context"
	"embed"
	"fmt"
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
	compiled func() *jsonschema.Schema
}

// The built-in schemas (spec/api.md §2.1-2.4).
var (
	baseSchema     = mustLoad("base")
	controlSchema  = mustLoad("control")
	documentSchema = mustLoad("document")
	dataSchema     = mustLoad("dataschema") // its digest identifies the check that a DataSchema is usable

	builtins = loadBuiltins() //nolint:gochecknoglobals // never changes after start

	// provided holds the schemas of kinds that the reference does not know, by kind. A DataSchema takes precedence over
	// them, and --compat=deckhand ignores them.
	provided = map[string]*schema{
		"fuel/PuppetOverride/v1": mustLoad("puppetoverride"),
		"fuel/PuppetType/v1":     mustLoad("puppettype"),
	}
)

func loadBuiltins() map[string]*schema {
	secret := mustLoad("secret")
	kinds := map[string]*schema{
		"deckhand/LayeringPolicy/v1":   mustLoad("layeringpolicy"),
		"deckhand/ValidationPolicy/v1": mustLoad("validationpolicy"),
		ClientVersionsKind:             mustLoad("clientversions"),
	}
	for _, kind := range []string{
		"Certificate", "CertificateKey", "CertificateAuthority", "CertificateAuthorityKey",
		"Passphrase", "PrivateKey", "PublicKey",
	} {
		kinds["deckhand/"+kind+"/v1"] = secret
	}
	return kinds
}

// builtinByDigest returns the built-in schema with a digest, nil if there is none.
func builtinByDigest(digest document.Digest) *schema {
	if digest == dataSchema.digest {
		return dataSchema
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
	compiled := sync.OnceValue(func() *jsonschema.Schema { return mustCompile(name, json) })
	return &schema{digest: document.DigestOf(value), text: json, compiled: compiled}
}

func mustCompile(name string, json []byte) *jsonschema.Schema {
	compiled, err := jsonschema.Compile(budget.NewMeter(context.Background()), json, jsonschema.Options{})
	if err != nil {
		panic(fmt.Sprintf("validations: compile built-in schema %s: %v", name, err))
	}
	return compiled
}

// BuiltIn returns the JSON texts of the built-in schemas that are always in force, by the schema of the documents that
// they check.
func BuiltIn() map[string][]byte { return textsOf(builtins) }

// Provided returns the JSON texts of the built-in schemas that are in force unless a DataSchema replaces them, by the
// schema of the documents that they check.
func Provided() map[string][]byte { return textsOf(provided) }

func textsOf(kinds map[string]*schema) map[string][]byte {
	texts := make(map[string][]byte, len(kinds))
	for kind, s := range kinds {
		texts[kind] = s.text
	}
	return texts
}
