package changes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/words"
)

// A result with inputs, a selection of documents, also holds for other revisions in which the rendered documents that
// are selected are the same: they have the same digest.

// Selected is what a selection selects of the rendered documents of a revision.
type Selected struct {
	Documents int
	Encrypted int // those of them that are stored encrypted
	// Digest is that of the selection and the documents. It reveals nothing about secrets.
	Digest document.Digest
}

// heldSteps bounds the work on the selections of one request, and renderedSteps that on a rendering which is made for
// them alone, in the budget's steps.
const heldSteps, renderedSteps = budget.Second, 4 * budget.Second

// selectedVersion is part of every digest of selected documents. Increase it when these are made in another way:
// then no result is carried over from before.
const selectedVersion = 1

// Select returns what each selection selects of rendered documents. If the work exceeds its bound, which is separate
// from the request's budget, it returns only the first ones.
func (r Renderer) Select(ctx context.Context, rendered []*revisions.Stored, selections []validations.Selection) (
	[]Selected, error,
) {
	const perMatch, perPattern, perByte, perLine = 60, 10, 30, 2000
	meter := budget.NewMeter(budget.Confined(ctx, heldSteps))
	ordered := slices.SortedFunc(slices.Values(rendered), func(a, b *revisions.Stored) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Name, b.Name))
	})
	lines := make([][]byte, len(ordered))
	var all []Selected
	for _, selection := range selections {
		sum, text, count, encrypted := sha256.New(), selection.Text(), 0, 0
		_, _ = sum.Write(appendText([]byte{selectedVersion}, text))
		for i, doc := range ordered {
			steps := perMatch + perPattern*selection.Size()
			if selection.Matches(doc.Document, doc.Bucket) {
				if lines[i] == nil {
					lines[i] = r.line(doc)
					steps += perLine + perByte*(len(doc.Metadata)+len(doc.Data))
				}
				_, _ = sum.Write(lines[i])
				steps += len(lines[i])
				if count++; isEncrypted(doc) {
					encrypted++
				}
			}
			if err := meter.Spend(steps); err != nil {
				return all, contextError(ctx, err)
			}
		}
		all = append(all, Selected{count, encrypted, document.Digest(sum.Sum(nil))})
	}
	return all, contextError(ctx, meter.Check())
}

// contextError returns err if ctx has ended, and nil if err is about the budget of a confined context.
func contextError(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return nil
	}
	return err
}

// line returns what identifies a rendered document: its identity, and the digests of its metadata and its data. That of
// data that depends on a secret is keyed.
func (r Renderer) line(doc *revisions.Stored) []byte {
	metadata, data := sha256.Sum256(doc.Metadata), r.dataDigest(doc)
	if doc.Tainted && r.Vault != nil {
		data = r.Vault.Digest(r.place(doc.Identity), append([]byte("held "), data[:]...))
	}
	line := appendText(appendText(appendText(nil, doc.Schema), doc.Layer), doc.Name)
	return append(append(line, metadata[:]...), data[:]...)
}

// dataDigest returns the digest of a rendered document's data, whatever the order of its keys.
func (r Renderer) dataDigest(doc *revisions.Stored) document.Digest {
	if doc.Computed == nil {
		return doc.Digest
	}
	key := r.keyOf("data", *doc.Computed, doc.Tainted)
	digest, known := derived[document.Digest](r.Documents, key)
	if known {
		return digest
	}
	value, err := document.ParseJSON(doc.Data)
	if err != nil {
		return sha256.Sum256(doc.Data) // rendered data is JSON
	}
	digest = document.DigestOf(value)
	r.Documents.remember(key, digest, len(digest))
	return digest
}

// appendText appends a text with its length before it.
func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// selectOne returns what a selection selects of a rendering. ok is false if that is not known: the documents do not all
// render, or it takes too much work.
func (r Renderer) selectOne(ctx context.Context, rendered Rendering, selection validations.Selection) (
	selected Selected, ok bool, err error,
) {
	if !rendered.isWhole() {
		return Selected{}, false, nil
	}
	all, err := r.Select(ctx, rendered.Documents, []validations.Selection{selection})
	if err != nil || len(all) == 0 {
		return Selected{}, false, err
	}
	return all[0], true, nil
}

// holds returns which results hold for a new revision: for each validation that it needs, the digest of the documents
// that the inputs of the newest result with inputs select. Those for which it is not known are left out.
func (v Validator) holds(ctx context.Context, snapshot revisions.Snapshot, diff revisions.Diff, made Judgement) (
	holds []revisions.Hold, withheld bool, err error,
) {
	var selections []validations.Selection
	policies := validations.Applied(made.Policies, made.Inapplicable)
	carried, voted := map[string]bool{}, map[string]bool{}
	for _, outcome := range diff.Carried.Outcomes {
		carried[outcome.Name] = true
	}
	for _, name := range validations.Voted(policies) {
		voted[name] = true
	}
	for _, name := range validations.Carried(policies) {
		if inputs, has := snapshot.Inputs[name]; has && !carried[name] { // what a rollback carries over wins
			selections = append(selections, inputs)
			holds = append(holds, revisions.Hold{Name: name, Each: voted[name]})
		}
	}
	if len(holds) == 0 {
		return nil, false, nil
	}
	rendered := made.rendering
	if rendered == nil {
		confined := budget.Confined(ctx, renderedSteps)
		alone, err := v.Render(confined, snapshot.Revision+1, diff.After(snapshot.Documents), snapshot.Fallback)
		if err != nil {
			return nil, false, contextError(ctx, err)
		}
		rendered = &alone
	}
	if !rendered.isWhole() {
		return nil, rendered.Withheld, nil
	}
	selected, err := v.Select(ctx, rendered.Documents, selections)
	for i := range selected {
		holds[i].Digest = selected[i].Digest
	}
	return holds[:len(selected)], false, err
}

