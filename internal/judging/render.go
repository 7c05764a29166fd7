package judging

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Rendering is a revision as services read it. It is immutable.
type Rendering struct {
	Documents []*revisions.Stored // in order of output; their digests are those of the submitted documents
	// Fault lists the errors of all documents: first of those that do not render, then of rendered ones that do not match
	// their schemas. It is nil if there are none.
	Fault error
	Size  int // approximate, in bytes
	// Warnings are about likely mistakes (see rendering.Outcome), and about documents that are not judged because of
	// others' errors.
	Warnings []fault.Message
	Withheld bool // some documents are left out: see Renderer
	Partial  bool // some documents do not render
	// Provisional reports whether a later rendering may differ, because the LayeringPolicy is newer than the revision or
	// there is none.
	Provisional bool
}

// RenderKey identifies a rendering.
type RenderKey struct {
	Revision  int64
	Stamp     revisions.Stamp
	Cleartext bool // without encrypted documents
}

// RenderCache is a cache of rendered revisions.
type RenderCache = cache.Cache[RenderKey, Rendering]

// Render renders the documents of a revision and checks those that render. fallback is the LayeringPolicy to use if
// documents have none; it may be nil. Fault: TooLarge if a limit is exceeded. In compat mode, it stops at the first fault
// of rendering.
func (r Renderer) Render(ctx context.Context, revision int64, documents []*revisions.Stored,
	fallback *revisions.Stored,
) (
	out Rendering, err error,
) {
	documents, policy := withPolicy(documents, fallback)
	computed, err := r.compute(ctx, documents, nil)
	if err != nil {
		return Rendering{}, err
	}
	out = Rendering{
		Documents: computed.Documents, Withheld: len(computed.Withheld) > 0, Partial: len(computed.faults) > 0,
		Provisional: policy != nil && policy.Revision > revision || !HasLayeringPolicy(documents),
	}
	for _, doc := range out.Documents {
		out.Size += revisions.Size(doc.Document)
	}
	if out.Partial && r.Compat {
		out.Fault = computed.faults[0]
		return out, nil
	}
	checked, err := r.validate(ctx, computed)
	if err != nil {
		return Rendering{}, err
	}
	if !r.Compat {
		out.Warnings = first(slices.Concat(consequences(append(computed.dependents(), checked.unjudged...)),
			checked.warnings, computed.warnings))
	}
	faults := computed.faults
	if checked.invalid != nil {
		faults = append(slices.Clip(faults), checked.invalid)
	}
	if len(faults) > 0 {
		all := combined(faults)
		out.Fault, out.Size = all, out.Size+sizeOfMessages(all.Messages)
	}
	return out, nil
}

// sizeOfMessages returns the approximate size of messages in bytes.
func sizeOfMessages(messages []fault.Message) (size int) {
	const each = 500
	for _, message := range messages {
		size += each + len(message.Message)
		if diagnostic, ok := message.Diagnostic.(map[string]any); ok {
			section, _ := diagnostic["error_section"].(json.RawMessage)
			size += len(section)
		}
	}
	return size
}

// Renderer renders revisions and checks them by the DataSchemas among their documents.
type Renderer struct {
	Engine *validations.Engine
	Vault  Vault
	// Defaults are the versions of client plugins that no document gives.
	Defaults validations.ClientVersions
	// Documents caches documents of earlier renderings; nil caches nothing. It does not affect the result.
	Documents *DocumentCache
	// Compat reports faults in the reference's words and gives no warnings.
	Compat bool
	// Withhold leaves out encrypted documents, those that take something from them, and messages about them, so that the
	// result does not depend on secrets.
	Withhold bool
}

// withPolicy adds fallback to documents without a LayeringPolicy. It returns the added policy, or nil.
func withPolicy(documents []*revisions.Stored, fallback *revisions.Stored) (
	with []*revisions.Stored, added *revisions.Stored,
) {
	if fallback == nil || HasLayeringPolicy(documents) {
		return documents, nil
	}
	return append(slices.Clip(documents), fallback), fallback
}

// WithPolicy adds fallback to documents without a LayeringPolicy.
func WithPolicy(documents []*revisions.Stored, fallback *revisions.Stored) []*revisions.Stored {
	documents, _ = withPolicy(documents, fallback)
	return documents
}

// Computed are the documents of a revision after rendering.
type Computed struct {
	Documents []*revisions.Stored // as services read them
	Withheld  []*revisions.Stored // withheld, as submitted: see Renderer

	// written has the documents whose data was composed by rendering.
	written    map[*revisions.Stored]writing
	warnings   []fault.Message
	faults     []*fault.Fault // of documents that do not render
	unrendered []unrendered
}

// unrendered is a document that does not render, because of its own fault or another one's.
type unrendered struct {
	*revisions.Stored
	rendering.Unrendered
}

