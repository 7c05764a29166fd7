package fleet

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"purser/internal/words"
)

// Bounds of what is kept of outcomes.
const (
	maxGroups = 1000 // that are told apart: further outcomes of a kind are one group
	maxLines  = 10   // of a group
	maxText   = 400  // bytes of a line
)

// Group has the sites with the same outcome.
type Group struct {
	Number int // the first one is 1
	Digest Digest
	Kind   Kind
	Lines  []Line
	More   int // lines that are not among Lines
	Sites  int
}

// Groups puts outcomes into groups.
type Groups struct {
	all []*Group
	at  map[Digest]*Group
}

// Digest is what tells outcomes apart.
type Digest string

// Add adds the outcome of a site and returns its group. changed reports whether the text of the group is another one
// than before: it is new, or documents of several names are in it now.
func (g *Groups) Add(site string, o Outcome) (group Group, changed bool) {
	plain, nameless := o.without(""), o.without(site)
	found := g.at[plain.digest()]
	if found == nil {
		found = g.at[nameless.digest()]
	}
	if found == nil && len(g.all) >= maxGroups {
		nameless = NewOutcome(o.Kind, Line{Text: "in other ways"})
		plain, found = nameless, g.at[nameless.digest()]
	}
	if changed = found == nil; changed {
		found = g.Define(nameless.group(len(g.all) + 1))
		g.at[plain.digest()] = found
	} else {
		changed = found.merge(nameless.group(found.Number))
	}
	found.Sites++
	return *found, changed
}

// Define adds a group without sites, or replaces the text of one.
func (g *Groups) Define(group Group) *Group {
	if g.at == nil {
		g.at = map[Digest]*Group{}
	}
	for len(g.all) < group.Number {
		g.all = append(g.all, &Group{Number: len(g.all) + 1})
	}
	of := g.all[group.Number-1]
	group.Sites = of.Sites
	*of = group
	g.at[group.Digest] = of
	return of
}

// Count adds sites to the group of a number.
func (g *Groups) Count(number, sites int) { g.all[number-1].Sites += sites }

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.all) }

// group returns the outcome as a group, whose text is bounded.
func (o Outcome) group(number int) Group {
	group := Group{Number: number, Digest: o.digest(), Kind: o.Kind, More: max(0, len(o.Lines)-maxLines)}
	for _, line := range o.Lines[:len(o.Lines)-group.More] {
		group.Lines = append(group.Lines, Line{
			words.FirstBytes(line.About, maxText), words.FirstBytes(line.Name, maxText), words.FirstBytes(line.Text, maxText),
		})
	}
	return group
}

// merge takes over the lines of an outcome of the group, in which documents may have other names.
func (g *Group) merge(other Group) (changed bool) {
	for i := range min(len(g.Lines), len(other.Lines)) {
		line := g.Lines[i].with(other.Lines[i])
		changed = changed || line != g.Lines[i]
		g.Lines[i] = line
	}
	return changed
}

// Sorted returns the groups by kind, and of a kind the largest ones first.
func (g *Groups) Sorted() []Group {
	kinds := Kinds()
	sorted := make([]Group, 0, len(g.all))
	for _, group := range g.all {
		if group.Sites > 0 {
			sorted = append(sorted, *group)
		}
	}
	text := func(g Group) string {
		var b strings.Builder
		for _, line := range g.Lines {
			b.WriteString(line.String() + "\n")
		}
		return b.String()
	}
	slices.SortFunc(sorted, func(a, b Group) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), cmp.Compare(b.Sites, a.Sites),
			cmp.Compare(text(a), text(b)))
	})
	return sorted
}

// digest returns what tells the outcome apart.
func (o Outcome) digest() Digest {
	keys := make([]Line, len(o.Lines))
	for i, line := range o.Lines {
		keys[i] = line.key()
	}
	text, _ := json.Marshal([]any{o.Kind, keys}) //nolint:errchkjson // texts always marshal
	const size = 16
	sum := sha256.Sum256(text)
	return Digest(hex.EncodeToString(sum[:size]))
}

// passing matches what differs between equal outcomes: numbers of revisions and times.
var passing = regexp.MustCompile(`\b([Rr]evision) \d+\b|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?`)

// without returns the outcome with an ellipsis for the name of a site, unless that is "", for numbers of revisions and
// for times.
func (o Outcome) without(site string) Outcome {
	lines := slices.Clone(o.Lines)
	for i, line := range lines {
		line.Text = passing.ReplaceAllStringFunc(line.Text, func(found string) string {
			if word, _, isRevision := strings.Cut(found, "evision "); isRevision {
				return word + "evision " + several
			}
			return several
		})
		if site != "" {
			line.Text, line.Name = withoutWord(line.Text, site), withoutWord(line.Name, site)
		}
		lines[i] = line
	}
	return NewOutcome(o.Kind, lines...)
}

// withoutWord returns a text with an ellipsis in the place of a word, which is no part of a longer one.
func withoutWord(text, word string) string {
	var b strings.Builder
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return b.String() + text[from:]
		}
		begin, end := from+at, from+at+len(word)
		b.WriteString(text[from:begin])
		if begin > 0 && isWordByte(text[begin-1]) || end < len(text) && isWordByte(text[end]) {
			b.WriteString(word)
		} else {
			b.WriteString(several)
		}
		from = end
	}
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
