package api

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"purser/internal/fault"
	"purser/internal/queries"
)

// query reads the parameters of a request. The first one that is wrong is the fault; parameters that nothing asks for
// are ignored, as the reference does.
type query struct {
	values url.Values
	fault  *fault.Fault
}

func readQuery(r *http.Request) *query {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.fault = fault.New(fault.Invalid, "HTTPBadRequest", "The query of the URL cannot be read: %w", err)
	}
	return q
}

func (q *query) fail(parameter, what string, args ...any) {
	if q.fault == nil {
		q.fault = fault.New(fault.Invalid, "HTTPInvalidParam", `The "`+parameter+`" parameter is invalid. `+what, args...)
	}
}

// error is the fault, if there is one.
func (q *query) error() error {
	if q.fault == nil {
		return nil
	}
	return q.fault
}

// mostValues is how many values a parameter may have.
const mostValues = 500

// texts returns the values of a parameter, nil if it is not there.
func (q *query) texts(parameter string) []string {
	values := q.values[parameter]
	if len(values) > mostValues {
		q.fail(parameter, "It has %d values, but at most %d are allowed.", len(values), mostValues)
		return nil
	}
	for _, value := range values {
		switch {
		case !utf8.ValidString(value):
			q.fail(parameter, "A value of it is no UTF-8 text.")
		case strings.ContainsRune(value, 0):
			q.fail(parameter, "A value of it holds a NUL character.")
		default:
			continue
		}
		return nil
	}
	return values
}

// text returns the only value of a parameter, which is empty if it is not there.
func (q *query) text(parameter string) string {
	values := q.texts(parameter)
	if len(values) == 0 {
		return ""
	}
	if len(values) > 1 {
		q.fail(parameter, "It may be given only once.")
	}
	return values[0]
}

// count reads a whole number that is not negative.
func (q *query) count(parameter string, absent int) int {
	values, given := q.values[parameter]
	if !given {
		return absent
	}
	n, err := strconv.Atoi(values[0])
	if err != nil || n < 0 || len(values) > 1 {
		q.fail(parameter, "It must be given once, as a whole number that is not negative.")
	}
	return min(n, farthest)
}

// farthest is more than there can be of anything, and no sum with it overflows.
const farthest = 1 << 40

// limit reads how many documents are wanted, whatever the sign (spec/api.md §5.2); -1 if that is not said.
func (q *query) limit() int {
	values, given := q.values["limit"]
	if !given {
		return -1
	}
	n, err := strconv.Atoi(values[0])
	if err != nil && !errors.Is(err, strconv.ErrRange) || len(values) > 1 {
		q.fail("limit", "Query parameter limit must be of type <class 'int'>, and given once.")
	}
	return min(max(n, -n), farthest)
}

// flag reads a boolean in the words that the reference knows; the bare parameter is true.
func (q *query) flag(parameter string, absent bool) bool {
	values, given := q.values[parameter]
	switch {
	case !given:
		return absent
	case len(values) > 1:
	case slices.Contains([]string{"", "true", "True", "t", "yes", "y", "1", "on"}, values[0]):
		return true
	case slices.Contains([]string{"false", "False", "f", "no", "n", "0", "off"}, values[0]):
		return false
	}
	q.fail(parameter, `The value of the parameter must be "true" or "false".`)
	return false
}

// sortKey is a sort key with the names that it goes by.
type sortKey struct {
	name string
	key  queries.SortKey
}

// sort reads the keys to sort by, the most significant first.
func (q *query) sort(known []sortKey) (keys []queries.SortKey) {
	for _, value := range q.texts("sort") {
		i := slices.IndexFunc(known, func(k sortKey) bool { return k.name == value })
		if i < 0 {
			var names []string
			for _, k := range known {
				names = append(names, k.name)
			}
			q.fail("sort", "One can sort by %s, but not by %q.", strings.Join(names, ", "), value)
			return nil
		}
		if key := known[i].key; !slices.Contains(keys, key) { // what is sorted already is not sorted again
			keys = append(keys, key)
		}
	}
	return keys
}

// backwards tells whether the order is to be a descending one; any word but desc is ascending.
func (q *query) backwards() bool {
	order := q.texts("order")
	return len(order) > 0 && order[0] == "desc"
}

// revisionKeys are what revisions can be sorted by.
func revisionKeys() []sortKey {
	return []sortKey{
		{"id", queries.ByNumber}, {"createdAt", queries.ByTime}, {"created_at", queries.ByTime},
	}
}

// documentKeys are what documents can be sorted by.
func documentKeys() []sortKey {
	return append(revisionKeys(),
		sortKey{"schema", queries.BySchema}, sortKey{"metadata.name", queries.ByName}, sortKey{"name", queries.ByName},
		sortKey{"metadata.layeringDefinition.layer", queries.ByLayer}, sortKey{"layer", queries.ByLayer},
		sortKey{"metadata.layeringDefinition.abstract", queries.ByAbstract},
		sortKey{"status.bucket", queries.ByBucket}, sortKey{"bucket_name", queries.ByBucket},
		sortKey{"status.revision", queries.ByRevision},
	)
}

// selection reads which documents of a revision are wanted (spec/api.md §5.2).
func (s *server) selection(q *query) queries.Selection {
	selection := queries.Selection{
		Schemas: q.texts("schema"), Names: q.texts("metadata.name"), Buckets: q.texts("status.bucket"),
		Layers: given(q.texts("metadata.layeringDefinition.layer")), Labels: labels(q.texts("metadata.label")),
		Abstract: booleans(q.texts("metadata.layeringDefinition.abstract")), NoPolicy: s.Compat,
		Sort: q.sort(documentKeys()), Backwards: q.backwards(), Page: queries.Page{Limit: q.limit()},
	}
	if !s.Compat {
		selection.Offset = q.count("offset", 0)
	}
	selection.Redacted = !q.flag("cleartext-secrets", true)
	return selection
}

// given leaves out empty values, which are no layer; a document without a layer has none that one could ask for.
func given(values []string) []string {
	if values == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool { return value == "" })
}

// labels reads k=v; what has no value is no label.
func labels(values []string) []queries.Label {
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

// booleans reads true and false in any letter case, and nothing else.
func booleans(values []string) []bool {
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

// revisionQuery reads which revisions are wanted (spec/api.md §4.1). limit and offset are not the reference's (§0 C5).
func (s *server) revisionQuery(q *query) queries.Query {
	query := queries.Query{
		Tags: q.texts("tag"), Sort: q.sort(revisionKeys()), Page: queries.Page{Limit: -1},
	}
	query.Backwards = q.backwards() && len(query.Sort) > 0
	if !s.Compat {
		query.Offset, query.Limit = q.count("offset", 0), q.count("limit", -1)
	}
	return query
}
