package fleet

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"purser/internal/words"
)

// Shown is what the text about a push says.
type Shown struct {
	Groups   []Group          // in order
	Names    map[int][]string // the first sites of groups, by the numbers of the groups
	Parallel int
	Took     time.Duration
	DryRun   bool
	Before   int    // how many of the sites are those of an earlier run
	Left     []Wave // with the sites that were not begun
}

// maxNames bounds the names of sites beside a group.
const maxNames = 8

// Text returns the text: the number of sites, a line for each group with the sites that are not changed, and what the
// groups are about.
func (s Shown) Text() string {
	width := len(Number(s.total()))
	var b strings.Builder
	b.WriteString(s.Head() + "\n")
	for i, group := range s.Groups {
		fmt.Fprintf(&b, "%*s  %s%s\n", width, Number(group.Sites), s.Sentence(group), s.names(i+1, group))
		b.WriteString(group.lines(width + 4))
	}
	for _, wave := range s.Left {
		fmt.Fprintf(&b, "%*s  not begun%s\n", width, Number(len(wave.Targets)), ofWave(wave.Name))
	}
	return b.String()
}

// Head returns the first line: the number of sites with an outcome, and how long that took.
func (s Shown) Head() string {
	return fmt.Sprintf("%s, %d at a time, %s%s", Sites(s.total()), s.Parallel, duration(s.Took), s.before())
}

// total returns the number of sites with an outcome.
func (s Shown) total() (n int) {
	for _, group := range s.Groups {
		n += group.Sites
	}
	return n
}

// Failures returns the number of sites that count as failures of the push.
func (s Shown) Failures() (n int) {
	for _, group := range s.Groups {
		if group.Kind.Stops() {
			n += group.Sites
		}
	}
	return n
}

// One returns the text about one group, with the names of all its sites, one on a line.
func (s Shown) One(group Group, names []string) string {
	return fmt.Sprintf("%s  %s\n", Number(group.Sites), s.Sentence(group)) + group.lines(len(Number(group.Sites))+4) +
		strings.Join(names, "\n") + "\n"
}

// before says how many of the sites are those of an earlier run.
func (s Shown) before() string {
	if s.Before == 0 {
		return ""
	}
	return "; " + Number(s.Before) + " of them before, as the report says"
}

// names returns the names of sites that follow the sentence about a group: the first ones of those that are not
// changed.
func (s Shown) names(shown int, group Group) string {
	if !group.Kind.Stops() {
		return ""
	}
	names, way := s.Names[group.Number], ": "
	if len(names) > maxNames {
		names = names[:maxNames]
	}
	text := strings.Join(names, " ")
	if group.Sites > len(names) {
		way = ", all in the same way: "
		text += fmt.Sprintf(" … (--group %d lists them)", shown)
	}
	return way + text
}

// lines returns the lines of a group, indented.
func (g *Group) lines(indent int) string {
	var b strings.Builder
	for _, line := range g.Lines {
		b.WriteString(strings.Repeat(" ", indent) + words.Line(line.String()) + "\n")
	}
	if g.More > 0 {
		fmt.Fprintf(&b, "%sand %s\n", strings.Repeat(" ", indent), words.Count(g.More, "other line"))
	}
	return b.String()
}

// sentences say of a number of sites what a dry run or a push of a kind is: of several, and of one if that differs.
var sentences = map[Kind]struct{ would, wouldOne, did, didOne string }{
	Unchanged: {would: "would not change", did: "did not change"},
	Stays:     {would: "would change, and stay success", did: "changed, and stayed success"},
	Mended:    {would: "would change, and become success", did: "changed, and became success"},
	Waits: {
		would: "would change, and wait for results",
		did:   "changed, and wait for results", didOne: "changed, and waits for results",
	},
	Failing: {
		would: "are failures already, for other reasons", wouldOne: "is a failure already, for other reasons",
		did:    "changed, and are failures still, for other reasons",
		didOne: "changed, and is a failure still, for other reasons",
	},
	Fails:   {would: "would FAIL", did: "FAIL"},
	Refused: {would: "would be refused", did: "refused, and not changed"},
	Unasked: {would: "could not be asked", did: "could not be asked"},
}

// Sentence says what became of the sites of a group.
func (s Shown) Sentence(group Group) string {
	of := sentences[group.Kind]
	text, one := of.did, of.didOne
	if s.DryRun || group.Kind == Fails && !group.made() {
		text, one = of.would, of.wouldOne
	}
	if group.Sites == 1 && one != "" {
		text = one
	}
	return text
}

// madeAndFails is the line of a revision that was made and fails, and whose dry run did not.
const madeAndFails = "a revision was made that fails, and its dry run did not"

// made reports whether the sites of a group were changed although they fail.
func (g *Group) made() bool { return len(g.Lines) == 1 && g.Lines[0].Text == madeAndFails }

// ofWave names a wave in a sentence.
func ofWave(name string) string {
	if name == "" {
		return ""
	}
	return ": wave " + words.Line(name)
}

// Number returns a number with separators, such as 10,000.
func Number(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// Sites counts sites.
func Sites(n int) string {
	if n == 1 {
		return "1 site"
	}
	return Number(n) + " sites"
}

// duration returns a time in whole seconds: 41 s, or 2 min 5 s.
func duration(took time.Duration) string {
	seconds := int(took.Round(time.Second) / time.Second)
	if minutes := seconds / 60; minutes > 0 {
		return fmt.Sprintf("%d min %d s", minutes, seconds%60)
	}
	return fmt.Sprintf("%d s", seconds)
}
