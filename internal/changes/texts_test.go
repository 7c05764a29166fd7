package changes

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/revisions"
)

// fileOf writes a file of a body.
func fileOf(path, text string, of ...func(*document.File)) string {
	f := document.File{Path: path, Text: []byte(text)}
	for _, change := range of {
		change(&f)
	}
	return string(document.AppendFile(nil, f))
}

// item writes a document as an item of a list.
func item(text string) string {
	lines := strings.TrimSuffix(strings.TrimPrefix(text, "---\n"), "\n")
	return "- " + strings.ReplaceAll(lines, "\n", "\n  ") + "\n"
}

// textsOf shows the texts of a diff, and the versions that only get another text or place.
func textsOf(diff revisions.Diff) (lines []string) {
	for _, text := range diff.Texts {
		line := fmt.Sprintf("%d of %v", text.Documents, text.Of)
		if text.JSON {
			line += " JSON"
		}
		if text.Secret != nil {
			line += " with " + text.Secret.Name
		}
		lines = append(lines, line+": "+string(text.Body))
	}
	for _, doc := range diff.Reread {
		text := "the same text"
		if doc.Text == revisions.TextPlanned {
			text = "another text"
		}
		lines = append(lines, fmt.Sprintf("%s has %s, at %q:%d", doc.Name, text, doc.Path, doc.Line))
	}
	return lines
}

// Texts are stored of added documents and of those that are written otherwise; all documents of a source together.
func TestPayload_withTexts(t *testing.T) {
	t.Parallel()
	w1, w2 := widget("w1", "{x: 1}"), widget("w2", "{x: 2}")
	w3 := widget("w2", "{x: 3}")
	note := strings.Replace(w1, "---\n", "---\n# why\n", 1)
	list, hidden := item(w1)+item(w2), secret("s1", "{x: 1}")
	const reference = "\x00"
	for _, c := range []struct {
		name, before, after string
		stored              func([]*revisions.Stored) // changes what is stored
		want                []string
	}{
		{name: "added", after: w1 + w2, want: []string{"1 of [1]: " + w1, "1 of [2]: " + w2}},
		{name: "the same", before: w1 + w2, after: w1 + w2},
		{name: "another order", before: w1 + w2, after: w2 + w1},
		{name: "a comment", before: w1 + w2, after: note + w2, want: []string{"1 of [1]: " + note, `w1 has another text, at "":0`}},
		{name: "changed", before: w1 + w2, after: w1 + w3, want: []string{"1 of [3]: " + w3}},
		{
			name: "a path", before: w1, after: fileOf("a.yaml", w1), want: []string{`w1 has the same text, at "a.yaml":1`},
		},
		{
			name: "moved in its file", before: fileOf("a.yaml", w1+w2), after: fileOf("a.yaml", note+w2),
			want: []string{"1 of [1]: " + note, `w1 has another text, at "a.yaml":1`, `w2 has the same text, at "a.yaml":` + strconv.Itoa(strings.Count(note, "\n")+1)},
		},
		{
			name: "the line of a part", before: fileOf("a.yaml", w1), after: fileOf("a.yaml", w1, func(f *document.File) { f.Line = 9 }),
			want: []string{`w1 has the same text, at "a.yaml":9`},
		},
		{name: "a list", after: list, want: []string{"2 of [1 2]: " + list}},
		{name: "the same list", before: list, after: list},
		{
			name: "one of a list is changed", before: list, after: item(w1) + item(w3),
			want: []string{"2 of [1 3]: " + item(w1) + item(w3), `w1 has another text, at "":0`},
		},
		{
			name: "one of a list has an older text", before: list, after: list,
			stored: func(live []*revisions.Stored) { live[1].Text = 32 },
			want:   []string{"2 of [1 2]: " + list, `w1 has another text, at "":0`, `w2 has another text, at "":0`},
		},
		{
			name: "stored without texts", before: w1 + w2, after: w1 + w2,
			stored: func(live []*revisions.Stored) { live[1].Text = 0 },
			want:   []string{"1 of [2]: " + w2, `w2 has another text, at "":0`},
		},
		{name: "a secret", after: w1 + hidden, want: []string{"1 of [1]: " + w1, "1 of [2] with s1: " + hidden}},
		{name: "the same secret", before: hidden, after: hidden},
		{name: "a list with a secret", after: item(w1) + item(hidden), want: []string{"2 of [1 2] with s1: " + item(w1) + item(hidden)}},
		{name: "the same list with a secret", before: item(w1) + item(hidden), after: item(w1) + item(hidden)},
		{name: "put back by reference", before: "# why\n" + hidden, after: secret("s1", reference)},
		{
			name: "put back by reference elsewhere", before: hidden, after: fileOf("b.yaml", secret("s1", reference)),
		},
		{
			name: "put back by reference, beside another one", before: w1 + hidden, after: w3 + secret("s1", reference),
			want: []string{"1 of [3]: " + w3},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, m := service()
			s.Vault = fakeVault{}
			see := revisions.Options{}
			see.Viewer.Encrypted = true
			if c.before != "" {
				if _, err := s.Put(t.Context(), "a", []byte(c.before), document.YAML, see); err != nil {
					t.Fatal(err)
				}
			}
			for _, doc := range m.live {
				doc.Text = 64
			}
			if c.stored != nil {
				c.stored(m.live)
			}
			body := c.after
			for _, doc := range m.live {
				if doc.Name == "s1" {
					body = strings.ReplaceAll(body, reference, string(doc.Data))
				}
			}
			if strings.HasPrefix(body, "--- # purser") { // the reference is longer
				files, _, err := document.Files([]byte(strings.Replace(c.after, reference, "x", 1)), 9)
				if err != nil {
					t.Fatal(err)
				}
				_, text, _ := strings.Cut(body, "\n")
				files[0].Text = []byte(text)
				body = string(document.AppendFile(nil, files[0]))
			}
			p := s.withSecrets(payload(t, s, "a", body, "a"))
			diff, err := p.plan(needed(t, s, p), false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, textsOf(diff)); diff != "" {
				t.Errorf("texts (-want +got)\n%s", diff)
			}
		})
	}
}