// unjudged describes the document as one that is not judged.
func (u unrendered) unjudged() unjudged { return unjudged{u.Identity, u.Cause, u.Secret} }

// dependents returns the documents that do not render because of faults of others.
func (c Computed) dependents() (all []unjudged) {
	for _, doc := range c.unrendered {
		if !doc.Failed {
			all = append(all, doc.unjudged())
		}
	}
	return all
}

// writing describes data composed by rendering.
type writing struct {
	key          document.Digest // as in rendering.Rendered
	destinations [][]string      // where substitutions wrote
}

// digest returns a digest that identifies a rendered document's data; the digest of the document itself is that of the
// submitted one.
func (c Computed) digest(doc *revisions.Stored) document.Digest {
	w, differs := c.written[doc]
	switch {
	case !differs:
		return doc.Digest
	case w.key.IsZero():
		return sha256.Sum256(doc.Data)
	}
	return w.key
}

// compute renders documents, only those that only selects if it is not nil. Everything except the data stays as
// submitted, including the digest.
func (r Renderer) compute(ctx context.Context, stored []*revisions.Stored, only func(*document.Document) bool) (
	Computed, error,
) {
	resolver := newResolver(ctx, r.Vault, stored)
	options := rendering.Options{Only: only, Compat: r.Compat, Withhold: r.Withhold, Resolve: resolver.resolve()}
	outcome, err := rendering.Render(ctx, revisions.Contents(stored), r.Documents.options(options))
	if resolver.failure != nil {
		return Computed{}, resolver.failure
	}
	if err != nil {
		return Computed{}, err
	}
	out := Computed{written: map[*revisions.Stored]writing{}, warnings: outcome.Warnings, faults: outcome.Faults}
	for _, u := range outcome.Unrendered {
		out.unrendered = append(out.unrendered, unrendered{stored[u.Index], u})
	}
	rendered := outcome.Documents
	if r.Withhold {
		rendered = slices.DeleteFunc(rendered, func(doc rendering.Rendered) bool {
			if doc.Secret {
				out.Withheld = append(out.Withheld, stored[doc.Index])
			}
			return doc.Secret
		})
	}
	out.Documents = make([]*revisions.Stored, len(rendered))
	err = budget.ForEach(ctx, len(rendered), func(_ *budget.Meter, i int) error {
		of := stored[rendered[i].Index]
		doc := r.Documents.known(of, rendered[i])
		if doc == nil {
			doc = written(of, rendered[i])
			r.Documents.keep(of, rendered[i], doc)
		}
		out.Documents[i] = doc
		return nil
	})
	if err != nil {
		return Computed{}, fmt.Errorf("write rendered documents: %w", err)
	}
	for i, doc := range out.Documents {
		if rendered[i].Computed {
			out.written[doc] = writing{rendered[i].Key, rendered[i].Destinations}
		}
	}
	return out, nil
}

// written returns the rendered version of a document, which is the document itself if rendering left it unchanged.
func written(of *revisions.Stored, rendered rendering.Rendered) *revisions.Stored {
	if of.Shared && !rendered.Computed && !rendered.Secret {
		return of
	}
	doc := *of
	if rendered.Computed {
		text := *doc.Document
		if text.Data = rendered.Text; text.Data == nil {
			text.Data = document.AppendJSON(nil, rendered.Data)
		}
		doc.Document = &text
	}
	doc.Shared, doc.Tainted = true, rendered.Secret
	return &doc
}

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
		if book.unknown[doc.Schema] || schema.unknown {
			return outcome{}, nil
		}
		secret, ofSchema = secret || schema.secret, schema.quoted && !r.Compat
		if broken := schema.broken; broken.cause != nil {
			return outcome{cause: broken.cause, secret: secret || broken.secret}, nil
		}
		if !schema.isUsable {
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
	const maxDetailed = 8 << 20 // bytes of messages with all details
	var messages []fault.Message
	listed, size := map[bool]int{}, map[bool]int{} // by whether messages are secret: their number, and their bytes
	for i, doc := range rendered.Documents {
		found := outcomes[i]
		if found.ofSchema && len(found.findings) > 0 {
			found.rule, found.findings = validations.OfSecretSchema(found.findings)
		}
		detailed := size[found.secret] < maxDetailed && listed[found.secret] < authz.MaxListed
		errs, err := validations.ReportRendered(doc.Document, found.rule, found.findings, detailed,
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

// Explain explains where the data of a document comes from; see rendering.Explain.
func (r Renderer) Explain(ctx context.Context, documents []*revisions.Stored, id document.Identity, path string) (
	*rendering.Explanation, error,
) {
	resolver := newResolver(ctx, r.Vault, documents)
	explained, err := rendering.Explain(ctx, revisions.Contents(documents), id, path,
		rendering.Options{Compat: r.Compat, Resolve: resolver.resolve()})
	if resolver.failure != nil {
		return nil, resolver.failure
	}
	return explained, err
}
