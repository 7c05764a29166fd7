package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"strings"

	"purser/internal/client"
	"purser/internal/words"
)

//go:embed templates
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// assets are the files that pages load, by name, with a part of their digests: a link to a file changes with it.
type assets map[string]asset

type asset struct {
	text   []byte
	digest string
}

func readAssets() assets {
	all := assets{}
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		panic(err) // they are part of the program
	}
	for _, entry := range entries {
		text, err := staticFiles.ReadFile(path.Join("static", entry.Name()))
		if err != nil {
			panic(err) // the same
		}
		const size = 8
		sum := sha256.Sum256(text)
		all[entry.Name()] = asset{text, hex.EncodeToString(sum[:size])}
	}
	return all
}

// asset answers with a file that pages load.
func (s *server) asset(w http.ResponseWriter, r *http.Request) {
	found, ok := s.assets[r.PathValue("file")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	kinds := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}
	w.Header().Set("Content-Type", kinds[path.Ext(r.PathValue("file"))])
	if r.URL.Query().Get("v") == found.digest {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(found.text) // the browser may have disconnected
}

// parsePages reads the templates of all pages. It panics if one cannot be read: they are part of the program.
func (s *server) parsePages() map[string]*template.Template {
	common := template.Must(template.New("").Funcs(s.functions()).ParseFS(templateFiles,
		"templates/layout.html", "templates/parts.html"))
	pages := map[string]*template.Template{}
	entries, err := templateFiles.ReadDir("templates/pages")
	if err != nil {
		panic(err) // they are part of the program
	}
	for _, entry := range entries {
		page := template.Must(template.Must(common.Clone()).ParseFS(templateFiles, "templates/pages/"+entry.Name()))
		pages[strings.TrimSuffix(entry.Name(), ".html")] = page
	}
	return pages
}

// functions returns the functions of templates.
func (s *server) functions() template.FuncMap {
	return template.FuncMap{
		"base":   func() string { return s.base },
		"asset":  func(name string) string { return s.base + "static/" + name + "?v=" + s.assets[name].digest },
		"show":   visible,
		"line":   shownLine,
		"text":   shownText,
		"short":  shownName,
		"chip":   shownChip,
		"value":  func(text json.RawMessage) string { return shownName(string(text)) },
		"linked": func(path string) bool { return path != "" && len(path) <= maxPath },
		"others": others,
		"when":   s.when,
		"count":  words.Count,
		"joined": joined,
		"revision": func(id any, below ...string) string {
			return s.link(append([]string{"revisions", fmt.Sprint(id)}, below...))
		},
		"doc":    s.documentLink,
		"query":  s.queryLink,
		"fields": strings.Fields,
		"focus":  focusName,
		"forms":  forms,
		"past":   func(at string) bool { t, ok := parseTime(at); return ok && t.Before(s.Now()) },
		"add":    func(a, b int) int { return a + b },
		"next":   func(id int64) int64 { return id + 1 },
		"below": func(id any, steps ...string) string {
			return strings.TrimPrefix(s.link(append([]string{"revisions", fmt.Sprint(id)}, steps...)), s.base)
		},
		"where": func(change string, after, before int64) int64 {
			if change == "deleted" {
				return before
			}
			return after
		},
		"tab": func(form string) string {
			return map[string]string{
				"written": "As written", "rendered": "Rendered", "explained": "Explained", "history": "History",
				"graph": "Neighbours",
			}[form]
		},
		"dataPath": func(path string) string { return strings.TrimSuffix(".data"+path, ".") },
		"split": func(c *comparison, split bool) any {
			return struct {
				*comparison
				Split bool
			}{c, split}
		},
	}
}

// maxPath is how many bytes a path may have that stands in a link.
const maxPath = 1000

// others says how many items a list has beyond the first ones.
func others(list any, shown int) string {
	if n := reflect.ValueOf(list).Len() - shown; n > 0 {
		return fmt.Sprintf("and %d more", n)
	}
	return ""
}

// moment is a time as pages show it.
type moment struct{ Machine, Human string }

// when returns a time of the API as pages show it, nil if there is none.
func (s *server) when(text string) *moment {
	at, ok := parseTime(text)
	if !ok {
		return nil
	}
	return &moment{at.Format("2006-01-02T15:04:05Z"), at.Format("2006-01-02 15:04:05 UTC")}
}

// link returns the URL of a page.
func (s *server) link(steps []string) string {
	escaped := make([]string, len(steps))
	for i, step := range steps {
		escaped[i] = url.PathEscape(step)
	}
	return s.base + strings.Join(escaped, "/")
}

// queryLink returns the URL of a page with a query of names and values in turn; values that are empty are left out.
func (s *server) queryLink(page string, pairs ...any) string {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := fmt.Sprint(pairs[i+1]); value != "" {
			query.Set(fmt.Sprint(pairs[i]), value)
		}
	}
	if len(query) == 0 {
		return s.base + page
	}
	return s.base + page + "?" + query.Encode()
}

// documentLink returns the URL of the page of a document of a revision; pairs are more parameters.
func (s *server) documentLink(revision any, id client.Identity, pairs ...any) string {
	all := append([]any{"schema", id.Schema, "layer", id.Layer, "name", id.Name}, pairs...)
	return s.queryLink("revisions/"+url.PathEscape(fmt.Sprint(revision))+"/document", all...)
}
