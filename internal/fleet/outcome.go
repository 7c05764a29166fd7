package fleet

import (
	"cmp"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/wire"
)

// Kind is what a push does to a site, or would do. Kinds are in the order in which they are shown.
type Kind string

// The kinds of outcomes.
const (
	Unchanged Kind = "unchanged"  // it has the documents already
	Stays     Kind = "success"    // it changes, and was and is a success
	Mended    Kind = "mended"     // it changes, and becomes a success
	Waits     Kind = "waiting"    // it changes, and is none until results are posted
	Failing   Kind = "failing"    // it changes, and fails as it did before, for other reasons
	Fails     Kind = "would-fail" // it begins to fail
	Refused   Kind = "refused"
	Unasked   Kind = "unasked" // the server did not answer
)

// Kinds returns all kinds in their order.
func Kinds() []Kind { return []Kind{Unchanged, Stays, Mended, Waits, Failing, Fails, Refused, Unasked} }

// Stops reports whether a site of the kind is not changed, and counts as a failure of the push.
func (k Kind) Stops() bool { return k == Fails || k == Refused || k == Unasked }

// Outcome is what a push does to one site, or would do, with the lines of the verdict that say why.
type Outcome struct {
	Kind  Kind
	Lines []Line // no two of them have the same key; in the order of keys
}

// Line is a line about an outcome. The name of the document that it is about does not tell outcomes apart.
type Line struct {
	About string `json:"about,omitempty"` // the schema and layer of a document, in brackets
	Name  string `json:"name,omitempty"`  // of that document
	Text  string `json:"text"`
}

// several is the name of documents of different names.
const several = "…"

// String returns the line.
func (l Line) String() string {
	subject := strings.TrimSpace(l.About + " " + l.Name)
	if strings.HasPrefix(l.Text, ":") { // it is about the whole document
		return subject + l.Text
	}
	return strings.TrimSpace(subject + " " + l.Text)
}

// key returns the line without the name of the document.
func (l Line) key() Line {
	if l.Name == "" || l.Name == several {
		return Line{About: l.About, Text: l.Text}
	}
	return Line{About: l.About, Text: withoutWord(l.Text, l.Name)}
}

// with returns the line of two whose keys are the same.
func (l Line) with(other Line) Line {
	if l.Name == other.Name {
		return l
	}
	key := l.key()
	return Line{key.About, several, key.Text}
}

// NewOutcome returns an outcome with lines, of which those that differ only in the name of a document are one.
func NewOutcome(kind Kind, lines ...Line) Outcome {
	o, at := Outcome{Kind: kind}, map[Line]int{}
	for _, line := range lines {
		key := line.key()
		if i, known := at[key]; known {
			o.Lines[i] = o.Lines[i].with(line)
			continue
		}
		at[key] = len(o.Lines)
		o.Lines = append(o.Lines, line)
	}
	slices.SortFunc(o.Lines, func(a, b Line) int {
		a, b = a.key(), b.key()
		return cmp.Or(cmp.Compare(a.About, b.About), cmp.Compare(a.Text, b.Text))
	})
	return o
}

// Before is what is known of a site before a change.
type Before struct {
	Status  string        // of the newest revision: success or failure; "" if there is none
	Verdict *wire.Verdict // on it; nil if it was not asked for
}

// NeedsVerdict reports whether Judge needs the verdict on the newest revision: the site fails and would fail, and no
// document is known to begin to.
func NeedsVerdict(after wire.Preview[wire.Finding], before Before) bool {
	return after.Changed && after.Fails() && after.BeginToFail == nil && before.Status == failure
}

const (
	success = "success"
	failure = "failure"
)

