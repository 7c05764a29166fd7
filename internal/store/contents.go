package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"purser/internal/document"
	"purser/internal/revisions"
)

// codec compresses contents in the database. JSON text never begins like a zstd frame, so the first
// bytes of a body show its form.
type codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

const (
	// minCompressed is the size in bytes above which compression saves more than its frame costs.
	minCompressed = 256
	// window bounds the memory of each encoder; contents are small.
	window = 128 << 10
	// largestBody bounds the memory that a corrupted row can claim, far above the limit on documents.
	largestBody = 1 << 30
)

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// newCodec returns a codec for any number of goroutines.
func newCodec() (*codec, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("make a compressor: %w", err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(largestBody))
	if err != nil {
		return nil, fmt.Errorf("make a decompressor: %w", err)
	}
	return &codec{encoder, decoder}, nil
}

// pack compresses a text if that makes it shorter.
func (c *codec) pack(text []byte) []byte {
	if len(text) < minCompressed {
		return text
	}
	if packed := c.encoder.EncodeAll(text, make([]byte, 0, len(text)/2)); len(packed) < len(text) {
		return packed
	}
	return text
}

// unpack returns the text that Pack was given.
func (c *codec) unpack(body []byte) ([]byte, error) {
	if !bytes.HasPrefix(body, zstdMagic) {
		return body, nil
	}
	text, err := c.decoder.DecodeAll(body, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress a content: %w", err)
	}
	return text, nil
}

// unpackedSize returns the size of a content, given the beginning and the size of its stored form.
func unpackedSize(head []byte, stored int) int {
	var header zstd.Header
	if header.Decode(head) != nil || !header.HasFCS || header.FrameContentSize > largestBody {
		return stored
	}
	return int(header.FrameContentSize)
}

// Contents implements queries.Store.
func (s *Store) Contents(ctx context.Context, digests []document.Digest) (map[document.Digest][]byte, error) {
	return s.readContents(ctx, general, digests)
}

// readContents returns the texts of contents.
func (s *Store) readContents(ctx context.Context, use connections, digests []document.Digest) (
	texts map[document.Digest][]byte, err error,
) {
	if len(digests) == 0 {
		return map[document.Digest][]byte{}, nil
	}
	_, err = s.read(ctx, use, func(ctx context.Context, r *reading) error {
		rows, err := s.pool.Query(ctx, stmt.ContentsByDigest, named{"site": s.site, "digests": digestArray(digests)})
		if err == nil {
			texts, err = s.collectContents(r.rows(rows), len(digests))
		}
		return err
	})
	return texts, err
}

// contentsIn is readContents in a transaction.
func (s *Store) contentsIn(ctx context.Context, tx pgx.Tx, digests []document.Digest) (
	map[document.Digest][]byte, error,
) {
	rows, err := tx.Query(ctx, stmt.ContentsByDigest, named{"site": s.site, "digests": digestArray(digests)})
	if err != nil {
		return nil, err
	}
	return s.collectContents(rows, len(digests))
}

func (s *Store) collectContents(rows pgx.Rows, most int) (map[document.Digest][]byte, error) {
	texts := make(map[document.Digest][]byte, most)
	_, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (digest document.Digest, err error) {
		var body []byte
		if err := row.Scan((*nullDigest)(&digest), &body); err != nil {
			return digest, fmt.Errorf("read a content: %w", err)
		}
		texts[digest], err = s.codec.unpack(body)
		return digest, err
	})
	return texts, err
}

// Outdated implements revisions.Store.
func (s *Store) Outdated(ctx context.Context, prefix []byte, after document.Digest, limit int) (
	[]revisions.SealedContent, error,
) {
	return collect(ctx, s.Database, func(row pgx.CollectableRow) (c revisions.SealedContent, err error) {
		var body []byte
		if err := row.Scan((*nullDigest)(&c.Digest), &body, &c.Sealed); err != nil {
			return c, fmt.Errorf("read a secret: %w", err)
		}
		if body, err = s.codec.unpack(body); err != nil {
			return c, err
		}
		if err := json.Unmarshal(body, &c.Reference); err != nil {
			return c, fmt.Errorf("read the reference to a secret: %w", err)
		}
		return c, nil
	}, stmt.OutdatedSecrets, named{"site": s.site, "prefix": prefix, "after": after[:], "limit": limit})
}

// Sealed implements revisions.Store.
func (s *Store) Sealed(ctx context.Context) (int, error) {
	return collectFirst(ctx, s.Database, pgx.RowTo[int], stmt.CountSecrets, named{})
}

// SitesToReseal returns the sites that have something sealed whose sealed form does not start with a prefix.
func (d *Database) SitesToReseal(ctx context.Context, prefix []byte) ([]string, error) {
	return collect(ctx, d, pgx.RowTo[string], stmt.SitesToReseal, named{"prefix": prefix})
}

// Reseal implements revisions.Store.
func (s *Store) Reseal(ctx context.Context, content revisions.SealedContent, sealed []byte) error {
	args := named{"site": s.site, "old": content.Sealed, "new": sealed}
	statement := stmt.ResealContent
	if content.Digest.IsZero() {
		statement, args["block"] = stmt.ResealText, content.Block
	} else {
		args["digest"] = content.Digest[:]
	}
	_, err := s.exec(ctx, statement, args)
	return err
}

// ForgetSealed implements revisions.Store. It drops the live documents, which are rendered and checked. The cached
// buckets stay: their documents are only compared with new ones, and their secrets are never opened.
func (s *Store) ForgetSealed() { s.live.Clear() }

// Archive implements queries.Store.
func (s *Store) Archive(ctx context.Context, content document.Digest) ([]byte, error) {
	return collectFirst(ctx, s.Database, pgx.RowTo[[]byte], stmt.ArchiveOf, named{
		"site": s.site, "content": content[:],
	})
}
