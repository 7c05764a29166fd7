// Package revisionstest builds values of package revisions for tests.
package revisionstest

import (
	"fmt"
	"testing"

	"purser/internal/document"
	"purser/internal/revisions"
)

// Version returns a version of a document in a bucket, with its name as its data.
func Version(bucket, name string, id, place int64) *revisions.Stored {
	identity := document.Identity{Schema: "acme/Widget/v1", Layer: "site", Name: name}
	return &revisions.Stored{
		Document: &document.Document{Identity: identity, Metadata: []byte("{}"), Digest: document.DigestOf(name)},
		ID:       id, Place: place, Bucket: bucket,
	}
}

// Names lists documents as "bucket/name#id@place".
func Names(documents []*revisions.Stored) (list []string) {
	for _, doc := range documents {
		list = append(list, fmt.Sprintf("%s/%s#%d@%d", doc.Bucket, doc.Name, doc.ID, doc.Place))
	}
	return list
}

// Parsed returns the documents of a body as versions in bucket a, numbered from 1.
func Parsed(t testing.TB, body string) (documents []*revisions.Stored) {
	t.Helper()
	segments, err := document.Split(t.Context(), []byte(body), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for i, segment := range segments {
		entry, err := document.Decode(t.Context(), segment, document.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		doc, err := document.New(entry)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, &revisions.Stored{Document: doc, ID: int64(i + 1), Place: int64(i + 1), Bucket: "a"})
	}
	return documents
}

// Widget returns the text of a document; metadata is appended to its metadata.
func Widget(name, data, metadata string) string {
	return fmt.Sprintf("---\nschema: acme/Widget/v1\nmetadata: {schema: metadata/Document/v1, name: %s, %s}\ndata: %s\n",
		name, metadata, data)
}

// Cleartext is the remaining metadata of a cleartext document in layer site.
const Cleartext = "storagePolicy: cleartext, layeringDefinition: {layer: site}"
