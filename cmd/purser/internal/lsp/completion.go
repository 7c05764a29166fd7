package lsp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"purser/internal/check"
	"purser/internal/document"
	"purser/internal/schemadocs"
)

// maxItems is the maximum number of completions in one answer.
const maxItems = 1000

// typed is a line with the word that is being typed.
type typed struct {
	line       string
	start, end int  // offsets of the word, which may be empty
	isValue    bool // it is behind a key
	isQuoted   bool
	hasColon   bool // it is a key that has its colon already
}

// wordEnds are the characters that end a word.
const wordEnds = " \t,{}[]\"'"

// typedAt finds the word at an offset of a line.
func typedAt(line string, at int) typed {
	t := typed{line: line, start: strings.LastIndexAny(line[:at], wordEnds) + 1, end: len(line)}
	if i := strings.IndexAny(line[at:], wordEnds+":#"); i >= 0 {
		t.end = at + i
	}
	before, rest := t.around()
	t.isQuoted = len(before) < t.start
	t.isValue = strings.HasSuffix(strings.TrimRight(before, " "), ":")
	t.hasColon = strings.HasPrefix(rest, ":")
	return t
}

// around returns what is before and behind the word, without quotes around it.
func (t typed) around() (before, rest string) {
	before, rest = t.line[:t.start], t.line[t.end:]
	for _, quote := range []string{`"`, "'"} {
		if within, ok := strings.CutSuffix(before, quote); ok {
			return within, strings.TrimPrefix(rest, quote)
		}
	}
	return before, rest
}

// cursor stands for the word that is being typed while the text is parsed.
const cursor = "purserCursor"

// parseable returns the line with cursor in place of the word, as a key or as a value, and the column of cursor.
func (t typed) parseable() (line string, column int) {
	before, rest := t.around()
	word := cursor
	if !t.isValue && !t.hasColon {
		word += ": "
	}
	return before + word + rest, 1 + utf8.RuneCountInString(before)
}

// complete returns what can be written at a spot: keys and values that schemas name, kinds of documents, layers, and
// documents that can be the source of a substitution.
func complete(ctx context.Context, s *state, at spot) (any, error) {
	all := linesOf(at.text)
	line := all.at(at.at.Line)
	if check.MediaOf(at.name) == document.JSON || at.at.Line < 0 || at.at.Line >= len(all) {
		return nil, nil
	}
	word := typedAt(line, offset(line, at.at.Character))
	found, ok, err := readAround(ctx, at, all, word)
	if err != nil || !ok {
		return nil, err
	}
	items, err := s.candidates(ctx, found, word)
	if err != nil {
		return nil, err
	}
	begun := strings.ToLower(line[word.start:offset(line, at.at.Character)])
	items = slices.DeleteFunc(items, func(item completionItem) bool {
		return !strings.Contains(strings.ToLower(item.Label), begun)
	})
	isPart := len(items) > maxItems
	items = items[:min(len(items), maxItems)]
	edit := span{
		position{at.at.Line, units(line[:word.start])}, position{at.at.Line, units(line[:word.end])},
	}
	for i := range items {
		items[i].SortText, items[i].TextEdit.Range = fmt.Sprintf("%05d", i), edit
	}
	return map[string]any{"isIncomplete": isPart, "items": items}, nil
}

// readAround reads the document that is being typed. If all of it cannot be read, it reads the text up to the line.
func readAround(ctx context.Context, at spot, all lines, word typed) (found check.Spot, ok bool, err error) {
	line, column := word.parseable()
	text := slices.Clone(all)
	text[at.at.Line] = line
	where := document.Position{Line: at.at.Line + 1, Column: column}
	for _, part := range []lines{text, text[:at.at.Line+1]} {
		file := check.File{Name: at.name, Text: []byte(strings.Join(part, "\n") + "\n")}
		if found, ok, err = check.At(ctx, file, where); err != nil {
			return found, false, err
		}
		isKey := found.IsKey && found.Path[len(found.Path)-1] == cursor
		if ok && (isKey || found.Text(found.Path...) == cursor) {
			return found, true, nil
		}
	}
	return found, false, nil
}

