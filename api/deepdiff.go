package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"purser/internal/budget"
	"purser/internal/diff"
	"purser/internal/document"
	"purser/internal/document/blockyaml"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/wire"
	"purser/internal/words"
)

// maxDifferences bounds the answer to a comparison, in bytes: it can repeat the contents of differing documents
// several times, in lines that are mostly indentation.
const maxDifferences = 64 << 20

// differencesSize counts the size of an answer while it is composed.
type differencesSize struct {
	spent *budget.Meter
	bytes int
}

func newDifferencesSize(ctx context.Context) *differencesSize {
	return &differencesSize{spent: budget.NewMeter(ctx)}
}

// add counts the differences of a document. Faults: TooLarge, those of the budget.
func (s *differencesSize) add(d revisions.DocumentDifference, bytes int) error {
	const byteCost = 10
	if s.bytes += bytes; s.bytes > maxDifferences {
		return tooManyDifferences(d)
	}
	s.spent.Charge(byteCost * bytes)
	return tooLargeToCompare(d, s.spent.Hold(bytes))
}

// tooManyDifferences returns the fault of an answer that exceeds maxDifferences.
func tooManyDifferences(d revisions.DocumentDifference) error {
	return fault.New(fault.TooLarge, "HTTPPayloadTooLarge", "The differences up to document %s take more than %d bytes; "+
		"compare revisions that differ less", d.Identity, maxDifferences)
}

// deepDiffText returns a deep diff in Deckhand's form, as JSON or YAML. Faults: TooLarge, those of the budget.
func deepDiffText(ctx context.Context, found []queries.DeepDifference, asJSON bool) ([]byte, error) {
	view, err := deepDiffView(ctx, found)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(view)
	if err != nil {
		return nil, fmt.Errorf("write the differences: %w", err)
	}
	if asJSON {
		return append(text, '\n'), nil
	}
	text, complete := blockyaml.AppendAtMost(nil, text, maxDifferences)
	if !complete {
		return nil, fault.New(fault.TooLarge, "HTTPPayloadTooLarge",
			"The differences take more than %d bytes as YAML; ask for JSON, or compare revisions that differ less",
			maxDifferences)
	}
	return text, nil
}

// deepDiffView returns a deep diff in Deckhand's form: modified buckets have a second member with the differences of
// their documents.
func deepDiffView(ctx context.Context, found []queries.DeepDifference) (map[string]any, error) {
	view := map[string]any{}
	size := newDifferencesSize(ctx)
	for _, bucket := range found {
		view[bucket.Bucket] = bucket.Difference.String()
	}
	for _, bucket := range found {
		if bucket.Difference == revisions.Modified {
			changes, err := bucketDiffOf(ctx, size, bucket.Documents)
			if err != nil {
				return nil, err
			}
			view[unusedKey(view, bucket.Bucket+" diff")] = changes
		}
	}
	return view, nil
}

// unusedKey appends to a key until it is not the name of a bucket.
func unusedKey(view map[string]any, key string) string {
	for view[key] != nil {
		key += " diff"
	}
	return key
}

// bucketDiff lists the differences of a bucket's documents.
type bucketDiff struct {
	Added   *documentList    `json:"document_added,omitempty"`
	Deleted *documentList    `json:"document_deleted,omitempty"`
	Changed *documentChanges `json:"document_changed,omitempty"`
}

type documentList struct {
	Count   int         `json:"count"`
	Details [][2]string `json:"details"` // schemas and names
}

func (l *documentList) with(d revisions.DocumentDifference) *documentList {
	if l == nil {
		l = &documentList{}
	}
	return &documentList{l.Count + 1, append(l.Details, [2]string{d.Schema, d.Name})}
}

type documentChanges struct {
	Count   int                        `json:"count"`
	Details map[string]documentChanged `json:"details"`
}

type documentChanged struct {
	Data     json.RawMessage `json:"data_changed"`
	Metadata json.RawMessage `json:"metadata_changed"`
}

func bucketDiffOf(ctx context.Context, size *differencesSize, documents []revisions.DocumentDifference) (
	bucketDiff, error,
) {
	var view bucketDiff
	changes := documentChanges{Details: map[string]documentChanged{}}
	for _, d := range documents {
		switch d.Difference {
		case revisions.Created:
			view.Added = view.Added.with(d)
		case revisions.Deleted:
			view.Deleted = view.Deleted.with(d)
		case revisions.Modified, revisions.Moved, revisions.Unmodified:
			key := pythonTuple(d.Schema, d.Name)
			if _, ok := changes.Details[key]; ok { // a document of that name in another layer
				key = pythonTuple(d.Schema, d.Name, d.Layer)
			}
			changes.Count++
			changed, err := documentChangedOf(ctx, d)
			if err == nil {
				err = size.add(d, len(changed.Data)+len(changed.Metadata))
			}
			if err != nil {
				return view, err
			}
			changes.Details[key] = changed
		}
	}
	if changes.Count > 0 {
		view.Changed = &changes
	}
	return view, nil
}

