package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// rerendered measures row 20: the first rendering after a change to a document on which no other depends, relative to
// the first rendering of the site. Each turn uses a new process that has stored the site and rendered nothing.
func (b *bench) rerendered(ctx context.Context) error {
	site, err := b.layered(ctx)
	if err != nil {
		return err
	}
	b.sayf("row 20: rendering %s after a change", site.label)
	database, err := b.create(ctx, "rerendered")
	if err != nil {
		return err
	}
	turns := make([]turn, 1+b.rounds)
	for i := range turns {
		if turns[i], err = b.rerender(ctx, database, site.body); err != nil {
			return err
		}
	}
	turns = turns[1:]
	b.atMost(20, medianOf(turns, func(t turn) float64 { return ratio(t.measured, t.against) }), 0.15,
		site.label+": first GET of the rendered documents after one changed, to the first of all",
		short(medianOf(turns, func(t turn) time.Duration { return t.measured }))+", "+
			short(medianOf(turns, func(t turn) time.Duration { return t.against })))
	return nil
}

func (b *bench) rerender(ctx context.Context, database string, site []byte) (t turn, err error) {
	s, err := b.startOn(ctx, "rerendered", database)
	if err != nil {
		return t, err
	}
	defer func() { err = s.stop(err) }()
	if err := s.send(ctx, http.MethodDelete, api+"/revisions", nil, io.Discard); err != nil {
		return t, err
	}
	if err := s.put(ctx, "site", site); err != nil {
		return t, err
	}
	if err := vacuum(ctx, s.db); err != nil {
		return t, err
	}
	render := func(version int) (time.Duration, error) {
		if err := s.put(ctx, "note", note(version)); err != nil {
			return 0, err
		}
		return timed(func() error { return s.get(ctx, api+"/revisions/latest/rendered-documents?limit=-1") })
	}
	if t.against, err = render(0); err != nil {
		return t, err
	}
	t.measured, err = render(1)
	return t, err
}

// note returns a document on which no other depends.
func note(version int) []byte {
	return fmt.Appendf(nil, `---
schema: bench/Note/v1
metadata:
  schema: metadata/Document/v1
  name: note
  storagePolicy: cleartext
  layeringDefinition: {abstract: false, layer: site}
data: {version: %d}
`, version)
}
