package queries

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/revisions"
)

// maxSearched is the number of documents that a search looks at.
const maxSearched = 10_000

// errEnough ends a search that has found enough documents.
var errEnough = errors.New("enough is found")

// search returns the documents that match a selection and contain its search text. It reads documents that match the
// other filters in batches until the page is full, maxSearched at most. It keeps only the first 4 MiB of hits. Its work
// counts toward the request's budget. Faults: those of Documents; TooLarge.
func (v View) search(ctx context.Context, id int64, selection Selection) (Selected, error) {
	wanted := selection
	wanted.Cleartext = !v.viewer.Encrypted
	wanted.Page, wanted.MaxBytes, wanted.Among = Page{Limit: -1}, maxRead, maxSearched
	candidates, err := v.store.Documents(ctx, id, wanted)
	if err != nil {
		return Selected{}, v.readError(ctx, id, "documents", err)
	}
	hits := hits{page: selection.Page, text: newSearchText(selection.Search), meter: budget.NewMeter(ctx)}
	if err = hits.addAll(candidates.Documents); err == nil {
		err = v.rest(budget.Exempt(ctx), candidates, hits.add)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return Selected{}, err
	}
	found := hits.found
	if !found.More && len(candidates.Documents)+len(candidates.Rest) == maxSearched {
		found.Searched = selection.Searched + maxSearched
	}
	found.Revision, found.Stamp, found.Provisional = candidates.Revision, candidates.Stamp, candidates.Provisional
	return v.redacted(found), nil
}

// hits collects the documents of a page that contain a text.
type hits struct {
	page  Page
	text  searchText
	meter *budget.Meter
	found Selected
	count int // hits up to the end of the page
	size  int // of the hits, in bytes
}

func (h *hits) addAll(documents []*revisions.Stored) error {
	for _, doc := range documents {
		if err := h.add(doc); err != nil {
			return err
		}
	}
	return nil
}

// add adds a document if it contains the text. It returns errEnough if the page is full and there are more hits.
func (h *hits) add(doc *revisions.Stored) error {
	if err := h.meter.Spend(h.text.cost(doc)); err != nil {
		return budget.About(err, "search for %q", revisions.Truncate(h.text.lower))
	}
	if !h.text.isIn(doc) {
		return nil
	}
	h.count++
	switch {
	case h.count <= h.page.Offset:
		return nil
	case h.page.Limit >= 0 && h.count > h.page.Offset+h.page.Limit:
		h.found.More = true
		return errEnough
	}
	size := revisions.Size(doc.Document)
	if h.size += size; h.size > maxRead {
		h.found.Rest = append(h.found.Rest, Outline{doc.ID, size})
	} else {
		h.found.Documents = append(h.found.Documents, doc)
	}
	return nil
}

// searchText is a string to search for in documents, ignoring case. It scans the JSON text of their data, and decodes
// only scalars with escapes.
type searchText struct {
	lower  string
	quoted []byte // in JSON form, without quotation marks
}

// newSearchText returns a text to search for.
func newSearchText(wanted string) searchText {
	lower := strings.ToLower(wanted)
	quoted := document.AppendJSON(nil, lower)
	return searchText{lower, quoted[1 : len(quoted)-1]}
}

// cost returns the number of steps that isIn takes for a document.
func (t searchText) cost(doc *revisions.Stored) int {
	const each, perByte = 500, 4
	return each + perByte*(len(doc.Metadata)+len(doc.Data))
}

// isIn reports whether the name of a document, one of its labels in the form KEY=VALUE, or a value in its data contains
// the text. The data of encrypted documents is not searched.
func (t searchText) isIn(doc *revisions.Stored) bool {
	if strings.Contains(strings.ToLower(doc.Name), t.lower) {
		return true
	}
	data := bytes.ToLower(doc.Data)
	maybeLabel := strings.Contains(t.lower, "=") || bytes.Contains(bytes.ToLower(doc.Metadata), t.quoted)
	maybeValue := bytes.Contains(data, t.quoted)
	if !maybeLabel && !maybeValue {
		return false
	}
	traits := doc.Traits()
	for _, label := range traits.Labels {
		value, _ := label.Value.(string)
		if strings.Contains(strings.ToLower(label.Key+"="+value), t.lower) {
			return true
		}
	}
	return maybeValue && !traits.Encrypted && !doc.Tainted && t.isInValue(data)
}

// isInValue reports whether a string, number or other scalar in lower-case JSON contains the text. Keys are ignored.
func (t searchText) isInValue(data []byte) bool {
	for len(data) > 0 {
		end := scalarEnd(data)
		scalar := data[:end]
		data = data[max(end, 1):]
		isKey := len(data) > 0 && data[0] == ':'
		if !isKey && bytes.Contains(scalar, t.quoted) && t.isInScalar(scalar) {
			return true
		}
	}
	return false
}

// isInScalar reports whether a JSON scalar that contains the quoted text contains the text itself.
func (t searchText) isInScalar(scalar []byte) bool {
	if scalar[0] != '"' {
		return true
	}
	if bytes.IndexByte(scalar, '\\') < 0 {
		return bytes.Contains(scalar[1:len(scalar)-1], t.quoted)
	}
	value, err := document.ParseJSON(scalar)
	unquoted, _ := value.(string)
	return err == nil && strings.Contains(unquoted, t.lower)
}

// scalarEnd returns the length of the scalar at the beginning of JSON text, 0 if it begins with something else.
func scalarEnd(data []byte) int {
	if data[0] != '"' {
		if end := bytes.IndexAny(data, "{}[]:,\""); end >= 0 {
			return end
		}
		return len(data)
	}
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}
