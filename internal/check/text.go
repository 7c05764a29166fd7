package check

import (
	"fmt"
	"strconv"
	"strings"

	"purser/internal/queries"
	"purser/internal/validations"
	"purser/internal/words"
)

// The colours of text, as ANSI escapes.
const (
	bold   = "\x1b[1m"
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	blue   = "\x1b[1;34m"
	reset  = "\x1b[0m"
)

// textWriter writes text for people.
type textWriter struct {
	strings.Builder

	color bool
}

// plainText returns a report for people: for each finding its place, message, the line with a caret below the column,
// the advice and the origin of the value; then a summary.
func plainText(report Report, color bool) []byte {
	w := &textWriter{color: color}
	for _, f := range report.Findings {
		w.finding(f)
	}
	for _, needed := range report.Needed {
		w.line(words.Line("needed: " + needed.Text()))
	}
	for _, not := range report.Inapplicable {
		w.line(words.Line("not applicable: " + not.Text() + ": no document matches when"))
	}
	if len(report.Skipped) > 0 {
		const most = 5
		names := strings.Join(report.Skipped[:min(most, len(report.Skipped))], ", ")
		if len(report.Skipped) > most {
			names += ", …"
		}
		w.line(words.Line("skipped: " + words.Count(len(report.Skipped), "file") + " without documents: " + names))
	}
	if !report.Whole {
		w.line("not checked: whether the documents fit together and render, because not all of them could be read")
	}
	tint := ""
	switch {
	case report.Count(queries.LevelError) > 0:
		tint = red
	case report.Count(queries.LevelWarning) > 0:
		tint = yellow
	}
	w.line(w.tinted(tint, summary(report)))
	return []byte(w.String())
}

// line writes a line. Its only control characters are those of colours.
func (w *textWriter) line(text string) {
	w.WriteString(text)
	w.WriteByte('\n')
}

// tinted returns text in a colour if colours are enabled.
func (w *textWriter) tinted(tint, text string) string {
	if !w.color || tint == "" {
		return text
	}
	return tint + text + reset
}

func (w *textWriter) finding(f Finding) {
	tint := yellow
	if f.Level == queries.LevelError {
		tint = red
	}
	place := placeText(f.Place)
	if place != "" {
		place = w.tinted(bold, words.Line(place)+":") + " "
	}
	w.line(place + w.tinted(tint, f.Level.String()+":") + " " + words.Line(sentence(f)) + " [" + f.Rule + "]")
	number := strconv.Itoa(f.Line)
	gutter := strings.Repeat(" ", len(number))
	if f.Source != "" {
		source := words.Printable(f.Source)
		w.line(w.tinted(blue, " "+number+" |") + " " + source)
		w.line(w.tinted(blue, " "+gutter+" |") + " " + under(source, f.Column) + w.tinted(tint, "^"))
	}
	w.causes(gutter, f.Causes, 0)
	if f.Advice != "" {
		w.note(gutter, "help", f.Advice)
	}
	for _, step := range f.Chain {
		text := step.Message
		if place := placeText(step.Place); place != "" {
			text = place + ": " + text
		}
		w.note(gutter, "from", text)
	}
}

// causes writes the problems of the branch of an anyOf that was most likely meant.
func (w *textWriter) causes(gutter string, causes []validations.Cause, depth int) {
	const deepest, most = 3, 5
	if depth == deepest {
		return
	}
	for _, cause := range causes[:min(most, len(causes))] {
		w.note(gutter, "cause", strings.Repeat("  ", depth)+cause.Path+": "+cause.Message)
		w.causes(gutter, cause.Causes, depth+1)
	}
}

func (w *textWriter) note(gutter, kind, text string) {
	text = words.Line(text)
	w.line(fmt.Sprintf(" %s %s %-5s %s", gutter, w.tinted(blue, "="), kind+":", text))
}

// under returns blanks up to a column of a line. It keeps tabs, so that the caret is below the column.
func under(source string, column int) string {
	var b strings.Builder
	for _, r := range source {
		if column--; column <= 0 {
			break
		}
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// placeText returns the known parts of a place as file:line:column.
func placeText(p Place) string {
	if p.File == "" || p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, max(1, p.Column))
}
