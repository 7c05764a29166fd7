package api

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// defaultEntries is the number of revisions, or of entries of a validation, on a page if the parameter limit is not
// given.
const defaultEntries = 1000

// page returns the page of a list that always has pages.
func (q *params) page() queries.Page {
	const defaultLimit, maxLimit = 100, 1000
	page := queries.Page{Offset: q.count("offset", 0), Limit: q.count("limit", defaultLimit)}
	if page.Limit > maxLimit {
		q.fail("limit", "At most %d are shown at once.", maxLimit)
	}
	return page
}

// limit returns the absolute value of the parameter limit, -1 if it is absent.
func (q *params) limit() int {
	values, ok := q.values["limit"]
	if !ok {
		return -1
	}
	n, err := strconv.Atoi(values[0])
	if err != nil && !errors.Is(err, strconv.ErrRange) || len(values) > 1 {
		q.fail("limit", "Query parameter limit must be of type <class 'int'>, and given once.")
	}
	return min(max(n, -n), maxCount)
}

// sortKey is a sort key and its name in the API.
type sortKey struct {
	name string
	key  queries.SortKey
}

// sort returns the keys to sort by, the most significant first.
func (q *params) sort(allowed []sortKey) (keys []queries.SortKey) {
	for _, value := range q.texts("sort") {
		i := slices.IndexFunc(allowed, func(k sortKey) bool { return k.name == value })
		if i < 0 {
			var names []string
			for _, k := range allowed {
				names = append(names, k.name)
			}
			q.fail("sort", "One can sort by %s, but not by %q.", strings.Join(names, ", "), value)
			return nil
		}
		if key := allowed[i].key; !slices.Contains(keys, key) { // duplicates have no effect
			keys = append(keys, key)
		}
	}
	return keys
}

// backwards reports whether order is desc. Any other value means ascending.
func (q *params) backwards() bool {
	order := q.texts("order")
	return len(order) > 0 && order[0] == "desc"
}

// revisionKeys returns the keys that revisions can be sorted by.
func revisionKeys() []sortKey {
	return []sortKey{
		{"id", queries.ByNumber}, {"createdAt", queries.ByTime}, {"created_at", queries.ByTime},
	}
}

// documentKeys returns the keys that documents can be sorted by.
func documentKeys() []sortKey {
	return append(revisionKeys(),
		sortKey{"schema", queries.BySchema}, sortKey{"metadata.name", queries.ByName}, sortKey{"name", queries.ByName},
		sortKey{"metadata.layeringDefinition.layer", queries.ByLayer}, sortKey{"layer", queries.ByLayer},
		sortKey{"metadata.layeringDefinition.abstract", queries.ByAbstract},
		sortKey{"status.bucket", queries.ByBucket}, sortKey{"bucket_name", queries.ByBucket},
		sortKey{"status.revision", queries.ByRevision},
	)
}

// selection reads the filters, order and page of a list of documents.
func (q *params) selection(compat bool) queries.Selection {
	selection := queries.Selection{
		Schemas: q.texts("schema"), Names: q.texts("metadata.name"), Buckets: q.texts("status.bucket"),
		Layers: nonEmpty(q.texts("metadata.layeringDefinition.layer")), Labels: parseLabels(q.texts("metadata.label")),
		Abstract: parseBooleans(q.texts("metadata.layeringDefinition.abstract")), NoPolicy: compat,
		Sort: q.sort(documentKeys()), Backwards: q.backwards(), Page: queries.Page{Limit: q.limit()},
	}
	if !compat {
		selection.Offset, selection.Search = q.count("offset", 0), q.text(searchParameter)
		selection.Searched = q.count("searched", 0)
		if selection.Searched > 0 && selection.Search == "" {
			q.fail("searched", "It needs a search.")
		}
	}
	return selection
}

// nonEmpty returns the values that are not empty. Documents without a layer cannot be selected by layer.
func nonEmpty(values []string) []string {
	if values == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool { return value == "" })
}

// parseLabels parses values of the form key=value and ignores others.
func parseLabels(values []string) []queries.Label {
	if values == nil {
		return nil
	}
	labels := []queries.Label{}
	for _, value := range values {
		if parts := strings.Split(value, "="); len(parts) > 1 {
			labels = append(labels, queries.Label{Key: parts[0], Value: parts[1]})
		}
	}
	return labels
}

// parseBooleans parses true and false in any case and ignores other values.
func parseBooleans(values []string) []bool {
	if values == nil {
		return nil
	}
	booleans := []bool{}
	for _, value := range values {
		switch strings.ToLower(value) {
		case "true":
			booleans = append(booleans, true)
		case "false":
			booleans = append(booleans, false)
		}
	}
	return booleans
}

// revisions reads the filters, order and page of a list of revisions. Deckhand has no pages.
func (q *params) revisions(compat bool) queries.Query {
	query := queries.Query{
		Tags: q.texts("tag"), Sort: q.sort(revisionKeys()), Page: queries.Page{Limit: -1},
	}
	query.Backwards = q.backwards() && len(query.Sort) > 0
	if source := q.text("source"); !compat && source != "" {
		query.Source, query.Commit = q.source(source)
	}
	if !compat {
		query.Offset, query.Limit = q.count("offset", 0), q.count("limit", defaultEntries)
	}
	return query
}

// source parses the URL of a commit, or the id of one.
func (q *params) source(text string) (source revisions.Source, commit string) {
	if id, ok := revisions.ParseCommit(text); ok {
		return "", id
	}
	source, err := revisions.ParseSource(text)
	if err != nil {
		q.fail("source", "It must be %s, or the id of one, of at least 7 hexadecimal digits: %w.", commitURL, err)
	}
	return source, ""
}

// bucketNames reads the buckets that a change set replaces even if it has no documents for them. A value may list
// several names, separated by commas.
func (q *params) bucketNames() (names []string) {
	for _, value := range q.texts("buckets") {
		for name := range strings.SplitSeq(value, ",") {
			if len(names) == maxValues {
				q.fail("buckets", "It names more than %d buckets.", maxValues)
				return nil
			}
			if err := validations.CheckName(name, "A name in it"); err != nil {
				q.fail("buckets", "%w", err)
			}
			names = append(names, name)
		}
	}
	return names
}
