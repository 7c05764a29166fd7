package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
)

// Rows count as held by the request, with their unpacked size. A request that turns out to be large releases its
// connection before it waits for a permit.
func TestStore_reading(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	const count, size = 12, 1 << 20 // documents, and bytes of each, which compresses well
	var body strings.Builder
	for i := range count {
		fmt.Fprintf(&body, "---\nschema: acme/W/v1\nmetadata: {schema: metadata/Document/v1, name: w%d, storagePolicy: cleartext, "+
			"layeringDefinition: {layer: site}}\ndata: %s\n", i, strings.Repeat("x", size))
	}
	put(t, open(t, url), "a", body.String())
	s := openStore(t, url, defaults())

	pool := budget.NewPool(1, 50*time.Millisecond)
	other, endOther := pool.Begin(t.Context())
	if err := budget.NewMeter(other).Admit(); err != nil {
		t.Fatal(err)
	}
	ctx, end := pool.Begin(t.Context())
	defer end()
	held := func() int {
		_, bytes := budget.From(ctx).Spent()
		return int(bytes)
	}
	if _, err := s.Documents(ctx, 1, all()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without a permit: %v", err)
	}
	if held() != 0 {
		t.Errorf("without a permit %d bytes are held", held())
	}
	for s.Stat().AcquiredConns() != 0 && t.Context().Err() == nil { // that of the read that was cut off is closed
		time.Sleep(time.Millisecond)
	}
	endOther()

	if _, err := s.Around(ctx, 1); err != nil {
		t.Fatal(err)
	}
	connections := s.Stat().NewConnsCount()
	found, err := s.Documents(ctx, 1, all())
	if got := s.Stat().NewConnsCount(); got != connections {
		t.Errorf("a permit was free, but the documents were read again with another connection")
	}
	if err != nil || len(found.Documents) != count {
		t.Fatalf("with a permit: %d documents, %v", len(found.Documents), err)
	}
	if got := held(); got < count*size || got > count*(size+2000) {
		t.Errorf("%d bytes are held for %d of %d each", got, count, size)
	}
	before := held()
	ids := make([]int64, count)
	for i, doc := range found.Documents {
		ids[i] = doc.ID
	}
	if n, err := s.Versions(ctx, found, ids, func(*revisions.Stored) error { return nil }); err != nil || n != count {
		t.Errorf("versions: %d, %v", n, err)
	}
	if held() != before {
		t.Errorf("%d bytes are held for versions that were read", held()-before)
	}
	snapshot, err := s.Snapshot(ctx, revisions.Need{Buckets: []string{"a"}})
	if err != nil || snapshot.Held < count*size || snapshot.Held != held()-before {
		t.Errorf("a snapshot holds %d bytes of %d: %v", snapshot.Held, held()-before, err)
	}

	// Outlines of documents need no more than there is to read of them.
	small, endSmall := pool.Begin(t.Context())
	defer endSmall()
	begun, err := s.Documents(small, 1, queries.Selection{MaxBytes: size, Page: queries.Page{Limit: -1}})
	if err != nil || len(begun.Documents) != 1 || len(begun.Rest) != count-1 || begun.Rest[0].Size <= size {
		t.Errorf("the first: %d documents, the rest %v, %v", len(begun.Documents), begun.Rest, err)
	}
}
