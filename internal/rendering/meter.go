package rendering

import (
	"context"
	"fmt"

	"purser/internal/document"
)

// mostWork bounds the steps of one rendering. A step is a member of a container that is copied or visited, or one
// instruction of a pattern at one character: some nanoseconds.
const mostWork = 1 << 31

// deepest bounds how deep rendered data may be nested, far beyond what documents may be on their way in: whatever walks
// it later may recurse.
const deepest = 1000

// meter counts what a rendering has spent. Work is charged where it is done, and checked between two operations, each
// of which is bounded by the size of one document.
type meter struct {
	ctx   context.Context //nolint:containedctx // it lives as long as one call of Render
	work  int64           // steps left
	limit int64           // bytes that all data may take
	room  int64           // of which are left
}

func newMeter(ctx context.Context, limit int64) *meter {
	return &meter{ctx: ctx, work: mostWork, limit: limit, room: limit}
}

// charge notes work that is done.
func (m *meter) charge(steps int) { m.work -= int64(steps) }

// check stops a rendering that nobody waits for any more, or that takes too long.
func (m *meter) check(n *node) error {
	if m.ctx.Err() != nil {
		return fmt.Errorf("render documents: %w", context.Cause(m.ctx))
	}
	if m.work < 0 {
		return about(document.TooLarge("Rendering these documents takes too much work; it was given up at document %s",
			n.Identity), n)
	}
	return nil
}

// take reserves the room that a document's data needs.
func (m *meter) take(n *node, size int64) error {
	if m.room -= size; m.room < 0 {
		return m.tooLarge(n)
	}
	return nil
}

func (m *meter) tooLarge(n *node) error {
	return about(document.TooLarge("With document %s the rendered data takes more than %d bytes, the limit for all "+
		"documents of a revision together", n.Identity, m.limit), n)
}
