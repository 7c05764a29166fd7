package revisions_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/revisions"
)

// Texts in clear are stored together up to a number and a size; those with a secret, and large ones, alone.
func TestBlocks(t *testing.T) {
	t.Parallel()
	secret := &document.Identity{Schema: "acme/Key/v1", Name: "k"}
	of := func(size int) revisions.Text { return revisions.Text{Body: make([]byte, size), Documents: 1} }
	sealed := revisions.Text{Body: []byte("hidden"), Documents: 1, Secret: secret}
	for name, c := range map[string]struct {
		texts []revisions.Text
		want  []string // the sizes of the texts of each block
	}{
		"none":                       {nil, nil},
		"one":                        {[]revisions.Text{of(5)}, []string{"5"}},
		"as many as a block takes":   {slices.Repeat([]revisions.Text{of(1)}, 32), []string{strings.TrimSuffix(strings.Repeat("1 ", 32), " ")}},
		"one more":                   {slices.Repeat([]revisions.Text{of(1)}, 33), []string{strings.TrimSuffix(strings.Repeat("1 ", 32), " "), "1"}},
		"as large as a block may be": {[]revisions.Text{of(60 << 10), of(4 << 10)}, []string{"61440 4096"}},
		"a byte more":                {[]revisions.Text{of(60 << 10), of(4<<10 + 1)}, []string{"61440", "4097"}},
		"a larger one":               {[]revisions.Text{of(1), of(1 << 20), of(2)}, []string{"1", "1048576", "2"}},
		"secrets are alone":          {[]revisions.Text{of(1), sealed, of(2), sealed}, []string{"6", "6", "1 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, block := range revisions.Blocks(c.texts) {
				var sizes []string
				for _, text := range block {
					sizes = append(sizes, strconv.Itoa(len(text.Body)))
					if text.Secret != nil && len(block) > 1 {
						t.Error("a text with a secret is stored with others")
					}
				}
				got = append(got, strings.Join(sizes, " "))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("blocks (-want +got)\n%s", diff)
			}
		})
	}
}

// some are texts of a block.
func some() []revisions.Text {
	return []revisions.Text{
		{Body: []byte("---\na: 1\n"), Documents: 1},
		{Body: []byte("[{}, {}]"), JSON: true, Documents: 2},
		{Body: bytes.Repeat([]byte("long "), 100), Documents: 300},
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	block := revisions.AppendBlock(nil, some())
	got, err := revisions.Texts(block)
	if diff := cmp.Diff(some(), got); err != nil || diff != "" {
		t.Errorf("texts: %v (-want +got)\n%s", err, diff)
	}
	most := revisions.AppendBlock(nil, slices.Repeat(some()[:1], revisions.MaxTextsOfBlock))
	if got, err := revisions.Texts(most); err != nil || len(got) != revisions.MaxTextsOfBlock {
		t.Errorf("%d texts, %v", len(got), err)
	}
	for name, damaged := range map[string][]byte{
		"empty":          nil,
		"another begin":  append([]byte{2}, block[1:]...),
		"only the begin": {1},
		"no texts":       {1, 0},
		"longer":         append(slices.Clone(block), 'x'),
		"too many":       revisions.AppendBlock(nil, slices.Repeat(some()[:1], revisions.MaxTextsOfBlock+1)),
		"a long number":  append([]byte{1}, bytes.Repeat([]byte{0xff}, 20)...),
	} {
		if got, err := revisions.Texts(damaged); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	for n := range block {
		if _, err := revisions.Texts(block[:n]); err == nil {
			t.Errorf("a block of %d bytes is read from its first %d", len(block), n)
		}
	}
}

// A damaged block is refused or read, but never more than it has.
func FuzzTexts(f *testing.F) {
	f.Add(revisions.AppendBlock(nil, some()))
	f.Add([]byte{1, 1, 0, 1, 0})
	f.Add([]byte{1, 2, 1, 1, 0, 0xff, 0xff, 3, 1, 1, 'x'})
	f.Fuzz(func(t *testing.T, block []byte) {
		texts, err := revisions.Texts(block)
		if err != nil {
			return
		}
		size := 0
		for _, text := range texts {
			size += len(text.Body)
		}
		if len(texts) == 0 || len(texts) > revisions.MaxTextsOfBlock || size > len(block) {
			t.Fatalf("%d texts of %d bytes in a block of %d", len(texts), size, len(block))
		}
		again, err := revisions.Texts(revisions.AppendBlock(nil, texts))
		if diff := cmp.Diff(texts, again); err != nil || diff != "" {
			t.Errorf("written again: %v (-want +got)\n%s", err, diff)
		}
	})
}
