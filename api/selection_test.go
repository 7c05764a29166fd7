package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// fillSelection creates three revisions whose documents differ in everything that can be selected:
//
//	w1@1 w2@1 g1@1   bucket site
//	o1@2 o2@2        bucket other
//	lp@3 vp@3        bucket policies, without a layer
func (s site) fillSelection(t *testing.T) {
	t.Helper()
	s.put(t, "site", docWith("acme/Widget/v1", "w1", "{}", ", labels: {role: a, zone: '1'}")+
		inLayer("global, abstract: true", docWith("acme/Widget/v2", "w2", "{}", ", labels: {role: a}"))+
		docWith("acme/Gadget/v1", "g1", "{}", ", labels: {role: b, zone: '1', 'x%y': ''}")).is(t, http.StatusOK)
	s.put(t, "other", doc("acme/Widgetary/v1", "o1", "{}")+inLayer("type", doc("acmeb/Widget/v1", "o2", "{}"))).is(t, http.StatusOK)
	s.put(t, "policies", layeringPolicy("lp")+policy("vp", own)).is(t, http.StatusOK)
}

// selections are queries, and the documents of revision 3 that they select, in order.
var selections = []struct{ query, want string }{
	{"", "w1 w2 g1 o1 o2 lp vp"},

	{"schema=acme/Widget/v1", "w1"},
	{"schema=acme/Widget", "w1 w2"},
	{"schema=acme", "w1 w2 g1 o1"},
	{"schema=acme/Widget&schema=acme/Gadget/v1", "w1 w2 g1"},
	{"schema=deckhand&schema=acmeb", "o2 lp vp"},
	{"schema=acme/Widget&schema=acme/Widget/v1", "w1 w2"},
	{"schema=acme/", ""},
	{"schema=acme/Wid", ""},
	{"schema=acme/Widget/", ""},
	{"schema=acme/Widget/v", ""},
	{"schema=acme/Widget/v1/", ""},
	{"schema=ACME", ""},
	{"schema=%25", ""},
	{"schema=acm_", ""},
	{"schema=acme/Widget,acme/Gadget", ""},

	{"metadata.name=w1", "w1"},
	{"metadata.name=o2&metadata.name=w1", "w1 o2"},
	{"metadata.name=w1,w2", ""},
	{"metadata.name=W1", ""},
	{"metadata.name=w1=", ""},

	{"metadata.label=role=a", "w1 w2"},
	{"metadata.label=role=a&metadata.label=zone=1", "w1"},
	{"metadata.label=zone=1", "w1 g1"},
	{"metadata.label=role=a&metadata.label=role=b", ""},
	{"metadata.label=role=c", ""},
	{"metadata.label=role", ""},
	{"metadata.label=role&metadata.label=role=b", "g1"},
	{"metadata.label=role=a=b", "w1 w2"},
	{"metadata.label=role=", ""},
	{"metadata.label=x%25y=", "g1"},

	{"metadata.layeringDefinition.abstract=true", "w2"},
	{"metadata.layeringDefinition.abstract=TRUE", "w2"},
	{"metadata.layeringDefinition.abstract=fAlSe", "w1 g1 o1 o2 lp vp"},
	{"metadata.layeringDefinition.abstract=true&metadata.layeringDefinition.abstract=false", "w1 w2 g1 o1 o2 lp vp"},
	{"metadata.layeringDefinition.abstract=yes", ""},
	{"metadata.layeringDefinition.abstract=yes&metadata.layeringDefinition.abstract=true", "w2"},

	{"metadata.layeringDefinition.layer=site", "w1 g1 o1"},
	{"metadata.layeringDefinition.layer=type&metadata.layeringDefinition.layer=global", "w2 o2"},
	{"metadata.layeringDefinition.layer=none", ""},

	{"status.bucket=other", "o1 o2"},
	{"status.bucket=policies&status.bucket=other", "o1 o2 lp vp"},
	{"status.bucket=oth", ""},

	{"schema=acme&status.bucket=site&metadata.layeringDefinition.layer=site", "w1 g1"},
	{"schema=acme&metadata.name=w1&metadata.name=g1&metadata.label=role=b", "g1"},
	{"schema=acme&status.bucket=policies", ""},
	{"metadata.name=lp&metadata.layeringDefinition.abstract=false&metadata.label=role=a", ""},

	{"cleartext-secrets=false", "w1 w2 g1 o1 o2 lp vp"},

	{"order=desc", "vp lp o2 o1 g1 w2 w1"},
	{"order=asc", "w1 w2 g1 o1 o2 lp vp"},
	{"sort=schema", "g1 w1 w2 o1 o2 lp vp"},
	{"sort=schema&order=desc", "vp lp o2 o1 w2 w1 g1"},
	{"sort=metadata.name", "g1 lp o1 o2 vp w1 w2"},
	{"sort=name&order=desc", "w2 w1 vp o2 o1 lp g1"},
	{"sort=metadata.layeringDefinition.layer", "lp vp w2 w1 g1 o1 o2"},
	{"sort=layer&sort=metadata.name", "lp vp w2 g1 o1 w1 o2"},
	{"sort=layer&sort=metadata.name&order=desc", "o2 w1 o1 g1 w2 vp lp"},
	{"sort=metadata.layeringDefinition.abstract", "w1 g1 o1 o2 lp vp w2"},
	{"sort=status.bucket&sort=name", "o1 o2 lp vp g1 w1 w2"},
	{"sort=bucket_name", "o1 o2 lp vp w1 w2 g1"},
	{"sort=status.revision&order=desc", "lp vp o1 o2 w1 w2 g1"},
	{"sort=createdAt&order=desc", "lp vp o1 o2 w1 w2 g1"},
	{"sort=created_at", "w1 w2 g1 o1 o2 lp vp"},
	{"sort=id&order=desc", "vp lp o2 o1 g1 w2 w1"},
	{"sort=name&sort=name", "g1 lp o1 o2 vp w1 w2"},

	{"limit=2", "w1 w2"},
	{"limit=-2", "w1 w2"},
	{"limit=0", ""},
	{"limit=99", "w1 w2 g1 o1 o2 lp vp"},
	{"limit=-9223372036854775808", "w1 w2 g1 o1 o2 lp vp"},
	{"offset=5", "lp vp"},
	{"offset=7", ""},
	{"limit=2&offset=3", "o1 o2"},
	{"limit=2&offset=1&sort=name&order=desc", "w1 vp"},
	{"limit=1&schema=acme&offset=2", "g1"},
}

