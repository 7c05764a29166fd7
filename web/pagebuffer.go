package web

import (
	"bytes"
	"io"
	"iter"
	"reflect"

	"purser/internal/words"
)

// pageBuffer is a page being made. Its lists are cut off when the page is full, which is counted in bytes while they
// are written, whatever their items hold.
type pageBuffer struct {
	Server   string   // its URL, for commands that a page shows, with the path of the page's site
	Base     basePath // of the links of the page
	Archived bool     // its site takes no changes
	written  bytes.Buffer
	sent     int // bytes of these that the browser has got
	end      int // of the list that is being written, in bytes of the page
	shown    int // items of the list that was written last
	left     int // items of that list for which there was no room
}

const (
	// maxPage bounds a page in bytes, without the picture of a graph.
	maxPage = 150 << 10
	// lastLists is the room reserved for the lists at the end of a page. Each shows at least one item.
	lastLists = 25_000
)

// newPageBuffer returns an empty page.
func newPageBuffer(server string, base basePath) *pageBuffer {
	return &pageBuffer{Server: server, Base: base, end: maxPage - lastLists}
}

// Fit iterates over the items of a slice until they would exceed most bytes of the page; nested lists share the room of
// the outer one. There is always room for the first item.
func (p *pageBuffer) Fit(most int, list any) iter.Seq[any] {
	items := reflect.ValueOf(list)
	return func(yield func(any) bool) {
		outer := p.end
		p.end = min(p.end, p.written.Len()+most)
		i, largest := 0, 0
		for ; i < items.Len(); i++ {
			began := p.written.Len()
			if i > 0 && began+largest > p.end || !yield(items.Index(i).Interface()) {
				break
			}
			largest = max(largest, p.written.Len()-began)
		}
		p.end, p.shown, p.left = outer, i, items.Len()-i
	}
}

// Left returns the number of items of the previous list that were not shown.
func (p *pageBuffer) Left() int { return p.left }

// Turn returns the pager of the previous list, which continues with the first item that was not shown.
func (p *pageBuffer) Turn(pages pager) pager {
	if p.left > 0 {
		pages.End(p.shown, true)
	}
	return pages
}

// part has the data of a part of a page.
type part struct {
	*pageBuffer

	Revision int64
	Most     int // bytes that its list may take
	List     any
}

// Of returns the content of a part of a page: a list about a revision, and the bytes that it may take.
func (p *pageBuffer) Of(revision int64, most int, list any) part {
	return part{p, revision, most, list}
}

// reserve keeps bytes free for what follows the lists of a page.
func (p *pageBuffer) reserve(bytes int) { p.end -= bytes }

// WriteTo implements io.WriterTo: it writes what it has not written before. In all texts and attributes of the page, it
// writes the code points of characters that could disguise other ones, which html/template leaves as they are.
func (p *pageBuffer) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, words.Printable(string(p.written.Bytes()[p.sent:])))
	p.sent = p.written.Len()
	return int64(n), err
}
