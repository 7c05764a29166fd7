package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/words"
)

// Nearly all revisions pass most of the server's own validations without a message. Such a success is a bit of the
// revision's row. It has no row in the tables results and reported.

const (
	noErrors  = "[]" // the errors of a success without a message
	successID = 0    // the ID that Reported gives a success without a row; IDs of rows begin with 1
)

// bitOf returns the value of a validation's bit, 0 if it has none. Never change the order: statements have the bits
// too.
func bitOf(name string) int16 {
	own := []string{
		validations.PolicyValidation, validations.RenderingValidation, validations.CoverageValidation,
		validations.PuppetValidation, validations.PackageValidation,
	}
	if n := slices.Index(own, name); n >= 0 {
		return 1 << n
	}
	return 0
}

// splitSuccesses returns the bits of those results of a new revision that are successes without a message, and the
// others.
func splitSuccesses(results []validations.Result) (bits int16, others []validations.Result) {
	others = slices.DeleteFunc(slices.Clone(results), func(r validations.Result) bool {
		bit := bitOf(r.Name)
		if bit == 0 || r.Status != validations.Success.String() || string(r.Errors) != noErrors {
			return false
		}
		bits |= bit
		return true
	})
	return bits, others
}

// queueResult adds a result to a revision that is being made.
func queueResult(batch *pgx.Batch, site string, revision int64, r validations.Result) {
	batch.Queue(stmt.InsertReported, named{"site": site, "revision": revision, "name": r.Name})
	batch.Queue(stmt.InsertResult, named{
		"site": site, "revision": revision, "name": r.Name, "status": r.Status, "validator": string(r.Validator),
		"errors": string(r.Errors), "at": zeronull.Timestamptz(r.CreatedAt), "message": messageOf(r),
	})
}

// messageOf returns the message of a result's outcome as a text that Postgres stores: it takes no NUL characters. In
// the errors, which are JSON, they are escaped.
func messageOf(r validations.Result) string {
	return words.Storable(validations.OutcomeOf(r).Message)
}

// Reported implements queries.Store.
func (s *Store) Reported(ctx context.Context, of revisions.Revision, name string) ([]queries.Reported, error) {
	return collectOf(ctx, s, of, pgx.RowToStructByName[queries.Reported], stmt.ReportedOf, named{
		"site": s.site, "revision": of.ID, "name": name, "hidden": validations.HiddenWarnings(),
	})
}

// ResultTexts implements queries.Store.
func (s *Store) ResultTexts(ctx context.Context, of revisions.Revision, ids []int64) (
	map[int64]queries.ResultTexts, error,
) {
	texts := make(map[int64]queries.ResultTexts, len(ids))
	stored := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id == successID })
	if len(stored) < len(ids) {
		texts[successID] = queries.ResultTexts{Errors: []byte(noErrors)}
	}
	if len(stored) == 0 {
		return texts, nil
	}
	_, err := collectOf(ctx, s, of, func(row pgx.CollectableRow) (id int64, err error) {
		var of queries.ResultTexts
		err = row.Scan(&id, &of.Errors, &of.Inputs, &of.URL, &of.User)
		texts[id] = of
		return id, err
	}, stmt.TextsOfResults, named{"site": s.site, "revision": of.ID, "ids": stored})
	return texts, err
}

// scanOutcomes adds outcomes to what is known about their revisions.
func scanOutcomes(rows pgx.Rows, of map[int64]validations.Known) error {
	var revision int64
	var r validations.Result
	var message string
	var known validations.Outcome
	_, err := pgx.ForEachRow(rows, []any{
		&revision, &r.Name, &r.Status, &r.CreatedAt, &message, &r.Errors, &r.Validator, &known.CarriedFrom, &known.Inputs,
		&known.URL, &known.User,
	}, func() error {
		outcome := validations.OutcomeOf(r)
		outcome.CarriedFrom, outcome.Inputs = known.CarriedFrom, known.Inputs
		outcome.URL, outcome.User = known.URL, known.User
		if r.Errors == nil {
			outcome.Message = message
		}
		about := of[revision]
		about.Outcomes = append(about.Outcomes, outcome)
		of[revision] = about
		return nil
	})
	return err
}

// scanStanding adds claims and waivers to what is known about their revisions.
func scanStanding(rows pgx.Rows, of map[int64]validations.Known) error {
	var revision int64
	var waives bool
	var w validations.Waiver
	_, err := pgx.ForEachRow(rows, []any{
		&waives, &revision, &w.Validation, &w.By, &w.Reason, &w.Until, &w.ID,
	}, func() error {
		about := of[revision]
		if waives {
			about.Waivers = append(about.Waivers, w)
		} else {
			if about.Claims == nil {
				about.Claims = map[string]validations.Claim{}
			}
			about.Claims[w.Validation] = validations.Claim{Worker: w.By, Since: w.Until, Attempt: int(w.ID)}
		}
		of[revision] = about
		return nil
	})
	return err
}

// scanVotes adds votes to what is known about their revisions.
func scanVotes(rows pgx.Rows, of map[int64]validations.Known) error {
	var revision int64
	var name, status string
	var vote validations.Vote
	var message *string
	var errs []byte
	_, err := pgx.ForEachRow(rows, []any{&revision, &name, &vote.User, &status, &vote.At, &message, &errs}, func() error {
		vote.Failed, vote.Message = status != validations.Success.String(), ""
		switch {
		case message != nil:
			vote.Message = *message
		case vote.Failed:
			vote.Message = validations.FirstMessage(errs)
		}
		about := of[revision]
		if about.Votes == nil {
			about.Votes = map[string][]validations.Vote{}
		}
		about.Votes[name] = append(about.Votes[name], vote)
		of[revision] = about
		return nil
	})
	return err
}

// WorstResults implements queries.Store.
func (s *Store) WorstResults(ctx context.Context, of revisions.Revision) (map[string]string, error) {
	worst := map[string]string{}
	_, err := collectOf(ctx, s, of, func(row pgx.CollectableRow) (none struct{}, err error) {
		var name, status string
		err = row.Scan(&name, &status)
		worst[name] = status
		return none, err
	}, stmt.WorstResults, named{"site": s.site, "revision": of.ID})
	return worst, err
}
