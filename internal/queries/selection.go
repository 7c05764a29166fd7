package queries

// Selection restricts the documents of a revision, and orders them (spec/api.md §5.2). A filter that is nil does not
// restrict; a document passes any other if it has one of its values, so none passes an empty one.
type Selection struct {
	Schemas   []string // full schemas, namespace/kind or namespace
	Names     []string
	Layers    []string
	Buckets   []string
	Abstract  []bool
	Labels    []Label // all of these
	Search    string  // a text in the name, a label or a value; of Documents only
	NoPolicy  bool    // leave ValidationPolicies out
	Cleartext bool    // leave encrypted documents out; a View sets it
	Sort      []SortKey
	Backwards bool
	MaxBytes  int  // outline the documents from the one on with which those that are read are larger; 0 is no limit
	Shared    bool // MaxBytes does not count documents that are in memory already, as the caller copies none of them
	Page
}

// IsWhole reports whether a selection takes all documents of a revision in their order, apart from its page.
func (s Selection) IsWhole() bool {
	return !s.restricts() && s.Abstract == nil && s.Search == "" && !s.Cleartext && !s.Backwards
}

// Label is a label with its value.
type Label struct{ Key, Value string }

// Query restricts revisions, and orders them (spec/api.md §4.1).
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

// The sort keys; documents know all of them, revisions the first two.
const (
	ByNumber SortKey = iota // the id
	ByTime                  // of creation
	BySchema
	ByName
	ByLayer
	ByAbstract
	ByBucket
	ByRevision // in which the document was added
)

// restricts reports whether a selection leaves out or reorders rendered documents, apart from its page.
func (s Selection) restricts() bool {
	return s.Schemas != nil || s.Names != nil || s.Layers != nil || s.Buckets != nil || s.Labels != nil || s.NoPolicy ||
		len(s.Sort) > 0
}
