package validations

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"purser/internal/validations/jsonschema"
)

// Finding is one violation as it is kept: it depends on content and rule alone.
type Finding = jsonschema.Finding

// Checker checks JSON text as document.Document.Data holds it. It is safe for concurrent use.
type Checker interface {
	// Check returns every violation, nil if there is none.
	Check(data []byte) []Finding
}

// What is kept of compiled DataSchemas for the next check: so many, and so many bytes of their texts, of which a
// compiled one takes a multiple. Real sites register up to 140 schemas, a megabyte in all.
const (
	compiledSchemas = 1024
	compiledSize    = 2 << 20
)

// Engine turns rules into checkers. It is safe for concurrent use.
type Engine struct {
	mu       sync.Mutex
	compiled *simplelru.LRU[Rule, compiled]
	size     int
}

// compiled is a checker and the size of the text it was made from.
type compiled struct {
	Checker

	size int
}

// NewEngine returns an engine that has compiled nothing yet.
func NewEngine() *Engine {
	e := &Engine{}
	cache, err := simplelru.NewLRU(compiledSchemas, func(_ Rule, c compiled) { e.size -= c.size })
	if err != nil {
		panic(fmt.Sprintf("validations: %v", err)) // only for a size below one
	}
	e.compiled = cache
	return e
}

// Checker returns the checker of a rule that is built in or was compiled lately; ok is false for any other.
func (e *Engine) Checker(rule Rule) (checker Checker, ok bool) {
	if rule == usability.digest {
		return usable{}, true
	}
	if builtin := builtinByDigest(rule); builtin != nil {
		return builtin.compiled, true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	found, ok := e.compiled.Get(rule)
	return found.Checker, ok
}

// Compile returns the checker of a DataSchema's text. Against one that cannot be used nothing is ever found: it is the
// DataSchema itself that fails (spec/api.md §2.5).
func (e *Engine) Compile(rule Rule, text []byte) Checker {
	var checker Checker = silent{}
	if usable, err := jsonschema.Compile(text, jsonschema.Budget{}); err == nil {
		checker = usable
	}
	e.keep(rule, compiled{checker, len(text)})
	return checker
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
type usable struct{}

func (usable) Check(data []byte) []Finding {
	_, err := jsonschema.Compile(data, jsonschema.Budget{})
	if unusable, ok := errors.AsType[*jsonschema.Unusable](err); ok {
		return unusable.Findings
	}
	return nil
}

// IsUnusable tells whether a checker is that of a DataSchema which cannot be used.
func IsUnusable(checker Checker) bool {
	_, ok := checker.(silent)
	return ok
}

// silent finds nothing.
type silent struct{}

func (silent) Check([]byte) []Finding { return nil }
