package web

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"time"
)

// layout writes pages, and answers with the files that they load.
type layout struct {
	base   basePath
	now    func() time.Time
	assets assets
	pages  map[string]*template.Template
}

// newLayout returns the pages at base. Times before now are shown as passed.
func newLayout(base basePath, now func() time.Time) *layout {
	p := &layout{base: base, now: now, assets: readAssets()}
	p.pages = p.parsePages()
	return p
}

// frame is the common content of all pages.
type frame struct {
	Title, Section string
	User           string // "" if the user is not signed in
	SignedIn       bool   // by a token or a certificate
	Audit          bool   // the user may read the audit
	Live           bool   // the page updates when the site changes, and the user may read events
	Data           any    // of the page's template
}

// Write writes a page to a buffer by the template of this name.
func (p *layout) Write(on *pageBuffer, name string, frame frame) error {
	if err := p.pages[name].ExecuteTemplate(&on.written, "layout", frame); err != nil {
		return fmt.Errorf("fill in a template: %w", err)
	}
	return nil
}

//go:embed templates
var templateFiles embed.FS

// parsePages reads the templates of all pages. It panics if one cannot be read: they are part of the program.
func (p *layout) parsePages() map[string]*template.Template {
	common := template.Must(template.New("").Funcs(p.functions()).ParseFS(templateFiles,
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
