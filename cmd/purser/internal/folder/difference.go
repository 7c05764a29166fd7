package folder

import (
	"bytes"
	"context"
	"fmt"

	"purser/internal/diff"
	"purser/internal/document"
	"purser/internal/document/blockyaml"
	"purser/internal/wire"
)

// Differences returns the unified diffs from documents of the server to those of the body, for the identities of
// changed documents. It leaves out documents that only one of them has.
func (b *Body) Differences(ctx context.Context, before []Document, changed []wire.Identity) (
	map[wire.Identity]string, error,
) {
	old, names := map[wire.Identity]*Document{}, map[wire.Identity]wire.Identity{}
	for i, doc := range before {
		old[key(doc.Identity)] = &before[i]
	}
	for _, id := range changed {
		names[key(id)] = id
	}
	differences := map[wire.Identity]string{}
	for i := range b.sources {
		after, err := b.sources[i].stored()
		if err != nil {
			return nil, err
		}
		id, ok := names[key(after.Identity)]
		before := old[key(after.Identity)]
		if !ok || before == nil {
			continue
		}
		if differences[id], err = difference(ctx, b.sources[i].file, before, &after); err != nil {
			return nil, err
		}
	}
	return differences, nil
}

// key returns the part of an identity that is unique in a revision.
func key(id wire.Identity) wire.Identity {
	id.Bucket = ""
	return id
}

// difference returns the unified diff from a stored document to one of a file. It does not show data of encrypted
// documents.
func difference(ctx context.Context, file string, before, after *Document) (string, error) {
	hidden := before.encrypted || after.encrypted
	text, err := diff.Unified(ctx, "stored", file, before.canonical(hidden), after.canonical(hidden))
	if err != nil {
		return "", fmt.Errorf("compare documents: %w", err)
	}
	if hidden && !bytes.Equal(document.Canonical(before.data), document.Canonical(after.data)) {
		text += "Encrypted data changed\n"
	}
	return text, nil
}

// canonical returns a document as YAML with sorted keys.
func (d *Document) canonical(hidden bool) string {
	return string(blockyaml.Append(nil, document.Canonical(d.value(hidden))))
}
