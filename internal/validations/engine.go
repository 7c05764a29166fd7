package validations

import (
	"errors"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"purser/internal/validations/jsonschema"
)

// Finding is one violation as it is kept: it depends on content and rule alone.
type Finding = jsonschema.Finding

// Checker checks JSON text as document.Document.Data holds it. It is safe for concurrent use.
type Checker interface {
	// Check returns every violation, nil if there is none.
	Check(data []byte) []Finding
}

// compiledSchemas is how many compiled DataSchemas are kept for the next check; real sites register up to 140.
const compiledSchemas = 1024

// Engine turns rules into checkers. It is safe for concurrent use.
type Engine struct {
	compiled *lru.Cache[Rule, Checker]
	budget   jsonschema.Budget
}

// NewEngine returns an engine that refuses schemas whose combinators multiply beyond the budget.
func NewEngine(budget jsonschema.Budget) *Engine {
	cache, err := lru.New[Rule, Checker](compiledSchemas)
	if err != nil {
		panic(fmt.Sprintf("validations: %v", err)) // only for a size below one
	}
	return &Engine{compiled: cache, budget: budget}
}

// Checker returns the checker of a rule that is built in or was compiled lately; ok is false for any other.
func (e *Engine) Checker(rule Rule) (checker Checker, ok bool) {
	if rule == usability.digest {
		return usable{e.budget}, true
	}
	if builtin := builtinByDigest(rule); builtin != nil {
		return builtin.compiled, true
	}
	return e.compiled.Get(rule)
}

// Compile returns the checker of a DataSchema's text. Against one that cannot be used nothing is ever found: it is the
// DataSchema itself that fails (spec/api.md §2.5).
func (e *Engine) Compile(rule Rule, text []byte) Checker {
	var checker Checker = silent{}
	if compiled, err := jsonschema.Compile(text, e.budget); err == nil {
		checker = compiled
	}
	e.compiled.Add(rule, checker)
	return checker
}

// usable checks that data is a schema that can be used.
type usable struct{ budget jsonschema.Budget }

func (u usable) Check(data []byte) []Finding {
	_, err := jsonschema.Compile(data, u.budget)
	if unusable, ok := errors.AsType[*jsonschema.Unusable](err); ok {
		return unusable.Findings
	}
	return nil
}

// silent finds nothing.
type silent struct{}

func (silent) Check([]byte) []Finding { return nil }
