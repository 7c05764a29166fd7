package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// manCommand writes the manual pages.
type manCommand struct {
	Dir string `arg:"" help:"Folder to write the pages to: purser.1, purser-push.1 and so on." complete:"file"`
}

// Help returns the end of the command's help.
func (*manCommand) Help() string {
	return `Examples:

  purser man /usr/local/share/man/man1`
}

// Run writes the manual pages to the folder.
func (c *manCommand) Run(parser *kong.Kong) error {
	root := treeOf(parser.Model.Node, nil)
	if err := os.MkdirAll(c.Dir, 0o755); err != nil { //nolint:gosec // everybody may read manuals
		return fmt.Errorf("write the manual: %w", err)
	}
	for _, n := range root.all() {
		path := filepath.Join(c.Dir, strings.Join(append([]string{"purser"}, n.Path...), "-")+".1")
		if err := os.WriteFile(path, []byte(manPage(n)), 0o644); err != nil { //nolint:gosec // the same
			return fmt.Errorf("write the manual: %w", err)
		}
	}
	return nil
}

// manPage returns the manual page of a command, in the format of man(7).
func manPage(n *node) string {
	title := strings.Join(append([]string{"purser"}, n.Path...), "-")
	help, detail := n.Help, n.Detail
	if len(n.Path) == 0 {
		help, detail = "Keep the configuration documents of sites as revisions.", n.Help
	}
	m := &manual{}
	m.linef(`.TH "%s" 1 "" "purser %s" "Purser"`, strings.ToUpper(title), roff(versionText()))
	m.linef(".SH NAME\n%s \\- %s", roff(title), roff(strings.TrimSuffix(strings.ToLower(help[:1])+help[1:], ".")))
	m.linef(".SH SYNOPSIS\n.B %s", roff(strings.TrimSpace("purser "+strings.TrimPrefix(n.Usage, "purser "))))
	m.linef(".SH DESCRIPTION\n%s", roff(help))
	m.paragraphs(detail)
	if len(n.Commands) > 0 {
		m.linef(".SH COMMANDS")
		for i := range n.Commands {
			m.entry(n.Commands[i].Last(), n.Commands[i].Help)
		}
	}
	if len(n.Args) > 0 {
		m.linef(".SH ARGUMENTS")
		for _, a := range n.Args {
			m.entry(a.Name, a.Help)
		}
	}
	m.linef(".SH OPTIONS")
	for _, f := range n.Flags {
		m.entry(flagTitle(f), flagHelp(f))
	}
	m.linef(".SH EXIT STATUS")
	m.entry("0", "Done.")
	m.entry("1", "The answer is no: findings, not the expected status, a refused change.")
	m.entry("2", "It could not be done.")
	if len(n.Path) > 0 {
		m.linef(".SH SEE ALSO\n.BR purser (1)")
	}
	return m.String()
}

// manual builds the text of a page.
type manual struct{ strings.Builder }

func (m *manual) linef(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m *manual) entry(title, text string) { m.linef(".TP\n.B %s\n%s", roff(title), roff(text)) }

// paragraphs adds the details of a command. Indented lines are examples.
func (m *manual) paragraphs(text string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		switch {
		case strings.TrimSpace(paragraph) == "":
		case strings.HasPrefix(paragraph, " "):
			m.linef(".PP\n.nf\n.RS")
			for line := range strings.SplitSeq(paragraph, "\n") {
				m.linef("%s", roff(strings.TrimSpace(line)))
			}
			m.linef(".RE\n.fi")
		default:
			m.linef(".PP\n%s", roff(strings.ReplaceAll(paragraph, "\n", " ")))
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
