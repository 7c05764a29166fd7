package web

import (
	"regexp"
	"strings"

	"purser/internal/diff"
	"purser/internal/wire"
	"purser/internal/words"
)

// comparison is the difference of one document.
type comparison struct {
	Document wire.Identity // the zero identity if unknown
	Title    string        // of a side in a unified diff, without its revision
	Change   string        // added, deleted or changed
	Note     string        // about data that is not shown
	Hunks    []hunk
	Added    int // lines
	Removed  int
}

// hunk is a part of a difference.
type hunk struct {
	Header string
	Rows   []diff.Line
}

// pair is a row of a difference that is shown side by side; either side may be nil.
type pair struct{ Old, New *diff.Line }

var (
	sideTitle = regexp.MustCompile(`^revision \d+, (.*)$`)
	concealed = regexp.MustCompile(`^Encrypted data of (revision .*) changed$`)
)

const devNull = "/dev/null"

// parseUnified parses a sequence of unified diffs from the API, without the identities of the documents.
func parseUnified(text string) (all []*comparison) {
	before := ""
	for line := range diff.Lines(text) {
		switch line.Kind {
		case diff.OldName:
			before = line.Text
		case diff.NewName:
			all = append(all, titled(before, line.Text))
		case diff.Note:
			if found := concealed.FindStringSubmatch(line.Text); found != nil {
				all = conceal(all, found[1])
			}
		default:
			if len(all) > 0 {
				all[len(all)-1].add(line)
			}
		}
	}
	return all
}

// titled returns the comparison that begins with two titles.
func titled(before, after string) *comparison {
	c := &comparison{Change: "changed", Title: after}
	switch {
	case before == devNull:
		c.Change = "added"
	case after == devNull:
		c.Change, c.Title = "deleted", before
	}
	if parts := sideTitle.FindStringSubmatch(c.Title); parts != nil {
		c.Title = parts[1]
	}
	return c
}

// firstComparison returns the first comparison in a unified diff, without the rows that exceed most bytes; nil if there
// is none.
func firstComparison(unified string, most int) *comparison {
	all := parseUnified(unified)
	if len(all) == 0 {
		return nil
	}
	all[0].cut(most, false)
	return all[0]
}

// folded returns the comparison in a unified diff without names, without the rows that exceed most bytes.
func folded(unified string, most int) *comparison {
	c := &comparison{}
	for line := range diff.Lines(unified) {
		if line.Kind == diff.Header || len(c.Hunks) > 0 && line.Kind != diff.Note {
			c.add(line)
		}
	}
	c.cut(most, false)
	return c
}

// arranged returns a comparison with its document for each of the changes, and then the comparisons that match none.
// Titles cannot be parsed, because names, layers and buckets may contain any characters.
func arranged(parsed []*comparison, changes []comparison) []*comparison {
	byTitle := map[string][]*comparison{}
	for _, c := range parsed {
		byTitle[c.Title] = append(byTitle[c.Title], c)
	}
	all := make([]*comparison, 0, len(changes))
	for _, change := range changes {
		title := diffTitle(change.Document)
		c := &comparison{Title: title, Change: change.Change, Note: "No line of it differs."}
		if same := byTitle[title]; len(same) > 0 {
			c, byTitle[title] = same[0], same[1:]
		}
		c.Document = change.Document
		all = append(all, c)
	}
	for _, c := range parsed {
		if c.Document == (wire.Identity{}) {
			all = append(all, c)
		}
	}
	return all
}

// diffTitle returns the title of a document in a unified diff of the API, without the revision: one printable line.
func diffTitle(id wire.Identity) string {
	return words.Line("bucket " + string(id.Bucket) + ": " + id.String())
}

// conceal adds a note that the document with this title also differs in data that is not shown.
func conceal(all []*comparison, title string) []*comparison {
	of := titled(title, title)
	if n := len(all); n == 0 || all[n-1].Title != of.Title {
		all = append(all, of)
	}
	all[len(all)-1].Note = "Its encrypted data differs."
	return all
}

// add adds a line: a header begins a hunk, and others continue it.
func (c *comparison) add(line diff.Line) {
	if line.Kind == diff.Header {
		c.Hunks = append(c.Hunks, hunk{Header: line.Text})
		return
	}
	last := &c.Hunks[len(c.Hunks)-1]
	last.Rows = append(last.Rows, line)
	if line.Kind == diff.Added {
		c.Added++
	}
	if line.Kind == diff.Removed {
		c.Removed++
	}
}

// Pairs returns the rows of a hunk side by side.
func (h hunk) Pairs() (pairs []pair) {
	rows := h.Rows
	for i := 0; i < len(rows); {
		if rows[i].Kind == diff.Same {
			pairs = append(pairs, pair{&rows[i], &rows[i]})
			i++
			continue
		}
		removed := i
		for i < len(rows) && rows[i].Kind == diff.Removed {
			i++
		}
		added := i
		for i < len(rows) && rows[i].Kind == diff.Added {
			i++
		}
		for k := range max(added-removed, i-added) {
			var p pair
			if removed+k < added {
				p.Old = &rows[removed+k]
			}
			if added+k < i {
				p.New = &rows[added+k]
			}
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// sizeOf returns the maximum bytes of a row on a page; side by side, equal lines are written twice.
func sizeOf(r diff.Line, split bool) int {
	const perRow = 140
	size := perRow + weight(r.Text)
	if split && r.Kind == diff.Same {
		size += weight(r.Text)
	}
	return size
}

// fitComparisons returns the first comparisons for which a page has room, at least one, and cuts those that are too
// long. linked returns the size of a link to a document.
func fitComparisons(all []*comparison, split bool, linked func(wire.Identity) int) []*comparison {
	size, end := 0, 0
	for ; end < len(all); end++ {
		size += all[end].size(split, linked(all[end].Document))
		if end > 0 && size > maxLines {
			break
		}
	}
	for _, c := range all[:end] {
		c.cut(maxLines, split)
	}
	return all[:end]
}

// size returns the maximum bytes of a comparison in a page, given the size of a link to its document.
func (c *comparison) size(split bool, link int) int {
	const perDocument, links = 3000, 3 // one of which has the previous revision too
	size := perDocument + links*link
	for _, h := range c.Hunks {
		size += perLink
		for _, r := range h.Rows {
			size += sizeOf(r, split)
		}
	}
	return size
}

// cut omits the rows of a difference that exceed most bytes.
func (c *comparison) cut(most int, split bool) {
	size := 0
	for i, h := range c.Hunks {
		for k, r := range h.Rows {
			if size += sizeOf(r, split); size > most {
				c.Hunks[i].Rows = h.Rows[:k]
				c.Hunks = c.Hunks[:i+1]
				c.Note = strings.TrimSpace(c.Note + " The rest of this document's difference is too long for a page.")
				return
			}
		}
	}
}