func (s site) checkSelections(t *testing.T, revision string) {
	t.Helper()
	origin := map[string]string{"w1": "1", "w2": "1", "g1": "1", "o1": "2", "o2": "2", "lp": "3", "vp": "3"}
	for _, c := range selections {
		want := strings.Fields(c.want)
		for i, name := range want {
			want[i] = name + "@" + origin[name]
		}
		s.get(t, "revisions/"+revision+"/documents?"+c.query).isNames(t, want...)
	}
}

// query is get with parameters that may be empty, which the contract does not allow.
func (s site) query(t *testing.T, path string) response {
	t.Helper()
	return s.get(t, path)
}

func TestSelection(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillSelection(t)
	s.checkSelections(t, "3")
	s.checkSelections(t, "latest")
	// An old revision gives the same results after some of its documents were replaced, deleted or moved.
	s.put(t, "site", widget("w1", "{now: other}")+widget("w3", "{}"))
	s.put(t, "other", "")
	s.put(t, "more", widget("m1", "{}"))
	s.checkSelections(t, "3")
	s.put(t, "policies", "")
	s.put(t, "site", "")
	s.checkSelections(t, "3")
}

func TestSelection_refuses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillSelection(t)
	for query, help := range map[string]string{
		"limit=x":                 `"limit" parameter is invalid`,
		"limit=":                  `"limit"`,
		"limit=1.5":               `"limit"`,
		"limit=1&limit=1":         "given once",
		"offset=x":                `"offset"`,
		"offset=-1":               "not negative",
		"offset=1&offset=1":       `"offset"`,
		"sort=data.size":          `status.revision, but not by "data.size"`,
		"sort=":                   `"sort"`,
		"sort=id&sort=Schema":     `metadata.layeringDefinition.layer`,
		"sort=name,schema":        `"name,schema"`,
		"cleartext-secrets=maybe": `must be "true" or "false"`,
		"cleartext-secrets=1&cleartext-secrets=1": `"cleartext-secrets"`,
		"metadata.name=%FF":                       `"metadata.name" parameter is invalid. One of its values is not valid UTF-8`,
		"schema=a%00":                             `"schema"`,
		"name=w1":                                 `"name" parameter is invalid`,
		"status.revision=1":                       `"status.revision"`,
		"limit=1" + strings.Repeat("&unknown=w1", 9_000): `"unknown"`,
	} {
		s.get(t, "revisions/3/documents?"+query).
			isFault(t, http.StatusBadRequest, "HTTPInvalidParam", help)
	}
	s.get(t, "revisions/3/documents?limit=%zz").
		isFault(t, http.StatusBadRequest, "HTTPBadRequest", "query of the URL")
	for _, parameter := range []string{
		"schema", "metadata.name", "metadata.label", "metadata.layeringDefinition.layer", "status.bucket", "sort",
		"metadata.layeringDefinition.abstract",
	} {
		query := "?" + parameter + "=id" + strings.Repeat("&"+parameter+"=id", 9_999)
		s.get(t, "revisions/3/documents"+query).
			isFault(t, http.StatusBadRequest, "HTTPInvalidParam", fmt.Sprintf("%q", parameter), "10000 values", "at most 500")
	}
	s.get(t, "revisions/3/documents?limit=9"+strings.Repeat("&metadata.name=w1", 500)).isNames(t, "w1@1")
	s.get(t, "revisions/3/documents?schema=a"+strings.Repeat("&a", 50_000)).
		isFault(t, http.StatusBadRequest, "HTTPBadRequest", "number of URL query parameters exceeded limit")
}

