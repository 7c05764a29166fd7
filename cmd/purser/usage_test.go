package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// script writes the completion script of a shell to a file, and skips the test if the shell is missing.
func script(t *testing.T, shell string) string {
	t.Helper()
	stdout, stderr, code := purser(t, "completion", shell)
	if code != 0 {
		t.Fatal(stderr)
	}
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath(shell); err != nil {
		t.Skip("there is no " + shell)
	}
	return path
}

func shell(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func TestCompletion_bash(t *testing.T) {
	t.Parallel()
	path := script(t, "bash")
	for line, want := range map[string]string{
		"purser pu":                        "push pull puppet",
		"purser results ":                  "post list",
		"purser results post --vali":       "--validator",
		"purser push --dr":                 "--dry-run",
		"purser push site --wait 3m --dr":  "--dry-run",
		"purser status -o ":                "table json yaml name",
		"purser status --output t":         "table",
		"purser completion ":               "bash zsh fish",
		"purser push site ":                "",
		"purser status --token-file ":      "",
		"purser push -m pull --change":     "--changeset",
		"purser log --document x --layer ": "",
	} {
		got := shell(t, "bash", "-c", `source "$1"; COMP_WORDS=($2); [[ $2 == *" " ]] && COMP_WORDS+=("")
			COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _purser; echo "${COMPREPLY[*]}"`, "bash", path, line)
		if diff := cmp.Diff(want, strings.TrimSpace(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestCompletion_fish(t *testing.T) {
	t.Parallel()
	path := script(t, "fish")
	for line, want := range map[string]string{
		"purser pu": "pull puppet push", "purser results ": "list post", "purser push --dr": "--dry-run",
		"purser status -o ": "json name table yaml", "purser completion ": "bash fish zsh",
	} {
		got := shell(t, "fish", "-N", "-c", "source $argv[1]; complete -C $argv[2]", path, line)
		var words []string
		for found := range strings.Lines(got) {
			word, _, _ := strings.Cut(found, "\t")
			words = append(words, strings.TrimSpace(word))
		}
		if diff := cmp.Diff(want, strings.Join(words, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestCompletion_zsh(t *testing.T) {
	t.Parallel()
	path := script(t, "zsh")
	got := shell(t, "zsh", "-f", "-c", `autoload -Uz compinit; compinit -u -D; source $1; print $_comps[purser]`, "zsh", path)
	if got != "_purser\n" {
		t.Errorf("zsh completes purser by %q", got)
	}
}

// Every command has a manual page with a description and an example, and man can read it.
func TestMan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, stderr, code := purser(t, "man", dir); code != 0 {
		t.Fatal(stderr)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("pages %q, error %v", pages, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{".SH NAME\n", ".SH SYNOPSIS\n", ".SH OPTIONS\n", ".SH EXIT STATUS\n"} {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s has no %q", filepath.Base(page), part)
			}
		}
		parent := strings.Contains(string(text), ".SH COMMANDS\n")
		if !parent && filepath.Base(page) != "purser-version.1" && !strings.Contains(string(text), ".nf\n") {
			t.Errorf("%s has no example", filepath.Base(page))
		}
		if _, err := exec.LookPath("groff"); err == nil {
			if said := shell(t, "groff", "-man", "-ww", "-Tutf8", "-z", page); said != "" {
				t.Errorf("groff of %s: %s", filepath.Base(page), said)
			}
		}
	}
}

// program is a small command line, with texts that must be quoted.
type program struct {
	Pack struct {
		Kind   string `arg:"" enum:"box,crate" help:"What to pack."`
		Label  string `default:"it's" help:"A \\ and 'quotes': é." placeholder:"TEXT" short:"l"`
		Secret string `help:"Not shown." hidden:""`
	} `cmd:"" help:"Pack it's things."`
	Hidden struct{} `cmd:"" help:"Not shown." hidden:""`
}

func parsed(t *testing.T) *kong.Node {
	t.Helper()
	parser, err := kong.New(&program{}, kong.Name("purser"), kong.Description("Packs."))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model.Node
}

// The texts of commands and flags are quoted for each shell, and nothing hidden is completed.
func TestUsageText_quotes(t *testing.T) {
	t.Parallel()
	commands := commandsFrom(parsed(t))
	for shell, want := range map[string]string{"bash": "'box crate'", "zsh": `'pack:Pack it'\''s things.'`, "fish": `'Pack it\'s things.'`} {
		text, err := usageText(shell, commands)
		if err != nil || !strings.Contains(text, want) || strings.Contains(text, "hidden") || strings.Contains(text, "secret") {
			t.Errorf("%s: error %v, want %s in it, and nothing hidden:\n%s", shell, err, want, text)
		}
	}
}

// There is a page for each command that is not hidden, whose texts are escaped for man(7).
func TestManualOf(t *testing.T) {
	t.Parallel()
	var names []string
	pages := map[string]string{}
	for _, command := range commandsFrom(parsed(t)) {
		m := manualOf(command)
		m.Version = "1.2"
		text, err := usageText("man", m)
		if err != nil {
			t.Fatal(err)
		}
		names, pages[m.Title] = append(names, m.Title), text
	}
	if want := []string{"purser", "purser-pack"}; !slices.Equal(want, names) {
		t.Errorf("pages %q, want %q", names, want)
	}
	page := pages["purser-pack"]
	for _, want := range []string{
		".TH \"PURSER-PACK\" 1 \"\" \"purser 1.2\" \"Purser\"\n", ".B \\-l, \\-\\-label=TEXT\n",
		"A \\e and \\(aqquotes\\(aq: \\[u00E9]. Default: it\\(aqs.\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if strings.Contains(page, "secret") {
		t.Errorf("a hidden flag is in\n%s", page)
	}
}

// Each command but version has details in its help, and there are details of commands only.
func TestDetails(t *testing.T) {
	t.Parallel()
	parser, err := newParser(t.Context(), &surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	var lacking []string
	leaves := parser.Model.Leaves(true)
	for _, command := range leaves {
		if command.Detail == "" {
			lacking = append(lacking, command.Name)
		}
	}
	if diff := cmp.Diff([]string{"version"}, lacking); diff != "" {
		t.Errorf("commands without details (-want +got):\n%s", diff)
	}
	if got, want := strings.Count("\n"+details, "\n== "), len(leaves)-1; got != want {
		t.Errorf("details of %d commands, want %d", got, want)
	}
}

// A page of the manual shows no default that users would not write, such as -1 for none.
func TestDefaultOf(t *testing.T) {
	t.Parallel()
	parser, err := newParser(t.Context(), &surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, command := range parser.Model.Leaves(true) {
		for _, flag := range command.Flags {
			shown[flag.Name] = defaultOf(flag)
		}
	}
	want := map[string]string{"max-deleted": "", "timeout": "5m", "yes": ""}
	for name, want := range want {
		if got := shown[name]; got != want {
			t.Errorf("--%s: %q, want %q", name, got, want)
		}
	}
}
