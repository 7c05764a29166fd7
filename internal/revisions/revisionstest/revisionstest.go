// Package revisionstest makes values of package revisions for tests.
package revisionstest

import (
	"fmt"

	"purser/internal/document"
	"purser/internal/revisions"
)

// Version returns a version of a document of a bucket, whose data is its name.
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
