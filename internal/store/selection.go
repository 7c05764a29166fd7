package store

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/validations"
)

// statement builds SQL with its arguments.
type statement struct {
	sql  strings.Builder
	args []any
}

func (q *statement) add(parts ...string) {
	for _, part := range parts {
		q.sql.WriteString(part)
	}
}

// arg adds an argument and returns its placeholder.
func (q *statement) arg(value any) string {
	q.args = append(q.args, value)
	return "$" + strconv.Itoa(len(q.args))
}

// selectVersion selects the columns of a version that are read or sorted by.
const selectVersion = "SELECT " + documentColumns + ", d.abstract"

// ofRevision selects documents of a revision: of each the revision's stamp, null if it does not exist, the size and the
// head of its content, the size of its sealed secret, and the columns of a document. If there is no document, there is
// one row without one; after about MaxBytes of contents, rows have only the columns up to the id.
//
// Each arm reads one index, with equal keys that a lateral join passes one by one. OFFSET 0 keeps the planner from
// choosing another plan because of old or missing statistics.
func (s *Store) ofRevision(revision int64, selection queries.Selection) *statement {
	q := &statement{args: []any{s.site, revision}}
	where, order := q.filters(selection), q.order(selection)
	columns, body := strings.Split(strings.ReplaceAll(documentColumns, "d.", "w."), ","), "body"
	columns = append(columns, "w.body", "w.sealed")
	before := "0"
	if selection.MaxBytes > 0 {
		near := "w.before < " + q.arg(selection.MaxBytes)
		for i := range columns[1:] {
			columns[i+1] = "CASE WHEN " + near + " THEN " + columns[i+1] + " END"
		}
		body = "packed"
		const size = "octet_length(c.body) + coalesce(octet_length(c.sealed), 0) + octet_length(d.metadata)"
		before = "sum(" + size + ") OVER (ORDER BY " + order + " ROWS UNBOUNDED PRECEDING) - (" + size + ")"
	}
	columns[len(columns)-2] += " AS " + body
	q.add("SELECT w.stamp, coalesce(octet_length(w.body), 0), substring(w.body FROM 1 FOR ",
		strconv.Itoa(zstd.HeaderMaxSize), "), coalesce(octet_length(w.sealed), 0), ", strings.Join(columns, ","), " FROM (")
	selection = among(selection)
	q.selected(revision, selection, "s.stamp, d.*, c.body, c.sealed, "+before+" AS before", where, q.order(selection))
	if where == "" && selection.Names == nil && selection.Limit < 0 {
		q.add(" LEFT JOIN contents c ON c.site = $1 AND c.digest = d.content")
	} else { // few, of many
		q.add(` LEFT JOIN LATERAL (
			SELECT body, sealed FROM contents WHERE site = $1 AND digest = d.content OFFSET 0) c ON true`)
	}
	q.add(") w ORDER BY ", order)
	return q
}

// among returns the selection of the documents that those of a selection are among, in the order in which they were
// added.
func among(selection queries.Selection) queries.Selection {
	if selection.Among > 0 {
		selection.Backwards = selection.Backwards && len(selection.Sort) == 0
		selection.Sort, selection.Page = nil, queries.Page{Offset: selection.Searched, Limit: selection.Among}
	}
	return selection
}

// ranksOfRevision selects the stamp of a revision, null if it does not exist, with the ids of its documents and their
// ranks by the sort keys.
func (s *Store) ranksOfRevision(revision int64, selection queries.Selection) *statement {
	q := &statement{args: []any{s.site, revision}}
	rank := "0"
	if keys := sortColumns(selection); len(keys) > 0 {
		rank = "dense_rank() OVER (ORDER BY " + strings.Join(keys, ", ") + ")"
	}
	q.selected(revision, selection, "s.stamp, d.id, "+rank, q.filters(selection), q.order(selection))
	return q
}

