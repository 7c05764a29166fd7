package web

import (
	"regexp"
	"strconv"
	"strings"

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
	Rows   []row
}

// row is a line of a difference. Old and New are the numbers of lines, 0 for none.
type row struct {
	Kind     string // same, added or removed
	Old, New int
	Text     string
}

// pair is a row of a difference that is shown side by side; either side may be nil.
type pair struct{ Old, New *row }

var (
	hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
	sideTitle  = regexp.MustCompile(`^revision \d+, (.*)$`)
	concealed  = regexp.MustCompile(`^Encrypted data of (revision .*) changed$`)
)

const devNull = "/dev/null"

// parseUnified parses a sequence of unified diffs from the API, without the identities of the documents. The numbers in
// a hunk's header determine its lines, so no line of a document is mistaken for a header.
func parseUnified(text string) (all []*comparison) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		switch line := lines[i]; {
		case strings.HasPrefix(line, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
			all = append(all, titled(line[4:], lines[i+1][4:]))
			i += 2
		case hunkHeader.MatchString(line) && len(all) > 0:
			part, taken := readHunk(lines[i:])
			all[len(all)-1].add(part)
			i += taken
		default:
			if found := concealed.FindStringSubmatch(line); found != nil {
				all = conceal(all, found[1])
			}
			i++
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

// comparisons returns the comparisons in a sequence of unified diffs of the API: one for each of the changes, with its
// document, and then those that match none.
func comparisons(unified string, changes []comparison) []*comparison {
	return arranged(parseUnified(unified), changes)
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

// arranged returns a comparison with its document for each of the changes, and then the comparisons that match none.
// Titles cannot be parsed, because "None" in a title can mean no layer or a layer of that name.
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
	return words.Line("bucket " + string(id.Bucket) + ": " + id.Plain().String())
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

func (c *comparison) add(part hunk) {
	c.Hunks = append(c.Hunks, part)
	for _, row := range part.Rows {
		switch row.Kind {
		case "added":
			c.Added++
		case "removed":
			c.Removed++
		}
	}
}

// readHunk reads the hunk at the beginning of lines, and returns the number of its lines.
func readHunk(lines []string) (part hunk, taken int) {
	header := hunkHeader.FindStringSubmatch(lines[0])
	number := func(i, absent int) int {
		if header[i] == "" {
			return absent
		}
		n, _ := strconv.Atoi(header[i]) // digits
		return n
	}
	before, after := number(1, 0), number(3, 0)
	olds, news := number(2, 1), number(4, 1)
	part.Header, taken = lines[0], 1
	for ; taken < len(lines) && (olds > 0 || news > 0); taken++ {
		kind, text := " ", ""
		if line := lines[taken]; line != "" {
			kind, text = line[:1], line[1:]
		}
		switch kind {
		case "-":
			part.Rows = append(part.Rows, row{"removed", before, 0, text})
			before, olds = before+1, olds-1
		case "+":
			part.Rows = append(part.Rows, row{"added", 0, after, text})
			after, news = after+1, news-1
		case `\`: // no newline at the end of the file
		default:
			part.Rows = append(part.Rows, row{"same", before, after, text})
			before, after, olds, news = before+1, after+1, olds-1, news-1
		}
	}
	return part, taken
}

// Pairs returns the rows of a hunk side by side.
func (h hunk) Pairs() (pairs []pair) {
	rows := h.Rows
	for i := 0; i < len(rows); {
		if rows[i].Kind == "same" {
			pairs = append(pairs, pair{&rows[i], &rows[i]})
			i++
			continue
		}
		removed := i
		for i < len(rows) && rows[i].Kind == "removed" {
			i++
		}
		added := i
		for i < len(rows) && rows[i].Kind == "added" {
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

// size returns the maximum bytes of a row on a page; side by side, equal lines are written twice.
func (r row) size(split bool) int {
	const perRow = 140
	size := perRow + weight(r.Text)
	if split && r.Kind == "same" {
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
			size += r.size(split)
		}
	}
	return size
}

// cut omits the rows of a difference that exceed most bytes.
func (c *comparison) cut(most int, split bool) {
	size := 0
	for i, h := range c.Hunks {
		for k, r := range h.Rows {
			if size += r.size(split); size > most {
				c.Hunks[i].Rows = h.Rows[:k]
				c.Hunks = c.Hunks[:i+1]
				c.Note = strings.TrimSpace(c.Note + " The rest of this document's difference is too long for a page.")
				return
			}
		}
	}
}
