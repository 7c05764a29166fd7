package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
)

// A revision takes tags until it has MaxTags, or until one does not fit into MaxTagBytes. Others can still be replaced,
// and other revisions tagged.
func TestStore_Tag_bounds(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	site, conn := open(t, url), storetest.Connect(t, url)
	s := openStore(t, url, store.Options{Deadlines: store.DefaultDeadlines()})
	for i := range 3 {
		put(t, site, fmt.Sprint("b", i), control("deckhand/ValidationPolicy/v1", fmt.Sprint("p", i), "{validations: []}"))
	}
	storetest.Execute(t, conn, fmt.Sprintf(`INSERT INTO tags SELECT 'default', 1, 'n' || i, '{}'
		FROM generate_series(1, %d) i`, revisions.MaxTags-1))
	half := `{"x":"` + strings.Repeat("x", revisions.MaxTagBytes/2-len(`{"x":""}`)-len("half")) + `"}`
	for i, c := range []struct {
		revision   int64
		name, data string
		done       bool
	}{
		{1, "last", "{}", true},
		{1, "one more", "{}", false},
		{1, "n1", `{"a":1}`, true},
		{2, "half", half, true},
		{2, "full", half, true},
		{2, "t", "{}", false},
		{2, "half", "{}", true},
		{2, "t", "{}", true},
		{3, "t", "{}", true},
	} {
		tag := revisions.Tag{Name: c.name, Data: []byte(c.data)}
		if done, err := s.Tag(t.Context(), revisions.About{Revision: c.revision}, tag); err != nil || done != c.done {
			t.Errorf("%d: tag %s of revision %d: %v, %v; want %v", i, c.name, c.revision, done, err, c.done)
		}
	}
	_, err := site.Tag(t.Context(), 1, revisions.Options{}, "one more", nil)
	if f, ok := errors.AsType[*fault.Fault](err); !ok || f.Kind != fault.Conflict || f.Type != "TooManyTags" {
		t.Errorf("a tag too many: %v", err)
	}
}
