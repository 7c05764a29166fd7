package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/events"
	"purser/internal/revisions"
	"purser/internal/store/postgres"
	"purser/internal/validations"
)

// addResults adds posts ($2) to their revisions, unless these have other stamps: the results, their names, their events
// and their audit entries. The revisions are not deleted
// before the transaction ends. Revisions and names are locked in their order, so that groups of several servers, and
// prunes, do not wait for one another. It gives the number of each post that was added, and the stamp of its revision.
const addResults = `WITH r AS (
		SELECT p.n, p.revision, p.name, p.status, p.validator, p.errors, p.at, p.message, p.event, p.audit, r.site, r.stamp
		FROM (SELECT n, revision, stamps, name, status, validator, errors, at, message, event, audit
			FROM json_to_recordset($2) p (n int, revision bigint, stamps bigint[], name text,
				status text, validator text, errors text, at timestamptz, message text, event json, audit json)
			ORDER BY revision) p
		CROSS JOIN LATERAL (SELECT site, stamp FROM revisions r WHERE r.site = $1 AND r.revision = p.revision
			AND (p.stamps IS NULL OR r.stamp = ANY(p.stamps)) FOR KEY SHARE) r),
	named AS (INSERT INTO reported (site, revision, name) SELECT DISTINCT site, revision, name FROM r
		ORDER BY site, revision, name ON CONFLICT DO NOTHING),
	added AS (INSERT INTO results (` + resultColumns + `)
		SELECT site, revision, name, status, validator, errors, coalesce(at, now()), message FROM r ORDER BY n),
	told AS (INSERT INTO outbox (` + outboxColumns + `)
		SELECT site, e.type, revision, e.subject, e.data, e.withheld FROM r CROSS JOIN LATERAL json_to_record(r.event)
			e (type text, subject text, data text, withheld text) ORDER BY n),
	recorded AS (INSERT INTO audit (` + auditColumns + `)
		SELECT site, a.at, a.user_id, a.user_name, a.project, a.end_user, a.rule, a.method, a.target, revision, a.status,
			a.error, a.remote, a.request
		FROM r CROSS JOIN LATERAL json_to_record(r.audit) a (at timestamptz, user_id text, user_name text, project text,
			end_user text, rule text, method text, target text, status int, error text, remote text, request text)
		WHERE r.audit IS NOT NULL ORDER BY n)
	SELECT n, stamp FROM r`

// post is a result with its subject. Its fields are those of the records that addResults reads.
type post struct {
	N         int               `json:"n"` // place in its group
	Revision  int64             `json:"revision"`
	Stamps    []revisions.Stamp `json:"stamps"`
	Name      string            `json:"name"`
	Status    string            `json:"status"`
	Validator string            `json:"validator"`
	Errors    string            `json:"errors"`
	At        *time.Time        `json:"at"` // nil for now
	Message   string            `json:"message"`
	Event     toldOf            `json:"event"`
	Audit     *recordOf         `json:"audit"`
}

// toldOf is an event of a post.
type toldOf struct {
	Type     string  `json:"type"`
	Subject  string  `json:"subject"`
	Data     string  `json:"data"`
	Withheld *string `json:"withheld"`
}

// recordOf is an audit event of a post.
type recordOf struct {
	At       time.Time `json:"at"`
	UserID   string    `json:"user_id"`
	UserName string    `json:"user_name"`
	Project  string    `json:"project"`
	EndUser  string    `json:"end_user"`
	Rule     string    `json:"rule"`
	Method   string    `json:"method"`
	Target   string    `json:"target"`
	Status   int       `json:"status"`
	Error    string    `json:"error"`
	Remote   string    `json:"remote"`
	Request  string    `json:"request"`
}

func postOf(about revisions.About, r validations.Result) post {
	e := events.Posted{Revision: about.Revision, Name: r.Name, Status: r.Status, Validator: r.Validator}.Event()
	p := post{
		Revision: about.Revision, Stamps: about.Stamps, Name: r.Name, Status: r.Status, Validator: string(r.Validator),
		Errors: string(r.Errors), At: timeOf(r), Message: validations.OutcomeOf(r).Message,
		Event: toldOf{string(e.Type), e.Subject, string(e.Data), text(e.Withheld)},
	}
	if a := about.Audit; a != nil {
		p.Audit = &recordOf{
			a.At, a.UserID, a.UserName, a.Project, a.EndUser, a.Rule, a.Method, a.Target, a.Status, a.Error, a.Remote, a.Request,
		}
	}
	return p
}

// posted is the outcome of a post.
type posted struct {
	stamp    revisions.Stamp // of the revision; 0 if it does not exist
	inForce  []policyRow     // in the revisions of its group
	rejected error           // that the post caused, and not another one of its group
}

// AddResult implements revisions.Store. Concurrent posts are written in one statement.
func (s *Store) AddResult(ctx context.Context, about revisions.About, r validations.Result) (
	stamp revisions.Stamp, policies []revisions.PolicyVersion, err error,
) {
	var done posted
	err = s.db.Within(ctx, s.db.Deadlines.Write, func(ctx context.Context) (err error) {
		done, err = s.poster.Do(ctx, postOf(about, r), len(r.Errors)+len(r.Validator), s.addResults)
		if err == nil {
			err = done.rejected
		}
		return err
	})
	if err != nil || done.stamp == 0 {
		return 0, nil, err
	}
	if policies, err = s.parsed(ctx, done.inForce); err != nil {
		policies = nil // the result is stored all the same
	}
	return done.stamp, policies, nil
}

// addResults adds a group of posts. If the database refuses the values of one, each is added on its own.
func (s *Store) addResults(ctx context.Context, posts []post) ([]posted, error) {
	done, err := s.addTogether(ctx, posts)
	if len(posts) == 1 || !postgres.RefusesValues(err) {
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
	records, err := json.Marshal(posts)
	if err != nil {
		return nil, fmt.Errorf("write the results: %w", err)
	}
	var inForce []policyRow
	err = s.db.Retry(ctx, s.db.Deadlines.Write, func(ctx context.Context) error {
		done = make([]posted, len(posts))
		batch := &pgx.Batch{}
		batch.Queue(policiesOf, s.site, numbers).Query(func(rows pgx.Rows) (err error) {
			inForce, err = pgx.CollectRows(rows, scanPolicy)
			return err //nolint:wrapcheck // explained by retry
		})
		batch.Queue(addResults, s.site, string(records)).Query(func(rows pgx.Rows) error {
			var n int
			var stamp revisions.Stamp
			_, err := pgx.ForEachRow(rows, []any{&n, &stamp}, func() error {
				done[n].stamp = stamp
				return nil
			})
			return err //nolint:wrapcheck // explained by retry
		})
		return s.db.Pool.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, err
	}
	for i := range done {
		done[i].inForce = inForce
	}
	s.committed()
	return done, nil
}
