package markdown

import (
	"slices"
	"strings"

	"purser/internal/words"
)

// Page is a head, whose size the caller bounds, and sections below it.
type Page struct {
	Head     string // Markdown
	Sections []Section
	All      string // Markdown that says where all of a page that is cut can be read, such as "all are in `a.md`"
}

// Section is a list of items below a title. It is left out if it has none.
type Section struct {
	Title  string // Markdown of one line; for a folded section without code spans, since it stands between tags of HTML
	Folded bool
	Noun   string // what an item is, such as document
	Items  []Item
	Note   string // Markdown of one line after the items, "" for none; its size is bounded by the caller
}

// Item is a line of Markdown, which may have a unified diff below it.
type Item struct {
	Line string
	Diff string
}

// Text returns a page of at most so many characters, of which there must be some thousands; without a bound if most is
// 0. Where not all sections fit, those that take less than an equal share leave the rest to the others.
func (p Page) Text(most int) string {
	isEmpty := func(s Section) bool { return len(s.Items) == 0 && s.Note == "" }
	sections := slices.DeleteFunc(slices.Clone(p.Sections), isEmpty)
	texts, sizes, bySize := make([]string, len(sections)), make([]int, len(sections)), make([]int, len(sections))
	for i, s := range sections {
		texts[i] = s.text(-1, "")
		sizes[i], bySize[i] = size(texts[i]), i
	}
	slices.SortFunc(bySize, func(a, b int) int { return sizes[a] - sizes[b] })
	room := most - size(p.Head)
	for n, i := range bySize {
		if share := room / (len(bySize) - n); most > 0 && sizes[i] > share {
			texts[i] = sections[i].text(share, p.All)
		}
		room -= size(texts[i])
	}
	return p.Head + strings.Join(texts, "")
}

// text returns a section of at most so many characters, without a bound if that is negative. all is what Page.All is.
func (s Section) text(room int, all string) string {
	open, end := "**"+s.Title+"**\n\n", "\n"
	if s.Folded {
		open, end = "<details><summary>"+s.Title+"</summary>\n\n", "\n</details>\n\n"
	}
	if s.Note != "" {
		end = "\n" + s.Note + "\n" + end
	}
	if room < 0 {
		texts := make([]string, len(s.Items))
		for i, item := range s.Items {
			texts[i] = item.text()
		}
		return open + strings.Join(texts, "") + end
	}
	room -= size(open+end) + size(leftOut(len(s.Items), 1, s.Noun, all))
	if room < 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(open)
	left, cut := 0, false
	for _, item := range s.Items {
		text := item.text()
		if size(text) > room && !cut && item.Diff != "" {
			text, cut = item.cut(room), true
		}
		if n := size(text); n <= room && n > 0 {
			room -= n
			b.WriteString(text)
		} else {
			left++
		}
	}
	return b.String() + leftOut(left, len(s.Items)-left, s.Noun, all) + end
}

// leftOut returns the line that says how many items of a section are left out, beside those that are shown; "" if none
// are.
func leftOut(left, shown int, noun, all string) string {
	if left == 0 {
		return ""
	}
	more := ""
	if shown > 0 {
		more = " more"
	}
	number, name, _ := strings.Cut(words.Count(left, noun), " ")
	return "\n" + number + more + " " + name + " left out here: " + all + "\n"
}

// text returns an item as a list item or, with differences, as a paragraph with a code block.
func (i Item) text() string {
	if i.Diff == "" {
		return "- " + i.Line + "\n"
	}
	return i.block(diffLines(i.Diff), "")
}

// block returns an item with some lines of its differences, and a line below them.
func (i Item) block(lines []string, note string) string {
	fence := strings.Repeat("`", max(2, longestRun(i.Diff))+1)
	return i.Line + "\n\n" + fence + "diff\n" + strings.Join(lines, "\n") + "\n" + fence + "\n" + note + "\n"
}

// cut returns an item with as many lines of its differences as fit in some characters, "" if none does.
func (i Item) cut(room int) string {
	lines := diffLines(i.Diff)
	note := func(left int) string { return "\n" + words.Count(left, "line") + " of it left out here\n" }
	room -= size(i.block(nil, note(len(lines))))
	shown := 0
	for shown < len(lines) && room > size(lines[shown]) {
		room -= size(lines[shown]) + 1
		shown++
	}
	if shown == 0 {
		return ""
	}
	return i.block(lines[:shown], note(len(lines)-shown))
}

// diffLines returns the lines of a unified diff. Those that do not begin as lines of one, as after a line feed in the
// name of a file, are indented, so that none begins as a fence or a quick action does.
func diffLines(text string) []string {
	lines := strings.Split(strings.TrimSuffix(words.Printable(text), "\n"), "\n")
	for i, line := range lines {
		if line == "" || !strings.ContainsRune(" +-@", rune(line[0])) {
			lines[i] = " " + line
		}
	}
	return lines
}
