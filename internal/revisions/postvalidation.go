package revisions

import (
	"context"
	"fmt"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/validations"
)

// validateRendered checks rendered documents against the built-in schemas and the DataSchemas among them (spec/api.md
// §7.2, §0 D15). Their metadata needs no check: it is as it was taken in. brought has those that were computed. Fault:
// Invalid, with a D002 for each finding.
func (s *Service) validateRendered(ctx context.Context, documents []*Stored, brought map[*Stored][][]string) error {
	schemas, err := s.registered(ctx, documents, brought)
	if err != nil {
		return err
	}
	rules := validations.Rules{Registered: map[string]validations.Rule{}}
	byRule, known := map[validations.Rule]*registered{}, map[*Stored]*registered{}
	for i := range schemas {
		schema := &schemas[i]
		rules.Registered[schema.Name], byRule[schema.rule], known[schema.Stored] = schema.rule, schema, schema
	}
	findings := make([][]validations.Finding, len(documents))
	unchecked := make([]bool, len(documents))
	texts := make([][]byte, len(documents))
	err = s.countEach(ctx, len(documents), func(meter *budget.Meter, i int) (err error) {
		doc := documents[i]
		rule, ok := rules.ForRendered(doc.Document)
		if schema := known[doc]; !ok || schema != nil && !validations.IsUnusable(schema.checker) {
			return nil // a DataSchema that compiles is as it must be
		}
		checker, _ := s.Engine.Checker(rule)
		texts[i] = validations.RuleText(rule)
		if schema := byRule[rule]; schema != nil {
			checker, texts[i] = schema.checker, schema.Data
		}
		findings[i], err = checker.Check(meter, doc.Data)
		unchecked[i] = validations.IsUnusable(checker)
		return budget.About(err, "check rendered document %s by schema %s", doc.Identity, doc.Schema)
	})
	if err != nil {
		return fmt.Errorf("check rendered documents: %w", err)
	}
	return invalidRendered(documents, texts, findings, unchecked, brought)
}

// registered is a DataSchema in force.
type registered struct {
	*Stored

	rule    validations.Rule
	checker validations.Checker
}

// registered gives the DataSchemas in force among documents with what checks by them.
func (s *Service) registered(ctx context.Context, documents []*Stored, computed map[*Stored][][]string) (
	schemas []registered, err error,
) {
	for _, doc := range registering(documents) {
		schemas = append(schemas, registered{Stored: doc})
	}
	versions := s.versionsOf(documents)
	err = s.countEach(ctx, len(schemas), func(meter *budget.Meter, i int) (err error) {
		schema := &schemas[i]
		digest := schema.Digest
		if _, differs := computed[schema.Stored]; differs { // that is of what was submitted
			if value, err := document.ParseJSON(schema.Data); err == nil {
				digest = document.DigestOf(value)
			}
		}
		schema.rule, err = s.Engine.RuleOf(meter, digest, schema.Data, versions)
		if err == nil {
			var known bool
			if schema.checker, known = s.Engine.Checker(schema.rule); !known {
				schema.checker, err = s.Engine.Compile(meter, schema.rule, schema.Data, versions)
			}
		}
		return budget.About(err, "compile DataSchema %s", schema.Name)
	})
	if err != nil {
		return nil, fmt.Errorf("compile DataSchemas: %w", err)
	}
	return schemas, nil
}

// invalidRendered words what was found, if anything was.
func invalidRendered(documents []*Stored, texts [][]byte, findings [][]validations.Finding, unchecked []bool,
	brought map[*Stored][][]string,
) error {
	// So many bytes are shown whole.
	const most = 8 << 20
	size := 0
	var messages []fault.Message
	for i, doc := range documents {
		errs, err := validations.ReportRendered(doc.Document, texts[i], findings[i], size < most, brought[doc])
		if err != nil {
			return fmt.Errorf("word the findings: %w", err)
		}
		if unchecked[i] {
			errs = append(errs, validations.Unchecked(doc.Document))
		}
		for _, e := range errs {
			size += len(e.ErrorSection) + len(e.ValidationSchema) + len(e.Message)
			messages = append(messages, validations.D002(e))
		}
	}
	if len(messages) == 0 {
		return nil
	}
	invalid := fault.New(fault.Invalid, "InvalidDocumentFormat", "The provided documents failed schema validation")
	invalid.Reason, invalid.Messages = "Validation", messages
	return invalid
}
