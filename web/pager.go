package web

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
)

// pager is the position of a page in a list.
type pager struct {
	Offset, Limit  int
	First, Last    int    // numbers of the first and last item, from 1
	Previous, Next string // links; "" if there is none

	here  url.URL
	query url.Values
}

// maxOffset bounds the offset of a page.
const maxOffset = 1 << 30

// pager returns the position that a request asks for.
func (v *visit) pager(limit int) pager {
	offset, err := strconv.Atoi(v.param("offset"))
	if err != nil || offset < 0 || offset > maxOffset {
		offset = 0
	}
	return pager{Offset: offset, Limit: limit, here: url.URL{Path: v.URL.Path}, query: v.URL.Query()}
}

// end sets the number of items of the page, and whether there are more.
func (p *pager) end(items int, more bool) {
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
	return "?" + query.Encode()
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
