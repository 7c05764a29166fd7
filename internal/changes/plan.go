package changes

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// plan returns the diff that makes a payload the content of its buckets, removing all other documents from them. In
// compat mode a payload makes a revision even if it changes nothing. Faults: Conflict.
func (p Payload) plan(snapshot revisions.Snapshot, compat bool) (revisions.Diff, error) {
	diff, err := p.match(snapshot)
	if err != nil {
		return revisions.Diff{}, err
	}
	if err := p.checkClaims(snapshot, diff); err != nil {
		return revisions.Diff{}, err
	}
	diff.Opened, diff.Emptied = occupancy(snapshot.Buckets, diff.Result)
	diff.Buckets = revisions.TouchedBuckets(diff.Added, diff.Removed)
	diff.Changes = len(diff.Added)+len(diff.Removed) > 0
	if compat {
		diff.Buckets = slices.Sorted(slices.Values(p.Buckets))
		diff.Changes = len(p.Items) > 0 ||
			slices.ContainsFunc(snapshot.Buckets, func(b revisions.Bucket) bool { return b.Changed > 0 })
	}
	return diff, nil
}

// match pairs the payload with the documents of its buckets. A place belongs to one identity and is shared by all its
// versions.
func (p Payload) match(snapshot revisions.Snapshot) (revisions.Diff, error) {
	diff := revisions.Diff{Result: make([]*revisions.Stored, 0, len(p.Items))}
	known, byIdentity := snapshot.Texts(), p.identities(snapshot)
	seen := make(map[int64]int, len(p.Items)) // the position of an item by place
	for i, item := range p.Items {
		current := item.in(known)
		if item.Document != nil {
			current = p.next(&diff, snapshot, byIdentity, item)
		}
		if first, twice := seen[current.Place]; twice {
			return revisions.Diff{}, duplicate(current.Identity, diff.Result[first].Bucket,
				fmt.Sprintf("It appears twice in the body: "+
					"as "+
					"%s and as %s. Remove one of them.", p.Items[first].Segment.Place(), item.Segment.Place()))
		}
		seen[current.Place] = i
		diff.Result = append(diff.Result, current)
	}
	for _, bucket := range snapshot.Buckets {
		for _, doc := range bucket.Documents {
			if _, stays := seen[doc.Place]; stays {
				continue
			}
			if p.Partial {
				diff.Result = append(diff.Result, doc)
			} else {
				diff.Removed = append(diff.Removed, doc)
			}
		}
	}
	return p.withTexts(diff), nil
}

// withTexts returns the diff with the texts of added documents, and of those that are written otherwise than before: if
// one document of a source is, all are. Others may only have moved in their files. A document that is put back with the
// reference to its secret keeps its text.
func (p Payload) withTexts(diff revisions.Diff) revisions.Diff {
	if p.Archive != nil { // what describes a package was not submitted
		return diff
	}
	added := revisions.IDs(diff.Added)
	differs := p.differing(diff, added)
	planned, texts := map[*revisions.Stored]*revisions.Stored{}, map[*document.Source]int{}
	for i, item := range p.Items {
		source, doc := item.Segment.Source, diff.Result[i]
		var written *revisions.Stored
		switch {
		case differs[source]:
			if _, known := texts[source]; !known {
				texts[source] = len(diff.Texts)
				diff.Texts = append(diff.Texts, revisions.Text{
					Body: source.Text, JSON: source.JSON, Documents: source.Documents, Secret: item.Secret,
				})
			}
			text := &diff.Texts[texts[source]]
			text.Of, text.Refers = append(text.Of, doc.ID), text.Refers || item.putsBack()
			written = item.written(doc, revisions.TextPlanned)
		case source != nil && item.moves(doc):
			written = item.written(doc, doc.Text)
		default:
			continue
		}
		if planned[doc] = written; !added[doc.ID] {
			diff.Reread = append(diff.Reread, written)
		}
	}
	return diff.Replacing(planned)
}

