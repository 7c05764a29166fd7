package changes

import (
	"context"
	"crypto/sha256"
	"fmt"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// checkRenderedDocuments checks rendered documents by the built-in schemas and the DataSchemas among them. Their
// metadata was checked when it was submitted.
func (r Renderer) checkRenderedDocuments(ctx context.Context, rendered Computed) (out checked, err error) {
	book, err := r.renderedRules(ctx, rendered)
	if err != nil {
		return out, err
	}
	unrendered := rendered.unrenderedSchemas()
	outcomes := make([]outcome, len(rendered.Documents))
	confined := budget.Confined(ctx, secretSteps)
	err = budget.ForEach(ctx, len(outcomes), func(meter *budget.Meter, i int) (err error) {
		doc := rendered.Documents[i]
		if schema, ok := unrendered[doc.Schema]; ok {
			outcomes[i] = outcome{cause: schema.cause, secret: doc.Tainted || schema.secret}
			return nil
		}
		outcomes[i] = r.ruled(doc, rendered.digest(doc), book)
		return r.checkRendered(confined, meter, doc, &outcomes[i])
	})
	if err != nil {
		return out, fmt.Errorf("check rendered documents: %w", err)
	}
	for i, doc := range rendered.Documents {
		if cause := outcomes[i].cause; cause != nil {
			out.unjudged = append(out.unjudged, unjudged{Stored: doc, cause: cause, secret: outcomes[i].secret})
		}
	}
	out.warnings = unresolved(book.schemas)
	out.invalid, err = r.invalidRendered(confined, budget.NewMeter(ctx), rendered, outcomes)
	return out, err
}

// checked is the outcome of checking rendered documents.
type checked struct {
	invalid  *fault.Fault // has a D002 for each finding; nil if there is none
	unjudged []unjudged   // documents whose DataSchemas cannot be used
	warnings warnings
}

// ruled returns how a rendered document is to be checked; digest identifies its data.
func (r Renderer) ruled(doc *revisions.Stored, digest document.Digest, book ruleBook) outcome {
	rule, ok := book.rules.ForRendered(doc.Document)
	if !ok || book.usable[doc] {
		return outcome{} // a usable DataSchema is valid
	}
	o := outcome{schema: book.byRule[rule], rule: rule, secret: doc.Tainted}
	if o.schema != nil {
		o.secret, o.ofSchema = o.secret || o.schema.secret, o.schema.quoted && !r.Compat
		switch broken := o.schema.broken; {
		case book.unknown[doc.Schema]:
			return outcome{}
		case broken.cause != nil:
			return outcome{cause: broken.cause, secret: o.secret || broken.secret}
		case !o.schema.isUsable:
			o.unchecked = true
			return o
		}
	}
	if o.check = validations.PairOf(digest, rule); o.secret {
		o.check = o.check.OfSecret(r.Site)
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
	checker, err := r.checkerOf(meter, o.rule, o.schema, o.secret)
	if err != nil {
		return nil, false, readingSchema(err, o.schema.Stored)
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
	return budgetAsFinding(own, found, err, o.secret)
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

// Sizes of the errors about rendered documents in bytes: up to which they have parts of documents and schemas, and up
// to which they are listed. Each revision has them all again.
const (
	maxParted  = 256 << 10
	maxInvalid = 512 << 10
)

// invalidRendered returns a fault that lists the findings about rendered documents, nil if there are none. Those of
// documents beyond the first authz.MaxListed, or the first maxInvalid bytes, are only counted, and not remembered.
func (r Renderer) invalidRendered(confined context.Context, meter *budget.Meter, rendered Computed,
	outcomes []outcome,
) (*fault.Fault, error) {
	var messages []fault.Message
	listed, size := map[bool]int{}, map[bool]int{} // by whether messages are secret: their number, and their bytes
	unlisted := 0
	for i, doc := range rendered.Documents {
		o := outcomes[i]
		var errs []validations.Error
		more := 0
		switch full := listed[o.secret] >= authz.MaxListed || size[o.secret] >= maxInvalid; {
		case !o.unchecked && o.found.Count == 0:
			continue
		case full && !o.secret:
			unlisted += max(1, o.found.Count)
			continue
		case o.unchecked:
			errs = []validations.Error{validations.Unchecked(doc.Document)}
		case full: // who may see encrypted documents is told which others depend on them
			errs, more = []validations.Error{validations.Unexplained(doc.Document, validations.Unlisted, true)}, o.found.Count-1
		default:
			var err error
			if errs, err = r.describe(confined, meter, doc, o, maxParted-size[o.secret], rendered.written[doc]); err != nil {
				return nil, err
			}
		}
		for _, e := range errs {
			size[o.secret] += len(e.ErrorSection) + len(e.ValidationSchema) + len(e.Message) + len(e.Path) + len(e.SchemaPath)
			message := validations.D002(e)
			if !r.Compat {
				message.Path = e.Path
			}
			message.Secret, message.Documents[0].Encrypted, message.More = o.secret, doc.Traits().Encrypted, more
			messages = append(messages, message)
		}
		listed[o.secret] += len(errs)
	}
	if unlisted > 0 {
		messages = append(messages, fault.Unlisted(unlisted))
	}
	if len(messages) == 0 {
		return nil, nil
	}
	invalid := fault.New(fault.Invalid, invalidFormat, "The provided documents failed schema validation")
	invalid.Reason, invalid.Messages = "Validation", messages
	return invalid, nil
}

// describe returns the errors for the findings about a rendered document, with parts of it and of its schema until
// these take room bytes. Errors with all such parts are kept: to make them, the whole document is read.
func (r Renderer) describe(confined context.Context, meter *budget.Meter, doc *revisions.Stored, o outcome,
	room int, how writing,
) ([]validations.Error, error) {
	if room <= 0 {
		errs, _, err := r.errorsOf(confined, meter, doc, o, 0, how)
		return errs, err
	}
	key := r.keyOfErrors(doc, o, how)
	errs, known := derived[[]validations.Error](r.Documents, key)
	if !known {
		var sure bool
		var err error
		if errs, sure, err = r.errorsOf(confined, meter, doc, o, maxParted, how); err != nil {
			return nil, err
		}
		if size := 0; sure {
			for i := range errs {
				size += errs[i].Size()
			}
			r.Documents.remember(key, errs, size)
		}
	}
	return validations.WithDetails(errs, room), nil
}

// keyOfErrors is the key of the errors about a rendered document. It is zero if they are not kept, because it is not
// known what the document was computed from.
func (r Renderer) keyOfErrors(doc *revisions.Stored, o outcome, how writing) derivedKey {
	if how.destinations != nil && how.key.IsZero() {
		return derivedKey{}
	}
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%x %x %q %t %t\n", o.check, how.key, doc.Identity, doc.Traits().Encrypted, o.ofSchema)
	if len(doc.Metadata) <= validations.MaxSection { // else it is not shown
		_, _ = sum.Write(doc.Metadata)
	}
	return r.keyOf("errors", document.Digest(sum.Sum(nil)), o.secret)
}

// errorsOf words the findings about a rendered document. It checks the document again if they are not remembered; sure
// is as for findingsOf.
func (r Renderer) errorsOf(confined context.Context, meter *budget.Meter, doc *revisions.Stored, o outcome,
	room int, how writing,
) (errs []validations.Error, sure bool, err error) {
	found, text := o.found.Findings, o.text()
	sure = true
	if found == nil {
		if found, sure, err = r.findingsOf(confined, meter, doc, o); err != nil {
			return nil, false, budget.About(err, "check rendered document %s by schema %s", doc.Identity, doc.Schema)
		}
	}
	if sure {
		r.Engine.Remember(o.check, validations.Found{Count: len(found), Findings: found})
	}
	if o.ofSchema {
		text, found = validations.OfSecretSchema(found)
	}
	errs, err = validations.ReportRendered(doc.Document, text, found, room, how.destinations)
	if err != nil {
		return nil, false, fmt.Errorf("word the findings: %w", err)
	}
	return errs, sure, nil
}
