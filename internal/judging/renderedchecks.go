package judging

import (
	"context"
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
		outcomes[i], err = r.checkRendered(confined, meter, doc, rendered.digest(doc), book)
		return budget.About(err, "check rendered document %s by schema %s", doc.Identity, doc.Schema)
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
	out.invalid, err = r.invalidRendered(rendered, outcomes)
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

// checkRendered checks a rendered document; digest identifies its data. The error is the meter's, unwrapped.
func (r Renderer) checkRendered(confined context.Context, meter *budget.Meter, doc *revisions.Stored,
	digest document.Digest,
	book ruleBook,
) (outcome, error) {
	if schema, ok := book.unrendered[doc.Schema]; ok {
		return outcome{cause: schema.cause, secret: doc.Tainted || schema.secret}, nil
	}
	rule, ok := book.rules.ForRendered(doc.Document)
	if schema := book.byDocument[doc]; !ok || schema != nil && schema.isUsable {
		return outcome{}, nil // a usable DataSchema is valid
	}
	schema, secret, ofSchema := book.byRule[rule], doc.Tainted, false
	if schema != nil {
		secret, ofSchema = secret || schema.secret, schema.quoted && !r.Compat
		switch broken := schema.broken; {
		case book.unknown[doc.Schema] || schema.unknown:
			return outcome{}, nil
		case broken.cause != nil:
			return outcome{cause: broken.cause, secret: secret || broken.secret}, nil
		case !schema.isUsable:
			return outcome{schema.Data, nil, true, secret, ofSchema, nil}, nil
		}
	}
	check := validations.PairOf(digest, rule)
	if secret {
		check = check.OfSecret()
	}
	if r.Engine.Passed(check) {
		return outcome{}, nil
	}
	text, checker, err := r.ruleOfRendered(meter, rule, schema)
	if err != nil {
		return outcome{}, err
	}
	found, err := checker.Check(meterFor(confined, meter, secret), doc.Data)
	if secret {
		found, err = sparing(found, err)
	}
	if err == nil && len(found) == 0 {
		r.Engine.NotePassed(check)
	}
	return outcome{text, found, false, secret, ofSchema, nil}, err
}

// ruleOfRendered returns the text and the checker of a rule, which is built in if schema is nil.
func (r Renderer) ruleOfRendered(meter *budget.Meter, rule validations.Rule, schema *registered) (
	text []byte, checker validations.Checker, err error,
) {
	if schema == nil {
		checker, _ = r.Engine.BuiltIn(rule)
		return validations.RuleText(rule), checker, nil
	}
	checker, err = schema.compiled(meter, r.Engine)
	return schema.Data, checker, readingSchema(err, schema.Stored)
}

// outcome is the result of checking a rendered document.
type outcome struct {
	rule      []byte // the text of the schema
	findings  []validations.Finding
	unchecked bool // the schema is unusable
	secret    bool // the document, the schema or the client versions contain a secret
	ofSchema  bool // the schema contains a secret, so findings may quote it
	// cause is the fault of the schema, or of what it needs, because of which the document was not checked.
	cause *fault.Fault
}

// invalidFormat is the type of faults that list findings about rendered documents.
const invalidFormat = "InvalidDocumentFormat"

// invalidRendered returns a fault that lists the findings about rendered documents, nil if there are none.
func (r Renderer) invalidRendered(rendered Computed, outcomes []outcome) (*fault.Fault, error) {
	var messages []fault.Message
	listed, size := map[bool]int{}, map[bool]int{} // by whether messages are secret: their number, and their bytes
	for i, doc := range rendered.Documents {
		found := outcomes[i]
		if found.ofSchema && len(found.findings) > 0 {
			found.rule, found.findings = validations.OfSecretSchema(found.findings)
		}
		room := 0
		if listed[found.secret] < authz.MaxListed {
			room = maxDetailed - size[found.secret]
		}
		errs, err := validations.ReportRendered(doc.Document, found.rule, found.findings, room,
			rendered.written[doc].destinations)
		if err != nil {
			return nil, fmt.Errorf("word the findings: %w", err)
		}
		if found.unchecked {
			errs = append(errs, validations.Unchecked(doc.Document))
		}
		for _, e := range errs {
			size[found.secret] += len(e.ErrorSection) + len(e.ValidationSchema) + len(e.Message)
			message := validations.D002(e)
			if !r.Compat {
				message.Path = e.Path
			}
			message.Secret, message.Documents[0].Encrypted = found.secret, doc.Traits().Encrypted
			messages = append(messages, message)
		}
		listed[found.secret] += len(errs)
	}
	if len(messages) == 0 {
		return nil, nil
	}
	invalid := fault.New(fault.Invalid, invalidFormat, "The provided documents failed schema validation")
	invalid.Reason, invalid.Messages = "Validation", messages
	return invalid, nil
}
