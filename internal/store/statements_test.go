package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/events"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// statements returns the texts of all statements by their names.
func statements() map[string]string {
	texts := map[string]string{}
	for field, value := range reflect.ValueOf(store.Statements).Fields() {
		if field.IsExported() {
			texts[field.Name] = value.String()
		}
	}
	return texts
}

// Each statement is one that Postgres accepts for the present schema.
func TestStatements_prepare(t *testing.T) {
	t.Parallel()
	conn := storetest.Connect(t, storetest.URL(t))
	for name, text := range statements() {
		if _, err := conn.Prepare(t.Context(), name, store.Positional(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What several statements have in common is the same in each: above all, which entries a viewer may see, and which
// versions no revision needs.
func TestStatements_common(t *testing.T) {
	t.Parallel()
	texts, blanks := statements(), regexp.MustCompile(`\s+`)
	for name, c := range map[string]struct {
		part string // matches the part, in which blanks are single
		in   []string
	}{
		"entries that a viewer may see": {
			`SELECT e\.entry, e\.document, .* ORDER BY e\.entry LIMIT nullif\(:limit, 0\)`, []string{"Failures", "FailedEntries"},
		},
		"versions that no revision needs": {
			`FROM documents d WHERE d\.site = :site AND d\.until IS NOT NULL .*? OFFSET 0\)`,
			[]string{"CountUnneeded", "UnneededSecrets", "SweepDocuments"},
		},
		"revisions that a prune deletes": {
			`r\.revision <= \( SELECT .*? OFFSET :keep LIMIT 1\) AND NOT EXISTS \(SELECT FROM tags .*?\)`,
			[]string{"CountUnneeded", "UnneededSecrets"},
		},
		"work of verdicts": {
			`FROM verdicts v JOIN revisions r .*? '/validations/' \|\| n\.name\)`, []string{"SelectWork", "ClaimWork"},
		},
		"work of all verdicts": {`judged AS \(.*? c\.expires_at >= now\(\)\)\)`, []string{"ListWork", "CountWork"}},
		"audit of a tag":       {`audited AS \(.*? EXISTS \(SELECT FROM done\)\)`, []string{"SetTag", "DeleteTags"}},
	} {
		part := regexp.MustCompile(c.part)
		want := part.FindString(blanks.ReplaceAllString(texts[c.in[0]], " "))
		for _, statement := range c.in {
			got := part.FindString(blanks.ReplaceAllString(texts[statement], " "))
			if diff := cmp.Diff(want, got); got == "" || diff != "" {
				t.Errorf("%s, %s and %s (-want +got)\n%s", name, c.in[0], statement, diff)
			}
		}
	}
}

// The names in statements that Go code has too are the same there.
func TestStatements_names(t *testing.T) {
	t.Parallel()
	known := map[string]bool{
		"deckhand/LayeringPolicy/%": true, validations.PolicyPrefix: true, validations.PolicyPrefix + "%": true,
		"deckhand/ValidationPolicy0": true, // after all with the prefix
		validations.DataSchemaKind:   true, validations.ClientVersionsKind: true, validations.ReservedPrefix: true,
		validations.PolicyValidation: true, validations.RenderingValidation: true, validations.CoverageValidation: true,
		validations.PuppetValidation: true, validations.PackageValidation: true,
		string(events.RevisionCreated): true, string(events.TagSet): true, string(events.TagDeleted): true,
		string(events.WaiverCreated): true, string(events.WaiverEnded): true, string(events.ValidationPosted): true,
		string(events.SitePurged): true, store.DeliveryKind: true,
	}
	found := map[string]bool{}
	for name, text := range statements() {
		for _, literal := range regexp.MustCompile(`'((?:deckhand|purser|puppet|murano)[^']*)'`).FindAllStringSubmatch(text, -1) {
			if found[literal[1]] = true; !known[literal[1]] {
				t.Errorf("%s: %s", name, literal[1])
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(known)), slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("(-known +found)\n%s", diff)
	}
}

// A call that names a statement and its arguments names those of the statement, and each statement is named somewhere.
func TestStatements_arguments(t *testing.T) {
	t.Parallel()
	texts, used := statements(), map[string]bool{}
	packages, err := parser.ParseDir(token.NewFileSet(), ".", nil, 0) //nolint:staticcheck // without build tags
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(packages["store"], func(node ast.Node) bool {
		if name := statementOf(node); name != "" {
			used[name] = true
		}
		call, ok := node.(*ast.CallExpr)
		for i := 1; ok && i < len(call.Args); i++ {
			name, given := statementOf(call.Args[i-1]), namesOf(call.Args[i])
			if name == "" || given == nil {
				continue
			}
			want := slices.Clone(store.Arguments(texts[name]))
			slices.Sort(want)
			if diff := cmp.Diff(want, slices.Sorted(slices.Values(given))); diff != "" {
				t.Errorf("%s (-want +given)\n%s", name, diff)
			}
		}
		return true
	})
	if diff := cmp.Diff(slices.Sorted(maps.Keys(texts)), slices.Sorted(maps.Keys(used))); diff != "" {
		t.Errorf("statements (-all +used)\n%s", diff)
	}
}

// statementOf returns the name of a statement that an expression is, "" if it is none.
func statementOf(node ast.Node) string {
	if selector, ok := node.(*ast.SelectorExpr); ok {
		if of, ok := selector.X.(*ast.Ident); ok && of.Name == "stmt" && selector.Sel.IsExported() {
			return selector.Sel.Name
		}
	}
	return ""
}

// namesOf returns the names of arguments that a literal has, nil if it is another expression.
func namesOf(node ast.Node) []string {
	literal, ok := node.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	if of, ok := literal.Type.(*ast.Ident); !ok || of.Name != "named" {
		return nil
	}
	names := []string{}
	for _, element := range literal.Elts {
		key := element.(*ast.KeyValueExpr).Key.(*ast.BasicLit)
		name, _ := strconv.Unquote(key.Value)
		names = append(names, name)
	}
	return names
}
