package changes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"

	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// check runs each check of a scope that has no recorded outcome in a snapshot, once. It returns those of these checks
// that are to be recorded, and the findings of all checks.
func (v Validator) check(ctx context.Context, snapshot revisions.Snapshot, s scope) (
	made []revisions.Check, findings map[validations.Pair][]validations.Finding, err error,
) {
	unchecked := s.unchecked(snapshot)
	if err := v.compile(ctx, s, unchecked); err != nil {
		return nil, nil, err
	}
	made = make([]revisions.Check, len(unchecked))
	unsure := make([]bool, len(unchecked))
	var open, secret atomic.Int64 // sizes of findings
	confined := budget.Confined(ctx, secretSteps)
	err = budget.ForEach(ctx, len(unchecked), func(meter *budget.Meter, i int) error {
		doc := unchecked[i]
		found, sure, err := v.checkSubmitted(ctx, confined, meter, s, doc)
		if unsure[i] = !sure; err != nil {
			return budget.About(err, "check document %s by schema %s", doc.Identity, doc.Schema)
		}
		total := &open
		if Refers(doc) || s.book.isSecret(s.pairs[doc].Rule) {
			total = &secret
		}
		made[i] = revisions.Check{Pair: s.pairs[doc], Findings: bounded(found, total)}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("check documents: %w", err)
	}
	findings = make(map[validations.Pair][]validations.Finding, len(snapshot.Checks)+len(made))
	maps.Copy(findings, snapshot.Checks)
	var sure []revisions.Check
	for i, check := range made {
		if findings[check.Name()] = check.Findings; !unsure[i] {
			sure = append(sure, check)
		}
	}
	return sure, findings, nil
}

// checkSubmitted checks a document of a scope, unless the outcome is remembered. sure is as for budgetAsFinding.
func (v Validator) checkSubmitted(ctx, confined context.Context, meter *budget.Meter, s scope, doc *revisions.Stored) (
	found []validations.Finding, sure bool, err error,
) {
	pair := s.pairs[doc]
	schema, ofSecretRule := s.book.byRule[pair.Rule], s.book.isSecret(pair.Rule)
	cleartext := !Refers(doc) && !ofSecretRule
	if known, ok := v.Engine.Known(pair.Name()); cleartext && ok && known.Count == len(known.Findings) {
		return known.Findings, true, nil
	}
	checker, err := v.checkerOf(meter, pair.Rule, schema, Refers(doc))
	if err != nil {
		return nil, false, budget.About(err, "compile the DataSchema %s", doc.Schema)
	}
	size := len(doc.Data)
	if schema != nil {
		size += len(schema.Data)
	}
	own := meter.ForDocument(size)
	switch {
	case Refers(doc):
		own = ofSecret(confined, doc)
	case cleartext: // so that it is remembered
		own = v.meterFor(meter, doc.Identity, doc.Data).ForDocument(size)
	}
	found, err = v.findings(ctx, own, checker, doc, ofSecretRule)
	if found, sure, err = budgetAsFinding(own, found, err, Refers(doc)); err == nil && cleartext {
		v.Engine.Remember(pair.Name(), validations.Found{Count: len(found), Findings: found})
	}
	return found, sure, err
}

// secretSteps limits the work of all checks in one request that involve secrets, and aloneSteps that of one of them, in
// addition to its share for its size. They have a separate budget, so that the answer to a request does not reveal how
// much work a secret takes.
const (
	secretSteps = budget.Second
	aloneSteps  = secretSteps / 4
)

// ofSecret returns the meter of the check of an encrypted document.
func ofSecret(confined context.Context, doc *revisions.Stored) *budget.Meter {
	size := len(doc.Data) + len(doc.Secret) + len(doc.Sealed)
	return budget.NewMeter(confined).Within(aloneSteps + int64(size)*budget.StepsPerByte)
}

// budgetAsFinding turns the exceeded limit of the meter of one check into a finding. For a check that involves a
// secret, it does the same with an exhausted budget; sure is false then, because other checks have used up that budget,
// and the finding need not hold in another request.
func budgetAsFinding(own *budget.Meter, found []validations.Finding, err error, secret bool) (
	_ []validations.Finding, sure bool, _ error,
) {
	err = own.Done(err)
	_, spent := errors.AsType[*budget.Exceeded](err)
	alone := budget.IsAlone(err)
	if spent && secret || alone {
		return []validations.Finding{{
			Message: validations.TooMuchWork, Instance: []string{}, SchemaPath: ".", Secret: secret,
		}}, alone, nil
	}
	return found, true, err
}

// findings checks a document. For an encrypted one the findings reveal only that it breaks a rule. ofSecret is set if
// the rule depends on a secret.
func (r Renderer) findings(ctx context.Context, meter *budget.Meter, checker validations.Checker, doc *revisions.Stored,
	ofSecret bool,
) ([]validations.Finding, error) {
	if !Refers(doc) {
		found, err := checker.Check(meter, doc.Data)
		for i := range found {
			found[i].Secret = ofSecret
		}
		return found, err
	}
	text, err := r.Open(ctx, doc)
	if problem, ok := errors.AsType[*fault.Fault](err); ok && isOfDocuments(problem) {
		unopened := validations.Finding{Message: validations.Unopened, Instance: []string{}, SchemaPath: "."}
		return []validations.Finding{unopened}, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := checker.Check(meter, text)
	return validations.OfSecret(found), err
}

// bounded keeps all findings until those of one change reach 16 MiB, then a shortened first one per check. total is the
// size so far: of findings that depend on secrets, or of the others.
func bounded(findings []validations.Finding, total *atomic.Int64) []validations.Finding {
	const maxTotal, maxShort = 16 << 20, 256
	if total.Add(int64(validations.SizeOf(findings))) <= maxTotal || len(findings) == 0 {
		return findings
	}
	first := findings[0]
	first.Causes = nil
	if len(first.Message) > maxShort {
		first.Message = strings.ToValidUTF8(first.Message[:maxShort], "") + "…"
	}
	return []validations.Finding{first}
}
