package queries

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Level is the severity of a finding.
type Level uint8

// The levels, from the most severe.
const (
	LevelError   Level = iota // it fails the revision
	LevelWarning              // its validation fails but does not count, or it is a likely mistake that fails nothing
	LevelInfo                 // it fails nothing
)

// String returns the word that the API uses.
func (l Level) String() string { return [...]string{"error", "warning", "info"}[l] }

// Finding is one problem of a revision.
type Finding struct {
	Level      Level
	Validation string
	Document   document.Identity // zero if it is not about one document
	Others     []Located         // the other documents of a substitution cycle
	Bucket     string            // of the document; empty if unknown
	Path       string            // in the document, such as .data.a; empty if unknown
	Rule       string            // the broken rule: a path in the schema, or the type of an error
	Message    string
	Value      json.RawMessage // the current value; nil if it is secret, large or unknown
	Advice     string          // what to do
	Hint       string          // a guess at what was meant, repeated in Advice; empty if there is none
	Causes     []validations.Cause
	Secret     bool // the details are hidden from the viewer
	Mistake    bool // a likely mistake, which fails nothing
	Unlisted   int  // if not 0, it stands for this number of errors that its validation does not list
	// At is in the file, if it is known, otherwise in the body of the change that was made; zero if unknown. For a value
	// that another document has, such as a parent, they are those of that document.
	At   document.Position
	File string // its path, as it was pushed; "" if unknown
}

// Located is another document that a finding is about, with its position in the body of the change that was made; zero
// if unknown.
type Located struct {
	document.Identity

	At document.Position
}

// FindingsQuery restricts findings. Empty fields do not restrict.
type FindingsQuery struct {
	Validation string
	Document   string // its name, schema/name or schema/layer/name
	Level      string
	Limit      int // maximum number
	After      FindingPlace
	// FailuresOnly omits likely mistakes, which fail nothing.
	FailuresOnly bool
	Text         string // in the name of the document, the path or the message, in any case
	Cause        string // the ID of a Cause
	Order        Order
}

// narrow reports whether the query asks for some findings only, or for another order, so that more documents have to be
// examined than findings are listed.
func (q FindingsQuery) narrow() bool {
	return q.Validation+q.Document+q.Level+q.Text+q.Cause != "" || q.Order != WorstFirst
}

// Order is the order of listed findings.
type Order uint8

// The orders.
const (
	WorstFirst Order = iota
	ByDocument       // by schema, layer and name
	ByPath           // in the documents
)

// compare returns how an order ranks two findings; equal ones come in the order WorstFirst.
func (o Order) compare(a, b *Finding) int {
	switch o {
	case ByDocument:
		return compareIdentities(a.Document, b.Document)
	case ByPath:
		return cmp.Compare(a.Path, b.Path)
	case WorstFirst:
	}
	return 0
}

func compareIdentities(a, b document.Identity) int {
	return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Name, b.Name))
}

// FindingPlace is a place in the findings of a revision, the beginning if it is zero. Failing documents are examined in
// windows; all other findings are in the first one.
type FindingPlace struct {
	From   int // the first entry of the schema validation in the window
	Size   int // how many failing documents the window has
	Offset int // how many findings of the window come before
	// Omits is set if windows before have findings that no page lists.
	Omits bool
}

// FindingList holds the problems of a revision, the most severe first, and missing results after failures. Of equally
// severe ones, those come first that may cause others: those about no document, or about one that governs others. Those
// of one document are adjacent.
type FindingList struct {
	revisions.RevisionStatus
	Counts

	Findings []Finding
	Next     FindingPlace // where the list continues; zero if it is complete
}

// OfPreview returns the problems of the revision that a previewed change would make.
func OfPreview(preview *changes.Preview, query FindingsQuery) FindingList {
	judged := withFindingsIn(preview.Verdict)
	var all, warnings []Finding
	for _, of := range preview.Findings {
		all = append(all, judged.ofDocument(of.About, of.Errors)...)
		warnings = append(warnings, strayFindings(of.About, of.Notes)...)
	}
	errs := map[string][]json.RawMessage{}
	for _, result := range preview.Results {
		if judged.by[result.Name].Status == validations.Failure {
			errs[result.Name] = errorsOf(result.Result)
		}
		warnings = append(warnings, warningFindings(result.Name, result.Warnings)...)
	}
	uncovered, more := ofUncovered(preview.Uncovered)
	all = slices.Concat(all, judged.ofResults(errs), warnings, uncovered)
	return chooseFindings(preview.RevisionStatus, all, more, query)
}