// candidates returns all that can be written in place of cursor.
func (s *state) candidates(ctx context.Context, in check.Spot, word typed) (items []completionItem, err error) {
	path := in.Path
	if !in.IsKey {
		return s.values(ctx, in, path, word)
	}
	path = path[:len(path)-1]
	siblings, _ := document.Locate(in.Value, path).(document.Mapping)
	if len(path) == 0 {
		items = keys([]schemadocs.Member{
			{Name: "schema", Text: "The kind of the document, such as acme/Host/v1"},
			{Name: "metadata", Text: "The document's name and layer, and how it is rendered", Types: []string{"object"}},
			{Name: "data", Text: "What the document says; its schema says what that can be", Types: []string{"object"}},
		}, word)
	} else {
		about, _, err := s.site.About(ctx, in, path)
		if err != nil {
			return nil, err
		}
		items = keys(about.Members, word)
	}
	items = slices.DeleteFunc(items, func(item completionItem) bool {
		_, isThere := siblings.Lookup(item.Label)
		return isThere
	})
	if len(siblings) == 1 && strings.HasSuffix(strings.TrimSpace(word.line[:word.start]), "-") { // an item of a list
		values, err := s.values(ctx, in, path, word)
		return append(items, values...), err
	}
	return items, nil
}

// keys returns the items for members of a mapping.
func keys(members []schemadocs.Member, word typed) (items []completionItem) {
	for _, m := range members {
		item := completionItem{Label: m.Name, Kind: kindProperty, Detail: strings.Join(m.Types, " or "), Doc: m.Text}
		if m.IsRequired {
			item.Detail = strings.TrimSpace(item.Detail + " (required)")
		}
		item.TextEdit.NewText = plain(m.Name, word)
		isContainer := len(m.Types) == 1 && (m.Types[0] == "object" || m.Types[0] == "array")
		switch {
		case word.hasColon, word.isQuoted:
		case isContainer:
			item.TextEdit.NewText += ":"
		default:
			item.TextEdit.NewText += ": "
		}
		items = append(items, item)
	}
	return items
}

// values returns the items for the value at a path.
func (s *state) values(ctx context.Context, in check.Spot, path []string, word typed) (
	items []completionItem, err error,
) {
	for _, name := range s.names(in, path) {
		items = append(items, completionItem{
			Label: name, Kind: kindReference, TextEdit: textEdit{NewText: plain(name, word)},
		})
	}
	about, _, err := s.site.About(ctx, in, path)
	if err != nil {
		return nil, err
	}
	if slices.Equal(about.Types, []string{"boolean"}) && len(about.Values) == 0 {
		about.Values = []any{true, false}
	}
	for _, value := range about.Values {
		text := string(document.AppendJSON(nil, value))
		label := text
		if written, isText := value.(string); isText {
			text, label = plain(written, word), written
		}
		items = append(items, completionItem{Label: label, Kind: kindValue, TextEdit: textEdit{NewText: text}})
	}
	return items, nil
}

// names returns the names that can be at a path of every document.
func (s *state) names(in check.Spot, path []string) (names []string) {
	isSource := isBelow(path, "metadata", "substitutions") && len(path) == 5 && path[3] == "src"
	switch {
	case slices.Equal(path, []string{"schema"}):
		return s.site.Kinds()
	case slices.Equal(path, []string{"metadata", "schema"}):
		return []string{"metadata/Document/v1", "metadata/Control/v1"}
	case slices.Equal(path, []string{"metadata", "layeringDefinition", "layer"}):
		return s.site.Layers()
	case isSource && path[4] == "schema":
		for _, id := range s.site.Documents() {
			names = append(names, id.Schema)
		}
	case isSource && path[4] == "name":
		for _, id := range s.site.Documents() {
			if id.Schema == in.Text("metadata", "substitutions", path[2], "src", "schema") {
				names = append(names, id.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

var needsNoQuotes = regexp.MustCompile(`^[A-Za-z/][\w./-]*$`)

// plain returns a text as it is written in YAML.
func plain(text string, word typed) string {
	_, isBoolean := document.PlainBoolean(text)
	isNull := strings.EqualFold(text, "null")
	if word.isQuoted || needsNoQuotes.MatchString(text) && !isBoolean && !isNull {
		return text
	}
	return string(document.AppendJSON(nil, text))
}
