package revisions

import (
	"purser/internal/cache"
	"purser/internal/document"
	"purser/internal/rendering"
)

// Kept has what renderings of revisions share: documents that depend on no secret, each by all that it was rendered
// from. After a change, only what depends on it is rendered again. It is safe for concurrent use.
type Kept struct {
	made   *rendering.Cache
	served *cache.Cache[servedKey, *Stored]
}

// NewKept returns an empty cache of about so many bytes.
func NewKept(bytes int) *Kept {
	const parts = 3 // served has the texts that made has, and what else the documents hold
	return &Kept{rendering.NewCache(bytes / parts), cache.New[servedKey, *Stored](bytes - bytes/parts)}
}

// servedKey identifies a rendered version of a document.
type servedKey struct {
	rendered            document.Digest
	id, place, revision int64
	bucket              string
}

func keyOf(doc *Stored, rendered rendering.Rendered) servedKey {
	return servedKey{rendered.Key, doc.ID, doc.Place, doc.Revision, doc.Bucket}
}

// options returns what rendering keeps its part in.
func (k *Kept) options(of rendering.Options) rendering.Options {
	if k != nil {
		of.Cache = k.made
	}
	return of
}

// known returns the rendered version of a document, nil if it is not kept.
func (k *Kept) known(of *Stored, rendered rendering.Rendered) *Stored {
	if k == nil || rendered.Key.IsZero() || !rendered.Computed {
		return nil
	}
	doc, _ := k.served.Get(keyOf(of, rendered))
	return doc
}

// keep keeps the rendered version of a document, unless it depends on a secret or is the document as it was submitted.
func (k *Kept) keep(of *Stored, rendered rendering.Rendered, doc *Stored) {
	if k == nil || rendered.Key.IsZero() || !rendered.Computed {
		return
	}
	k.served.Add(keyOf(of, rendered), doc, Size(doc.Document))
	k.made.Add(rendered, doc.Data)
}
