package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"purser/internal/queries"
	"purser/internal/validations"
	"purser/internal/wire"
)

// entryPageView returns the view of a page of entries.
func entryPageView[T any](l links, at *url.URL, page queries.Page, found queries.Entries,
	view func(validations.Entry) T,
) wire.List[T] {
	shown := listView(found.Entries, view)
	if l.compat {
		return shown
	}
	next, previous := l.pages(at, page, shown.Count, found.More)
	shown.Next, shown.Prev = &next, &previous
	return shown
}

// maxPage is the size of the items after which a page of a list ends, in bytes.
const maxPageBytes = 4 << 20

// pageView returns the view of a page of a list, which ends early if its items are large. at is the URL of the request.
func pageView[T, V any](l links, at *url.URL, page queries.Page, more bool, items []T, view func(T) V) (
	shown wire.List[json.RawMessage], err error,
) {
	texts, size := make([]json.RawMessage, 0, len(items)), 0
	for _, item := range items {
		text, err := json.Marshal(view(item))
		if err != nil {
			return shown, fmt.Errorf("write an item of a list: %w", err)
		}
		if size += len(text); size > maxPageBytes && len(texts) > 0 {
			more = true
			break
		}
		texts = append(texts, text)
	}
	shown.Count, shown.Results = len(texts), texts
	next, previous := l.pages(at, page, len(texts), more)
	shown.Next, shown.Prev = &next, &previous
	return shown, nil
}

// pages returns the URLs of the next and previous pages of one that has count items, "" for a page that does not exist.
// at is the URL of the request.
func (l links) pages(at *url.URL, page queries.Page, count int, more bool) (next, previous wire.Optional) {
	if page.Limit == 0 {
		return "", "" // an empty page has no neighbours
	}
	if more && count == 0 {
		count = page.Limit // those on the page were deleted meanwhile
	}
	if more {
		next = l.pageURL(at, page.Offset+count, page.Limit)
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

// further returns the URL of a search that goes on after a number of documents.
func (l links) further(at *url.URL, searched int) wire.Optional {
	query := at.Query()
	query.Del("offset")
	query.Set("searched", strconv.Itoa(searched))
	return l.withQuery(at, query)
}

func (l links) pageURL(at *url.URL, offset, limit int) wire.Optional {
	query := at.Query()
	query.Set("offset", strconv.Itoa(offset))
	query.Set("limit", strconv.Itoa(limit))
	return l.withQuery(at, query)
}

func (l links) withQuery(at *url.URL, query url.Values) wire.Optional {
	return wire.Optional(l.origin + (&url.URL{Path: at.Path, RawPath: at.RawPath, RawQuery: query.Encode()}).String())
}
