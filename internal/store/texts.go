package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"purser/internal/document"
	"purser/internal/revisions"
)

// numbered are the texts of a change with their numbers.
type numbered struct {
	blocks []revisions.TextBlock
	last   int64           // block of the site before the change
	of     map[int64]int64 // the numbers of texts by the IDs of versions
}

// numberTexts numbers texts, given the last block of the site.
func numberTexts(blocks []revisions.TextBlock, last int64) numbered {
	n := numbered{blocks, last, map[int64]int64{}}
	for i, block := range blocks {
		for position, ids := range block.Of {
			for _, id := range ids {
				n.of[id] = (last+1+int64(i))*revisions.MaxTextsOfBlock + int64(position)
			}
		}
	}
	return n
}

// textOf returns the number of the text of a version, 0 if none is kept.
func (n numbered) textOf(doc *revisions.Stored) int64 {
	if doc.Text == revisions.TextPlanned {
		return n.of[doc.ID]
	}
	return doc.Text
}

// queueTexts adds the texts, and gives them to live versions. Changes that were planned before are planned again, since
// the site then counts another block.
func (s *Store) queueTexts(batch *pgx.Batch, n numbered, reread []*revisions.Stored) {
	if len(n.blocks)+len(reread) > 0 {
		numbers := make([]int64, len(n.blocks))
		for i := range numbers {
			numbers[i] = n.last + 1 + int64(i)
		}
		batch.Queue(stmt.InsertTexts, named{
			"site": s.site, "last": n.last + int64(max(1, len(n.blocks))), "blocks": numbers,
			"bodies": column(n.blocks, func(block revisions.TextBlock) []byte { return block.Body }),
			"references": column(n.blocks, func(block revisions.TextBlock) zeronull.Text {
				return zeronull.Text(block.Reference)
			}),
		})
	}
	if len(reread) > 0 {
		batch.Queue(stmt.RereadDocuments, named{
			"site": s.site, "mark": revisions.NewStamp(),
			"ids":      column(reread, func(doc *revisions.Stored) int64 { return doc.ID }),
			"segments": column(reread, func(doc *revisions.Stored) nullDigest { return nullDigest(doc.Segment) }),
			"texts":    column(reread, func(doc *revisions.Stored) zeronull.Int8 { return zeronull.Int8(n.textOf(doc)) }),
			"paths":    column(reread, func(doc *revisions.Stored) zeronull.Text { return zeronull.Text(doc.Path) }),
			"lines":    column(reread, lineOf),
		})
	}
}

// lineOf returns the line of a version's text in its file; NULL if it is not known.
func lineOf(doc *revisions.Stored) zeronull.Int4 {
	return zeronull.Int4(doc.Line) //nolint:gosec // bodies have fewer lines
}

// Reread implements revisions.Store.
func (s *Store) Reread(ctx context.Context, base revisions.Head, diff revisions.Diff, texts []revisions.TextBlock,
) error {
	limit := s.deadlines.Write
	if len(diff.Reread) > many {
		limit = s.deadlines.Append
	}
	return s.withTx(ctx, limit, func(ctx context.Context, tx pgx.Tx) error {
		var head revisions.Head
		var version int
		fields := append(headFields(&head), new(revisions.Stamp), &version, nil)
		args := named{"site": s.site, "revision": base.Revision}
		if err := tx.QueryRow(ctx, stmt.LockBase, args).Scan(fields...); err != nil {
			return err
		}
		if err := s.checkVersion(version); err != nil {
			return err
		}
		if head != base {
			return revisions.ErrStaleSnapshot
		}
		batch := &pgx.Batch{}
		s.queueTexts(batch, numberTexts(texts, head.Texts), diff.Reread)
		if diff.Refollows {
			batch.Queue(stmt.Refollow, named{"site": s.site, "sources": sourcesOf(diff.Upstreams)})
		}
		return tx.SendBatch(ctx, batch).Close()
	})
}

// Origins implements queries.Store.
func (s *Store) Origins(ctx context.Context, ids []int64) (map[int64]revisions.Origin, error) {
	origins := make(map[int64]revisions.Origin, len(ids))
	_, err := collect(ctx, s.Database, func(row pgx.CollectableRow) (id int64, err error) {
		var origin revisions.Origin
		id, err = scanOrigin(row, &origin)
		origins[id] = origin
		return id, err
	}, stmt.OriginsOf, named{"site": s.site, "ids": ids})
	return origins, err
}