// differing returns the sources whose texts are stored: those with a document that is added or rewritten, and those
// whose documents have several texts, as after a rollback of some of them.
func (p Payload) differing(diff revisions.Diff, added map[int64]bool) map[*document.Source]bool {
	differs, given := map[*document.Source]bool{}, map[*document.Source]bool{} // given: not all of it is put back
	having, apart := map[*document.Source]int64{}, map[*document.Source]bool{}
	for i, item := range p.Items {
		source, doc := item.Segment.Source, diff.Result[i]
		if source == nil {
			continue
		}
		text, second := having[source]
		having[source], apart[source] = doc.Text, apart[source] || second && text != doc.Text
		given[source] = given[source] || !item.putsBack()
		differs[source] = differs[source] || added[doc.ID] || item.rewrites(doc)
	}
	for source := range differs {
		differs[source] = differs[source] || apart[source] && given[source]
	}
	return differs
}

// putsBack reports whether the item is an encrypted document with the reference to its secret instead of its data.
func (i Item) putsBack() bool {
	return i.Document != nil && i.Document.Traits().Encrypted && i.Document.Secret == nil
}

// rewrites reports whether the item writes a version that stays otherwise than it was written before.
func (i Item) rewrites(doc *revisions.Stored) bool {
	return !i.putsBack() && (doc.Text == 0 || doc.Segment != i.segmentOf(doc))
}

// moves reports whether the item writes a version that stays at another place than before.
func (i Item) moves(doc *revisions.Stored) bool {
	return !i.putsBack() && (doc.Path != i.Segment.Source.Path || doc.Line != i.lineIn())
}

// segmentOf returns the digest of the text that the item writes a version as.
func (i Item) segmentOf(doc *revisions.Stored) document.Digest {
	if i.Document != nil {
		return i.Document.Segment
	}
	return doc.Segment
}

// lineIn returns the line of the item's text in its file; 0 if the file is not known.
func (i Item) lineIn() int {
	if i.Segment.Source.Path == "" {
		return 0
	}
	return i.Segment.Source.Line
}

// written returns a version as the item writes it, with the number of its text.
func (i Item) written(doc *revisions.Stored, text int64) *revisions.Stored {
	of := *doc.Document
	of.Segment = i.segmentOf(doc)
	written := doc.With(of)
	written.Origin = revisions.Origin{Text: text, Path: i.Segment.Source.Path, Line: i.lineIn()}
	return written
}

// identities returns those documents of the buckets that share their name with a decoded item, by identity.
func (p Payload) identities(snapshot revisions.Snapshot) map[document.Identity]*revisions.Stored {
	names, byIdentity := map[string]bool{}, map[document.Identity]*revisions.Stored{}
	for _, item := range p.Items {
		if item.Document != nil {
			names[item.Document.Name] = true
		}
	}
	if len(names) == 0 {
		return byIdentity
	}
	for _, bucket := range snapshot.Buckets {
		for _, doc := range bucket.Documents {
			if names[doc.Name] {
				byIdentity[doc.Identity] = doc
			}
		}
	}
	return byIdentity
}

// next returns the new version of a decoded document: the stored one if its contents are the same, else a new one,
// which it adds to diff.
func (p Payload) next(diff *revisions.Diff, snapshot revisions.Snapshot,
	byIdentity map[document.Identity]*revisions.Stored, item Item,
) *revisions.Stored {
	old, fresh := byIdentity[item.Document.Identity], revisions.Stored{Document: item.Document, Bucket: item.Bucket}
	guessed := p.Blind && fresh.Traits().Encrypted
	lost := old != nil && fresh.Secret != nil && old.Sealed == nil ||
		p.Archive != nil && !snapshot.Contents[fresh.Digest].Archived
	if old != nil && revisions.SameVersion(old, &fresh) && !guessed && !lost {
		reread := *old.Document
		reread.Notes = item.Document.Notes
		return old.With(reread)
	}
	added := revisions.Numbered(snapshot.Head, len(diff.Added), fresh)
	if old != nil {
		added.Place = old.Place
		diff.Removed = append(diff.Removed, old)
	}
	diff.Added = append(diff.Added, added)
	byIdentity[item.Document.Identity] = added
	return added
}

