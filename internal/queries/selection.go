package queries

// Selection filters and sorts the documents of a revision. A nil filter passes all documents; any other passes
// documents with one of its values, so an empty one passes none.
type Selection struct {
	Schemas   []string // full schemas, namespace/kind or namespace
	Names     []string
	Layers    []string
	Buckets   []string
	Abstract  []bool
	Labels    []Label // all of these
	Search    string  // text in the name, a label or a value; only for Documents
	Searched  int     // number of documents that earlier searches have looked at; only with Search
	NoPolicy  bool    // omit ValidationPolicies
	Cleartext bool    // omit encrypted documents; set by a View
	Sort      []SortKey
	Backwards bool
	MaxBytes  int  // only outline documents once those read exceed it; 0 for no limit
	Shared    bool // MaxBytes ignores cached documents, because the caller copies none of them
	// Among restricts a selection to so many of the documents that match, in the order in which they were added, after
	// Searched others; 0 does not.
	Among int
	Page
}

// IsWhole reports whether a selection, apart from its page, has all documents of a revision in their order.
func (s Selection) IsWhole() bool {
	return !s.restricts() && s.Abstract == nil && s.Search == "" && !s.Cleartext && !s.Backwards
}

// Label is a label with its value.
type Label struct{ Key, Value string }

// Query filters and sorts revisions.
type Query struct {
	Tags      []string // any of these; nil for all
	Sort      []SortKey
	Backwards bool
	Page
}

// Page is a part of a list.
type Page struct {
	Offset int
	Limit  int // negative for no limit
}

// SortKey is a property that a list can be sorted by.
type SortKey uint8

// The sort keys. All apply to documents, the first two also to revisions.
const (
	ByNumber SortKey = iota // the ID
	ByTime                  // of creation
	BySchema
	ByName
	ByLayer
	ByAbstract
	ByBucket
	ByRevision // in which the document was added
)

// restricts reports whether a selection, apart from its page, omits or reorders rendered documents.
func (s Selection) restricts() bool {
	return s.Schemas != nil || s.Names != nil || s.Layers != nil || s.Buckets != nil || s.Labels != nil || s.NoPolicy ||
		len(s.Sort) > 0
}
