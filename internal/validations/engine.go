package validations

import (
	"bytes"
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

// Violation is one way in which an object breaks a Keyword.
type Violation = jsonschema.Violation

// Checker checks the data of documents. It is safe for concurrent use.
type Checker interface {
	// Check returns all violations in JSON text of the form of document.Document.Data. It returns only errors of the
	// meter, unwrapped, so that budget.About can add the document and the schema.
	Check(meter *budget.Meter, data []byte) ([]Finding, error)
}

// Bounds of the cache of compiled DataSchemas. Real sites register up to 140 schemas, a megabyte in all.
const (
	maxCompiled     = 1024
	maxCompiledSize = 2 << 20 // bytes of their texts; compiled schemas need a multiple
)

// Engine compiles rules and caches their checkers. It is safe for concurrent use.
type Engine struct {
	extensions []Extension

	mu       sync.Mutex
	compiled *simplelru.LRU[Rule, compiled]
	size     int

	passed *cache.Cache[Pair, struct{}]
}

// passedSize bounds the memory of the checks that are known to pass, in bytes: about 100,000.
const passedSize = 16 << 20

// Passed reports whether a check is known to pass.
func (e *Engine) Passed(check Pair) bool {
	_, ok := e.passed.Get(check)
	return ok
}

// NotePassed notes that a check passes, so that it need not be made again.
func (e *Engine) NotePassed(check Pair) { e.passed.Add(check, struct{}{}, 0) }

// compiled is a checker and the size of its schema's text.
type compiled struct {
	Checker

	size int
}

// NewEngine returns an engine for DataSchemas with the keywords of extensions.
func NewEngine(extensions ...Extension) *Engine {
	e := &Engine{extensions: extensions, passed: cache.New[Pair, struct{}](passedSize)}
	cache, err := simplelru.NewLRU(maxCompiled, func(_ Rule, c compiled) { e.size -= c.size })
	if err != nil {
		panic(fmt.Sprintf("validations: %v", err)) // only for a size below one
	}
	e.compiled = cache
	return e
}

// Checker returns the checker of a built-in rule, or of one in the cache; ok is false for any other.
func (e *Engine) Checker(rule Rule) (checker Checker, ok bool) {
	if rule.Schema == dataSchema.digest {
		return usable{e.extensions}, true
	}
	if builtin := builtinByDigest(rule.Schema); builtin != nil {
		return builtin.compiled, true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	found, ok := e.compiled.Get(rule)
	return found.Checker, ok
}

// Compile returns the checker of a DataSchema's text and caches it. The checker of an unusable DataSchema finds
// nothing; the DataSchema itself fails instead (spec/api.md §2.5). The error is the meter's, unwrapped.
func (e *Engine) Compile(meter *budget.Meter, rule Rule, text []byte, versions ClientVersions) (Checker, error) {
	var checker Checker = silent{}
	usable, err := jsonschema.Compile(meter, text, jsonschema.Options{Extensions: e.extensions, ClientVersions: versions})
	if err == nil {
		checker = usable
	} else if _, ok := errors.AsType[*jsonschema.Unusable](err); !ok {
		return nil, err
	}
	e.keep(rule, compiled{checker, len(text)})
	return checker, nil
}

// RuleOf returns the rule of a DataSchema for client versions. The error is the meter's, unwrapped.
func (e *Engine) RuleOf(meter *budget.Meter, schema document.Digest, text []byte, versions ClientVersions) (
	Rule, error,
) {
	rule := Rule{Schema: schema}
	if !e.isExtended(text) {
		return rule, nil
	}
	rule.Versions = noVersions() // distinct from rules of servers without extensions
	if len(versions) == 0 {
		return rule, nil
	}
	named, err := e.NamesVersions(meter, schema, text)
	if named {
		rule.Versions = versions.Digest()
	}
	return rule, err
}

// noVersions returns the digest of an empty set of client versions, for schemas with keywords of an extension.
func noVersions() document.Digest { return document.DigestOf(document.Mapping{}) }

// isExtended reports whether a DataSchema may have keywords of an extension.
func (e *Engine) isExtended(text []byte) bool {
	return slices.ContainsFunc(e.extensions, func(extension Extension) bool {
		return slices.ContainsFunc(extension.Keywords(), func(keyword string) bool {
			return bytes.Contains(text, []byte(`"`+keyword+`":`))
		})
	})
}

// NamesVersions reports whether checks by a DataSchema depend on client versions. The error is the meter's, unwrapped.
func (e *Engine) NamesVersions(meter *budget.Meter, schema document.Digest, text []byte) (bool, error) {
	if !e.isExtended(text) {
		return false, nil
	}
	rule := Rule{schema, noVersions()}
	checker, ok := e.Checker(rule)
	if !ok {
		var err error
		if checker, err = e.Compile(meter, rule, text, nil); err != nil {
			return false, err
		}
	}
	versioned, ok := checker.(interface{ NamesVersions() bool })
	return ok && versioned.NamesVersions(), nil
}

func (e *Engine) keep(rule Rule, c compiled) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.compiled.Remove(rule)
	e.compiled.Add(rule, c)
	for e.size += c.size; e.size > maxCompiledSize; {
		e.compiled.RemoveOldest()
	}
}

// usable checks that the data of a DataSchema is a usable schema.
type usable struct{ extensions []Extension }

func (u usable) Check(meter *budget.Meter, data []byte) ([]Finding, error) {
	_, err := jsonschema.Compile(meter, data, jsonschema.Options{Extensions: u.extensions})
	if unusable, ok := errors.AsType[*jsonschema.Unusable](err); ok {
		return unusable.Findings, nil
	}
	return nil, err
}

// IsUnusable reports whether a checker is that of an unusable DataSchema.
func IsUnusable(checker Checker) bool {
	_, ok := checker.(silent)
	return ok
}

// silent is the Checker of an unusable DataSchema. It finds nothing.
type silent struct{}

func (silent) Check(*budget.Meter, []byte) ([]Finding, error) { return nil, nil }
