package changes

import (
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/secrets"
)

// Redacted returns documents with their secrets hashed: the data and the substitution paths of documents that are
// encrypted or have substituted secrets.
func Redacted(documents []*revisions.Stored) []*revisions.Stored {
	shown := make([]*revisions.Stored, len(documents))
	for i, doc := range documents {
		if shown[i] = doc; doc.Tainted || doc.Traits().Encrypted {
			shown[i] = redact(doc)
		}
	}
	return shown
}

func redact(doc *revisions.Stored) *revisions.Stored {
	data, err := document.ParseJSON(doc.Data)
	metadata, err2 := document.ParseJSON(doc.Metadata)
	if err != nil || err2 != nil {
		data = nil // unreadable data is not shown
	}
	root, _ := metadata.(document.Mapping)
	root = root.With("storagePolicy", "encrypted")
	if substitutions, ok := root.At("substitutions").([]any); ok {
		hashed := make([]any, len(substitutions))
		for i, item := range substitutions {
			hashed[i] = hashPaths(item)
		}
		root = root.With("substitutions", hashed)
	}
	same, text := *doc, document.Document{Identity: doc.Identity, Digest: doc.Digest}
	text.Data = document.AppendJSON(nil, secrets.Redacted(data))
	text.Metadata = document.Canonical(root)
	same.Document, same.Shared = &text, false
	return &same
}

// hashPaths hashes the paths of a substitution.
func hashPaths(item any) any {
	substitution, _ := item.(document.Mapping)
	hash := func(place any) any {
		m, ok := place.(document.Mapping)
		if !ok {
			return place
		}
		return m.With("path", secrets.Redacted(m.At("path")))
	}
	substitution = substitution.With("src", hash(substitution.At("src")))
	destinations, several := substitution.At("dest").([]any)
	if !several {
		return substitution.With("dest", hash(substitution.At("dest")))
	}
	hashed := make([]any, len(destinations))
	for i, destination := range destinations {
		hashed[i] = hash(destination)
	}
	return substitution.With("dest", hashed)
}
