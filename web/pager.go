package web

import (
	"maps"
	"net/url"
	"strconv"
)

// pager is the position of a page in a list.
type pager struct {
	Offset, Limit  int
	First, Last    int    // numbers of the first and last item, from 1
	Previous, Next string // links; "" if there is none

	page  string // the path of the list; "" for that of the page
	query url.Values
}

// maxOffset bounds the offset of a page.
const maxOffset = 1 << 30

// newPager returns the position that the URL of a page asks for.
func newPager(at *url.URL, limit int) pager {
	query := at.Query()
	offset, err := strconv.Atoi(query.Get("offset"))
	if err != nil || offset < 0 || offset > maxOffset {
		offset = 0
	}
	return pager{Offset: offset, Limit: limit, query: query}
}

// End sets the number of items of the page, and whether there are more.
func (p *pager) End(items int, more bool) {
	p.First, p.Last = p.Offset+min(items, 1), p.Offset+items
	if p.Offset > 0 {
		p.Previous = p.link(max(p.Offset-p.Limit, 0))
	}
	if more {
		p.Next = p.link(p.Offset + items)
	}
}

func (p *pager) link(offset int) string {
	query := maps.Clone(p.query)
	query.Set("offset", strconv.Itoa(offset))
	return p.page + "?" + query.Encode()
}
