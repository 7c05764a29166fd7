package validations

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// Finding is one violation of a rule. It depends on the content and the rule only, so it can be stored.
type Finding = jsonschema.Finding

// Extension adds keywords to the dialect of DataSchemas.
type Extension = jsonschema.Extension

// Keyword is the compiled form of an Extension's keywords in one schema object.
type Keyword = jsonschema.Keyword

// Violation is one way in which an object violates a Keyword.
type Violation = jsonschema.Violation

// Checker checks the data of documents. It is safe for concurrent use.
type Checker interface {
	// Check returns all violations in JSON text of the form of document.Document.Data. The only errors are those of
	// meter, returned unwrapped, so that budget.About can add the document and the schema.
	Check(meter *budget.Meter, data []byte) ([]Finding, error)
}

// Bounds of the cache of compiled DataSchemas. Real sites register up to 140 schemas, a megabyte in all.
const (
	maxCompiled     = 1024
	maxCompiledSize = 6 << 20 // bytes of their texts; compiled schemas need about ten times as much
)

// Engine compiles DataSchemas, and caches the results by text. It is safe for concurrent use.
type Engine struct {
	Options

	mu       sync.Mutex
	compiled *simplelru.LRU[document.Digest, compiled] // by the digest of the text
	size     int

	passed *cache.Cache[Pair, struct{}]
}

// passedSize bounds the memory of the checks that are known to pass, in bytes. It is enough for about 100,000.
const passedSize = 16 << 20

// Passed reports whether a check is known to pass.
func (e *Engine) Passed(check Pair) bool {
	_, ok := e.passed.Get(check)
	return ok
}

// NotePassed records that a check passes, so that it need not be repeated.
func (e *Engine) NotePassed(check Pair) { e.passed.Add(check, struct{}{}, 0) }

// compiled is the result of compiling a DataSchema.
type compiled struct {
	schema   *jsonschema.Schema // nil if the DataSchema is unusable
	unusable []Finding
	size     int
}

// Options configure checks against DataSchemas.
type Options struct {
	Extensions    []Extension // additional keywords
	AssertFormats bool        // format is an assertion in all drafts but Draft 4
}

// NewEngine returns an engine for DataSchemas.
func NewEngine(options Options) *Engine {
	e := &Engine{Options: options, passed: cache.New[Pair, struct{}](passedSize)}
	cache, err := simplelru.NewLRU(maxCompiled, func(_ document.Digest, c compiled) { e.size -= c.size })
	if err != nil {
		panic(fmt.Sprintf("validations: %v", err)) // only if the size is less than one
	}
	e.compiled = cache
	return e
}

// BuiltIn returns the checker of a built-in rule; ok is false for other rules, whose DataSchema must be compiled.
func (e *Engine) BuiltIn(rule Rule) (checker Checker, ok bool) {
	if rule.Schema == dataSchema.digest {
		return usable{e}, true
	}
	if builtin := builtinByDigest(rule.Schema); builtin != nil {
		return builtin.compiled(), true
	}
	return nil, false
}

// Compile returns the checker of a DataSchema for client versions. The checker of an unusable DataSchema finds nothing;
// the DataSchema itself fails instead (spec/api.md §2.5). The only errors are those of meter, returned unwrapped.
func (e *Engine) Compile(meter *budget.Meter, schema DataSchema, versions ClientVersions) (Checker, error) {
	c, err := e.compile(meter, schema)
	if err != nil {
		return nil, err
	}
	if c.schema == nil {
		return silent{}, nil
	}
	return c.schema.For(versions), nil
}

// compile compiles a DataSchema unless the cache has the result. The only errors are those of meter, returned
// unwrapped.
func (e *Engine) compile(meter *budget.Meter, s DataSchema) (compiled, error) {
	digest := s.digest()
	e.mu.Lock()
	known, ok := e.compiled.Get(digest)
	e.mu.Unlock()
	if ok {
		return known, nil
	}
	schema, err := jsonschema.Compile(meter, s.Text, jsonschema.Options{
		Extensions: e.Extensions, AssertFormats: e.AssertFormats, Others: s.registered,
	})
	c := compiled{schema: schema, size: len(s.Text)}
	if err == nil {
		c.size += schema.OtherBytes()
	} else {
		unusable, ok := errors.AsType[*jsonschema.Unusable](err)
		if !ok {
			return c, err
		}
		c.unusable = unusable.Findings
	}
	e.keep(digest, c)
	return c, nil
}

