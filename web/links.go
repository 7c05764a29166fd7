package web

import (
	"fmt"
	"net/url"
	"strings"

	"purser/internal/wire"
)

// basePath is the path of the overview, such as /ui/. The other pages are below it.
type basePath string

// Link returns the URL of a page.
func (b basePath) Link(steps ...string) string {
	escaped := make([]string, len(steps))
	for i, step := range steps {
		escaped[i] = url.PathEscape(step)
	}
	return string(b) + strings.Join(escaped, "/")
}

// Query returns the URL of a page with a query of names and values in turn; values that are empty are left out.
func (b basePath) Query(page string, pairs ...any) string {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := fmt.Sprint(pairs[i+1]); value != "" {
			query.Set(fmt.Sprint(pairs[i]), value)
		}
	}
	if len(query) == 0 {
		return string(b) + page
	}
	return string(b) + page + "?" + query.Encode()
}

// Revision returns the URL of the page of a revision, or of one below it.
func (b basePath) Revision(id any, below ...string) string {
	return b.Link(append([]string{"revisions", fmt.Sprint(id)}, below...)...)
}

// Document returns the URL of the page of a document of a revision; pairs are more parameters.
func (b basePath) Document(revision any, id wire.Identity, pairs ...any) string {
	all := append([]any{"schema", id.Schema, "layer", id.Layer, "name", id.Name}, pairs...)
	return b.Query("revisions/"+url.PathEscape(fmt.Sprint(revision))+"/document", all...)
}
