package revisions

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"strconv"
	"time"

	"purser/internal/document"
)

// ChainParts are those parts of the text behind a chain value that are digests.
type ChainParts struct {
	// Previous is the chain value of the revision before, the digest of all its documents if it has none, and zero for
	// the first revision.
	Previous document.Digest
	// Added and Removed are the digests (VersionsDigest) of the versions of documents that the revision begins and ends.
	Added, Removed document.Digest
}

// ChainText returns the text whose SHA-256 sum is the chain value of a revision, so that each value depends on all that
// was stored before: a JSON mapping in canonical form (document.Canonical). Empty texts, and the digest that the first
// revision has of none before it, are null. docs/proof.md lists its members.
func (r Revision) ChainText(parts ChainParts) []byte {
	const micros = "2006-01-02T15:04:05.000000Z" // the database keeps no more
	buckets := make([]any, len(r.Buckets))
	for i, bucket := range r.Buckets {
		buckets[i] = bucket
	}
	sources := document.Mapping{}
	for bucket, from := range r.Upstreams {
		sources = append(sources, document.Member{Key: bucket, Value: document.Mapping{
			{Key: "bucket", Value: from.Bucket},
			{Key: "revision", Value: number(from.Revision)},
			{Key: "site", Value: from.Site},
			{Key: "stamp", Value: from.Stamp},
		}})
	}
	var restored any
	if r.Kind == Rollback {
		restored = number(r.Origin)
	}
	return document.Canonical(document.Mapping{
		{Key: "added", Value: parts.Added.String()},
		{Key: "buckets", Value: buckets},
		{Key: "createdAt", Value: r.CreatedAt.UTC().Truncate(time.Microsecond).Format(micros)},
		{Key: "kind", Value: r.Kind.String()},
		{Key: "message", Value: orNull(r.Message)},
		{Key: "previous", Value: digestOrNull(parts.Previous)},
		{Key: "removed", Value: parts.Removed.String()},
		{Key: "revision", Value: number(r.ID)},
		{Key: "rolledBackTo", Value: restored},
		{Key: "source", Value: orNull(string(r.Source))},
		{Key: "sources", Value: sources},
		{Key: "stamp", Value: r.Stamp.String()},
		{Key: "user", Value: orNull(r.User)},
	})
}

// Chained returns a revision with its chain value.
func (r Revision) Chained(parts ChainParts) Revision {
	r.Chain, r.ChainParts = sha256.Sum256(r.ChainText(parts)), parts
	return r
}

// VersionsDigest returns the SHA-256 sum of the lines of versions, which must be in the order of ByIdentity. Each line
// is a JSON list without spaces, and ends with a line feed: schema, layer, name, bucket, and the hexadecimal SHA-256
// sums of the metadata and of the content. The latter, of an encrypted document, is that of a reference with a keyed
// digest, from which nobody without the key can guess the content.
func VersionsDigest(versions iter.Seq[*Stored]) (sum document.Digest) {
	hash, line := sha256.New(), []byte(nil)
	for doc := range versions {
		metadata := sha256.Sum256(doc.Metadata)
		line = append(line[:0], '[')
		for _, text := range [...]string{doc.Schema, doc.Layer, doc.Name, doc.Bucket} {
			line = append(document.AppendJSON(line, text), ',')
		}
		line = hex.AppendEncode(append(line, '"'), metadata[:])
		line = hex.AppendEncode(append(line, `","`...), doc.Digest[:])
		hash.Write(append(line, "\"]\n"...))
	}
	hash.Sum(sum[:0])
	return sum
}

// DigestOfAll is VersionsDigest for versions in any order.
func DigestOfAll(versions []*Stored) document.Digest {
	return VersionsDigest(slices.Values(slices.SortedFunc(slices.Values(versions), ByIdentity)))
}

// ByIdentity compares versions by the bytes of schema, name and layer.
func ByIdentity(a, b *Stored) int {
	return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Layer, b.Layer))
}

func number(n int64) document.Number { return document.Number(strconv.FormatInt(n, 10)) }

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func digestOrNull(digest document.Digest) any {
	if digest.IsZero() {
		return nil
	}
	return digest.String()
}
