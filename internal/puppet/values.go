package puppet

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/words"
)

// checkParameters returns the problems with the parameters that a resource is to get: null values, unknown names and
// invalid values. They are secret if the type is. t is nil if the type is unknown.
func checkParameters(meter *budget.Meter, t *Type, ref Ref, e entry, creating bool) (problems []Problem, err error) {
	const stepsEach = 100
	for _, p := range e.parameters {
		limits, _ := t.limits(p.Key)
		if err := meter.Spend(stepsEach + costOf(limits.allowed, p.Value)); err != nil {
			return nil, err
		}
		if message := t.checkParameter(meter, ref, p); message != "" {
			meter.Charge(problemSteps)
			problems = append(problems, Problem{Path: e.path(p.Key), Message: message, Secret: t != nil && t.Secret})
		}
		if len(problems) == maxProblems {
			return problems, nil
		}
	}
	if t == nil || t.schema == nil {
		return problems, nil
	}
	bySchema, err := checkSchema(meter, t, ref, e, creating)
	return append(problems, bySchema...), err
}

// limits returns the values that a parameter may have. known is false if the type has no such parameter.
func (t *Type) limits(name string) (limits values, known bool) {
	if limits, known = core().metaparameters[name]; known || t == nil || t.parameters == nil {
		return limits, true
	}
	limits, known = t.parameters[name]
	return limits, known
}

// checkParameter returns the problem with one parameter, or "" if it is valid.
func (t *Type) checkParameter(meter *budget.Meter, ref Ref, p document.Member) string {
	name, value := p.Key, p.Value
	limits, known := t.limits(name)
	switch {
	case value == nil:
		return fmt.Sprintf("Got nil value for %s of %v; a parameter cannot be unset, only set to another value", name, ref)
	case !known:
		return fmt.Sprintf("no parameter named '%s' of %v%s", name, ref, didYouMean(meter, name, t.parameterNames()))
	}
	message := limits.check(value)
	switch {
	case isRelationship(name):
		message = checkReferences(value)
	case name == "audit":
		message = t.checkAudit(meter, ref, value)
	}
	if message != "" {
		return fmt.Sprintf("Parameter %s failed on %v: %s", name, ref, message)
	}
	return ""
}

// checkAudit returns why a resource cannot audit the parameters that a value names, or "" if it can.
func (t *Type) checkAudit(meter *budget.Meter, ref Ref, value any) string {
	if value == "all" || t == nil || t.parameters == nil {
		return ""
	}
	for _, item := range items(value) {
		name, isText := item.(string)
		_, own := t.parameters[name]
		_, isMeta := core().metaparameters[name]
		if list, _ := value.([]any); !isText || !own && !isMeta && (name != "all" || len(list) != 1) {
			return fmt.Sprintf("Cannot audit %s: not a valid attribute for %v%s", shown(item), ref,
				didYouMean(meter, name, t.parameterNames()))
		}
	}
	return ""
}

// The costs of a suggestion in steps: for a candidate, which may have been sorted, and for a pair of letters.
const (
	candidateSteps = 500
	letterSteps    = 3
	mostLetters    = 60 // longer words are not compared
)

// didYouMean returns a question for the candidate that is most similar to word, or "" if none is similar.
func didYouMean(meter *budget.Meter, word string, candidates []string) string {
	for _, candidate := range candidates {
		meter.Charge(candidateSteps + letterSteps*min(len(word), mostLetters)*min(len(candidate), mostLetters))
	}
	if nearest := words.Nearest(word, candidates); nearest != "" {
		return fmt.Sprintf("; did you mean '%s'?", nearest)
	}
	return ""
}

// checkSchema checks parameters against the schema of a type that a document describes. Properties that the schema
// requires may be missing unless the resource is being created.
func checkSchema(meter *budget.Meter, t *Type, ref Ref, e entry, creating bool) (problems []Problem, err error) {
	own := slices.DeleteFunc(slices.Clone(e.parameters), func(p document.Member) bool {
		_, isMeta := core().metaparameters[p.Key]
		return isMeta || p.Value == nil
	})
	findings, err := t.schema.CheckValue(meter, own)
	if err != nil {
		return nil, err
	}
	for _, finding := range findings {
		if finding.SchemaPath == ".required" && !creating || finding.SchemaPath == ".additionalProperties" {
			continue // checkParameter reports unknown names, with a suggestion
		}
		path, message := e.path(""), fmt.Sprintf("Invalid parameters of %v: %s", ref, finding.Message)
		if at := finding.Instance; len(at) > 0 {
			path = e.path(at[0])
			message = fmt.Sprintf("Invalid value for %s of %v: %s", strings.Join(at, "."), ref, finding.Message)
		}
		problems = append(problems, Problem{Path: path, Message: message, Secret: t.Secret})
	}
	return problems, nil
}

// checkTitle returns why a resource with a title and parameters cannot be created, or "" if it can.
func (t *Type) checkTitle(meter *budget.Meter, ref Ref, parameters document.Mapping) (string, error) {
	namevar := t.namevar()
	value, _ := t.valueOf(parameters, namevar)
	name, given := value.(string)
	if !given {
		name = ref.Title
	}
	if t.titles != nil {
		if err := meter.Spend(t.titles.MatchSteps(len(name))); err != nil {
			return "", err
		}
		if !t.titles.MatchString(name) {
			return fmt.Sprintf("Parameter %s failed on %v: Invalid value %s. Valid values match %s.", namevar, ref, shown(name),
				rubyRegexp(t.titles)), nil
		}
	}
	if limits := t.parameters[namevar]; !given && namevar != "" {
		if message := limits.check(name); message != "" {
			return fmt.Sprintf("Parameter %s failed on %v: %s", namevar, ref, message), nil
		}
	}
	return "", nil
}
