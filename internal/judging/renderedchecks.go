package judging

import (
	"context"
	"errors"
	"fmt"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// validate checks rendered documents by the built-in schemas and the DataSchemas among them (spec/api.md §7.2, §0 D15).
// Their metadata was checked when it was submitted.
func (r Renderer) validate(ctx context.Context, rendered Computed) (out checked, err error) {
	schemas, err := r.registered(ctx, rendered)
	if err != nil {
		return out, err
	}
	book := r.newRuleBook(rendered, schemas)
	outcomes := make([]outcome, len(rendered.Documents))
	confined := budget.Confined(ctx, secretSteps)
	err = budget.ForEach(ctx, len(outcomes), func(meter *budget.Meter, i int) (err error) {
		doc := rendered.Documents[i]
		outcomes[i] = r.ruled(doc, rendered.digest(doc), book)
		return r.checkRendered(confined, meter, doc, &outcomes[i])
	})
	if err != nil {
		return out, fmt.Errorf("check rendered documents: %w", err)
	}
	for i, doc := range rendered.Documents {
		if cause := outcomes[i].cause; cause != nil {
			out.unjudged = append(out.unjudged, unjudged{doc.Identity, cause, outcomes[i].secret})
		}
	}
	out.warnings = unresolved(schemas)
	out.invalid, err = r.invalidRendered(confined, budget.NewMeter(ctx), rendered, outcomes)
	return out, err
}

// checked is the outcome of checking rendered documents.
type checked struct {
	invalid  *fault.Fault // has a D002 for each finding; nil if there is none
	unjudged []unjudged   // documents whose DataSchemas cannot be used
	warnings []fault.Message
}

// ruleBook has the rules to check rendered documents by.
type ruleBook struct {
	rules      validations.Rules
	byRule     map[validations.Rule]*registered
	byDocument map[*revisions.Stored]*registered
	unknown    map[string]bool // document schemas whose DataSchemas are withheld
	// unrendered are the faults of DataSchemas that do not render, by document schema.
	unrendered map[string]unjudged
}

func (r Renderer) newRuleBook(rendered Computed, schemas []*registered) ruleBook {
	book := ruleBook{
		validations.Rules{Registered: map[string]validations.Rule{}, ControlOnly: r.Compat},
		map[validations.Rule]*registered{},
		map[*revisions.Stored]*registered{},
		map[string]bool{},
		rendered.unrenderedSchemas(),
	}
	for _, schema := range schemas {
		book.rules.Registered[schema.Name] = schema.rule
		book.byRule[schema.rule], book.byDocument[schema.Stored] = schema, schema
	}
	for _, doc := range rendered.Withheld {
		if doc.Schema == validations.DataSchemaKind {
			book.unknown[doc.Name] = true
		}
	}
	return book
}

// ruled returns how a rendered document is to be checked; digest identifies its data.
func (r Renderer) ruled(doc *revisions.Stored, digest document.Digest, book ruleBook) outcome {
	if schema, ok := book.unrendered[doc.Schema]; ok {
		return outcome{cause: schema.cause, secret: doc.Tainted || schema.secret}
	}
	rule, ok := book.rules.ForRendered(doc.Document)
	if schema := book.byDocument[doc]; !ok || schema != nil && schema.isUsable {
		return outcome{} // a usable DataSchema is valid
	}
	o := outcome{schema: book.byRule[rule], rule: rule, secret: doc.Tainted}
	if o.schema != nil {
		o.secret, o.ofSchema = o.secret || o.schema.secret, o.schema.quoted && !r.Compat
		switch broken := o.schema.broken; {
		case book.unknown[doc.Schema] || o.schema.unknown:
			return outcome{}
		case broken.cause != nil:
			return outcome{cause: broken.cause, secret: o.secret || broken.secret}
		case !o.schema.isUsable:
			o.unchecked = true
			return o
		}
	}
	if o.check = validations.PairOf(digest, rule); o.secret {
		o.check = o.check.OfSecret()
	}
	return o
}

// checkRendered checks a rendered document whose outcome is not remembered.
func (r Renderer) checkRendered(confined context.Context, meter *budget.Meter, doc *revisions.Stored, o *outcome) (
	err error,
) {
	var known bool
	if o.check == (validations.Pair{}) {
		return nil
	}
	if o.found, known = r.Engine.Known(o.check); known {
		return nil
	}
	var sure bool
	if o.found.Findings, sure, err = r.findingsOf(confined, meter, doc, *o); err != nil {
		return budget.About(err, "check rendered document %s by schema %s", doc.Identity, doc.Schema)
	}
	if o.found.Count = len(o.found.Findings); sure {
		r.Engine.Remember(o.check, validations.Found{Count: o.found.Count}) // the findings if they are listed
	}
	return nil
}

// findingsOf checks a rendered document. It is not sure of the findings if other checks have exhausted the budget for
// secrets. The error is the meter's, unwrapped.
func (r Renderer) findingsOf(confined context.Context, meter *budget.Meter, doc *revisions.Stored, o outcome) (
	found []validations.Finding, sure bool, err error,
) {
	checker, _ := r.Engine.BuiltIn(o.rule)
	if o.schema != nil {
		var err error
		if checker, err = o.schema.compiled(r.meterFor(meter, o.schema.Identity, o.schema.Data), r.Engine); err != nil {
			return nil, false, readingSchema(err, o.schema.Stored)
		}
	}
	own := r.meterFor(meter, doc.Identity, doc.Data)
	if o.secret && r.brought[doc.Identity] {
		own = budget.NewMeter(confined)
	}
	if o.secret {
		own = own.Within(aloneSteps + int64(len(doc.Data))*budget.StepsPerByte)
	} else {
		own = own.ForDocument(len(doc.Data) + len(o.text()))
	}
	found, err = checker.Check(own, doc.Data)
	err = own.Done(err)
	_, spent := errors.AsType[*budget.Exceeded](err)
	found, err = sparing(own, found, err, o.secret)
	return found, !spent || !o.secret || budget.IsAlone(err), err
}

// outcome is the result of checking a rendered document.
type outcome struct {
	rule      validations.Rule
	schema    *registered      // of the rule; nil if it is built in
	check     validations.Pair // zero if there is nothing to check
	found     validations.Found
	unchecked bool // the schema is unusable
	secret    bool // the document, the schema or the client versions contain a secret
	ofSchema  bool // the schema contains a secret, so findings may quote it
	// cause is the fault of the schema, or of what it needs, because of which the document was not checked.
	cause *fault.Fault
}

// text returns the text of the schema.
func (o outcome) text() []byte {
	if o.schema != nil {
		return o.schema.Data
	}
	return validations.RuleText(o.rule)
}

// invalidFormat is the type of faults that list findings about rendered documents.
const invalidFormat = "InvalidDocumentFormat"

// invalidRendered returns a fault that lists the findings about rendered documents, nil if there are none. Those of
// documents beyond the first authz.MaxListed, which are only counted, are not remembered.
func (r Renderer) invalidRendered(confined context.Context, meter *budget.Meter, rendered Computed,
	outcomes []outcome,
) (*fault.Fault, error) {
	var messages []fault.Message
	listed, size := map[bool]int{}, map[bool]int{} // by whether messages are secret: their number, and their bytes
	for i, doc := range rendered.Documents {
		o := outcomes[i]
		var errs []validations.Error
		more := 0
		switch {
		case o.unchecked:
			errs = []validations.Error{validations.Unchecked(doc.Document)}
		case o.found.Count == 0:
			continue
		case listed[o.secret] >= authz.MaxListed:
			errs, more = []validations.Error{validations.Unexplained(doc.Document, validations.Unlisted, true)}, o.found.Count-1
		default:
			var err error
			if errs, err = r.describe(confined, meter, doc, o, maxDetailed-size[o.secret], rendered.written[doc]); err != nil {
				return nil, err
			}
		}
		for _, e := range errs {
			size[o.secret] += len(e.ErrorSection) + len(e.ValidationSchema) + len(e.Message)
			message := validations.D002(e)
			if !r.Compat {
				message.Path = e.Path
			}
			message.Secret, message.Documents[0].Encrypted, message.More = o.secret, doc.Traits().Encrypted, more
			messages = append(messages, message)
		}
		listed[o.secret] += len(errs)
	}
	if len(messages) == 0 {
		return nil, nil
	}
	invalid := fault.New(fault.Invalid, invalidFormat, "The provided documents failed schema validation")
	invalid.Reason, invalid.Messages = "Validation", messages
	return invalid, nil
}

// describe returns the errors for the findings about a rendered document. It checks the document again if they are not
// remembered.
func (r Renderer) describe(confined context.Context, meter *budget.Meter, doc *revisions.Stored, o outcome,
	room int, how writing,
) (errs []validations.Error, err error) {
	found, text := o.found.Findings, o.text()
	sure := true
	if found == nil {
		if found, sure, err = r.findingsOf(confined, meter, doc, o); err != nil {
			return nil, budget.About(err, "check rendered document %s by schema %s", doc.Identity, doc.Schema)
		}
	}
	o.found = validations.Found{Count: len(found), Findings: found}
	if sure {
		r.Engine.Remember(o.check, o.found)
	}
	if o.ofSchema {
		text, found = validations.OfSecretSchema(found)
	}
	errs, err = validations.ReportRendered(doc.Document, text, found, room, how.destinations)
	if err != nil {
		return nil, fmt.Errorf("word the findings: %w", err)
	}
	return errs, nil
}