// selected selects columns of the site s, which is the first argument, and of documents d of a revision, the second.
func (q *statement) selected(revision int64, selection queries.Selection, columns, where, order string) {
	q.add(`WITH s AS (SELECT head, (SELECT r.stamp FROM revisions r WHERE r.site = $1 AND r.revision = $2) AS stamp
			FROM sites WHERE site = $1)
		SELECT `, columns, ` FROM s LEFT JOIN (`, selectVersion, ` FROM (`)
	if selection.Names != nil {
		q.armsByName(revision, selection.Names, where)
	} else {
		q.armsByInterval(revision, selection, where)
	}
	q.add(") d ORDER BY ", order)
	if selection.Limit >= 0 {
		q.add(" LIMIT ", q.arg(selection.Limit))
	}
	q.add(" OFFSET ", q.arg(selection.Offset), ") d ON true")
}

// each selects, for each row of a table, the versions that fulfil a condition on it.
func (q *statement) each(table, condition string) {
	q.add(selectVersion, " FROM ", table, " CROSS JOIN LATERAL (", selectVersion,
		" FROM documents d WHERE d.site = $1 AND ", condition, " OFFSET 0) d")
}

// closedOnly ends an arm of closed versions. It selects none for the newest revision, where all are live.
const closedOnly = " WHERE $2 < s.head AND n <= s.head"

// armsByName selects the versions with one of the names: the live ones, which are at no node, and those at the
// revision's nodes.
func (q *statement) armsByName(revision int64, names []string, where string) {
	before, after := ancestors(revision)
	name := "unnest(" + q.arg(slices.Compact(slices.Sorted(slices.Values(names)))) + "::text[]) w"
	q.each(name, "d.name = w AND d.fork IS NULL AND d.since <= $2"+where)
	q.add(" UNION ALL ")
	q.each("s CROSS JOIN "+name+" CROSS JOIN "+q.nodes(slices.Concat(before, after)),
		"d.name = w AND d.fork = n AND d.since <= $2 AND coalesce(d.until, 0) > $2"+where)
	q.add(closedOnly)
}

// armsByInterval selects the versions valid in the revision: the live ones by schema, by bucket, or in their order up
// to the last one that is asked for, and those at its nodes.
func (q *statement) armsByInterval(revision int64, selection queries.Selection, where string) {
	live := "d.until IS NULL AND d.since <= $2" + where
	switch {
	case selection.Schemas != nil && selection.Buckets != nil:
		q.add(selectVersion, " FROM documents d WHERE d.site = $1 AND ", live)
	case selection.Schemas != nil:
		from, to := rangesOf(selection.Schemas)
		q.each("unnest("+q.arg(from)+"::text[], "+q.arg(to)+"::text[]) AS k (low, high)",
			"d.schema BETWEEN k.low AND k.high AND "+live)
	case selection.Buckets != nil:
		buckets := slices.Compact(slices.Sorted(slices.Values(selection.Buckets)))
		q.each("unnest("+q.arg(buckets)+"::text[]) b", "d.bucket = b AND "+live)
	case selection.Limit >= 0 && len(selection.Sort) == 0:
		q.add("(", selectVersion, " FROM documents d WHERE d.site = $1 AND ", live, " ORDER BY d.", q.order(selection),
			" LIMIT ", q.arg(selection.Offset+selection.Limit), ")")
	default:
		q.each("(SELECT bucket FROM buckets WHERE site = $1) b", "d.bucket = b.bucket AND "+live)
	}
	before, after := ancestors(revision)
	for _, closed := range []struct {
		nodes []int64
		valid string
	}{{before, "d.until > $2"}, {after, "d.since <= $2"}} {
		q.add(" UNION ALL ")
		q.each("s CROSS JOIN "+q.nodes(closed.nodes), "d.until IS NOT NULL AND d.fork = n AND "+closed.valid+where)
		q.add(closedOnly)
	}
}

// nodes is a table of nodes, as n.
func (q *statement) nodes(list []int64) string { return "unnest(" + q.arg(list) + "::bigint[]) n" }

