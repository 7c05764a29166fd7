package web

import (
	"net/url"
	"testing"
)

// Pages of a site are at clean paths below its name, which nothing leads out of.
func TestSplitSite(t *testing.T) {
	t.Parallel()
	type split struct{ site, prefix, below string }
	for target, want := range map[string]split{
		"/sites/atl1/ui":                           {"atl1", "/sites/atl1", "/ui"},
		"/sites/atl1/ui/":                          {"atl1", "/sites/atl1", "/ui/"},
		"/sites/a.b_c-1/ui/search?q=a":             {"a.b_c-1", "/sites/a.b_c-1", "/ui/search?q=a"},
		"/sites/atl1/ui/revisions/tag:a%2F%2e":     {"atl1", "/sites/atl1", "/ui/revisions/tag:a%2F%2e"},
		"/sites/atl1/ui/revisions/tag:a%2F%2Fb%25": {"atl1", "/sites/atl1", "/ui/revisions/tag:a%2F%2Fb%25"},

		"/ui/": {}, "/sites": {}, "/sites/atl1": {}, "/sites/atl1/": {}, "/sites/atl1/uix/": {}, "/sites/-/ui/": {},
		"/sites//ui/": {}, "/sites/../ui/": {}, "/sites/%2e%2e/ui/": {}, "/sites/./ui/": {}, "/sites/a%2Fb/ui/": {},
		"/sites/atl1/ui//revisions": {}, "/sites/atl1/ui/../ui/": {}, "/sites/atl1/ui/./": {}, "/sites/atl1/api/ui/": {},
		"/x/sites/atl1/ui/": {}, "/sites/%61tl1/ui/": {}, "/sites/ä/ui/": {}, "/sites/atl1//ui/": {},
	} {
		at, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		got, below, ok := splitSite(at)
		if found := (split{got.site, got.prefix, below.RequestURI()}); ok != (want.site != "") || ok && found != want {
			t.Errorf("%s: %t, %+v", target, ok, found)
		}
		if has := (Config{}).Has(at); has != (ok || target == "/ui/") {
			t.Errorf("%s is a page: %t", target, has)
		}
		if has := (Config{Compat: true}).Has(at); has != (target == "/ui/") {
			t.Errorf("%s is a page where there are no sites: %t", target, has)
		}
	}
}

// Labels are read from the lines of a form, in which some characters of known ones are written in another way.
func TestLabelsIn(t *testing.T) {
	t.Parallel()
	was := map[string]string{"a": "x\u202ey", "b": "2"}
	for text, want := range map[string]map[string]string{
		"": {}, " \n\n": {}, "a=x⟨U+202E⟩y\nb=2\n": was, "b = 2 \nc=x=y": {"b": " 2 ", "c": "x=y"}, "b=": {"b": ""},
		"a": nil, "a=1\na=2": nil, "a=x⟨U+202E⟩": {"a": "x⟨U+202E⟩"},
	} {
		got, mistake := labelsIn(text, was)
		if (mistake != "") != (want == nil) || len(got) != len(want) {
			t.Errorf("%q: %q, %q", text, got, mistake)
		}
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%q: %s is %q", text, key, got[key])
			}
		}
	}
}
