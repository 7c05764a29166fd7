package queries

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/diff"
	"purser/internal/revisions"
)

// Grouped are documents that differ, by what differs in them.
type Grouped struct {
	Counts     map[revisions.Difference]int // of all documents
	Groups     []Group                      // those of most documents first
	Unlisted   int                          // documents that are in no group
	Unrendered []changes.UnrenderedSide     // nothing is compared if there are any
}

// Total returns the number of documents that differ.
func (g Grouped) Total() (total int) {
	for _, n := range g.Counts {
		total += n
	}
	return total
}

// Group is a difference that is the same in some documents.
type Group struct {
	Diff      *string // as diff.Folded of their YAML; nil if it was not asked for, or is Omitted
	Omitted   bool    // the diffs of these documents would have exceeded the bounds
	Encrypted bool    // data differ that are not shown, or were created or deleted

	Documents []revisions.DocumentDifference // all have the same kind of difference
}

// Bounds of Grouped: the documents that it lists, their diffs together in bytes, and the YAML of a document that is
// compared.
const (
	maxGrouped      = 1000
	maxGroupedDiffs = 1 << 20
	maxGroupedText  = 16 << 20
)

// Group groups documents that differ, with diffs if these are asked for: of the first maxGrouped documents, as long as
// different diffs take maxGroupedDiffs bytes together. Fault: TooLarge, *budget.Exceeded.
func (o GroupOptions) Group(ctx context.Context, documents []revisions.DocumentDifference) (Grouped, error) {
	from, to := o.Page.window(0, len(documents))
	listed := documents[from:min(to, from+maxGrouped)]
	grouped := Grouped{Counts: countsOf(documents), Unlisted: to - from - len(listed)}
	places, room := map[shared]int{}, maxGroupedDiffs
	for _, d := range listed {
		key, err := o.shared(ctx, d)
		if err != nil {
			return Grouped{}, budget.About(err, "compare document %s", d.Identity)
		}
		if _, known := places[key]; !known && len(key.diff) > room {
			key.omitted, key.diff = true, ""
		}
		at, known := places[key]
		if !known {
			at = len(grouped.Groups)
			places[key], room = at, room-len(key.diff)
			grouped.Groups = append(grouped.Groups, o.group(key))
		}
		grouped.Groups[at].Documents = append(grouped.Groups[at].Documents, d)
	}
	slices.SortStableFunc(grouped.Groups, func(a, b Group) int { return cmp.Compare(len(b.Documents), len(a.Documents)) })
	return grouped, nil
}

// countsOf counts documents by their kinds of difference.
func countsOf(documents []revisions.DocumentDifference) map[revisions.Difference]int {
	counts := make(map[revisions.Difference]int)
	for _, d := range documents {
		counts[d.Difference]++
	}
	return counts
}

// shared is what the documents of a group have in common.
type shared struct {
	difference      revisions.Difference
	hidden, omitted bool
	diff            string
}

func (o GroupOptions) shared(ctx context.Context, d revisions.DocumentDifference) (key shared, err error) {
	oneSided := d.Before == nil || d.After == nil
	key = shared{difference: d.Difference, hidden: d.HiddenDiffer() || oneSided && d.IsSecret()}
	if o.Diffs {
		key.diff, key.omitted, err = foldedDiff(ctx, d)
	}
	return key, err
}

// group returns a group without documents.
func (o GroupOptions) group(key shared) Group {
	group := Group{Encrypted: key.hidden, Omitted: key.omitted}
	if o.Diffs && !key.omitted {
		group.Diff = &key.diff
	}
	return group
}

// foldedDiff returns how a document differs, without its data if these are not shown. It is omitted if the document is
// too large.
func foldedDiff(ctx context.Context, d revisions.DocumentDifference) (folded string, omitted bool, err error) {
	hidden, meter := d.IsSecret(), budget.NewMeter(ctx)
	was, whole := revisions.CanonicalYAML(d.Before, hidden, maxGroupedText)
	is, wholeToo := revisions.CanonicalYAML(d.After, hidden, maxGroupedText)
	meter.Charge(yamlSteps * (len(was) + len(is)))
	if err := meter.Hold(len(was) + len(is)); err != nil || !whole || !wholeToo {
		return "", true, err
	}
	defer meter.Release(len(was) + len(is))
	folded, err = diff.Folded(ctx, was, is)
	return folded, false, err
}

// yamlSteps is the cost of a byte of a document's YAML in steps.
const yamlSteps = 20

// GroupOptions choose what is compared and shown.
type GroupOptions struct {
	Submitted bool // compare the submitted forms, without rendering
	Diffs     bool // say how the documents differ
	Page      Page // of the documents, by bucket and identity
}

// Grouped returns the documents that differ between two revisions by what differs in them, as DeepDiff compares them.
// If one of the revisions does not render, it says why. Faults: NotFound, Gone.
func (v View) Grouped(ctx context.Context, before, after int64, options GroupOptions) (Grouped, error) {
	compared, err := v.sides(ctx, before, after, options.Submitted)
	if err != nil {
		return Grouped{}, err
	}
	var grouped Grouped
	for i, s := range compared.sides {
		if s.unrendered == nil {
			continue
		}
		unrendered, err := changes.Unrendered(v.viewer, i > 0, s.Revision, s.unrendered)
		if err != nil {
			return Grouped{}, err
		}
		grouped.Unrendered = append(grouped.Unrendered, unrendered)
	}
	if len(grouped.Unrendered) > 0 {
		return grouped, nil
	}
	removed, added := DeepDiffOptions{All: true, Submitted: options.Submitted}.forms(compared.found,
		compared.sides[0].documents, compared.sides[1].documents)
	documents := revisions.DocumentDifferences(removed, added)
	if options.Submitted && options.Diffs {
		from, to := options.Page.window(0, len(documents))
		shown := documents[from:min(to, from+maxGrouped)]
		if err := v.readTexts(ctx, []DeepDifference{{Documents: shown}}); err != nil {
			return Grouped{}, fmt.Errorf("read what differs: %w", err)
		}
	}
	return options.Group(ctx, documents)
}
