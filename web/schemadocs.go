package web

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/wire"
)

// schemaView is the content of the page that documents a schema.
type schemaView struct {
	*pageBuffer

	Revision int64
	Name     string
	Docs     template.HTML
}

// schema shows the documentation of a schema: the part of the API's page between its <main> tags. The API makes that
// with html/template too, so no text of a schema is markup in it; anything else than such a page is not shown. A schema
// that takes something from a secret is refused: it is shown on the page of its document.
func (v *visit) schema() (view, error) {
	var revision wire.Revision
	if err := v.api.Get(v.Context(), &revision, nil, "revisions", v.PathValue("revision")); err != nil {
		return view{}, err
	}
	id := strconv.FormatInt(revision.ID, 10)
	page := schemaView{
		pageBuffer: v.pageBuffer,
		Revision:   revision.ID, Name: v.PathValue("space") + "/" + v.PathValue("kind") + "/" + v.PathValue("v"),
	}
	text, err := v.api.Text(v.Context(), client.HTML, url.Values{"cleartext-secrets": {"false"}},
		"revisions", id, "schemas", v.PathValue("space"), v.PathValue("kind"), v.PathValue("v"), "docs")
	if err != nil {
		return view{}, err
	}
	if _, rest, begins := strings.Cut(text, "<main>"); begins {
		if docs, _, ends := strings.Cut(rest, "</main>"); ends {
			page.Docs = template.HTML(docs) //nolint:gosec // see above
		}
	}
	return view{template: "schema", Title: page.Name, Section: "schemas", Data: page}, nil
}