func TestSelection_wordsForBooleans(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillSelection(t)
	for _, word := range []string{"true", "True", "t", "yes", "y", "1", "on", "false", "False", "f", "no", "n", "0", "off", ""} {
		s.unchecked().get(t, "revisions/3/documents?metadata.name=w1&cleartext-secrets="+word).isNames(t, "w1@1")
	}
	s.unchecked().get(t, "revisions/3/documents?cleartext-secrets&limit=1").isNames(t, "w1@1")
}

func TestSelection_compat(t *testing.T) {
	t.Parallel()
	s := compatSite(t)
	s.fillSelection(t)
	for query, want := range map[string][]string{
		"schema=deckhand":                  {"lp@3"},
		"schema=deckhand/ValidationPolicy": nil,
		"metadata.name=vp":                 nil,
		"status.bucket=policies":           {"lp@3"},
		"limit=2":                          {"w1@1", "w2@1"},
		"limit=2&offset=3":                 {"w1@1", "w2@1"},
		"order=desc&limit=1":               {"lp@3"},
		"schema=":                          nil,
		"schema=&schema=acmeb":             {"o2@2"},
		"metadata.label=":                  nil,
		"metadata.name=":                   nil,
		// Documents without a layer cannot be selected by layer.
		"metadata.layeringDefinition.layer=":                                        nil,
		"metadata.layeringDefinition.layer=&metadata.layeringDefinition.layer=type": {"o2@2"},
	} {
		got := s.query(t, "revisions/3/documents?"+query)
		got.isNames(t, want...)
		if links := got.Header.Values("Link"); len(links) > 0 {
			t.Errorf("%s: the reference has no links, but here are %v", query, links)
		}
	}
	s.get(t, "revisions/3/documents?limit=1&offset=x").isNames(t, "w1@1")
}
