package changes

import (
	"context"
	"crypto/sha256"
	"fmt"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/murano"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// The cost of comparing packages, in steps: for a byte of the description in a document, and for a class or a
// requirement.
const (
	recordSteps  = 10
	compareSteps = 500
)

// packageResult validates that the packages of a revision are compatible. It remembers the outcome for these packages.
func (r Renderer) packageResult(ctx context.Context, documents []*revisions.Stored) (RevisionResult, error) {
	result := RevisionResult{Name: validations.PackageValidation}
	var packages []*revisions.Stored
	sum, size := sha256.New(), 0
	for _, doc := range documents {
		if doc.IsPackage() && !doc.Traits().Encrypted {
			packages, size = append(packages, doc), size+len(doc.Data)
			_, _ = fmt.Fprintf(sum, "%q %q %x\n", doc.Name, doc.Layer, doc.Digest) // a hash returns no error
		}
	}
	all := r.keyOf("packages", document.Digest(sum.Sum(nil)), false)
	messages, known := derived[[]fault.Message](r.Documents, all)
	if !known {
		var err error
		own := budget.NewMeter(ctx).ForOthers(size).ForDocument(size)
		messages, err = comparePackages(own, packages)
		if err = own.Done(err); err != nil {
			return result, budget.About(err, "compare packages")
		}
		r.Documents.remember(all, messages, sizeOfMessages(messages))
	}
	result.Messages = messages
	return result, nil
}

// comparePackages returns the problems between packages. The error is the meter's, unwrapped.
func comparePackages(meter *budget.Meter, packages []*revisions.Stored) (messages []fault.Message, err error) {
	var records []murano.Record
	byName := map[string]*revisions.Stored{}
	for _, doc := range packages {
		if err := meter.Spend(recordSteps * len(doc.Data)); err != nil {
			return nil, err
		}
		record, err := murano.ReadRecord(doc.Name, doc.Data)
		if err != nil { // a document that was stored with --compat=deckhand
			messages = append(messages, packageMessage(err.Error(), doc))
			continue
		}
		if err := meter.Spend(compareSteps * (len(record.Classes) + len(record.Require))); err != nil {
			return nil, err
		}
		records, byName[doc.Name] = append(records, record), doc
	}
	for _, conflict := range murano.Conflicts(records) {
		if len(messages) > authz.MaxListed {
			messages[authz.MaxListed].More++
			continue
		}
		var about []*revisions.Stored
		for _, name := range conflict.Packages {
			about = append(about, byName[name])
		}
		messages = append(messages, packageMessage(conflict.Message, about...))
	}
	return messages, nil
}

func packageMessage(text string, about ...*revisions.Stored) fault.Message {
	m := fault.Message{Message: text, Error: true, Name: "PackageConflict", Level: "Error", Kind: "ValidationMessage"}
	for _, doc := range about {
		m.Documents = append(m.Documents, documentOf(doc))
	}
	return m
}