func documentChangedOf(ctx context.Context, d revisions.DocumentDifference) (documentChanged, error) {
	was, is, data := d.Before.Value(false), d.After.Value(false), json.RawMessage(`{"encrypted":true}`)
	if !d.IsSecret() {
		changes, err := diff.Deep(ctx, was.At("data"), is.At("data"))
		if err != nil {
			return documentChanged{}, tooLargeToCompare(d, err)
		}
		data = document.AppendJSON(nil, changes)
	}
	metadata, err := diff.Deep(ctx, was.At("metadata"), is.At("metadata"))
	return documentChanged{data, document.AppendJSON(nil, metadata)}, tooLargeToCompare(d, err)
}

// tooLargeToCompare names the document in the error of a spent budget.
func tooLargeToCompare(d revisions.DocumentDifference, err error) error {
	return budget.About(err, "compare document %s", d.Identity)
}

// pythonTuple formats strings as Python prints a tuple of them.
func pythonTuple(texts ...string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		escaped := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
		if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
			quoted[i] = `"` + escaped + `"`
		} else {
			quoted[i] = "'" + strings.ReplaceAll(escaped, "'", `\'`) + "'"
		}
	}
	return "(" + strings.Join(quoted, ", ") + ")"
}

// patchText returns a deep diff as a list of JSON patches (RFC 6902), one for each document. A patch applies to the
// document as {schema, metadata, data}, or without data if it is encrypted. It is empty if only hidden data differs.
func patchText(ctx context.Context, found []queries.DeepDifference) ([]byte, error) {
	text, size := []byte("["), newDifferencesSize(ctx)
	for _, bucket := range found {
		for _, d := range bucket.Documents {
			patch, err := patchOf(ctx, d)
			if err != nil {
				return nil, tooLargeToCompare(d, err)
			}
			if len(patch) == 0 && !d.HiddenDiffer() { // only the order of keys differs
				continue
			}
			if len(text) > 1 {
				text = append(text, ',', '\n')
			}
			before := len(text)
			text = document.AppendJSON(text, document.Mapping{
				{Key: "bucket", Value: d.Bucket()},
				{Key: "change", Value: d.Difference.String()},
				{Key: "encrypted", Value: d.IsSecret()},
				{Key: "layer", Value: layerOrNil(d)},
				{Key: "name", Value: d.Name},
				{Key: "patch", Value: patch},
				{Key: "schema", Value: d.Schema},
			})
			if err := size.add(d, len(text)-before); err != nil {
				return nil, err
			}
		}
	}
	return append(text, "]\n"...), nil
}

func layerOrNil(d revisions.DocumentDifference) any {
	if d.Layer == "" {
		return nil
	}
	return d.Layer
}

func patchOf(ctx context.Context, d revisions.DocumentDifference) ([]any, error) {
	hidden := d.IsSecret()
	switch {
	case d.Before == nil:
		return []any{document.Mapping{
			{Key: "op", Value: "add"}, {Key: "path", Value: ""}, {Key: "value", Value: d.After.Value(hidden)},
		}}, nil
	case d.After == nil:
		return []any{document.Mapping{{Key: "op", Value: "remove"}, {Key: "path", Value: ""}}}, nil
	}
	return diff.Patch(ctx, d.Before.Value(hidden), d.After.Value(hidden))
}

// differingView returns the documents of a deep diff without their differences. Its count includes all pages.
func differingView(found queries.DeepDifferences) wire.List[wire.Difference] {
	differing := wire.List[wire.Difference]{Count: found.Total, Results: []wire.Difference{}}
	for _, bucket := range found.Buckets {
		for _, d := range bucket.Documents {
			differing.Results = append(differing.Results, differenceView(d))
		}
	}
	return differing
}

// unifiedText returns a deep diff as a unified diff of the documents' canonical YAML.
func unifiedText(ctx context.Context, before, after int64, found []queries.DeepDifference) ([]byte, error) {
	var text []byte
	size := newDifferencesSize(ctx)
	for _, bucket := range found {
		for _, d := range bucket.Documents {
			changes, err := unifiedDiff(ctx, before, after, d)
			if err == nil {
				err = size.add(d, len(changes))
			}
			if err != nil {
				return nil, err
			}
			text = append(text, changes...)
		}
	}
	return text, nil
}

// unifiedDiff returns the difference of a document between two revisions as a unified diff of its canonical YAML.
func unifiedDiff(ctx context.Context, before, after int64, d revisions.DocumentDifference) (string, error) {
	hidden := d.IsSecret()
	was, whole := revisions.CanonicalYAML(d.Before, hidden, maxDifferences)
	is, wholeToo := revisions.CanonicalYAML(d.After, hidden, maxDifferences)
	if !whole || !wholeToo {
		return "", tooManyDifferences(d)
	}
	changes, err := diff.Unified(ctx, diffTitle(before, d.Before), diffTitle(after, d.After), was, is)
	if err != nil {
		return "", tooLargeToCompare(d, err)
	}
	if d.HiddenDiffer() {
		changes += fmt.Sprintf("Encrypted data of %s changed\n", diffTitle(after, d.After))
	}
	return changes, nil
}

// diffTitle returns the name of one side of a unified diff.
func diffTitle(revision int64, doc *revisions.Stored) string {
	if doc == nil {
		return "/dev/null"
	}
	return words.Line(fmt.Sprintf("revision %d, bucket %s: %s", revision, doc.Bucket, doc.Identity.Known()))
}
