package changes

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
	// Unrendered lists only the errors of documents that do not render; nil if there are none.
	Unrendered error
	Lost       []document.Identity // the documents that do not render
	Size       int                 // approximate, in bytes
	// Warnings are about likely mistakes (see rendering.Outcome), and about documents that are not judged because of
	// others' errors.
	Warnings []fault.Message
	Withheld bool // some documents are left out: see Renderer
	TooLarge bool // nothing is rendered, because all documents together would be too large
	// Provisional reports whether a later rendering may differ, because the LayeringPolicy is newer than the revision or
	// there is none.
	Provisional bool

	examined bool           // with its own LayeringPolicy or none
	problems []*fault.Fault // if it was examined, what PolicyValidation finds
}

// isWhole reports whether all documents are rendered, be they valid or not.
func (r Rendering) isWhole() bool { return r.Unrendered == nil && !r.Withheld && !r.TooLarge }

// RenderKey identifies a rendering.
type RenderKey struct {
	Site      string
	Revision  int64
	Stamp     revisions.Stamp
	Cleartext bool // without encrypted documents
}

// RenderCache is a cache of rendered revisions.
type RenderCache = cache.Cache[RenderKey, Rendering]

// Render renders the documents of a revision and checks those that render. fallback is the LayeringPolicy to use if
// documents have none; it may be nil. Fault: TooLarge if a limit is exceeded. In compat mode, it stops at the first
// fault of rendering.
func (r Renderer) Render(ctx context.Context, revision int64, documents []*revisions.Stored,
	fallback *revisions.Stored,
) (
	out Rendering, err error,
) {
	lacksPolicy := !HasLayeringPolicy(documents)
	computed, err := r.compute(ctx, WithPolicy(documents, fallback), nil)
	if err != nil {
		return Rendering{TooLarge: errors.Is(err, rendering.ErrTooLarge)}, err
	}
	out = Rendering{
		Documents: computed.Documents, Withheld: len(computed.Withheld) > 0,
		Provisional: lacksPolicy && (fallback == nil || fallback.Revision > revision),
		examined:    !lacksPolicy || fallback == nil, problems: computed.problems,
	}
	const problemSize, lostSize = 1000, 100
	for _, lost := range computed.unrendered {
		out.Lost = append(out.Lost, lost.Identity)
	}
	out.Size = problemSize*len(out.problems) + lostSize*len(out.Lost)
	for _, doc := range out.Documents {
		out.Size += revisions.Size(doc.Document)
	}
	if len(computed.faults) > 0 && r.Compat {
		out.Fault, out.Unrendered = computed.faults[0], computed.faults[0]
		return out, nil
	}
	if len(computed.faults) > 0 {
		out.Unrendered = combined(computed.faults)
	}
	checked, err := r.checkRenderedDocuments(ctx, computed)
	if err != nil {
		return Rendering{}, err
	}
	if !r.Compat {
		out.Warnings = first(worded(computed.warnings), checked.warnings,
			consequences(slices.Concat(computed.unrendered, checked.unjudged)))
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
		switch diagnostic := message.Diagnostic.(type) {
		case string:
			size += len(diagnostic)
		case map[string]any:
			section, _ := diagnostic["error_section"].(json.RawMessage)
			size += len(section)
		}
	}
	return size
}

// Renderer renders revisions and checks them by the DataSchemas among their documents.
type Renderer struct {
	Site   string // of the documents, to which their secrets are bound
	Engine *validations.Engine
	Vault  Vault
	// Defaults are the versions of client plugins that no document gives.
	Defaults map[string]string
	// Documents caches documents of earlier renderings; nil caches nothing. It does not affect the result.
	Documents *DocumentCache
	// Compat reports faults in Deckhand's words and gives no warnings.
	Compat bool
	// Withhold leaves out encrypted documents, those that take something from them, and messages about them, so that the
	// result does not depend on secrets.
	Withhold bool

	// brought are the documents that the request brings.
	brought map[document.Identity]bool
}

// bringing returns a Renderer for a request that brings documents.
func (r Renderer) bringing(documents []*revisions.Stored) Renderer {
	r.brought = make(map[document.Identity]bool, len(documents))
	for _, doc := range documents {
		r.brought[doc.Identity] = true
	}
	return r
}

