package attest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"purser/internal/budget"
	"purser/internal/document"
)

// Document is a rendered document: its identity, and its metadata and data as JSON text.
type Document struct {
	document.Identity

	Metadata, Data []byte
}

// digestSteps is the work on a byte of a document for its digest, in the steps of budgets.
const digestSteps = 20

// DigestOf returns the digest of documents by which a statement names them: the SHA-256 of the RFC 8785 form of a JSON
// array with {"data", "metadata", "schema"} of each, sorted by schema, name and layer. In one thing it is not the form
// of RFC 8785, which makes every number a double: integers keep all of their digits, as otherwise documents with
// different ones, such as 9007199254740992 and 9007199254740993, would have one digest.
func DigestOf(ctx context.Context, documents []Document) (digest document.Digest, err error) {
	sorted := slices.Clone(documents)
	slices.SortStableFunc(sorted, func(a, b Document) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Layer, b.Layer))
	})
	meter, sum, buffer := budget.NewMeter(ctx), sha256.New(), []byte("[")
	for i, doc := range sorted {
		if i > 0 {
			buffer = append(buffer, ',')
		}
		sum.Write(buffer)
		if err := meter.Spend(digestSteps * (len(doc.Metadata) + len(doc.Data))); err != nil {
			return digest, budget.About(err, "the digest of the rendered documents")
		}
		buffer = append(append(append(buffer[:0], `{"data":`...), doc.Data...), `,"metadata":`...)
		buffer = document.AppendJSON(append(append(buffer, doc.Metadata...), `,"schema":`...), doc.Schema)
		text := jsontext.Value(append(buffer, '}'))
		if err := text.Canonicalize(jsontext.CanonicalizeRawInts(false)); err != nil {
			return digest, fmt.Errorf("write document %s canonically: %w", doc.Identity, err)
		}
		sum.Write(text)
		buffer = text[:0]
	}
	if len(sorted) == 0 {
		sum.Write(buffer)
	}
	sum.Write([]byte("]"))
	return document.Digest(sum.Sum(nil)), nil
}
