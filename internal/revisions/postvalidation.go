package revisions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/validations"
)

// validateRendered checks rendered documents against the built-in schemas and the DataSchemas among them (spec/api.md
// §7.2, §0 D15). Their metadata needs no check: it is as it was taken in. Fault: Invalid, with a D002 for each finding.
func (s *Service) validateRendered(ctx context.Context, documents []*Stored, brought map[*Stored][][]string) error {
	rules, checkers := s.rulesOf(documents)
	findings := make([][]validations.Finding, len(documents))
	unchecked := make([]bool, len(documents))
	texts := make([][]byte, len(documents))
	err := s.forEach(ctx, len(documents), func(i int) {
		rule, ok := rules.ForRendered(documents[i].Document)
		if !ok {
			return
		}
		checker, known := s.Engine.Checker(rule)
		if registered, ok := checkers[rule]; ok {
			checker, texts[i] = registered.checker, registered.text
		} else if known {
			texts[i] = validations.RuleText(rule)
		}
		findings[i], unchecked[i] = checker.Check(documents[i].Data), validations.IsUnusable(checker)
	})
	if err != nil {
		return fmt.Errorf("check rendered documents: %w", err)
	}
	return invalidRendered(documents, texts, findings, unchecked, brought)
}

// registered is a DataSchema in force.
type registered struct {
	checker validations.Checker
	text    []byte
}

// rulesOf are the schemas in force among documents; of several DataSchemas of one name the first one registered
// decides.
func (s *Service) rulesOf(documents []*Stored) (validations.Rules, map[validations.Rule]registered) {
	versions := s.versionsOf(documents)
	rules := validations.Rules{Registered: map[string]validations.Rule{}}
	checkers := map[validations.Rule]registered{}
	byPlace := slices.SortedStableFunc(slices.Values(documents), func(a, b *Stored) int {
		return cmp.Compare(a.Place, b.Place)
	})
	for _, doc := range byPlace {
		if _, decided := rules.Registered[doc.Name]; decided || !validations.Registers(doc.Document) {
			continue
		}
		digest := doc.Digest
		if !doc.Traits().Final() { // that is of what was submitted
			if value, err := document.ParseJSON(doc.Data); err == nil {
				digest = document.DigestOf(value)
			}
		}
		rule := s.Engine.RuleOf(digest, doc.Data, versions)
		checker, ok := s.Engine.Checker(rule)
		if !ok {
			checker = s.Engine.Compile(rule, doc.Data, versions)
		}
		rules.Registered[doc.Name], checkers[rule] = rule, registered{checker, doc.Data}
	}
	return rules, checkers
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