// meterFor returns the meter of the work on a document, given with its data. The outcome must be kept. The request pays
// only if it brings the document.
func (r Renderer) meterFor(meter *budget.Meter, id document.Identity, data []byte) *budget.Meter {
	if r.brought[id] {
		return meter
	}
	return meter.ForOthers(len(data))
}

// WithPolicy adds fallback, if it is not nil, to documents without a LayeringPolicy.
func WithPolicy(documents []*revisions.Stored, fallback *revisions.Stored) []*revisions.Stored {
	if fallback == nil || HasLayeringPolicy(documents) {
		return documents
	}
	return append(slices.Clip(documents), fallback)
}

// HasLayeringPolicy reports whether documents include a LayeringPolicy.
func HasLayeringPolicy(documents []*revisions.Stored) bool {
	return slices.ContainsFunc(documents, (*revisions.Stored).IsLayeringPolicy)
}

// Computed are the documents of a revision after rendering.
type Computed struct {
	Documents []*revisions.Stored // as services read them
	Withheld  []*revisions.Stored // withheld, as submitted: see Renderer

	// written has the documents whose data was composed by rendering.
	written    map[*revisions.Stored]writing
	warnings   []fault.Message
	faults     []*fault.Fault // of documents that do not render
	problems   []*fault.Fault // of all, as rendering.Examine reports them
	unrendered []unjudged
}

// writing describes data composed by rendering.
type writing struct {
	key          document.Digest // as in rendering.Rendered
	destinations [][]string      // where substitutions wrote
}

// digest returns a digest that identifies a rendered document's data; the digest of the document itself is that of the
// submitted one. It does not reveal a secret: see rendering.Rendered.Key.
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
	resolve, failure := r.resolver(ctx, stored)
	options := rendering.Options{
		Only: only, Compat: r.Compat, Withhold: r.Withhold, Resolve: resolve, Examine: only == nil,
		Changed: func(doc *document.Document) bool { return r.brought[doc.Identity] },
	}
	outcome, err := rendering.Render(ctx, revisions.Contents(stored), r.Documents.options(options))
	if err := failure(); err != nil {
		return Computed{}, err
	}
	if err != nil {
		return Computed{}, exhausted(err, stored)
	}
	out := Computed{
		written: map[*revisions.Stored]writing{}, warnings: outcome.Warnings, faults: outcome.Faults,
		problems: outcome.Problems,
	}
	for _, u := range outcome.Unrendered {
		out.unrendered = append(out.unrendered, unjudged{stored[u.Index], u.Cause, u.Secret, u.Failed})
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
		out.Documents[i] = written(stored[rendered[i].Index], rendered[i])
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

// exhausted marks the fault of an exhausted budget as secret if any of the documents is encrypted, and adds what to do:
// how far the budget went may depend on a secret.
func exhausted(err error, documents []*revisions.Stored) error {
	spent, isFault := errors.AsType[*fault.Fault](err)
	if !isFault || spent.Kind != fault.TooLarge || !slices.ContainsFunc(documents, isEncrypted) {
		return err
	}
	f := fault.New(spent.Kind, spent.Type, "%w", err)
	f.Secret = true
	f.Messages = append(MessagesOf(spent), fault.Message{
		Message: "The rendering takes too much work: simplify what was changed, or send it in parts", Error: true,
	})
	for i := range f.Messages[:len(f.Messages)-1] {
		f.Messages[i].Secret = true
	}
	return f
}

// written returns the rendered version of a document, which is the document itself if rendering left it unchanged.
func written(of *revisions.Stored, rendered rendering.Rendered) *revisions.Stored {
	if of.Shared && !rendered.Computed && !rendered.Secret {
		return of
	}
	doc := *of
	if rendered.Computed {
		text := *doc.Document
		text.Data = rendered.JSON()
		key := rendered.Key
		doc.Document, doc.Computed = &text, &key
	}
	doc.Shared, doc.Tainted = true, rendered.Secret
	return &doc
}

// Explain explains where the data of a document comes from; see rendering.Explain.
func (r Renderer) Explain(ctx context.Context, documents []*revisions.Stored, id document.Identity, path string) (
	*rendering.Explanation, error,
) {
	resolve, failure := r.resolver(ctx, documents)
	explained, err := rendering.Explain(ctx, revisions.Contents(documents), id, path,
		rendering.Options{Compat: r.Compat, Resolve: resolve})
	if err := failure(); err != nil {
		return nil, err
	}
	return explained, err
}
