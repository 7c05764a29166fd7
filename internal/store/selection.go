package store

import (
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// statement is SQL on its way, with its arguments.
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

// ofRevision selects documents of a revision. Only what is wanted in the end is joined with its content.
func (s *Store) ofRevision(revision int64, selection revisions.Selection) *statement {
	q := &statement{}
	site, at := q.arg(s.site), q.arg(revision)
	before, after := ancestors(revision)
	nodesBefore, nodesAfter := q.arg(before), q.arg(after)
	where := q.filters(selection)
	order := q.order(selection)
	arm := func(parts ...string) {
		q.add("SELECT ", documentColumns, ", d.abstract, d.site FROM documents d ")
		q.add(parts...)
		q.add(where)
	}
	q.add("SELECT ", documentColumns, ", c.body FROM (")
	// The versions that are live since before the revision: by name or schema, or else bucket by bucket.
	byBucket := " JOIN buckets b ON b.site = d.site AND b.bucket = d.bucket"
	if selection.Names != nil || selection.Schemas != nil {
		byBucket = ""
	}
	arm(byBucket, " WHERE d.site = ", site, " AND d.until IS NULL AND d.since <= ", at)
	// The closed ones at the revision's nodes, of which those beyond the newest revision are empty.
	q.add(" UNION ALL ")
	arm("WHERE d.site = ", site, " AND d.until IS NOT NULL AND d.fork = ANY(", nodesBefore, ") AND d.until > ", at)
	q.add(" UNION ALL ")
	arm("WHERE d.site = ", site, " AND d.until IS NOT NULL AND d.fork = ANY(ARRAY(SELECT n FROM unnest(", nodesAfter,
		"::bigint[]) n WHERE n <= (SELECT head FROM sites WHERE site = ", site, "))) AND d.since <= ", at)
	q.add(" ORDER BY ", order)
	if selection.Limit >= 0 {
		q.add(" LIMIT ", q.arg(selection.Limit))
	}
	q.add(" OFFSET ", q.arg(selection.Offset))
	q.add(") d JOIN contents c ON c.site = d.site AND c.digest = d.content ORDER BY ", order)
	return q
}

// filters gives the conditions on documents (spec/api.md §5.2).
func (q *statement) filters(selection revisions.Selection) string {
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
	}{{"d.name", selection.Names}, {"d.layer", selection.Layers}, {"d.bucket", selection.Buckets}} {
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
	if selection.NoPolicy {
		and("d.schema NOT LIKE '", validations.PolicyPrefix, "%'")
	}
	return conditions.String()
}

// schemas asks for a full schema, or for a part of one that is a prefix up to a slash: a range, so that the index
// serves.
func (q *statement) schemas(schemas []string) string {
	const slashesOfSchema, afterSlash = 2, "0" // which is the next character
	full := []string{}
	var conditions []string
	for _, schema := range schemas {
		if strings.Count(schema, "/") >= slashesOfSchema {
			full = append(full, schema)
		} else if schema != "" {
			conditions = append(conditions,
				"d.schema > "+q.arg(schema+"/")+" AND d.schema < "+q.arg(schema+afterSlash))
		}
	}
	conditions = append(conditions, "d.schema = ANY("+q.arg(full)+")")
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// labels writes what the labels of a document must contain, nothing that could for no label at all.
func labels(wanted []revisions.Label) any {
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

// documentColumn is the column that a sort key stands for.
func documentColumn(key revisions.SortKey) string {
	switch key {
	case revisions.ByNumber:
		return "id"
	case revisions.ByTime, revisions.ByRevision:
		return "since"
	case revisions.BySchema:
		return "schema"
	case revisions.ByName:
		return "name"
	case revisions.ByLayer:
		return "layer"
	case revisions.ByAbstract:
		return "abstract"
	case revisions.ByBucket:
		return "bucket"
	}
	return "place"
}

// order gives the columns to sort by; documents that are equal in them keep their order in the revision.
func (q *statement) order(selection revisions.Selection) string {
	direction := ""
	if selection.Backwards {
		direction = " DESC"
	}
	if len(selection.Sort) == 0 {
		return "place" + direction
	}
	var columns []string
	for _, key := range selection.Sort {
		columns = append(columns, documentColumn(key)+direction)
	}
	return strings.Join(append(columns, "place"), ", ")
}
