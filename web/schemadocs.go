package web

import (
	"html/template"
	"strconv"
	"strings"

	"purser/internal/client"
)

// schemaView is the content of the page that documents a schema.
type schemaView struct {
	Revision int64
	Name     string
	Docs     template.HTML
}

// schema shows the documentation of a schema: the content of the <main> element of the API's own page. The API also
// generates it with html/template, so it has no markup from schemas. An answer of another form is not shown.
func (v *visit) schema() (view, error) {
	var revision client.Revision
	if err := v.api.get(v.Context(), &revision, nil, "revisions", v.PathValue("revision")); err != nil {
		return view{}, err
	}
	id := strconv.FormatInt(revision.ID, 10)
	page := schemaView{
		Revision: revision.ID, Name: v.PathValue("space") + "/" + v.PathValue("kind") + "/" + v.PathValue("v"),
	}
	text, err := v.api.text(v.Context(), typeHTML, nil,
		"revisions", id, "schemas", v.PathValue("space"), v.PathValue("kind"), v.PathValue("v"), "docs")
	if err != nil {
		return view{}, err
	}
	if _, rest, begins := strings.Cut(text, "<main>"); begins {
		if docs, _, ends := strings.Cut(rest, "</main>"); ends {
			page.Docs = template.HTML(docs) //nolint:gosec // see above
		}
	}
	return view{template: "schema", title: page.Name, section: "schemas", data: page}, nil
}
