package main

import (
	"context"
	"fmt"
	"strings"

	"purser/internal/document"
	"purser/internal/rendering"
)

// family is the number of documents in three layers that share one document of the top layer.
const family = 10

// relatives writes n documents in three layers. Children select their parent by two labels, one of which all documents
// have.
func relatives(n int) string {
	var b strings.Builder
	b.WriteString(layerOrder)
	for i := range n {
		head := i / family * family // index of the family's top document
		f := frame{kind: "bench/Endpoint/v1", name: fmt.Sprintf("doc-%05d", i), labels: broad(i)}
		switch i % family {
		case 0:
			f.layer, f.abstract = "global", true
		case 1:
			f.layer, f.parent = "type", broad(head)
		default:
			f.layer, f.parent = "site", broad(head+1)
			f.links = []link{{f.kind, fmt.Sprintf("doc-%05d", head+1), ".host", ".proxy.host", ""}}
		}
		f.write(&b, fmt.Sprintf("\n  host: doc-%05d.example.com\n  limits: {memory: %d, cpu: %d}\n  paths: [/v1, /v%d]\n",
			i, 128+i, i%7, i%5))
	}
	return b.String()
}

// broad returns the labels of document i. All documents share the first one.
func broad(i int) string { return fmt.Sprintf("broad: all, key: doc-%05d", i) }

const (
	parentKeys  = 2_000 // of a parent
	mostActions = 50    // of a child
)

// broods writes a parent with many keys, and children that change it by the given number of actions each.
func broods(children, actions int) string {
	var b strings.Builder
	b.WriteString(layerOrder)
	var all, own strings.Builder
	for i := range parentKeys {
		fmt.Fprintf(&all, "\n  key%d: {host: key%[1]d.example.com, port: %[1]d}", i)
	}
	methods := make([]string, mostActions)
	for i := range mostActions {
		key := i * (parentKeys / mostActions)
		fmt.Fprintf(&own, "\n  key%d: {port: %d}", key, i)
		methods[i] = fmt.Sprintf("{method: %s, path: .key%d}", []string{"merge", "replace", "delete"}[i%3], key)
	}
	frame{kind: "bench/Endpoint/v1", name: "parent", layer: "global", labels: "key: parent"}.write(&b, all.String()+"\n")
	for i := range children {
		frame{
			kind: "bench/Endpoint/v1", name: fmt.Sprintf("child-%d", i), layer: "site", parent: "key: parent",
			actions: strings.Join(methods[:actions], ", "),
		}.write(&b, own.String()+"\n")
	}
	return b.String()
}

// tenfold is the factor by which the number of documents grows.
const tenfold = 10

// growth measures row 12.
func (b *bench) growth(ctx context.Context) error {
	few := b.wide / tenfold
	b.sayf("row 12: rendering %d and %d documents", few, tenfold*few)
	if err := b.moreDocuments(ctx, few); err != nil {
		return err
	}
	return b.moreActions(ctx)
}

func (b *bench) moreDocuments(ctx context.Context, few int) error {
	one, err := renderer(ctx, relatives(few))
	if err != nil {
		return err
	}
	all, err := renderer(ctx, relatives(tenfold*few))
	if err != nil {
		return err
	}
	// Repeat the smaller work, so that the garbage collector runs in turns of both sides.
	ten := func() error {
		for range tenfold {
			if err := one(); err != nil {
				return err
			}
		}
		return nil
	}
	what := fmt.Sprintf("render %d documents in three layers, with one label on all of them, to ", tenfold*few)
	return b.compareAll([]compared{
		{row: 12, limit: 1.1, against: ten, measured: all, what: what + fmt.Sprintf("%d ten times (11x of once)", few)},
		{row: 12, against: one, measured: all, what: what + fmt.Sprintf("%d once, mostly without collecting garbage", few)},
	})
}

func (b *bench) moreActions(ctx context.Context) error {
	const single = "render a child with %d actions on a parent of %d keys, to one with 1 action"
	for _, pair := range []struct {
		children int
		compared
	}{
		{1, compared{limit: 2, repeats: often, what: fmt.Sprintf(single, mostActions, parentKeys)}},
		{100, compared{what: "the same with 100 children of that parent, which is read once"}},
	} {
		var err error
		if pair.against, err = renderer(ctx, broods(pair.children, 1)); err != nil {
			return err
		}
		if pair.measured, err = renderer(ctx, broods(pair.children, mostActions)); err != nil {
			return err
		}
		pair.row = 12
		if err := b.compare(pair.compared); err != nil {
			return err
		}
	}
	return nil
}

// renderer returns a function that renders the documents in text.
func renderer(ctx context.Context, text string) (func() error, error) {
	documents, err := decodeAndCheck(ctx, []byte(text), unchecked{}, cores())
	if err != nil {
		return nil, err
	}
	return func() error { return renderAll(ctx, documents) }, nil
}

func renderAll(ctx context.Context, documents []*document.Document) error {
	out, err := rendering.Render(ctx, documents, rendering.Options{})
	if err == nil && len(out.Faults) > 0 {
		err = out.Faults[0]
	}
	if err != nil {
		return fmt.Errorf("render: %w", err)
	}
	return nil
}
