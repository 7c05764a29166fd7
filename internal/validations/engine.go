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

// Checker checks the data of documents. It is safe for concurrent use.
type Checker interface {
	// Check returns all violations in JSON text of the form of document.Document.Data. The only errors are those of
	// meter, returned unwrapped, so that budget.About can add the document and the schema.
	Check(meter *budget.Meter, data []byte) ([]Finding, error)
}

// Bounds of the cache of compiled DataSchemas. Real sites register up to 140 schemas, a megabyte in all.
const (
	maxCompiled     = 1024
	maxCompiledSize = 6 << 20 // bytes of their texts; compiled schemas need about compiledByte times as much
	compiledByte    = 10
)

// Engine compiles DataSchemas, and caches the results by text. It is safe for concurrent use.
type Engine struct {
	Options

	mu       sync.Mutex
	compiled *simplelru.LRU[document.Digest, compiled] // by the digest of the text
	size     int

	outcomes *cache.Cache[Pair, Found]
	texts    *cache.Cache[textKey, text]
}

// outcomesSize bounds the memory of outcomes, in bytes. It is enough for those of a site of 200,000 documents, if few
// have findings.
const outcomesSize = 32 << 20

// textsSize bounds the memory of what is known of the texts of DataSchemas, in bytes. It is enough for 10,000 of them.
const textsSize = 8 << 20

// Found is what a check found.
type Found struct {
	Count    int       // of findings
	Findings []Finding // nil if they were not kept; do not modify them

	names bool // of a DataSchema: checks by it depend on client versions
}

// Known returns the outcome of a check, if it is remembered.
func (e *Engine) Known(check Pair) (found Found, known bool) { return e.outcomes.Get(check) }

// Remember keeps the outcome of a check, so that the check need not be repeated.
func (e *Engine) Remember(check Pair, found Found) {
	e.outcomes.Add(check, found, SizeOf(found.Findings))
}

// SizeOf returns the approximate memory of findings in bytes.
func SizeOf(findings []Finding) (size int) {
	const each, step = 150, 16
	for _, f := range findings {
		size += each + len(f.Message) + len(f.SchemaPath) + len(f.Hint) + SizeOf(f.Causes)
		for _, key := range f.Instance {
			size += step + len(key)
		}
	}
	return size
}

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
	e := &Engine{
		Options: options, outcomes: cache.New[Pair, Found](outcomesSize),
		texts: cache.New[textKey, text](textsSize),
	}
	cache, err := simplelru.NewLRU(maxCompiled, func(_ document.Digest, c compiled) { e.size -= c.size })
	if err != nil {
		panic(fmt.Sprintf("validations: %v", err)) // only if the size is less than one
	}
	e.compiled = cache
	return e
}

// BuiltIn returns the checker of a built-in rule; ok is false for other rules, whose DataSchema must be compiled.
// secret is as in DataSchema, of what is checked.
func (e *Engine) BuiltIn(rule Rule, secret string) (checker Checker, ok bool) {
	if rule.Schema == dataSchema.digest {
		return usable{e, secret}, true
	}
	if builtin := builtinByDigest(rule.Schema); builtin != nil {
		return builtin.compiled(), true
	}
	return nil, false
}

// Compile returns the checker of a DataSchema for client versions. The checker of an unusable DataSchema finds nothing;
// the DataSchema itself fails instead. The only errors are those of meter, returned unwrapped.
func (e *Engine) Compile(meter *budget.Meter, schema DataSchema, versions ClientVersions) (Checker, error) {
	about, err := e.about(meter, schema)
	if err != nil {
		return nil, err
	}
	if about.Count > 0 {
		return silent{}, nil
	}
	c, err := e.compile(meter, schema)
	if err != nil || c.schema == nil {
		return silent{}, err
	}
	return c.schema.For(versions.ByPlugin), nil
}

// TooLarge is the message for a DataSchema that takes too much work to read.
const TooLarge = "It cannot be used, because reading it takes too much work: simplify it"

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
	own := meter.ForDocument(len(s.Text))
	schema, err := jsonschema.Compile(own, s.Text, jsonschema.Options{
		Extensions: e.Extensions, AssertFormats: e.AssertFormats, Others: s.registered,
	})
	err = own.Done(err)
	c := compiled{schema: schema, size: len(s.Text)}
	if schema != nil {
		c.size += schema.OtherBytes() + schema.PatternBytes()/compiledByte
	}
	if unusable, ok := errors.AsType[*jsonschema.Unusable](err); ok {
		c.unusable = unusable.Findings
	} else if budget.IsAlone(err) {
		c.schema, c.unusable = nil, []Finding{{Message: TooLarge, Instance: []string{}, SchemaPath: "."}}
	} else if err != nil {
		return c, err
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

// ruleSteps is the cost of a rule in the budget's steps.
const ruleSteps = 3_000

// RuleOf returns the rule of a DataSchema for client versions, given by their digest. The only errors are those of
// meter, returned unwrapped.
func (e *Engine) RuleOf(meter *budget.Meter, schema DataSchema, versions document.Digest) (Rule, error) {
	rule := Rule{Schema: schema.Digest}
	if err := meter.Spend(ruleSteps); err != nil {
		return rule, err
	}
	if e.isExtended(schema) {
		rule.Context = noVersions() // differs from rules of servers without extensions
	}
	if !versions.IsZero() { // otherwise it need not be known
		named, err := e.NamesVersions(meter, schema)
		if err != nil {
			return rule, err
		}
		if named {
			rule.Context = versions
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
	about, err := e.about(meter, schema)
	return about.names, err
}

// usable is the Checker that the data of a DataSchema is a usable schema.
type usable struct {
	engine *Engine
	secret string
}

func (u usable) Check(meter *budget.Meter, data []byte) ([]Finding, error) {
	c, err := u.engine.compile(meter, DataSchema{Text: data, Secret: u.secret})
	return slices.Clone(c.unusable), err // callers mark findings as secret
}

// IsUsable reports whether a DataSchema compiles. The findings are the first reason why it does not, or else its
// references that have no target. The only errors are those of meter, returned unwrapped.
func (e *Engine) IsUsable(meter *budget.Meter, schema DataSchema) (usable bool, found []Finding, err error) {
	about, err := e.about(meter, schema)
	return err == nil && about.Count == 0, about.Findings, err
}

// about returns what is to be known about a DataSchema. It is remembered for more of them than their compiled forms.
// The only errors are those of meter, returned unwrapped.
func (e *Engine) about(meter *budget.Meter, schema DataSchema) (Found, error) {
	if about, known := e.Known(schema.pair()); known {
		return about, nil
	}
	c, err := e.compile(meter, schema)
	if err != nil {
		return Found{}, err
	}
	e.Remember(schema.pair(), c.found())
	return c.found(), nil
}

// pair is the key of what is remembered about a DataSchema. It differs from that of the check of its document, which
// passes with references that have no target.
func (s DataSchema) pair() Pair {
	return PairOf(s.digest(), Rule{Schema: dataSchema.digest, Context: noVersions()})
}

// found returns what is to be known about the DataSchema without its compiled form.
func (c compiled) found() Found {
	if c.schema == nil {
		return Found{Count: len(c.unusable), Findings: c.unusable[:min(1, len(c.unusable))]}
	}
	return Found{Findings: c.schema.Unresolved(), names: c.schema.NamesVersions()}
}

// silent is the Checker of an unusable DataSchema. It finds nothing.
type silent struct{}

func (silent) Check(*budget.Meter, []byte) ([]Finding, error) { return nil, nil }
