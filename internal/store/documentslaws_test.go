package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// Whatever two servers do, and whatever backup is restored under them, the documents that each returns from its cache
// equal those that a store without a cache reads.
func TestStore_Documents_laws(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	plain := openStore(t, url, store.Options{Deadlines: store.DefaultDeadlines()})
	stores := []*store.Store{openStore(t, url, defaults()), openStore(t, url, defaults())}
	services := []*changes.Service{changing(stores[0]), changing(stores[1])}
	backup, ctx, options := storetest.Connect(t, url), context.Background(), revisions.Options{}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string, most int) int { return rapid.IntRange(0, most).Draw(t, what) }
		attempt := func(_ any, err error) { t.Logf("%v", err) } // conflicts and missing revisions change nothing
		attempt(nil, services[0].Purge(ctx, options))
		saved := 0
		for range 1 + draw("changes", 15) {
			service, bucket := services[draw("server", 1)], []string{"a", "b", "c"}[draw("bucket", 2)]
			switch draw("change", 9) {
			case 0, 1, 2:
				attempt(service.Put(ctx, bucket, []byte(several(t)), document.YAML, options))
			case 3:
				body := strings.ReplaceAll(several(t), "data:", "status: {bucket: d}\ndata:") +
					strings.ReplaceAll(several(t), "data:", "status: {bucket: "+bucket+"}\ndata:")
				attempt(service.PutChangeSet(ctx, []string{"a"}, []byte(body), document.YAML, options))
			case 4:
				attempt(service.Rollback(ctx, int64(draw("target", 9)), options))
			case 5, 6:
				var group sync.WaitGroup
				for i, body := range []string{several(t), several(t), several(t), several(t)} {
					group.Go(func() { _, _ = services[i%2].Put(ctx, "abcd"[i:i+1], []byte(body), document.YAML, options) })
				}
				group.Wait()
			case 7:
				attempt(service.Prune(ctx, 1+draw("keep", 3), options))
			case 8:
				attempt(nil, service.Purge(ctx, options))
			case 9:
				if _, err := backup.Exec(ctx, []string{save, restore}[draw("restore", saved)]); err != nil {
					t.Fatal(err)
				}
				saved = 1
			}
			head, err := plain.Snapshot(ctx, revisions.Need{})
			if err != nil {
				t.Fatal(err)
			}
			for _, kept := range stores {
				asked := queries.Selection{Page: queries.Page{Offset: draw("offset", 3), Limit: draw("limit", 4) - 1}}
				revision := max(1, head.Revision-int64(draw("back", 2)))
				want, wantErr := plain.Documents(ctx, revision, asked)
				asked.Shared = true
				got, err := kept.Documents(ctx, revision, asked)
				same(t, want.Documents, got.Documents)
				if (err == nil) != (wantErr == nil) || got.Stamp != want.Stamp {
					t.Fatalf("revision %d: stamp %v, %v, want %v, %v", revision, got.Stamp, err, want.Stamp, wantErr)
				}
				switch draw("look", 5) {
				case 0:
					want, _ := plain.Documents(ctx, head.Revision, all()) // there is none after a purge
					live, _ := kept.Snapshot(ctx, revisions.Need{Documents: true})
					same(t, want.Documents, live.Documents)
				case 1, 2:
					sameSnapshot(ctx, t, plain, kept)
				case 3:
					whole, _ := plain.Documents(ctx, revision, all())
					got, _ := kept.AllDocuments(ctx, revision, want.Stamp)
					same(t, whole.Documents, got.Documents)
				}
			}
		}
	})
}

// sameSnapshot compares what two stores read for a change.
func sameSnapshot(ctx context.Context, t *rapid.T, plain, kept *store.Store) {
	t.Helper()
	need := revisions.Need{
		Identities: []document.Identity{
			{Schema: "acme/Widget/v1", Layer: "site", Name: "p"}, {Schema: "acme/Widget/v1", Layer: "site", Name: "q"},
		}[:rapid.IntRange(0, 2).Draw(t, "identities")],
		Kinds:    []string{"acme/Widget/v1"},
		Schemas:  rapid.Bool().Draw(t, "schemas"),
		Governed: []string{"acme/Widget/v1", "acme/Other/v1"}[rapid.IntRange(0, 1).Draw(t, "governed"):],
		Evidence: rapid.Bool().Draw(t, "evidence"),
	}
	want, err := plain.Snapshot(ctx, need)
	if err != nil {
		t.Fatal(err)
	}
	got, err := kept.Snapshot(ctx, need)
	if err != nil || got.Head != want.Head {
		t.Fatalf("head %v, %v, want %v", got.Head, err, want.Head)
	}
	same(t, want.Schemas, got.Schemas)
	same(t, want.Governed, got.Governed)
	same(t, want.ClientVersions, got.ClientVersions)
	if diff := cmp.Diff(revisions.IDs(want.Claims), revisions.IDs(got.Claims)); diff != "" { // the order does not matter
		t.Fatalf("claims (-want +got)\n%s", diff)
	}
}

func same(t failer, want, got []*revisions.Stored) {
	t.Helper()
	text := func(d *revisions.Stored) string {
		return fmt.Sprint(d.ID, d.Place, d.Revision, d.Bucket, d.Identity, d.Digest, d.Notes, d.Traits()) + string(d.Metadata) +
			string(d.Data)
	}
	if diff := cmp.Diff(want, got, cmp.Transformer("text", text), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("documents (-want +got)\n%s", diff)
	}
}

// several writes up to three documents, some of which are read for other documents too.
func several(t *rapid.T) string {
	var list []string
	for range rapid.IntRange(0, 3).Draw(t, "documents") {
		name := rapid.SampledFrom([]string{"p", "q", "r", "s", "t", "u"}).Draw(t, "name")
		text := widget(name, rapid.IntRange(0, 2).Draw(t, "x"))
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			text = strings.Replace(text, "acme/Widget/v1", "acme/Other/v1", 1)
		case 1:
			text = control("deckhand/DataSchema/v1", "acme/Widget/v1", "{$schema: 'http://json-schema.org/schema#'}")
		case 2:
			text = control("deckhand/LayeringPolicy/v1", name, "{layerOrder: [site]}")
		case 3:
			text = control(validations.ClientVersionsKind, name, "{client: 1.0.0}")
		}
		list = append(list, text)
	}
	return strings.Join(list, "")
}

// eachTable starts a statement that saves the tables of the site, or restores them as a backup does.
const (
	eachTable = `DO $$ DECLARE t text; BEGIN
		SET LOCAL session_replication_role = replica;
		CREATE SCHEMA IF NOT EXISTS saved;
		FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
			EXECUTE format('`
	save    = eachTable + `DROP TABLE IF EXISTS saved.%1$I; CREATE TABLE saved.%1$I AS TABLE %1$I', t); END LOOP; END $$`
	restore = eachTable + `DELETE FROM %1$I; INSERT INTO %1$I OVERRIDING SYSTEM VALUE TABLE saved.%1$I', t);
		END LOOP; END $$`
)