// filters returns the conditions on documents, except on their names.
func (q *statement) filters(selection queries.Selection) string {
	var conditions strings.Builder
	and := func(parts ...string) {
		conditions.WriteString(" AND ")
		for _, part := range parts {
			conditions.WriteString(part)
		}
	}
	for _, filter := range []struct {
		column string
		values []string
	}{{"d.layer", selection.Layers}, {"d.bucket", selection.Buckets}} {
		if filter.values != nil {
			and(filter.column, " = ANY(", q.arg(filter.values), ")")
		}
	}
	if selection.Schemas != nil {
		and(q.schemas(selection.Schemas))
	}
	if selection.Abstract != nil {
		and("d.abstract = ANY(", q.arg(selection.Abstract), ")")
	}
	if selection.Labels != nil {
		and("d.labels @> ", q.arg(labels(selection.Labels)), "::jsonb")
	}
	if selection.Cleartext {
		and("NOT d.encrypted")
	}
	if selection.NoPolicy {
		and("d.schema NOT LIKE '", validations.PolicyPrefix, "%'")
	}
	return conditions.String()
}

// rangesOf returns ranges of schemas that do not overlap and contain all that any of the filters selects: see schemas.
// They may contain others.
func rangesOf(filters []string) (from, to []string) {
	type schemas struct{ low, high string }
	var ranges []schemas
	for _, schema := range filters {
		switch {
		case isFull(schema):
			ranges = append(ranges, schemas{schema, schema})
		case schema != "":
			ranges = append(ranges, schemas{schema + "/", schema + afterSlash})
		}
	}
	slices.SortFunc(ranges, func(a, b schemas) int {
		return cmp.Or(strings.Compare(a.low, b.low), strings.Compare(b.high, a.high))
	})
	for _, next := range ranges {
		if n := len(to); n == 0 || next.low > to[n-1] { // otherwise it is inside of the one before
			from, to = append(from, next.low), append(to, next.high)
		}
	}
	return orEmpty(from), orEmpty(to)
}

// afterSlash is the character after a slash.
const afterSlash = "0"

// isFull reports whether a schema has a namespace, a kind and a version.
func isFull(schema string) bool {
	const slashesOfSchema = 2
	return strings.Count(schema, "/") >= slashesOfSchema
}

// schemas asks for a full schema, or for a part of one that is a prefix up to a slash: a range, so that the index
// serves.
func (q *statement) schemas(schemas []string) string {
	full := []string{}
	var conditions []string
	for _, schema := range schemas {
		if isFull(schema) {
			full = append(full, schema)
		} else if schema != "" {
			conditions = append(conditions,
				"d.schema > "+q.arg(schema+"/")+" AND d.schema < "+q.arg(schema+afterSlash))
		}
	}
	conditions = append(conditions, "d.schema = ANY("+q.arg(full)+")")
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// labels returns the mapping that a document's labels must contain; nil, which nothing contains, if two contradict each
// other.
func labels(wanted []queries.Label) any {
	if len(wanted) == 0 {
		return nil
	}
	var mapping document.Mapping
	for _, label := range wanted {
		if known, given := mapping.Lookup(label.Key); given && known != label.Value {
			return nil // a label has one value
		}
		mapping = mapping.With(label.Key, label.Value)
	}
	return string(document.Canonical(mapping))
}

// documentColumn returns the column of a sort key.
func documentColumn(key queries.SortKey) string {
	switch key {
	case queries.ByNumber:
		return "id"
	case queries.ByTime, queries.ByRevision:
		return "since"
	case queries.BySchema:
		return "schema"
	case queries.ByName:
		return "name"
	case queries.ByLayer:
		return "layer"
	case queries.ByAbstract:
		return "abstract"
	case queries.ByBucket:
		return "bucket"
	}
	return "place"
}

// order returns the columns to sort by; documents that are equal in them keep their order in the revision.
func (q *statement) order(selection queries.Selection) string {
	if len(selection.Sort) == 0 && selection.Backwards {
		return "place DESC"
	}
	return strings.Join(append(sortColumns(selection), "place"), ", ")
}

// sortColumns returns the columns of the sort keys.
func sortColumns(selection queries.Selection) (columns []string) {
	direction := ""
	if selection.Backwards {
		direction = " DESC"
	}
	for _, key := range selection.Sort {
		columns = append(columns, documentColumn(key)+direction)
	}
	return columns
}
