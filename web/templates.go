package web

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"purser/internal/wire"
	"purser/internal/words"
)

// functions returns the functions of templates.
func (p *layout) functions() template.FuncMap {
	return template.FuncMap{
		"base":   func() string { return string(p.base) },
		"asset":  func(name string) string { return string(p.base) + "static/" + name + "?v=" + p.assets[name].digest },
		"line":   cutBy(cutLine),
		"text":   cutBy(cutText),
		"short":  cutBy(cutName),
		"chip":   cutBy(cutChip),
		"value":  func(text json.RawMessage) string { return cutName(string(text)) },
		"linked": func(path wire.Optional) bool { return path != "" && len(path) <= maxPath },
		"typed":  func(name string) bool { return words.Line(name) == name }, // a keyboard can enter it
		"others": others,
		"when":   when,
		"count":  words.Count,
		"joined": words.List,
		"revision": func(id any, below ...string) string {
			return p.base.Link(append([]string{"revisions", fmt.Sprint(id)}, below...)...)
		},
		"doc":   p.base.Document,
		"query": p.base.Query,
		"past":  func(at wire.Optional) bool { t, ok := at.Time(); return ok && t.Before(p.now()) },
		"add":   func(a, b int) int { return a + b },
		"below": func(id any, steps ...string) string {
			return strings.TrimPrefix(p.base.Link(append([]string{"revisions", fmt.Sprint(id)}, steps...)...), string(p.base))
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
		"dataPath": func(path wire.Optional) string { return strings.TrimSuffix(".data"+string(path), ".") },
		"split": func(c *comparison, split bool) any {
			return struct {
				*comparison
				Split bool
			}{c, split}
		},
	}
}

// cutBy returns a function of templates that cuts a text of any type.
func cutBy(cut func(string) string) func(any) string {
	return func(text any) string { return cut(fmt.Sprint(text)) }
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

// moment is a time as pages show it.
type moment struct{ Machine, Human string }

// when returns a time of the API as pages show it, nil if there is none.
func when(text wire.Optional) *moment {
	at, ok := text.Time()
	if !ok {
		return nil
	}
	return &moment{at.Format("2006-01-02T15:04:05Z"), at.Format("2006-01-02 15:04:05 UTC")}
}
