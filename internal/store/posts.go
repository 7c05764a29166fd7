package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/claims"
	"purser/internal/events"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// post is a result with its subject. Its fields are those of the records that AddResults reads.
type post struct {
	N         int               `json:"n"` // place in its group
	Revision  int64             `json:"revision"`
	Stamps    []revisions.Stamp `json:"stamps"`
	Name      string            `json:"name"`
	Status    string            `json:"status"`
	Validator string            `json:"validator"`
	Errors    string            `json:"errors"`
	At        time.Time         `json:"at,omitzero"` // zero for now
	Message   string            `json:"message"`
	Inputs    *string           `json:"inputs"`  // nil for none
	Held      string            `json:"held"`    // hexadecimal; empty for none
	URL       *string           `json:"url"`     // nil for none
	UserID    *string           `json:"user_id"` // nil for the server itself
	UserName  string            `json:"user_name"`
	Claim     *string           `json:"claim"` // nil for none
	Event     eventRecord       `json:"event"`
	Audit     *auditRecord      `json:"audit"` // nil for none
}

// eventRecord is an event that withholds nothing, as AddResults and statements about claims read it. Its data is a
// text: Postgres refuses some escapes in JSON.
type eventRecord struct {
	Type    events.Type `json:"type"`
	Subject string      `json:"subject"`
	Data    string      `json:"data"`
}

// auditRecord is a revisions.AuditEvent as AddResults, SetTag and DeleteTags read it.
type auditRecord struct {
	ID       int64     `json:"-"`
	At       time.Time `json:"at"`
	UserID   string    `json:"user_id"`
	UserName string    `json:"user_name"`
	Project  string    `json:"project"`
	EndUser  string    `json:"end_user"`
	Rule     string    `json:"rule"`
	Method   string    `json:"method"`
	Target   string    `json:"target"`
	Revision int64     `json:"-"`
	Status   int       `json:"status"`
	Error    string    `json:"error"`
	Remote   string    `json:"remote"`
	Request  string    `json:"request"`
}

// recordOf returns the record of an event that withholds nothing.
func recordOf(e events.Event) eventRecord {
	return eventRecord{Type: e.Type, Subject: e.Subject, Data: string(e.Data)}
}

func postOf(about revisions.About, r validations.Result) post {
	made := post{
		Revision: about.Revision, Stamps: about.Stamps, Name: r.Name, Status: r.Status, Validator: string(r.Validator),
		Errors: string(r.Errors), At: r.CreatedAt, Message: messageOf(r),
		Event: recordOf(events.Posted{
			Revision: about.Revision, Name: r.Name, Status: r.Status, Validator: r.Validator,
		}.Event()),
		Audit: (*auditRecord)(about.Audit), UserName: about.Caller.Name,
	}
	if !about.Caller.Server {
		made.UserID = &about.Caller.ID
	}
	if !r.Inputs.IsZero() {
		made.Inputs = new(r.Inputs.Text())
	}
	if !r.Held.IsZero() {
		made.Held = r.Held.String()
	}
	if r.URL != "" {
		made.URL = &r.URL
	}
	if about.Claim != "" {
		made.Claim = &about.Claim
	}
	return made
}

// posted is the outcome of a post.
type posted struct {
	stamp    revisions.Stamp // of the revision; 0 if it does not exist
	inForce  []policyRow     // in the revisions of its group
	rejected error           // that the post caused, and not another one of its group
	unheld   bool            // its claim does not hold the work
}

// AddResult implements revisions.Store. Concurrent posts are written in one statement.
func (s *Store) AddResult(ctx context.Context, about revisions.About, r validations.Result) (
	stamp revisions.Stamp, policies []revisions.PolicyVersion, err error,
) {
	var done posted
	err = s.within(ctx, s.deadlines.Write, func(ctx context.Context) (err error) {
		done, err = s.posts.do(ctx, postOf(about, r), len(r.Errors)+len(r.Validator), s.addResults)
		if err == nil {
			err = done.rejected
		}
		return err
	})
	switch {
	case err != nil || done.stamp == 0:
		return 0, nil, err
	case done.unheld:
		return 0, nil, s.whyUnheld(ctx, about, r.Name)
	}
	if policies, err = s.parsePolicies(ctx, done.inForce); err != nil {
		policies = nil // the result is stored all the same
	}
	return done.stamp, policies, nil
}

// addResults adds a group of posts. If the database refuses the values of one, each is added on its own.
func (s *Store) addResults(ctx context.Context, posts []post) ([]posted, error) {
	done, err := s.addTogether(ctx, posts)
	if len(posts) == 1 || !refusesValues(err) {
		return done, err
	}
	done = make([]posted, len(posts))
	for i := range posts {
		one, err := s.addTogether(ctx, posts[i:i+1])
		if done[i].rejected = err; err == nil {
			done[i] = one[0]
		}
	}
	return done, nil
}

func (s *Store) addTogether(ctx context.Context, posts []post) (done []posted, err error) {
	numbers := make([]int64, len(posts))
	for i := range posts {
		posts[i].N, numbers[i] = i, posts[i].Revision
	}
	records, err := json.Marshal(posts) // once for all attempts, and before a connection is taken
	if err != nil {
		return nil, fmt.Errorf("write the results: %w", err)
	}
	var inForce []policyRow
	err = s.retryTx(ctx, general, s.deadlines.Write, func(ctx context.Context) error {
		done = make([]posted, len(posts))
		batch := &pgx.Batch{}
		batch.Queue(stmt.PoliciesAbout, named{"site": s.site, "numbers": numbers, "tag": nil}).
			Query(into(&inForce, scanPolicy))
		batch.Queue(stmt.AddResults, named{
			"site": s.site, "posts": records, "max_names": revisions.MaxValidations,
			"max_bytes": revisions.MaxValidationBytes, "age": claims.MaxAge,
		}).Query(func(rows pgx.Rows) error {
			var n int
			var stamp revisions.Stamp
			var fits, holds bool
			_, err := pgx.ForEachRow(rows, []any{&n, &stamp, &fits, &holds}, func() error {
				if done[n].stamp, done[n].unheld = stamp, !holds; !fits {
					done[n].rejected = revisions.TooManyValidations(posts[n].Revision)
				}
				return nil
			})
			return err
		})
		return s.pool.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, err
	}
	for i := range done {
		done[i].inForce = inForce
	}
	s.announce()
	return done, nil
}