// The digest of a text that has a secret is keyed, also that of cleartext documents in the same text. Those of others
// are not.
func TestService_keyed(t *testing.T) {
	t.Parallel()
	s, _ := service()
	s.Vault = fakeVault{}
	w1, hidden := widget("w1", "{x: 1}"), secret("s1", "{x: 1}")
	for name, c := range map[string]struct {
		body  string
		keyed map[string]bool
	}{
		"a stream":       {w1 + hidden, map[string]bool{"w1": false, "s1": true}},
		"a list":         {item(w1) + item(hidden), map[string]bool{"w1": true, "s1": true}},
		"a directive":    {"%TAG ! x\n" + hidden + w1, map[string]bool{"w1": true, "s1": true}},
		"no secret":      {item(w1) + item(widget("w2", "{}")), map[string]bool{"w1": false, "w2": false}},
		"an empty one":   {item(w1) + item(secret("s1", "{}")), map[string]bool{"w1": false, "s1": false}},
		"a list of two ": {item(secret("s2", "{x: 1}")) + item(w1) + item(hidden), map[string]bool{"w1": true, "s1": true, "s2": true}},
	} {
		p := s.withSecrets(payload(t, s, "a", c.body, "a"))
		got, seen := map[string]bool{}, map[document.Digest]bool{}
		for _, item := range p.Items {
			segment := item.Document.Segment
			got[item.Document.Name] = segment != item.Segment.Digest && segment != document.Digest(sha256.Sum256(item.Segment.Source.Text))
			if seen[segment] || segment.IsZero() {
				t.Errorf("%s: the digest of %s is %v", name, item.Document.Name, segment)
			}
			seen[segment] = true
		}
		if diff := cmp.Diff(c.keyed, got); diff != "" {
			t.Errorf("%s: which digests are keyed (-want +got)\n%s", name, diff)
		}
	}
}

// A stored text with a secret is packed and sealed for the place of its first encrypted document; others are in open.
func TestService_packedTexts(t *testing.T) {
	t.Parallel()
	s, _ := service()
	s.Vault = fakeVault{}
	id := document.Identity{Schema: "acme/Widget/v1", Layer: "site", Name: "s1"}
	blocks, held, err := s.packedTexts(context.Background(), []revisions.Text{
		{Body: []byte("a"), Documents: 1, Of: []int64{1}},
		{Body: []byte("hidden"), Documents: 2, Of: []int64{2, 3}, Secret: &id},
		{Body: []byte("b"), Documents: 1, Of: []int64{4}},
	})
	if err != nil || len(blocks) != 2 || held != len(blocks[0].Body)+len(blocks[1].Body) {
		t.Fatalf("%d blocks, %d bytes held, %v", len(blocks), held, err)
	}
	sealed, open := blocks[0], blocks[1]
	if !strings.HasPrefix(string(sealed.Body), "sealed for [acme/Widget/v1, site] s1") || sealed.Reference == "" ||
		fmt.Sprint(sealed.Of) != "[[2 3]]" {
		t.Errorf("%q for %q, of %v", sealed.Body, sealed.Reference, sealed.Of)
	}
	opened, err := s.Renderer().OpenText(t.Context(), sealed.Reference, sealed.Body)
	if texts, damaged := revisions.Texts(opened); err != nil || damaged != nil || string(texts[0].Body) != "hidden" {
		t.Errorf("opened %q: %v, %v", opened, err, damaged)
	}
	if texts, err := revisions.Texts(open.Body); err != nil || len(texts) != 2 || open.Reference != "" || fmt.Sprint(open.Of) != "[[1] [4]]" {
		t.Errorf("%q for %q, of %v: %v", open.Body, open.Reference, open.Of, err)
	}
}
