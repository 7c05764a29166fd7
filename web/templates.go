package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"

	"purser/internal/wire"
	"purser/internal/words"
)

//go:embed templates
var templateFiles embed.FS

// parsePages reads the templates of all pages, by name. It panics if one cannot be read: they are part of the program.
func parsePages(functions template.FuncMap) map[string]*template.Template {
	common := template.Must(template.New("").Funcs(functions).ParseFS(templateFiles,
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

// functions returns the functions of templates. Links that are the same for all sites are below root, and times before
// now are shown as passed.
func functions(root string, assets map[string]asset, version string, now func() time.Time) template.FuncMap {
	home := basePath(root + "/ui/")
	return template.FuncMap{
		"version": func() string { return version },
		"home":    func() basePath { return home },
		"site":    func(name string) basePath { return basePath(root + sitesPath + url.PathEscape(name) + "/ui/") },
		"asset":   func(name string) string { return home.Link("static", name) + "?v=" + assets[name].digest },
		"line":    shownLine.cut,
		"text":    shownText.cut,
		"short":   shownName.cut,
		"chip":    shownChip.cut,
		"value":   func(text json.RawMessage) string { return shownName.cut(string(text)) },
		"linked":  func(path wire.Optional) bool { return path != "" && len(path) <= maxPath },
		"secure":  func(source wire.Optional) bool { return strings.HasPrefix(string(source), "https://") },
		"host":    hostOf,
		"waivers": waivedIn,
		"typed":   func(name string) bool { return words.Line(name) == name }, // a keyboard can enter it
		"others":  others,
		"when":    func(text wire.Optional) *moment { return when(text, now()) },
		"root":    func() string { return root + "/" },
		"count":   words.Count,
		"joined":  words.List,
		"levels":  func() []string { return []string{"error", "warning", "info"} },
		"past":    func(at wire.Optional) bool { t, ok := at.Time(); return ok && t.Before(now()) },
		"add":     func(a, b int) int { return a + b },
		"below":   func(id any, steps ...string) string { return basePath("").Revision(id, steps...) },
		"where": func(change string, after, before int64) int64 {
			if change == "deleted" {
				return before
			}
			return after
		},
		"tab": func(form string) string {
			return map[string]string{
				"written": "As written", "rendered": "Rendered", "explained": "Explained", "history": "History",
				"graph": "Dependencies",
			}[form]
		},
		"dataPath": func(path wire.Optional) string { return strings.TrimSuffix(".data"+string(path), ".") },
		"split": func(c *comparison, split bool) any {
			return struct {
				*comparison
				Split bool
			}{c, split}
		},
	}
}

// hostOf returns the host of a page about a result, "" if it is not one of the web.
func hostOf(page string) string {
	at, err := url.Parse(page)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" {
		return ""
	}
	return at.Host
}

// maxPath is how many bytes a path may have that stands in a link.
const maxPath = 1000

// others says how many of some items a list does not show.
func others(all, shown int) string {
	if all <= shown {
		return ""
	}
	return fmt.Sprintf("and %d more", all-shown)
}

// moment is a time as pages show it: Relative, and Human where one points at it.
type moment struct{ Machine, Human, Relative string }

// when returns a time of the API as pages show it at another time, nil if there is none.
func when(text wire.Optional, now time.Time) *moment {
	at, ok := text.Time()
	if !ok {
		return nil
	}
	return &moment{at.Format("2006-01-02T15:04:05Z"), at.Format("2006-01-02 15:04:05 UTC"), relative(at, now)}
}

// relative returns a time as seen from another one, as app.js does, and its date if that is more than 30 days away.
func relative(at, now time.Time) string {
	const day, most = 24 * time.Hour, 30
	distance := now.Sub(at).Abs()
	var many string
	switch {
	case distance < time.Minute:
		return "now"
	case distance < time.Hour:
		many = words.Count(int(distance/time.Minute), "minute")
	case distance < day:
		many = words.Count(int(distance/time.Hour), "hour")
	case distance < most*day:
		many = words.Count(int(distance/day), "day")
	default:
		return at.Format("2006-01-02")
	}
	if at.After(now) {
		return "in " + many
	}
	return many + " ago"
}
