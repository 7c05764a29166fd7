package evidence

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
	"purser/internal/store/postgres"
)

const (
	revisionColumns = `r.revision, r.created_at, r.buckets, r.entries, r.kind, r.author, r.message, coalesce(r.origin, 0),
		r.outside > 0 OR r.secret_fails
			OR EXISTS (SELECT FROM entries f WHERE f.site = r.site AND f.revision = r.revision AND f.rule IS NOT NULL),
		r.client_versions, r.stamp, r.secret_fails, r.secret_outside`

	// revisionNumbered selects a revision with its tags, after the time; its number follows.
	revisionNumbered = `SELECT now(), ARRAY(
			SELECT t.tag FROM tags t WHERE t.site = r.site AND t.revision = r.revision ORDER BY t.tag), ` + revisionColumns + `
		FROM revisions r
		WHERE r.site = $1 AND r.revision = `

	newestRevision = `SELECT ` + revisionColumns + ` FROM revisions r
		WHERE r.site = $1 AND r.revision = (SELECT head FROM sites WHERE site = $1)`
)

// AskNewest asks for the newest revision, which stays zero if there is none, and for the policies in force in it.
func AskNewest(q *postgres.Questions, site string, newest *revisions.Revision, policies *[]PolicyRow) {
	q.Ask(postgres.First(newest, scanRevision), newestRevision, site)
	q.Ask(postgres.Into(policies, scanPolicy), livePolicies+` ORDER BY d.place`, site)
}

func scanRevision(row pgx.CollectableRow) (r revisions.Revision, err error) {
	var kind string
	err = row.Scan(&r.ID, &r.CreatedAt, &r.Buckets, &r.Entries, &kind, &r.User, &r.Message, &r.Origin, &r.Failed,
		postgres.IntoDigest(&r.ClientVersions), &r.Stamp, &r.SecretFails, &r.SecretOutside)
	if err != nil {
		return r, fmt.Errorf("read a revision: %w", err)
	}
	r.CreatedAt = r.CreatedAt.UTC()
	r.Kind, err = revisions.ParseKind(kind)
	return r, err
}
