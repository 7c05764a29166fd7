package store_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// Whatever was changed, a revision has the entries that its documents have by the rules in force then: those of its
// payload in their order, then those of the other failing documents by ID. After a rollback, all are in the order of the
// revision.
func TestStore_FailedEntries_laws(t *testing.T) {
	t.Parallel()
	url, ctx, options := storetest.URL(t), context.Background(), revisions.Options{}
	kept := openStore(t, url, defaults())
	service := changing(kept)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string, most int) int { return rapid.IntRange(0, most).Draw(t, what) }
		if err := service.Purge(ctx, options); err != nil {
			t.Fatal(err)
		}
		want := map[int64][]string{}
		stamps := map[int64]revisions.Stamp{}
		var targets []int64
		for range 1 + draw("changes", 12) {
			// The documents of each bucket have names of their own, so that no change is refused.
			bucket := []string{"a", "b", "c"}[draw("bucket", 2)]
			var written changes.Written
			var err error
			switch change := draw("change", 9); {
			case change < 6:
				written, err = service.Put(ctx, bucket, []byte(widgets(t, bucket)), document.YAML, options)
			case change < 8:
				schema := []string{
					widgetSchema, strings.Replace(widgetSchema, "data: {prop", "data: {title: again, prop", 1),
					strings.Replace(widgetSchema, "string", "number", 1), "",
				}[draw("schema", 3)]
				written, err = service.Put(ctx, "schemas", []byte(schema), document.YAML, options)
			case len(targets) > 0:
				written, err = service.Rollback(ctx, targets[draw("target", len(targets)-1)], options)
			}
			if err != nil {
				t.Fatal(err)
			}
			if written.Changed {
				stamps[written.Revision] = written.Stamp
				want[written.Revision] = expectedEntries(ctx, t, kept, written)
				targets = append(targets, written.Revision)
			}
			for id, lines := range want {
				checkEntries(ctx, t, kept, revisions.Revision{ID: id, Stamp: stamps[id]}, lines)
			}
		}
	})
}

// widgets writes up to three widgets with names of a bucket. Each violates one of the two DataSchemas.
func widgets(t *rapid.T, bucket string) string {
	var list []string
	for i := range 3 {
		if x := rapid.SampledFrom([]string{"", "1", "2", "y", "1, x: 2", "1, x: y"}).Draw(t, "x"); x != "" {
			list = append(list, strings.ReplaceAll(widget(fmt.Sprint(bucket, i), 0), "x: 0", "x: "+x))
		}
	}
	if rapid.Bool().Draw(t, "reversed") {
		slices.Reverse(list)
	}
	return strings.Join(list, "")
}

// entryLine writes an entry with its document, the rule that it violates, and whether it has notes.
func entryLine(entry int, id int64, rule document.Digest, noted bool) string {
	return fmt.Sprintf("#%d document %d violates %s noted %t", entry, id, rule, noted)
}

// expectedEntries returns the entries of the newest revision that fail or have notes.
func expectedEntries(ctx context.Context, t *rapid.T, s *store.Store, written changes.Written) (lines []string) {
	t.Helper()
	selected, err := s.Documents(ctx, written.Revision, all())
	if err != nil {
		t.Fatal(err)
	}
	documents := selected.Documents
	payload := written.Documents
	if written.RevisionStatus.Kind == revisions.Rollback {
		payload = documents
	}
	in, count := revisions.IDs(payload), max(1, len(payload))
	for i, doc := range payload {
		if rule := violated(doc, documents); !rule.IsZero() || len(doc.Notes) > 0 {
			lines = append(lines, entryLine(i, doc.ID, rule, len(doc.Notes) > 0))
		}
	}
	slices.SortFunc(documents, func(a, b *revisions.Stored) int { return cmp.Compare(a.ID, b.ID) })
	for _, doc := range documents {
		if rule := violated(doc, documents); !in[doc.ID] && !rule.IsZero() {
			lines = append(lines, entryLine(count, doc.ID, rule, false))
			count++
		}
	}
	return lines
}

// violated returns the DataSchema among the documents that a widget violates; zero if there is none.
func violated(doc *revisions.Stored, documents []*revisions.Stored) (rule document.Digest) {
	for _, schema := range documents {
		isText := strings.Contains(string(doc.Data), `"y"`)
		if doc.Schema == "acme/Widget/v1" && schema.Schema == validations.DataSchemaKind &&
			isText != strings.Contains(string(schema.Data), `"string"`) {
			return schema.Digest
		}
	}
	return rule
}

// checkEntries compares the entries of a revision, and a page of them.
func checkEntries(ctx context.Context, t *rapid.T, s *store.Store, of revisions.Revision, want []string) {
	t.Helper()
	query := queries.EntryQuery{
		From: rapid.IntRange(0, 4).Draw(t, "from"), To: rapid.IntRange(0, 9).Draw(t, "to"),
		FailuresOnly: rapid.Bool().Draw(t, "failures only"), Limit: rapid.IntRange(0, 3).Draw(t, "limit"),
	}
	for _, query := range []queries.EntryQuery{{}, query} {
		rows, err := s.FailedEntries(ctx, of, query)
		if err != nil {
			t.Fatal(err)
		}
		failures, err := s.Failures(ctx, of, query)
		if err != nil {
			t.Fatal(err)
		}
		var got, plain, expected []string
		for _, row := range rows {
			got = append(got, entryLine(row.Entry, row.About.ID, row.Rule.Schema, len(row.Notes) > 0))
		}
		for i, failure := range failures {
			noted := i < len(rows) && len(rows[i].Notes) > 0 // which Failures does not read
			plain = append(plain, entryLine(failure.Entry, failure.Document, failure.Rule.Schema, noted))
		}
		noRule := fmt.Sprintf("violates %s ", document.Digest{})
		for _, line := range want {
			var entry int
			_, _ = fmt.Sscanf(line, "#%d", &entry)
			switch {
			case entry < query.From, query.To > 0 && entry >= query.To, query.Limit > 0 && len(expected) == query.Limit,
				query.FailuresOnly && strings.Contains(line, noRule):
			default:
				expected = append(expected, line)
			}
		}
		if diff := gocmp.Diff(expected, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("revision %d, %+v (-want +got)\n%s", of.ID, query, diff)
		}
		if diff := gocmp.Diff(got, plain); diff != "" {
			t.Fatalf("revision %d, %+v: failed entries and failures (-entries +failures)\n%s", of.ID, query, diff)
		}
	}
}
