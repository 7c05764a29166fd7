package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func explainPath(revision, schema, name string, more ...string) string {
	query := url.Values{"schema": {schema}, "name": {name}}
	for i := 0; i < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return "revisions/" + revision + "/rendered-documents/explain?" + query.Encode()
}

func TestExplain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillSite(t)
	const chart = `[1] acme/Chart/v1 chart        layer site, bucket site, revision 3
[2] acme/Chart/v1 base         layer global, bucket global, revision 1
[3] acme/Chart/v1 regional     layer region, bucket region, revision 2
[4] acme/Secret/v1 password    layer site, bucket site, revision 3
[5] acme/Secret/v1 password    layer global, bucket global, revision 1

├─ colour: red                                [2], inherited by [3], inherited by [1]
├─ limits
│  └─ disk: 9                                 [1], put at .limits
├─ ports
│  ├─ [0]: 80                                 [2], inherited by [3], inherited by [1]
│  └─ [1]: 443                                [2], inherited by [3], inherited by [1]
├─ region: r1                                 [3], merged at . in [3], inherited by [1]
├─ url: http://d:st\1rong@host/st\1rong       [1], merged at ., PASSWORD replaced by ([4] .value, merged at . in [4]), USER replaced by the part ^(a)(d) of ([5] .user, inherited by [4])
├─ auth
│  └─ password: st\1rong                      [4] .value, merged at . in [4], substituted to .auth.password
└─ hooks
   ├─ [0]: {}                                 [1], substituted to .hooks[1].secret
   └─ [1]
      └─ secret
         ├─ value: st\1rong                   [4] .value, merged at . in [4], substituted to .hooks[1].secret
         └─ user: admin                       [5] .user, inherited by [4], substituted to .hooks[1].secret
`
	got := s.get(t, explainPath("3", "acme/Chart/v1", "chart"), "Accept", "text/plain").is(t, http.StatusOK)
	if diff := cmp.Diff(squeezed(chart), squeezed(got.text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.get(t, got.path, "Accept", "text/plain", "If-None-Match", got.Header.Get("ETag")).is(t, http.StatusNotModified)
	s.get(t, got.path, "Accept", "application/json").is(t, http.StatusOK)

	password := s.get(t, explainPath("3", "acme/Chart/v1", "chart", "path", ".auth.password")).is(t, http.StatusOK).mapping(t)
	name := func(name, layer, bucket string, revision int) map[string]any {
		return map[string]any{"schema": "acme/Secret/v1", "name": name, "layer": layer, "bucket": bucket, "revision": revision}
	}
	of := func(kind string, m map[string]any) map[string]any { m["schema"] = kind; return m }
	written := name("password", "site", "site", 3)
	written["path"] = ".value"
	want := []any{map[string]any{"path": ".auth.password", "value": `st\1rong`, "from": written, "steps": []any{
		map[string]any{"kind": "merge", "document": name("password", "site", "site", 3), "action": 0, "path": "."},
		map[string]any{
			"kind": "substitute", "document": of("acme/Chart/v1", name("chart", "site", "site", 3)), "substitution": 0,
			"source": name("password", "site", "site", 3), "from": ".value", "path": ".auth.password",
		},
	}}}
	if diff := cmp.Diff(want, password["leaves"]); diff != "" {
		t.Errorf("leaves (-want +got):\n%s", diff)
	}
	// A replaced or abstract document is explained if the request names its layer.
	replaced := s.get(t, explainPath("3", "acme/Secret/v1", "password", "layer", "global", "path", "value")).is(t, http.StatusOK)
	if !strings.Contains(replaced.text, "value: weak") {
		t.Errorf("the replaced document is explained as\n%s", replaced.text)
	}
	s.get(t, explainPath("3", "acme/Chart/v1", "base", "layer", "global")).is(t, http.StatusOK)
}

// squeezed replaces each run of blanks with one, so that column widths do not matter.
func squeezed(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

func TestExplain_whatRendersBesideWhatDoesNot(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "site", layers("lp", "site")+widget("fine", "{x: [1]}")+
		docWith("acme/Widget/v1", "broken", "{}", substitutes(from("nowhere", ".", "{path: .x}")))).is(t, http.StatusOK)
	s.get(t, "revisions/1/rendered-documents").is(t, http.StatusConflict)
	s.get(t, explainPath("1", "acme/Widget/v1", "fine")).is(t, http.StatusOK)
	s.get(t, explainPath("1", "acme/Widget/v1", "broken")).isFault(t, http.StatusConflict, "SubstitutionSourceNotFound", "nowhere")
}

func TestExplain_badInput(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillSite(t)
	s.get(t, explainPath("3", "acme/Chart/v1", "chard")).isFault(t, http.StatusNotFound, "DocumentNotFound", "acme/Chart/v1, site] chart")
	s.get(t, explainPath("3", "acme/Chart/v1", "chart", "layer", "global")).isFault(t, http.StatusNotFound, "DocumentNotFound", "chart")
	s.get(t, explainPath("3", "acme/Chart/v1", "chart", "path", ".limits.cpu")).isFault(t, http.StatusNotFound, "DocumentPathNotFound", ".limits.cpu", "no further than .limits")
	s.get(t, explainPath("3", "acme/Chart/v1", "chart", "path", ".l[")).isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "path", "made of .key")
	s.get(t, explainPath("3", "acme/Chart/v1", "")).isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "must not be empty")
	s.get(t, "revisions/3/rendered-documents/explain?schema=acme/Chart/v1").
		isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "schema=example/Kind/v1&name=")
	s.get(t, explainPath("9", "acme/Chart/v1", "chart")).isFault(t, http.StatusNotFound, "HTTPNotFound", "9")
	s.get(t, "revisions/3/rendered-documents/explain?schema=a&schema=b&name=x").isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "only once")

	// Invisible characters and those that control a terminal are quoted; long values are cut.
	s.put(t, "odd", widget("odd", fmt.Sprintf(`{"a\nb": "x\u001b[31m\u0085\u202e", long: "%s", 'q u': ""}`, strings.Repeat("y", 1000)))).is(t, http.StatusOK)
	text := s.get(t, explainPath("latest", "acme/Widget/v1", "odd"), "Accept", "text/plain").is(t, http.StatusOK).text
	if strings.ContainsAny(text, "\x1b\u0085\u202e") || strings.Count(text, "\n") != 5 || len(text) > 1000 {
		t.Errorf("odd values are shown as\n%q", text)
	}
}
