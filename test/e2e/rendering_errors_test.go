package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

//nolint:paralleltest,tparallel // one after the other, for the time that each takes
func TestHostile_rendering(t *testing.T) {
	t.Parallel()
	s := startLean(t)
	const large, refused = http.StatusRequestEntityTooLarge, http.StatusBadRequest
	const full = http.StatusConflict // the change is
	const mega = 1 << 20
	texts := "[" + strings.Repeat("'"+strings.Repeat("ab ", 340)+"',", 2_900) + "]" // 3 MB
	replacing := func(data, source, dest string) string {
		return layeringPolicy("lp") + secret("s", source) + docWith("acme/Widget/v1", "w", data, substitutes(from("s", ".", dest)))
	}
	for name, c := range map[string]struct {
		documents string
		status    int
		help      string
	}{
		"chain of parents":       {heavy(2_000), http.StatusOK, ""},
		"chain of sources":       {growing(2_000, 1, "text"), large, "nested deeper than 1000"},
		"growth":                 {growing(40, 2, "'"+strings.Repeat("x", 100)+"'"), full, "the limit for a site"},
		"growth from much":       {growing(6, 4, "'"+strings.Repeat("x", mega)+"'"), full, "the limit for a site"},
		"recursive pattern":      {replacing("{v: "+texts+"}", "text", "{path: .v, pattern: a, recurse: {depth: -1}}"), http.StatusOK, ""},
		"pattern of many ways":   {replacing("{v: '"+strings.Repeat("ab ", mega)+"'}", "text", "{path: .v, pattern: '(a|b|ab)*(b|ab)*c'}"), http.StatusOK, ""},
		"pattern of many states": {replacing("{v: '"+strings.Repeat("ab ", mega)+"'}", "text", "{path: .v, pattern: '[ab ]{1,500}x'}"), large, "make it simpler"},
		"pattern that grows":     {replacing("{v: '"+strings.Repeat("a", mega)+"'}", "'"+strings.Repeat("y", 100_000)+"'", "{path: .v, pattern: a}"), full, "more than 64 MiB"},
		"index far away":         {replacing("{}", "text", "{path: '.v[2000000000]'}"), refused, "index"},
		"index beyond numbers":   {replacing("{}", "text", "{path: '.v[99999999999999999999]'}"), refused, "an index is a number"},
		"long path":              {replacing("{}", "text", "{path: '"+strings.Repeat(".a", 5_000)+"'}"), refused, "it is too long"},
		"all with all":           {crossed(1_500), refused, "Found: 1500. Expected: 1"},
		"long cycle":             {ring(1_500), refused, "and 1400 more"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			var got answer
			put := request{method: http.MethodPut, path: "buckets/a/documents", body: c.documents, header: yamlBody(), bad: true}
			if c.status == full {
				s.affords(t, func() { got = s.send(t, put).is(t, full) })
			} else {
				s.send(t, put).is(t, http.StatusOK)
				s.affords(t, func() {
					got = s.get(t, "revisions/latest/rendered-documents?metadata.name=none").is(t, c.status)
				})
			}
			if c.status != http.StatusOK && (!strings.Contains(fmt.Sprint(got.mapping(t)), c.help) || len(got.text) > mega) {
				t.Errorf("%q is not in the error, or it is too long: %s", c.help, brief(got.text))
			}
		})
	}
	t.Run("the server is well", func(t *testing.T) {
		s.put(t, "a", layeringPolicy("lp")+widget("w", "{}")).is(t, http.StatusOK)
		s.get(t, "revisions/latest/rendered-documents?metadata.name=w").is(t, http.StatusOK)
		t.Logf("at most %d MiB in memory", s.mostMemory(t)>>20)
	})
}
