package views

import (
	"net/url"
	"strconv"

	"purser/internal/queries"
	"purser/internal/validations"
	"purser/internal/wire"
)

// EntryPage returns the view of a page of entries.
func EntryPage[T any](l Links, at *url.URL, page queries.Page, found queries.Entries,
	view func(validations.Entry) T,
) wire.List[T] {
	shown := ListOf(found.Entries, view)
	if l.Compat {
		return shown
	}
	return PageOf(l, at, page, found.More, shown)
}

// PageOf returns a list as a page, which may have fewer items than its limit. at is the URL of the request.
func PageOf[T any](l Links, at *url.URL, page queries.Page, more bool, of wire.List[T]) wire.List[T] {
	next, previous := l.Pages(at, page, more)
	if more && 0 < of.Count && of.Count < page.Limit { // the items are large
		next = l.pageURL(at, page.Offset+of.Count, page.Limit)
	}
	of.Next, of.Prev = &next, &previous
	return of
}

// Pages returns the URLs of the next and previous pages, "" for a page that does not exist. at is the URL of the
// request.
func (l Links) Pages(at *url.URL, page queries.Page, more bool) (next, previous wire.Optional) {
	if page.Limit == 0 {
		return "", "" // an empty page has no neighbours
	}
	if more {
		next = l.pageURL(at, page.Offset+page.Limit, page.Limit)
	}
	if page.Offset > 0 {
		limit := page.Limit
		if limit < 0 || limit > page.Offset {
			limit = page.Offset
		}
		previous = l.pageURL(at, page.Offset-limit, limit)
	}
	return next, previous
}

// Further returns the URL of a search that goes on after a number of documents.
func (l Links) Further(at *url.URL, searched int) wire.Optional {
	query := at.Query()
	query.Del("offset")
	query.Set("searched", strconv.Itoa(searched))
	return l.withQuery(at, query)
}

func (l Links) pageURL(at *url.URL, offset, limit int) wire.Optional {
	query := at.Query()
	query.Set("offset", strconv.Itoa(offset))
	query.Set("limit", strconv.Itoa(limit))
	return l.withQuery(at, query)
}

func (l Links) withQuery(at *url.URL, query url.Values) wire.Optional {
	return wire.Optional(l.Origin + (&url.URL{Path: at.Path, RawPath: at.RawPath, RawQuery: query.Encode()}).String())
}
