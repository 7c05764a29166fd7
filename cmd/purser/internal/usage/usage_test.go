package usage_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"purser/cmd/purser/internal/usage"
)

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
func TestCompletion_quotes(t *testing.T) {
	t.Parallel()
	for shell, want := range map[string]string{"bash": "'box crate'", "zsh": `'pack:Pack it'\''s things.'`, "fish": `'Pack it\'s things.'`} {
		text, err := usage.Completion(shell, parsed(t))
		if err != nil || !strings.Contains(text, want) || strings.Contains(text, "hidden") || strings.Contains(text, "secret") {
			t.Errorf("%s: error %v, want %s in it, and nothing hidden:\n%s", shell, err, want, text)
		}
	}
}

// There is a page for each command that is not hidden, whose texts are escaped for man(7).
func TestManual(t *testing.T) {
	t.Parallel()
	var names []string
	pages := map[string]string{}
	for name, text := range usage.Manual(parsed(t), "1.2") {
		names, pages[name] = append(names, name), text
	}
	if want := []string{"purser.1", "purser-pack.1"}; !slices.Equal(want, names) {
		t.Errorf("pages %q, want %q", names, want)
	}
	page := pages["purser-pack.1"]
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