// chooseFindings returns the findings about a revision that match a query, and their numbers; more reports whether
// there are others than all. It reorders all.
func chooseFindings(about revisions.RevisionStatus, all []Finding, more bool, query FindingsQuery) FindingList {
	query.Text = strings.ToLower(query.Text)
	fails := map[findingKey]bool{} // whichever validations are asked for
	for _, f := range all {
		if !f.Mistake {
			fails[f.keyWithoutPath()] = true
		}
	}
	all = slices.DeleteFunc(all, func(f Finding) bool {
		return f.Mistake && fails[f.keyWithoutPath()] || !query.asksFor(f)
	})
	unselected := func(f Finding) bool { return !query.selects(f) }
	more = more || query.Text+query.Cause != "" && slices.ContainsFunc(all, func(f Finding) bool { return f.Unlisted > 0 })
	different := slices.Clone(all)
	slices.SortStableFunc(different, func(a, b Finding) int { return cmp.Compare(a.Level, b.Level) })
	different = slices.DeleteFunc(withoutRepeated(different), unselected)
	all = slices.DeleteFunc(all, unselected)
	list := FindingList{RevisionStatus: about, Counts: count(all, different, query, more)}
	different = slices.DeleteFunc(different, func(f Finding) bool { return f.Unlisted > 0 || !query.asksForLevel(f) })
	slices.SortStableFunc(different, func(a, b Finding) int {
		return cmp.Or(query.Order.compare(&a, &b), a.compareRank(&b), cmp.Compare(a.reach(), b.reach()),
			ByDocument.compare(&a, &b))
	})
	rest := different[min(len(different), query.After.Offset):]
	list.Findings = rest[:min(len(rest), query.Limit)]
	size := 0
	for i := range list.Findings {
		if size += list.Findings[i].size(); size > maxBytes && i > 0 {
			list.Findings = list.Findings[:i]
			break
		}
	}
	if shown := len(list.Findings); shown > 0 && shown < len(rest) {
		list.Next = query.After
		list.Next.Offset += shown
	}
	return list
}

// maxBytes bounds the findings of a list.
const maxBytes = 4 << 20

// size returns about how many bytes a finding takes as JSON text.
func (f *Finding) size() int {
	const keys, other = 400, 200
	e := validations.Error{Message: f.Message, Path: f.Path, SchemaPath: f.Rule, Hint: f.Advice, Causes: f.Causes}
	return keys + e.Size() + len(f.Value) + len(f.Others)*other
}

// With returns the list with further likely mistakes about the same revision.
func (l FindingList) With(mistakes []Finding, query FindingsQuery) FindingList {
	known := map[findingKey]bool{}
	for _, f := range l.Findings {
		known[f.key()] = true
	}
	further := slices.DeleteFunc(slices.Clone(mistakes), func(f Finding) bool { return known[f.key()] })
	switch {
	case len(further) == 0:
		return l
	case l.Total > len(l.Findings): // those that are not listed may be the same
		l.More = true
		return l
	}
	list := chooseFindings(l.RevisionStatus, slices.Concat(l.Findings, further), l.More, query)
	list.Next = FindingPlace{}           // mistakes are in no page
	list.Numbers = maps.Clone(l.Numbers) // findings that several validations report are listed once
	for of, number := range numbers(further, l.More) {
		before := list.Numbers[of]
		number.Findings, number.Documents = number.Findings+before.Findings, number.Documents+before.Documents
		list.Numbers[of] = number
	}
	return list
}

// Said returns the message for people: it leaves out a long pattern that a short value does not match.
func (f *Finding) Said() string {
	const most = 120
	var value string
	if len(f.Message) <= most || !strings.HasSuffix(f.Rule, ".pattern") || json.Unmarshal(f.Value, &value) != nil {
		return f.Message
	}
	return string(document.AppendQuoted(nil, value, most)) + " does not match the pattern of its schema"
}