// Judge returns the outcome of the dry run of a site. A change that weakens policies is refused for the reason
// weakened, unless that is "".
func Judge(after wire.Preview[wire.Finding], before Before, weakened string) Outcome {
	var notes []Line
	for _, text := range after.Weakened {
		notes = append(notes, Line{Text: text})
	}
	switch {
	case !after.Changed:
		return Outcome{Kind: Unchanged}
	case len(notes) > 0 && weakened != "":
		return NewOutcome(Refused, append(notes, Line{Text: weakened})...)
	}
	for _, waived := range after.Waived {
		notes = append(notes, Line{Text: "waived: " + waived.Validation})
	}
	if after.Withheld != "" {
		notes = append(notes, Line{Text: after.Withheld})
	}
	switch {
	case after.Status == success && before.Status == success:
		return NewOutcome(Stays, notes...)
	case after.Status == success:
		return NewOutcome(Mended, notes...)
	case !after.Fails():
		return NewOutcome(Waits, append(waitsFor(after), notes...)...)
	case begins(after, before):
		return NewOutcome(Fails, append(whyFails(after, before), notes...)...)
	}
	return NewOutcome(Failing, notes...)
}

// begins reports whether a change that fails does so in more ways than the newest revision.
func begins(after wire.Preview[wire.Finding], before Before) bool {
	switch {
	case after.BeginToFail != nil, before.Status != failure:
		return true
	case before.Verdict == nil:
		return false
	}
	return len(begun(after, *before.Verdict)) > 0
}

// begun returns the validations that fail after a change and did not before, and the policies that are broken.
func begun(after wire.Preview[wire.Finding], before wire.Verdict) []string {
	failed := failedIn(before)
	return slices.DeleteFunc(failedIn(wire.Verdict{Policies: after.Policies, Validations: after.Validations}),
		func(name string) bool { return slices.Contains(failed, name) })
}

// failedIn returns the names of what fails in a verdict, whatever results are posted.
func failedIn(verdict wire.Verdict) (names []string) {
	counted := slices.Clone(verdict.Validations)
	for _, policy := range verdict.Policies {
		if policy.Broken() {
			names = append(names, "policy "+policy.Name)
		}
		counted = append(counted, policy.Validations...)
	}
	for _, v := range counted {
		if !v.Passes() && (v.Status == failure || v.Status == "missing" && v.Own()) {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// waitsFor returns a line for each validation without a result.
func waitsFor(after wire.Preview[wire.Finding]) (lines []Line) {
	counted := slices.Clone(after.Validations)
	for _, policy := range after.Policies {
		counted = append(counted, policy.Validations...)
	}
	for _, v := range counted {
		if !v.Passes() {
			lines = append(lines, Line{Text: v.Status + ": " + v.Name})
		}
	}
	return lines
}

// whyFails returns the findings of documents that begin to fail, or else all that no result can help with.
func whyFails(after wire.Preview[wire.Finding], before Before) (lines []Line) {
	failing := wire.Failing{}
	if after.BeginToFail != nil {
		failing = *after.BeginToFail
	}
	explained := map[document.Identity]bool{} // whether a line is about a document that begins to fail
	for _, id := range failing.Documents {
		explained[id.Plain()] = false
	}
	for _, f := range after.Findings {
		line, id := lineOf(f)
		_, begins := explained[id]
		if f.Level == "error" && f.Rule != "missing" && f.Rule != "expired" && (begins || len(explained) == 0) {
			lines = append(lines, line)
		}
		if begins {
			explained[id] = true
		}
	}
	for id, is := range explained {
		if !is {
			lines = append(lines, Line{about(id), id.Name, "begins to fail"})
		}
	}
	if failing.More || failing.Count > len(failing.Documents) {
		lines = append(lines, Line{Text: "others may begin to fail: not all failures are listed"})
	}
	if len(lines) == 0 {
		verdict := wire.Verdict{}
		if before.Verdict != nil {
			verdict = *before.Verdict
		}
		for _, name := range begun(after, verdict) {
			lines = append(lines, Line{Text: name + " fails"})
		}
	}
	return lines
}

// lineOf returns the line of a finding, and the document that it is about, if it is about one.
func lineOf(f wire.Finding) (line Line, id document.Identity) {
	message := ": " + document.WithoutNone(f.Message)
	if f.Document == nil {
		return Line{Text: f.Validation + message}, id
	}
	id = f.Document.Plain()
	return Line{about(id), id.Name, string(f.Path) + message}, id
}

// about returns the schema and layer of a document as messages have them.
func about(id document.Identity) string {
	if id.Layer == "" {
		return "[" + id.Schema + "]"
	}
	return "[" + id.Schema + ", " + id.Layer + "]"
}