func (e *Engine) keep(digest document.Digest, c compiled) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.compiled.Remove(digest)
	e.compiled.Add(digest, c)
	for e.size += c.size; e.size > maxCompiledSize; {
		e.compiled.RemoveOldest()
	}
}

// ruleSteps is the cost of a rule besides that of reading the schema's text, in the budget's steps.
const ruleSteps = 3_000

// RuleOf returns the rule of a DataSchema for client versions. The only errors are those of meter, returned unwrapped.
func (e *Engine) RuleOf(meter *budget.Meter, schema DataSchema, versions ClientVersions) (Rule, error) {
	rule := Rule{Schema: schema.Digest}
	if err := meter.Spend(ruleSteps + textSteps*len(schema.Text)); err != nil {
		return rule, err
	}
	if e.isExtended(schema) {
		rule.Context = noVersions() // differs from rules of servers without extensions
		named, err := e.NamesVersions(meter, schema)
		switch {
		case err != nil:
			return rule, err
		case named && len(versions) > 0:
			rule.Context = versions.Digest()
		}
	}
	if e.AssertFormats && schema.contains(formatWord) {
		rule.Context = document.DigestOf(document.Mapping{{Key: "formats", Value: rule.Context.String()}})
	}
	rule.Context = schema.with(rule.Context)
	return rule, nil
}

// noVersions returns the digest of an empty set of client versions, for schemas with keywords of an extension.
func noVersions() document.Digest { return document.DigestOf(document.Mapping{}) }

// formatWord is in all schemas that have the keyword.
const formatWord = `"format":`

// words returns the words in texts on which rules depend.
func (e *Engine) words() []string { return append(e.keywords(), formatWord) }

// keywords returns the keywords of extensions as they are written.
func (e *Engine) keywords() (written []string) {
	for _, extension := range e.Extensions {
		for _, keyword := range extension.Keywords() {
			written = append(written, `"`+keyword+`":`)
		}
	}
	return written
}

// isExtended reports whether one of a DataSchema's texts may contain keywords of an extension.
func (e *Engine) isExtended(schema DataSchema) bool {
	return slices.ContainsFunc(e.keywords(), schema.contains)
}

// NamesVersions reports whether checks against a DataSchema depend on client versions. The only errors are those of
// meter, returned unwrapped.
func (e *Engine) NamesVersions(meter *budget.Meter, schema DataSchema) (bool, error) {
	if !e.isExtended(schema) {
		return false, nil
	}
	c, err := e.compile(meter, schema)
	return c.schema != nil && c.schema.NamesVersions(), err
}

// usable is the Checker that the data of a DataSchema is a usable schema.
type usable struct{ engine *Engine }

func (u usable) Check(meter *budget.Meter, data []byte) ([]Finding, error) {
	c, err := u.engine.compile(meter, DataSchema{Text: data})
	return slices.Clone(c.unusable), err // callers mark findings as secret
}

// IsUsable reports whether a DataSchema compiles. The findings are why it does not, or else its references that have no
// target. Those that are known to compile without any are not compiled again, even if the cache is too small for all of
// their compiled forms. The only errors are those of meter, returned unwrapped.
func (e *Engine) IsUsable(meter *budget.Meter, schema DataSchema) (usable bool, found []Finding, err error) {
	// Not the key of the check of its document, which passes with such references.
	check := PairOf(schema.digest(), Rule{Schema: dataSchema.digest, Context: noVersions()})
	if e.Passed(check) {
		return true, nil, nil
	}
	c, err := e.compile(meter, schema)
	if err != nil || c.schema == nil {
		return false, c.unusable, err
	}
	if found = c.schema.Unresolved(); len(found) == 0 {
		e.NotePassed(check)
	}
	return true, found, nil
}

// silent is the Checker of an unusable DataSchema. It finds nothing.
type silent struct{}

func (silent) Check(*budget.Meter, []byte) ([]Finding, error) { return nil, nil }
