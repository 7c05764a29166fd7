package api

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/words"
)

// checkQuery refuses parameters that a route does not know: they may be misspelt, and the request would not do what
// the caller meant. With Compat, GET ignores them like the reference (spec/api.md §0 D21).
func (s *server) checkQuery(r *http.Request, known []string) error {
	q := readQuery(r)
	if !s.Compat || !isReading(r.Method) {
		for _, parameter := range slices.Sorted(maps.Keys(q.values)) {
			if !slices.Contains(known, parameter) {
				q.fail(parameter, "%s", unknownParameter(parameter, known))
			}
		}
	}
	if slices.Contains(known, cleartextSecrets) {
		q.flag(cleartextSecrets, true) // read by viewerOf
	}
	return q.error()
}

// unknownParameter suggests alternatives to an unknown parameter.
func unknownParameter(parameter string, known []string) string {
	if len(known) == 0 {
		return "This endpoint has no parameters."
	}
	if nearest := words.Nearest(parameter, known); nearest != "" {
		return fmt.Sprintf("This endpoint has no parameter of that name; did you mean %q?", nearest)
	}
	return "This endpoint has no parameter of that name; it has " + strings.Join(known, ", ") + "."
}

// cleartextSecrets is the parameter that selects hashes instead of secrets.
const cleartextSecrets = "cleartext-secrets"

// query reads the query parameters of a request and keeps the first fault.
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
		q.fault = fault.New(fault.Invalid, "HTTPInvalidParam", `The %q parameter is invalid. `+what,
			append([]any{revisions.Truncate(parameter)}, args...)...)
	}
}

// error returns the first fault, or nil.
func (q *query) error() error {
	if q.fault == nil {
		return nil
	}
	return q.fault
}

// maxParameterValues bounds the values of one parameter.
const maxParameterValues = 500

// texts returns all values of a parameter, nil if it is absent.
func (q *query) texts(parameter string) []string {
	values := q.values[parameter]
	if len(values) > maxParameterValues {
		q.fail(parameter, "It has %d values, but at most %d are allowed.", len(values), maxParameterValues)
		return nil
	}
	for _, value := range values {
		switch {
		case !utf8.ValidString(value):
			q.fail(parameter, "One of its values is not valid UTF-8.")
		case strings.ContainsRune(value, 0):
			q.fail(parameter, "A value of it holds a NUL character.")
		default:
			continue
		}
		return nil
	}
	return values
}

// text returns the value of a parameter that may be given once, "" if it is absent.
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

// count returns the value of a parameter as a number of at least 0.
func (q *query) count(parameter string, absent int) int {
	values, ok := q.values[parameter]
	if !ok {
		return absent
	}
	n, err := strconv.Atoi(values[0])
	if err != nil || n < 0 || len(values) > 1 {
		q.fail(parameter, "It must be given once, as a whole number that is not negative.")
	}
	return min(n, maxCount)
}

// maxCount bounds all numbers in parameters. No real count is as large, and sums with it do not overflow.
const maxCount = 1 << 40

// page returns the page of a list that always has pages.
func (q *query) page() queries.Page {
	const defaultLimit, maxLimit = 100, 1000
	page := queries.Page{Offset: q.count("offset", 0), Limit: q.count("limit", defaultLimit)}
	if page.Limit > maxLimit {
		q.fail("limit", "At most %d are shown at once.", maxLimit)
	}
	return page
}

// limit returns the absolute value of the parameter limit (spec/api.md §5.2), -1 if it is absent.
func (q *query) limit() int {
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

// flag returns the value of a parameter as a boolean, in the words that the reference accepts. An empty value is true.
func (q *query) flag(parameter string, absent bool) bool {
	values, ok := q.values[parameter]
	switch {
	case !ok:
		return absent
	case len(values) > 1:
		q.fail(parameter, "It must be given once.")
		return false
	case slices.Contains([]string{"", "true", "True", "t", "yes", "y", "1", "on"}, values[0]):
		return true
	case slices.Contains([]string{"false", "False", "f", "no", "n", "0", "off"}, values[0]):
		return false
	}
	q.fail(parameter, `The value of the parameter must be "true" or "false".`)
	return false
}

// sortKey is a sort key and its name in the API.
type sortKey struct {
	name string
	key  queries.SortKey
}

// sort returns the keys to sort by, the most significant first.
func (q *query) sort(allowed []sortKey) (keys []queries.SortKey) {
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
func (q *query) backwards() bool {
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

// selection reads the filters, order and page of a list of documents (spec/api.md §5.2).
func (s *server) selection(q *query) queries.Selection {
	selection := queries.Selection{
		Schemas: q.texts("schema"), Names: q.texts("metadata.name"), Buckets: q.texts("status.bucket"),
		Layers: nonEmpty(q.texts("metadata.layeringDefinition.layer")), Labels: labels(q.texts("metadata.label")),
		Abstract: booleans(q.texts("metadata.layeringDefinition.abstract")), NoPolicy: s.Compat,
		Sort: q.sort(documentKeys()), Backwards: q.backwards(), Page: queries.Page{Limit: q.limit()},
	}
	if !s.Compat {
		selection.Offset = q.count("offset", 0)
	}
	return selection
}

// search returns the text to search documents for, "" if the parameter is absent.
func (q *query) search() string {
	text := q.text(searchParameter)
	if _, given := q.values[searchParameter]; given && text == "" {
		q.fail(searchParameter, "It must not be empty.")
	}
	return text
}

// nonEmpty returns the values that are not empty. Documents without a layer cannot be selected by layer.
func nonEmpty(values []string) []string {
	if values == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool { return value == "" })
}

// labels parses values of the form key=value and ignores others.
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

// booleans parses true and false in any case and ignores other values.
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

// revisionQuery reads the filters, order and page of a list of revisions (spec/api.md §4.1). The reference has no pages
// (§0 C5).
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