func scanOrigin(row pgx.CollectableRow, origin *revisions.Origin) (id int64, err error) {
	var line int64
	err = row.Scan(&id, (*zeronull.Int8)(&origin.Text), (*zeronull.Text)(&origin.Path), (*zeronull.Int8)(&line))
	origin.Line = int(line)
	return id, err
}

// OriginsNamed implements queries.Store.
func (s *Store) OriginsNamed(ctx context.Context, revision int64, of []document.Identity) (
	map[document.Identity]revisions.Origin, error,
) {
	origins := make(map[document.Identity]revisions.Origin, len(of))
	if len(of) == 0 {
		return origins, nil
	}
	wanted := map[document.Identity]bool{}
	for _, id := range of {
		wanted[id] = true
	}
	q := &statement{args: []any{s.site, revision}}
	q.add("WITH s AS (SELECT head FROM sites WHERE site = $1) SELECT d.schema, d.layer, d.name, d.id, d.text, d.path, " +
		"d.line FROM s CROSS JOIN LATERAL (")
	q.armsByName(revision, column(of, func(id document.Identity) string { return id.Name }), "")
	q.add(") d")
	_, err := collect(ctx, s.Database, func(row pgx.CollectableRow) (id document.Identity, err error) {
		var origin revisions.Origin
		_, err = scanOrigin(prefixed(row, &id.Schema, &id.Layer, &id.Name), &origin)
		if wanted[id] {
			origins[id] = origin
		}
		return id, err
	}, q.sql.String(), q.args...)
	return origins, err
}

// textBlock is a block of texts as it is stored.
type textBlock struct {
	number    int64
	body      []byte
	reference string
}

// Texts implements queries.Store.
func (s *Store) Texts(ctx context.Context, numbers []int64,
	open func(reference string, sealed []byte) ([]byte, error),
) (map[int64]revisions.Text, error) {
	wanted := map[int64][]int64{}
	var blocks []int64
	for _, number := range numbers {
		block := number / revisions.MaxTextsOfBlock
		if wanted[block] == nil {
			blocks = append(blocks, block)
		}
		wanted[block] = append(wanted[block], number)
	}
	texts := make(map[int64]revisions.Text, len(numbers))
	found, err := collect(ctx, s.Database, func(row pgx.CollectableRow) (b textBlock, err error) {
		err = row.Scan(&b.number, &b.body, (*zeronull.Text)(&b.reference))
		return b, err
	}, stmt.TextBlocks, named{"site": s.site, "blocks": blocks})
	if err != nil {
		return nil, err
	}
	for _, block := range found {
		all, err := s.unpackTexts(block, open)
		if err != nil {
			return nil, fmt.Errorf("read the block %d of texts: %w", block.number, err)
		}
		for _, number := range wanted[block.number] {
			switch at := number % revisions.MaxTextsOfBlock; {
			case all == nil:
				texts[number] = revisions.Text{Secret: &document.Identity{}}
			case at >= int64(len(all)):
				return nil, fmt.Errorf("the block %d of texts has %d, and not the one at %d", block.number, len(all), at)
			default:
				texts[number] = all[at]
			}
		}
	}
	return texts, nil
}

// unpackTexts returns the texts of a block, nil if it is sealed and open is nil.
func (s *Store) unpackTexts(block textBlock, open func(reference string, sealed []byte) ([]byte, error)) (
	texts []revisions.Text, err error,
) {
	if block.reference != "" {
		if open == nil {
			return nil, nil
		}
		if block.body, err = open(block.reference, block.body); err != nil {
			return nil, err
		}
	}
	if block.body, err = s.codec.unpack(block.body); err != nil {
		return nil, err
	}
	return revisions.Texts(block.body)
}

// OutdatedTexts implements revisions.Store.
func (s *Store) OutdatedTexts(ctx context.Context, prefix []byte, after int64, limit int) (
	[]revisions.SealedContent, error,
) {
	return collect(ctx, s.Database, func(row pgx.CollectableRow) (c revisions.SealedContent, err error) {
		err = row.Scan(&c.Block, &c.Sealed, &c.Reference)
		return c, err
	}, stmt.OutdatedTexts, named{"site": s.site, "prefix": prefix, "after": after, "limit": limit})
}
