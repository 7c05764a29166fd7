package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/check"
	"purser/internal/document"
)

// found is a finding of a server, or of purser check.
type found struct {
	Level, Document, Path, Message string
	Line, Column                   int
}

// checked returns the findings of purser check for a body, except those that the server does not report.
func checked(t *testing.T, body string) (all []found) {
	t.Helper()
	report, err := check.New(check.Options{}).Check(t.Context(), []check.File{{Name: "site.yaml", Text: []byte(body)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Rule == "duplicate-key" {
			continue
		}
		all = append(all, found{f.Level.String(), f.Document.String(), f.Path, f.Message, f.Line, f.Column})
	}
	return all
}

// dryRunFindings returns the findings of a server's dry run of a body.
func (s *server) dryRunFindings(t *testing.T, body string) (all []found) {
	t.Helper()
	r := put("site", body).request("?findings=true&dry-run=true")
	r.bad = true // real sites may break the contract
	list, _ := s.send(t, r).is(t, http.StatusOK).mapping(t)["findings"].([]any)
	for _, item := range list {
		finding, _ := item.(map[string]any)
		text := func(in map[string]any, key string) string { text, _ := in[key].(string); return text }
		of, _ := finding["document"].(map[string]any)
		line, _ := finding["line"].(int)
		column, _ := finding["column"].(int)
		id := document.Identity{Schema: text(of, "schema"), Layer: text(of, "layer"), Name: text(of, "name")}
		all = append(all, found{text(finding, "level"), id.String(), text(finding, "path"), text(finding, "message"), line, column})
	}
	return all
}

// byMessage removes the places of findings, sorts them and drops duplicates. The places differ: values in rendered
// documents have the place where they were written, and findings without a document have an arbitrary one.
func byMessage(all []found) []found {
	for i := range all {
		all[i].Line, all[i].Column = 0, 0
	}
	slices.SortFunc(all, func(a, b found) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return slices.Compact(all)
}

// realSites returns the available real sites, and the examples as one site.
func realSites(t *testing.T) map[string]string {
	t.Helper()
	sites := map[string]string{
		"examples": readExample(t, "schemas.yaml") + readExample(t, "broken-site.yaml") + readExample(t, "endpoints.yaml") +
			readExample(t, "services.yaml"),
	}
	for _, path := range corpus(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sites[filepath.Base(filepath.Dir(path))] = string(text)
	}
	return sites
}

// planted is a mistake at a line of a site; lines count from 1.
type planted struct {
	line int
	what string
}

// plant makes up to most mistakes, each in a different document that has a line like pattern: it replaces the line. The
// mistake is expected at that line, or at one of the three before it that begins with key. Abstract documents, which
// may not be rendered, are not changed.
func plant(lines []string, used map[int]bool, pattern, with, key string, most int) (made []planted) {
	like, begin, abstract := regexp.MustCompile(pattern), 0, false
	for i, line := range lines {
		if line == "---" {
			begin = i
			end := slices.Index(lines[i+1:], "---")
			abstract = slices.Contains(lines[i+1:][:max(0, end)], "    abstract: true")
		}
		if used[begin] || abstract || len(made) == most || !like.MatchString(line) {
			continue
		}
		at := i
		for at > max(begin, i-3) && !strings.HasPrefix(lines[at], key) {
			at--
		}
		if !strings.HasPrefix(lines[at], key) {
			continue
		}
		used[begin] = true
		lines[i] = like.ReplaceAllString(line, fmt.Sprintf(with, i))
		made = append(made, planted{at + 1, lines[i]})
	}
	return made
}

// sow describes a kind of mistake: the lines to change, their replacement, the key at which it is reported, and how
// many to make.
type sow struct {
	pattern, with, key string
	most               int
}

// strict makes the DataSchema of a site's charts require types for some values.
func strict(site string) string {
	before, after, found := strings.Cut(site, "  name: armada/Chart/v1\n")
	if !found {
		return site
	}
	head, rest, _ := strings.Cut(after, "\ndata:\n")
	return before + "  name: armada/Chart/v1\n" + head + "\ndata:\n" +
		"  properties: {namespace: {type: string}, release: {type: string}}\n" + rest
}

// purser check reports the same findings as the server for the same documents, message for message, and reports
// mistakes in real documents at the lines where they were made.
func TestCheck_sideBySide(t *testing.T) {
	t.Parallel()
	count := 0
	for name, site := range realSites(t) {
		s := startSealed(t)
		compare := func(what, body string) {
			t.Helper()
			got := checked(t, body)
			if diff := cmp.Diff(byMessage(s.dryRunFindings(t, body)), byMessage(got)); diff != "" {
				t.Errorf("%s, %s (-server +check)\n%s", name, what, diff)
			}
		}
		compare("as it is", site)
		if name == "examples" {
			continue
		}
		site = "---\n" + strings.TrimPrefix(site, "---\n")
		for what, sows := range map[string][]sow{
			"refused": { // all of these are refused by the server
				{`^  name: (.*)$`, "  nme: $1 # %d", "", 3},
				{`^  storagePolicy: cleartext$`, "  storagePolicy: clear # %d", "", 3},
				{`^schema: (armada.*)$`, "schema: $1/nonsense # %d", "", 3},
				{`^  schema: metadata/Document/v1$`, "  schema: metadata/Document/v9 # %d", "", 3},
				{`^  name: (.*)$`, "  name: \"$1 %d", "", 3},
				{`^  name: (.*)$`, "  name: *a%d", "", 3},
				{`^  storagePolicy: (.*)$`, "\tstoragePolicy: $1 # %d", "", 2},
			},
			"do not fit": {
				{`^    layer: (global|site)$`, "    layer: nowhere%d", "", 4},
				{`^      schema: pegleg/SoftwareVersions/v1$`, "      schema: gone/Gone/v%d", "  - src:", 8},
				{`^      name: (.*)$`, "      name: gone%d", "    parentSelector:", 3},
			},
			"values": {
				{`^  namespace: .*$`, "  namespace: 7 # %d", "", 12}, {`^  release: .*$`, "  release: [%d]", "", 6},
			},
		} {
			lines := strings.Split(site, "\n")
			if what == "values" {
				lines = strings.Split(strict(site), "\n")
			}
			var made []planted
			used := map[int]bool{}
			for _, sow := range sows {
				made = append(made, plant(lines, used, sow.pattern, sow.with, sow.key, sow.most)...)
			}
			body := strings.Join(lines, "\n")
			got := checked(t, body)
			for _, mistake := range made {
				if count++; !slices.ContainsFunc(got, func(f found) bool { return f.Line == mistake.line }) {
					t.Errorf("%s, %s: nothing is found at line %d: %s", name, what, mistake.line, mistake.what)
				}
			}
			if what != "refused" {
				compare(what, body)
			}
		}
	}
	if count > 0 && count < 50 {
		t.Errorf("only %d mistakes were made", count)
	}
}