// compareRank orders findings by their severity, those of results that are missing or expired after failures.
func (f *Finding) compareRank(other *Finding) int {
	lacking := func(f *Finding) int {
		if f.Rule == ruleMissing || f.Rule == ruleExpired {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(f.Level, other.Level), cmp.Compare(lacking(f), lacking(other)))
}

// reach orders equally severe findings, those first that may cause others: 0 is about no document, 1 about one that
// governs others, and 2 about any other.
func (f *Finding) reach() int {
	kind, known := strings.CutPrefix(f.Document.Schema, "deckhand/")
	kind, _, _ = strings.Cut(kind, "/")
	switch {
	case f.Document == (document.Identity{}):
		return 0
	case known && slices.Contains([]string{"LayeringPolicy", "DataSchema", "ValidationPolicy"}, kind):
		return 1
	}
	return 2
}

// findingKey identifies repeated findings.
type findingKey struct {
	document.Identity

	message, path string
}

func (f *Finding) key() findingKey { return findingKey{f.Document, f.Message, f.Path} }

// keyWithoutPath is key regardless of the path.
func (f *Finding) keyWithoutPath() findingKey { return findingKey{f.Document, f.Message, ""} }

// isOfRevision reports whether a finding is an error that one of the server's own validations found in the documents.
func (f *Finding) isOfRevision() bool {
	return isOfRevision(f.Validation) && !slices.Contains([]string{"", ruleMissing, ruleExpired, ruleUnexplained}, f.Rule)
}

// withoutRepeated removes findings that repeat the document and message of an earlier one, with the same path or none,
// because the rendering validation repeats findings of the schema validation and, about no document, of the policy
// validation.
func withoutRepeated(all []Finding) []Finding {
	by := map[findingKey]string{} // the validation that reported it first
	return slices.DeleteFunc(all, func(f Finding) bool {
		aboutNone := f.Document == (document.Identity{}) && !f.Secret
		if aboutNone && !f.isOfRevision() || f.Unlisted > 0 { // or they are listed elsewhere
			return false
		}
		key := f.key()
		first, known := by[key]
		if known && (f.Path == "" && !aboutNone || first != f.Validation) {
			return true
		}
		if !known {
			by[key] = f.Validation
		}
		by[f.keyWithoutPath()] = f.Validation
		return false
	})
}

// asksForLevel reports whether the query asks for findings of a finding's level.
func (q FindingsQuery) asksForLevel(f Finding) bool {
	return q.Level == "" || q.Level == f.Level.String()
}

// selects reports whether a finding has the text, in lower case, and the cause of the query. Of errors that a
// validation does not list, neither is known.
func (q FindingsQuery) selects(f Finding) bool {
	if q.Text+q.Cause == "" {
		return true
	}
	if f.Unlisted > 0 || q.Cause != "" && q.Cause != f.kind().id() {
		return false
	}
	schema, name := f.Document.Schema, f.Document.Name
	about := strings.Join([]string{
		schema + "/" + name, schema + " " + name, schema + "/" + f.Document.Layer + "/" + name, f.Path, f.Message,
	}, "\n")
	return strings.Contains(strings.ToLower(about), q.Text)
}

// asksFor reports whether a finding matches the query, whatever its level. That a validation only fails together with
// another one is a finding if it alone is asked for; else the findings of the other one say why.
func (q FindingsQuery) asksFor(f Finding) bool {
	if f.Message == validations.Joined && validations.IsOwn(f.Validation) && q.Validation == "" {
		return false
	}
	return (q.Validation == "" || q.Validation == f.Validation) &&
		(q.Document == "" || isNamed(f.Document, q.Document))
}

// isNamed reports whether a text is the name, schema/name or schema/layer/name of a document.
func isNamed(id document.Identity, text string) bool {
	return slices.Contains([]string{id.Name, id.Schema + "/" + id.Name, id.Schema + "/" + id.Layer + "/" + id.Name}, text)
}