// Renderings returns the rendered documents of a revision for those who may see everything.
type Renderings func(ctx context.Context, revision int64) (Rendering, error)

// withInputs adds the digest of the selected documents to a posted result with inputs. It returns a warning if that is
// not known. Fault: Invalid, InvalidInputs, if the inputs select nothing that the viewer may see: whether they select
// anything else would reveal which encrypted documents there are.
func (s *Service) withInputs(ctx context.Context, revision int64, viewer authz.Viewer, result validations.Result,
	of Renderings,
) (_ validations.Result, warning string, err error) {
	if result.Inputs.IsZero() {
		return result, "", nil
	}
	const unknown = "The documents that the inputs select are not known, because revision %d cannot be rendered, or " +
		"because that takes too much work: the result counts for this revision only"
	rendered, err := of(ctx, revision)
	switch kind := fault.KindOf(err); {
	case kind == fault.Invalid || kind == fault.Conflict || kind == fault.TooLarge:
		return result, fmt.Sprintf(unknown, revision), nil
	case err != nil:
		return result, "", fmt.Errorf("render the inputs: %w", err)
	}
	selected, known, err := s.Renderer().selectOne(ctx, rendered, result.Inputs)
	switch {
	case err != nil:
		return result, "", err
	case !known:
		return result, fmt.Sprintf(unknown, revision), nil
	case selected.Documents == 0 || !viewer.Encrypted && selected.Documents == selected.Encrypted:
		return result, "", selectsNothing(revision, viewer, result.Inputs, rendered.Documents)
	}
	result.Held = selected.Digest
	return result, "", nil
}

// selectsNothing returns the fault of inputs that select no document of a revision, with the schema that is nearest to
// one that no document has. It tells nothing of documents that the viewer may not see.
func selectsNothing(revision int64, viewer authz.Viewer, inputs validations.Selection, documents []*revisions.Stored,
) error {
	visible := ""
	if !viewer.Encrypted {
		visible = " that you may see"
		documents = slices.DeleteFunc(slices.Clone(documents), isEncrypted)
	}
	f := fault.New(fault.Invalid, "InvalidInputs", "The inputs select no document of revision %d%s, so the result would "+
		"hold for ever. Nothing was stored. Correct them, or post the result without inputs", revision, visible)
	const maxCandidates = 1000
	kinds := Kinds(documents)
	for _, schema := range inputs.Schemas {
		if nearest := words.Nearest(schema, kinds[:min(len(kinds), maxCandidates)]); nearest != "" &&
			!slices.Contains(kinds, schema) {
			return f.Hint("No document%s has the schema %s; did you mean %s?", visible, words.Excerpt(schema), nearest)
		}
	}
	return f.Hint("A selection selects documents that are not abstract, and that match all of its lists and labels.")
}

// carryLate makes a success that was posted about an older revision hold for the newest one too, if the documents
// that it depends on are the same there. A revision that is being made meanwhile either finds the result, or is
// compared here.
func (s *Service) carryLate(ctx context.Context, revision int64, result validations.Result, of Renderings) error {
	const maxCompared = 8 // revisions that are made meanwhile
	if result.Held.IsZero() || result.Status != validations.Success.String() {
		return nil
	}
	compared := revision
	for range maxCompared {
		newest, err := s.Store.Settled(ctx)
		if err != nil || newest <= compared {
			return err
		}
		snapshot, err := s.Store.Snapshot(ctx, revisions.Need{Evidence: true})
		if err != nil || snapshot.Revision <= revision { // a purge, or another database
			return err
		}
		compared = snapshot.Revision
		policies := revisions.PoliciesOf(snapshot.Newest, snapshot.Policies)
		if !slices.Contains(validations.Carried(policies), result.Name) {
			continue
		}
		rendered, err := of(ctx, compared)
		if err != nil {
			continue // it cannot be rendered, or is gone
		}
		selected, known, err := s.Renderer().selectOne(ctx, rendered, result.Inputs)
		if err != nil || !known || selected.Digest != result.Held {
			continue
		}
		each := slices.Contains(validations.Voted(policies), result.Name)
		if err := s.Store.CarryHeld(ctx, snapshot.Newest, revision, each, result); err != nil {
			return fmt.Errorf("carry the result over: %w", err)
		}
	}
	return nil
}
