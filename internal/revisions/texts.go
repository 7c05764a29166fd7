package revisions

import (
	"encoding/binary"
	"errors"

	"purser/internal/document"
)

// Text is a text of one or several documents, as it was submitted.
type Text struct {
	Body []byte
	JSON bool
	// Refers is set if it has the reference to a secret instead of this.
	Refers bool
	// Documents is how many documents the text has: it stands for those only together.
	Documents int
	// Of are the IDs of versions that have the text; empty in texts from the store.
	Of []int64
	// Secret is the first of its documents that is encrypted, nil if there is none.
	Secret *document.Identity
}

// TextBlock is a number of texts as they are stored: together if they are in clear, which saves rows and bytes, and
// alone if they have a secret.
type TextBlock struct {
	Body []byte // packed by Store.Pack; sealed if Reference is set
	// Reference names the place that the body is sealed for, as secrets.Reference does; "" if it is not sealed.
	Reference string
	Of        [][]int64 // of each text, the IDs of versions that have it
}

// Bounds of a block of several texts.
const (
	MaxTextsOfBlock = 32 // the number of a text is that of its block times this, plus its position
	maxBlock        = 64 << 10
)

// Blocks divides texts into those that are stored together.
func Blocks(texts []Text) (blocks [][]Text) {
	var open []Text // in clear
	size := 0
	for _, text := range texts {
		if text.Secret != nil {
			blocks = append(blocks, []Text{text})
			continue
		}
		if len(open) == MaxTextsOfBlock || len(open) > 0 && size+len(text.Body) > maxBlock {
			blocks, open, size = append(blocks, open), nil, 0
		}
		open, size = append(open, text), size+len(text.Body)
	}
	if len(open) > 0 {
		blocks = append(blocks, open)
	}
	return blocks
}

// A block begins with this byte, with which no compressed text begins, and the number of its texts. For each text
// follow its length, how many documents it has, and its form, and then the texts themselves.
const blockBegins = 1

// The bits of a form.
const isJSON, refers = 1, 2

func appendNumber(out []byte, n int) []byte {
	return binary.AppendUvarint(out, uint64(n)) //nolint:gosec // it is not negative
}

// AppendBlock appends texts as Texts reads them.
func AppendBlock(out []byte, texts []Text) []byte {
	out = appendNumber(append(out, blockBegins), len(texts))
	for _, text := range texts {
		out = appendNumber(appendNumber(out, len(text.Body)), text.Documents)
		form := byte(0)
		if text.JSON {
			form |= isJSON
		}
		if text.Refers {
			form |= refers
		}
		out = append(out, form)
	}
	for _, text := range texts {
		out = append(out, text.Body...)
	}
	return out
}

var errBlock = errors.New("a block of texts in the database is damaged")

// Texts returns the texts of a block, which share its memory.
func Texts(block []byte) ([]Text, error) {
	if len(block) == 0 || block[0] != blockBegins {
		return nil, errBlock
	}
	rest, wrong := block[1:], false
	next := func() int {
		n, size := binary.Uvarint(rest)
		if wrong = wrong || size <= 0 || n > uint64(len(block)); wrong {
			return 0
		}
		rest = rest[size:]
		return int(n) //nolint:gosec // it is at most the length of the block
	}
	count := next()
	if count == 0 || count > MaxTextsOfBlock {
		return nil, errBlock
	}
	texts, sizes := make([]Text, count), make([]int, count)
	for i := range texts {
		sizes[i], texts[i].Documents = next(), next()
		form := next()
		texts[i].JSON, texts[i].Refers = form&isJSON != 0, form&refers != 0
	}
	for i, size := range sizes {
		if wrong || size > len(rest) {
			return nil, errBlock
		}
		texts[i].Body, rest = rest[:size:size], rest[size:]
	}
	if len(rest) > 0 {
		return nil, errBlock
	}
	return texts, nil
}
