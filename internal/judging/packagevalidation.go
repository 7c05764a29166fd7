package judging

import (
	"context"

	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/murano"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// recordSteps is the cost of reading the package description in a document, in steps per byte.
const recordSteps = 10

// packageResult validates that the packages of a revision are compatible.
func packageResult(ctx context.Context, documents []*revisions.Stored) (RevisionResult, error) {
	result := RevisionResult{Name: validations.PackageValidation}
	meter := budget.NewMeter(ctx)
	var records []murano.Record
	byName := map[string]*revisions.Stored{}
	for _, doc := range documents {
		if !doc.IsPackage() || doc.Traits().Encrypted {
			continue
		}
		if err := meter.Spend(recordSteps * len(doc.Data)); err != nil {
			return result, budget.About(err, "compare packages")
		}
		record, err := murano.ReadRecord(doc.Name, doc.Data)
		if err != nil { // a document that was stored with --compat=deckhand
			result.Messages = append(result.Messages, packageMessage(err.Error(), doc))
			continue
		}
		records, byName[doc.Name] = append(records, record), doc
	}
	for _, conflict := range murano.Conflicts(records) {
		var about []*revisions.Stored
		for _, name := range conflict.Packages {
			about = append(about, byName[name])
		}
		result.Messages = append(result.Messages, packageMessage(conflict.Message, about...))
	}
	return result, nil
}

func packageMessage(text string, about ...*revisions.Stored) fault.Message {
	m := fault.Message{Message: text, Error: true, Name: "PackageConflict", Level: "Error", Kind: "ValidationMessage"}
	for _, doc := range about {
		m.Documents = append(m.Documents, fault.Document{Schema: doc.Schema, Name: doc.Name, Layer: doc.Layer})
	}
	return m
}
