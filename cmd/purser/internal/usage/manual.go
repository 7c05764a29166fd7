package usage

import (
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// Manual returns the file names and texts of the manual pages: purser.1, and purser-push.1 and so on for the commands.
func Manual(program *kong.Node, version string) iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		root := commandOf(program, nil)
		for _, c := range root.all() {
			title := strings.Join(append([]string{"purser"}, c.Path...), "-")
			if !yield(title+".1", pageOf(c, title, version)) {
				return
			}
		}
	}
}

// pageOf returns the manual page of a command, in the format of man(7).
func pageOf(c *command, title, version string) string {
	help, detail := c.Help, c.Detail
	if len(c.Path) == 0 {
		help, detail = "Keep the configuration documents of sites as revisions.", c.Help
	}
	p := &page{}
	p.linef(`.TH "%s" 1 "" "purser %s" "Purser"`, strings.ToUpper(title), roff(version))
	p.linef(".SH NAME\n%s \\- %s", roff(title), roff(strings.TrimSuffix(strings.ToLower(help[:1])+help[1:], ".")))
	p.linef(".SH SYNOPSIS\n.B %s", roff(strings.TrimSpace("purser "+strings.TrimPrefix(c.Usage, "purser "))))
	p.linef(".SH DESCRIPTION\n%s", roff(help))
	p.paragraphs(detail)
	if len(c.Commands) > 0 {
		p.linef(".SH COMMANDS")
		for i := range c.Commands {
			p.entry(c.Commands[i].Last(), c.Commands[i].Help)
		}
	}
	if len(c.Args) > 0 {
		p.linef(".SH ARGUMENTS")
		for _, a := range c.Args {
			p.entry(a.Name, a.Help)
		}
	}
	p.linef(".SH OPTIONS")
	for _, f := range c.Flags {
		p.entry(flagTitle(f), flagHelp(f))
	}
	p.linef(".SH EXIT STATUS")
	p.entry("0", "Done.")
	p.entry("1", "The answer is no: findings, not the expected status, a refused change.")
	p.entry("2", "It could not be done.")
	if len(c.Path) > 0 {
		p.linef(".SH SEE ALSO\n.BR purser (1)")
	}
	return p.String()
}

// page builds the text of a page.
type page struct{ strings.Builder }

func (p *page) linef(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) entry(title, text string) { p.linef(".TP\n.B %s\n%s", roff(title), roff(text)) }

// paragraphs adds the details of a command. Indented lines are examples.
func (p *page) paragraphs(text string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		switch {
		case strings.TrimSpace(paragraph) == "":
		case strings.HasPrefix(paragraph, " "):
			p.linef(".PP\n.nf\n.RS")
			for line := range strings.SplitSeq(paragraph, "\n") {
				p.linef("%s", roff(strings.TrimSpace(line)))
			}
			p.linef(".RE\n.fi")
		default:
			p.linef(".PP\n%s", roff(strings.ReplaceAll(paragraph, "\n", " ")))
		}
	}
}

func flagTitle(f flag) string {
	title := "--" + f.Name
	if !f.IsBool {
		title += "=" + f.Placeholder
	}
	if f.Short != "" {
		title = "-" + f.Short + ", " + title
	}
	return title
}

func flagHelp(f flag) string {
	text := f.Help
	if f.Initial != "" && !f.IsBool {
		text += " Default: " + f.Initial + "."
	}
	if len(f.Env) > 0 {
		text += " In the environment: " + strings.Join(f.Env, ", ") + "."
	}
	return text
}

// roff escapes text for man(7).
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "~", `\(ti`, "^", `\(ha`, "'", `\(aq`, "`", `\(ga`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\n.", "\n\\&.") {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}