// occupancy returns the empty buckets that a result fills, and the buckets that it empties.
func occupancy(buckets []revisions.Bucket, result []*revisions.Stored) (opened, emptied []string) {
	filled := make(map[string]bool, len(buckets))
	for _, doc := range result {
		filled[doc.Bucket] = true
	}
	for _, bucket := range buckets {
		switch was := len(bucket.Documents) > 0; {
		case !was && filled[bucket.Name]:
			opened = append(opened, bucket.Name)
		case was && !filled[bucket.Name]:
			emptied = append(emptied, bucket.Name)
		}
	}
	return opened, emptied
}

// duplicate returns the fault for an identity that already exists, in Deckhand's words, with a hint on what to do.
func duplicate(id document.Identity, bucket, hint string) error {
	f := fault.New(fault.Conflict, "DuplicateDocumentExists", "Document %s already exists in bucket: %s", id, bucket)
	f.Messages = []fault.Message{{Message: f.Message, Error: true}, {Message: hint, Error: true}}
	return f
}

// checkClaims refuses identities that are live in another bucket, and a second LayeringPolicy.
func (p Payload) checkClaims(snapshot revisions.Snapshot, diff revisions.Diff) error {
	claimed := map[document.Identity]bool{}
	for _, doc := range diff.Added {
		if doc.Place == doc.ID { // the others were in the buckets that are replaced
			claimed[doc.Identity] = true
		}
	}
	if len(claimed) == 0 {
		return nil
	}
	if err := p.checkSingleton(diff.Result, snapshot.Claims); err != nil {
		return err
	}
	for _, claim := range snapshot.Claims {
		if claimed[claim.Identity] {
			way := "move it with one change set of both buckets (purser push --changeset, or PUT /changesets), or choose " +
				"another name."
			if p.Copied != nil {
				way = "or, if it is in the other bucket no more where it is copied from, copy both (PUT " +
					"/changesets?from=…&buckets=…)."
			}
			return duplicate(claim.Identity, claim.Bucket, fmt.Sprintf("%s is in another bucket. Delete it there first, %s",
				p.placeOf(claim.Identity), way))
		}
	}
	return nil
}

// placeOf returns the position of a document in the body, as text; of a copy nobody has the body.
func (p Payload) placeOf(id document.Identity) string {
	for _, item := range p.Items {
		if p.Copied == nil && item.Document != nil && item.Document.Identity == id {
			return item.Segment.Place()
		}
	}
	return "The document"
}

// checkSingleton refuses a LayeringPolicy if another one is live, also in the same bucket.
func (p Payload) checkSingleton(result, live []*revisions.Stored) error {
	var first *revisions.Stored
	for _, doc := range slices.Concat(live, result) {
		if doc.IsLayeringPolicy() {
			first = doc
			break
		}
	}
	var second document.Identity
	var others []string
	stays := false // the first one is in the result, too
	for _, doc := range result {
		switch {
		case !doc.IsLayeringPolicy():
		case doc.Identity == first.Identity:
			stays = true
		default:
			second = doc.Identity
			others = append(others, second.String())
		}
	}
	if len(others) == 0 {
		return nil
	}
	conflict := fault.New(fault.Conflict, "SingletonDocumentConflict",
		"A singleton document %s already exists in the system. The new document(s) %s cannot be created. To create a "+
			"document with a new name, delete the current one first", first.Identity, strings.Join(others, ", "))
	conflict.Secret = first.Traits().Encrypted
	if stays {
		return conflict.Hint("%s: A site has one LayeringPolicy, and %s is in the same change. Remove one of them.",
			p.placeOf(second), first.Identity)
	}
	return conflict.Hint("%s: A site has one LayeringPolicy, and the one in bucket %s is it. Keep its name and change "+
		"its data, or push bucket %[2]s without it first.", p.placeOf(second), first.Bucket)
}
