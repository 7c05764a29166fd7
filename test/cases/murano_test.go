package cases_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"purser/internal/murano"
	"purser/internal/murano/yaql"
)

func TestMurano_YAQL(t *testing.T) {
	t.Parallel()
	var file struct {
		Cases []struct {
			Expr, MPL, UI string
			MPLAST        json.RawMessage `json:"mpl_ast"`
			MPLError      struct {
				Kind     string
				Position *int
			} `json:"mpl_error"`
		}
	}
	read(t, "murano/yaql.json", &file)
	for _, c := range file.Cases {
		node, err := yaql.Parse(c.Expr, yaql.MPL)
		if (err == nil) != (c.MPL == "valid") {
			t.Errorf("MPL %q: %v, want %s", c.Expr, err, c.MPL)
		}
		if yaql.Valid(c.Expr, yaql.UI) != (c.UI == "valid") {
			t.Errorf("UI %q: want %s", c.Expr, c.UI)
		}
		if err == nil && c.MPLAST != nil {
			var want any
			if err := json.Unmarshal(c.MPLAST, &want); err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(flat(want), tree(node)); diff != "" {
				t.Errorf("%q (-want +got)\n%s", c.Expr, diff)
			}
		}
		if failed, ok := errors.AsType[*yaql.Error](err); ok && (c.MPLError.Kind == "grammar" || c.MPLError.Kind == "lexical") {
			want := -1
			if c.MPLError.Position != nil {
				want = *c.MPLError.Position
			}
			if failed.Pos != want {
				t.Errorf("%q fails at %d, want %d", c.Expr, failed.Pos, want)
			}
		}
	}
}

// flat writes a recorded expression without the values of its strings.
func flat(value any) string {
	list, ok := value.([]any)
	if !ok {
		return fmt.Sprint(value)
	}
	op := list[0].(string)
	switch op {
	case "const":
		if _, ok := list[1].(string); ok {
			return "const string 0"
		}
		return fmt.Sprint("const ", list[1])
	case "kw", "var":
		return fmt.Sprint(op, " ", list[1])
	}
	parts := []string{op}
	for _, item := range list[1:] {
		parts = append(parts, flat(item))
	}
	return "(" + strings.Join(parts, " ") + ")"
}

func tree(node *yaql.Node) string {
	switch node.Op {
	case "const":
		if strings.ContainsRune("'\"`", rune(node.Text[0])) {
			return "const string 0"
		}
		if number, err := strconv.ParseFloat(node.Text, 64); err == nil {
			return fmt.Sprint("const ", number)
		}
		return "const " + map[string]string{"true": "true", "false": "false", "null": "<nil>"}[node.Text]
	case "kw", "var":
		return node.Op + " " + node.Text
	}
	parts := []string{node.Op}
	for _, arg := range node.Args {
		parts = append(parts, tree(arg))
	}
	return "(" + strings.Join(parts, " ") + ")"
}

func TestMurano_SemVer(t *testing.T) {
	t.Parallel()
	var file struct {
		Coerce []struct {
			In      string
			OK      bool
			Coerced string
		} `json:"version_coerce"`
		Require []struct {
			In      any
			Verdict string
			Matches []string
		}
	}
	read(t, "murano/semver.json", &file)
	for _, c := range file.Coerce {
		v, err := murano.ParseVersion(c.In)
		if (err == nil) != c.OK || err == nil && v.String() != c.Coerced {
			t.Errorf("Coerce(%q) = %v, %v, want %q", c.In, v, err, c.Coerced)
		}
	}
	var probes []string
	for _, c := range file.Require {
		probes = append(probes, c.Matches...)
	}
	slices.Sort(probes)
	probes = slices.Compact(probes)
	for _, c := range file.Require {
		text := ""
		if c.In != nil {
			text = fmt.Sprint(c.In)
		}
		spec, err := murano.ParseSpec(text)
		if (err == nil) != (c.Verdict == "valid") {
			t.Errorf("ParseSpec(%q): %v, want %s", text, err, c.Verdict)
		}
		if err != nil {
			continue
		}
		var matches []string
		for _, probe := range probes {
			v, err := murano.ParseVersion(probe)
			if err != nil {
				t.Fatal(err)
			}
			if spec.Match(v) {
				matches = append(matches, probe)
			}
		}
		slices.Sort(c.Matches)
		if diff := gocmp.Diff(strings.Join(c.Matches, " "), strings.Join(matches, " ")); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
}
