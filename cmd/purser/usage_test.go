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
		"purser results ":                  "post request list",
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

// inPath makes a program purser that completes what it is asked as a server's values would be, and returns its folder. It
// says which words it was given.
func inPath(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	const program = "#!/bin/sh\nprintf '<%s>' \"$@\" >>\"$(dirname \"$0\")/given\"\nprintf 'site\\nstaging\\n$(touch harm)\\n'\n"
	if err := os.WriteFile(filepath.Join(dir, "purser"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func wantGiven(t *testing.T, dir, want string) {
	t.Helper()
	got, _ := os.ReadFile(filepath.Join(dir, "given"))
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the program was given (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "harm")); err == nil {
		t.Error("a value was run")
	}
}

// The scripts ask purser for values of arguments and flags that a server knows, and run no part of the answer.
func TestCompletion_values(t *testing.T) {
	t.Parallel()
	for shellName, c := range map[string]struct{ script, got, given string }{
		"bash": {
			`cd "$1"; PATH="$1:$PATH"; source "$2"
			for line in "push" "show --bucket"; do
				COMP_WORDS=(purser $line ""); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _purser; echo "${COMPREPLY[*]}"
			done`,
			"site staging $(touch harm)\nsite staging $(touch harm)\n",
			"<complete-values><push><><complete-values><show><--bucket><>",
		},
		"zsh": {
			`cd $1; PATH=$1:$PATH; autoload -Uz compinit; compinit -u -D; source $2
			compadd() { print -- ${(P)2} }
			for line in "push" "show --bucket"; do
				words=(purser ${=line} ""); CURRENT=$#words; _purser
			done`,
			"site staging $(touch harm)\nsite staging $(touch harm)\n",
			"<complete-values><push><><complete-values><show><--bucket><>",
		},
		"fish": {
			`cd $argv[1]; set PATH $argv[1] $PATH; source $argv[2]; complete -C 'purser push s'; complete -C 'purser show --bucket='`,
			"site\nstaging\n--bucket=$(touch harm)\tOnly documents of this bucket.\n--bucket=site\tOnly documents of this bucket.\n" +
				"--bucket=staging\tOnly documents of this bucket.\n",
			"<complete-values><push><s><complete-values><show><--bucket=>",
		},
	} {
		t.Run(shellName, func(t *testing.T) {
			t.Parallel()
			path, dir := script(t, shellName), inPath(t)
			args := map[string][]string{"bash": {"-c", c.script, "bash"}, "zsh": {"-f", "-c", c.script, "zsh"}, "fish": {"-N", "-c", c.script}}
			got := shell(t, shellName, append(args[shellName], dir, path)...)
			if diff := cmp.Diff(c.got, got); diff != "" {
				t.Errorf("completed (-want +got):\n%s", diff)
			}
			wantGiven(t, dir, c.given)
		})
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

// The help names what the value of a flag is, rather than the type of it or an empty default, and marks the default format.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	parser, err := newParser(t.Context(), &surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(true) {
		for _, flag := range command.Flags {
			shown := flag.FormatPlaceHolder()
			if slices.Contains([]string{"STRING", "INT", `""`, "STRING,...", "DURATION"}, shown) && !flag.IsBool() {
				t.Errorf("purser %s --%s=%s", command.Path(), flag.Name, shown)
			}
			if flag.Name == "output" && !strings.Contains(flag.Help, "(default)") {
				t.Errorf("purser %s --output: %s", command.Path(), flag.Help)
			}
		}
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
