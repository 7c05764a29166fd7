package validations

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// Finding is one violation as it is kept: it depends on content and rule alone.
type Finding = jsonschema.Finding

// Extension adds keywords to the dialect of DataSchemas.
type Extension = jsonschema.Extension

// Keyword is what the keywords of an Extension say in one schema object.
type Keyword = jsonschema.Keyword

// Violation is one way in which an object breaks a Keyword.
type Violation = jsonschema.Violation

// Checker checks JSON text as document.Document.Data holds it. It is safe for concurrent use.
type Checker interface {
	// Check returns every violation, nil if there is none. What it takes is counted while it is done. It returns no errors
	// but the meter's, as they came: budget.About says which document and which schema were being worked on.
	Check(meter *budget.Meter, data []byte) ([]Finding, error)
}

// What is kept of compiled DataSchemas for the next check: so many, and so many bytes of their texts, of which a
// compiled one takes a multiple. Real sites register up to 140 schemas, a megabyte in all.
const (
	compiledSchemas = 1024
	compiledSize    = 2 << 20
)

// Engine turns rules into checkers. It is safe for concurrent use.
type Engine struct {
	extensions []Extension

	mu       sync.Mutex
	compiled *simplelru.LRU[Rule, compiled]
	size     int
}

// compiled is a checker and the size of the text it was made from.
type compiled struct {
	Checker

	size int
}

// NewEngine returns an engine that has compiled nothing yet; DataSchemas have the keywords that extensions add.
func NewEngine(extensions ...Extension) *Engine {
	e := &Engine{extensions: extensions}
	cache, err := simplelru.NewLRU(compiledSchemas, func(_ Rule, c compiled) { e.size -= c.size })
	if err != nil {
		panic(fmt.Sprintf("validations: %v", err)) // only for a size below one
	}
	e.compiled = cache
	return e
}

// Checker returns the checker of a rule that is built in or was compiled lately; ok is false for any other.
func (e *Engine) Checker(rule Rule) (checker Checker, ok bool) {
	if rule.Schema == usability.digest {
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

// Compile returns the checker of a DataSchema's text. Against one that cannot be used nothing is ever found: it is the
// DataSchema itself that fails (spec/api.md §2.5). What it takes is counted; the error is the meter's, as it came.
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

// RuleOf returns the rule that a DataSchema is, given its digest and text, where there are these client versions. The
// error is the meter's, as it came.
func (e *Engine) RuleOf(meter *budget.Meter, schema document.Digest, text []byte, versions ClientVersions) (
	Rule, error,
) {
	rule := Rule{Schema: schema}
	if !e.isExtended(text) {
		return rule, nil
	}
	rule.Versions = noVersions() // not what was found before there were extensions
	if len(versions) == 0 {
		return rule, nil
	}
	named, err := e.NamesVersions(meter, schema, text)
	if named {
		rule.Versions = versions.Digest()
	}
	return rule, err
}

// noVersions names that an extension judged without client versions.
func noVersions() document.Digest { return document.DigestOf(document.Mapping{}) }

// isExtended tells whether a DataSchema may have keywords of an extension.
func (e *Engine) isExtended(text []byte) bool {
	return slices.ContainsFunc(e.extensions, func(extension Extension) bool {
		return slices.ContainsFunc(extension.Keywords(), func(keyword string) bool {
			return bytes.Contains(text, []byte(`"`+keyword+`":`))
		})
	})
}

// NamesVersions tells whether checks by a DataSchema depend on client versions. The error is the meter's, as it came.
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
	for e.size += c.size; e.size > compiledSize; {
		e.compiled.RemoveOldest()
	}
}

// usable checks that data is a schema that can be used.
type usable struct{ extensions []Extension }

func (u usable) Check(meter *budget.Meter, data []byte) ([]Finding, error) {
	_, err := jsonschema.Compile(meter, data, jsonschema.Options{Extensions: u.extensions})
	if unusable, ok := errors.AsType[*jsonschema.Unusable](err); ok {
		return unusable.Findings, nil
	}
	return nil, err
}

// IsUnusable tells whether a checker is that of a DataSchema which cannot be used.
func IsUnusable(checker Checker) bool {
	_, ok := checker.(silent)
	return ok
}

// silent finds nothing.
type silent struct{}

func (silent) Check(*budget.Meter, []byte) ([]Finding, error) { return nil, nil }
