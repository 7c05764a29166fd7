package rendering

import (
	"slices"
	"strings"
	"testing"

	"purser/internal/budget"
	"purser/internal/words"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		".":               "",
		"$":               "",
		" . ":             "",
		".a":              ".a",
		"a":               ".a",
		"$.a":             ".a",
		".a.b-c.@d._e":    ".a.b-c.@d._e",
		".a[0][-12].b":    ".a[0][-12].b",
		".a.[0]":          ".a[0]",
		".[0]":            "[0]",
		"$[0]":            "[0]",
		".3":              ".3",
		".a.'b.c'":        ".a.'b.c'",
		`.a."b c"`:        ".a.'b c'",
		`.a['b']["c"][d]`: ".a.b.c.d",
		`.a.'it\'s'`:      `.a.'it\'s'`,
		" . a [ 0 ] . b ": ".a[0].b",
		".a.*.b[*].*":     ".a.*.b[*].*",
		"*":               ".*",
		".größe.日本":       ".größe.日本",
		".where":          ".where",
	} {
		p := newPath(written)
		var got strings.Builder
		for _, s := range p.steps {
			got.WriteString(s.String())
		}
		if p.broken != nil || got.String() != want {
			t.Errorf("%q: %s, %v, want %s", written, got.String(), p.broken, want)
		}
	}
}

func TestParse_refused(t *testing.T) {
	t.Parallel()
	for written, why := range map[string]string{
		"":                            "character 1: a key is expected",
		"$a":                          "character 2: a '.' or '[' is expected",
		"a b":                         "character 3: a '.' or '[' is expected",
		".a.":                         "character 4: a key is expected",
		"..a":                         "character 2: a key is expected",
		".a..b":                       "character 4: a key is expected",
		".a/b":                        "character 3: a '.' or '['",
		".3a":                         "character 3: a '.' or '['",
		".-a":                         "character 2: a key is expected",
		".a,b":                        "character 3: a '.' or '['",
		".a|b":                        "character 3: a '.' or '['",
		".a[1:2]":                     "character 5: a ']' is expected",
		".a[0,1]":                     "character 5: a ']' is expected",
		".a[":                         "character 4: a key is expected",
		".a[0":                        "character 5: a ']' is expected",
		".a[0]b":                      "character 6: a '.' or '[' is expected",
		".a[--1]":                     "character 4: an index is a number of at most 1000000",
		".a[99999999999999999999]":    "character 4: an index is a number of at most 1000000",
		".'a":                         "character 2: the quoted key does not end",
		".`parent`":                   "character 2: a key is expected",
		".a.$.b":                      "character 4: a key is expected",
		strings.Repeat(".a", 1001):    "it is too long",
		strings.Repeat(".a", 400_000): "…' cannot be read",
	} {
		p := newPath(written)
		if p.broken == nil || !strings.Contains(p.broken.Error(), why) {
			t.Errorf("%q: %v, want %s", words.Excerpt(written), p.broken, why)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{".a['b'][0].*", `$."x\"y"`, ".a[-1] . 3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, written string) {
		p := newPath(written)
		again := newPath(p.String())
		if p.broken == nil && (again.broken != nil || !slices.Equal(again.steps, p.steps)) {
			t.Errorf("%q: %v, written as %q: %v", written, p.steps, p.String(), again.steps)
		}
	})
}

func TestParser_ParseAction(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"": ".", ".": ".", "$": ".", ".data": ".", "$.data": ".", ".data.a": ".a", "$.data[0]": ".[0]", "a": ".a",
		".database": ".database", "data.a": ".data.a", ".data-x": ".data-x",
	} {
		parser := newMemo(newMeter(budget.NewMeter(t.Context())))
		if p := parser.parseAction(written); p.broken != nil || p.String() != want {
			t.Errorf("%q: %s, %v, want %s", written, p.String(), p.broken, want)
		}
	}
}
