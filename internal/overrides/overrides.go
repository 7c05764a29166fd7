// Package overrides applies the overrides of Puppet resources in a revision: it returns their data for Hiera, overrides
// a compiled catalog, and compares two revisions. It calls package puppet with the rendered documents that a viewer may
// see.
package overrides

import (
	"context"
	"fmt"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/puppet"
	"purser/internal/queries"
	"purser/internal/revisions"
)

// Set is the overrides of one revision that are for a node.
type Set struct {
	puppet.Overrides

	Revision revisions.Revision
}

// Size returns the size of the data of the documents in the set, in bytes.
func (s Set) Size() (bytes int) {
	for _, doc := range s.Documents {
		bytes += len(doc.Data)
	}
	return bytes
}

// Of returns the overrides of a revision that are for a node, as a viewer may see them: without encrypted documents,
// for a viewer who may not see these. 0 is the empty revision before the first one. Faults: those of
// queries.View.Rendered; Invalid if an override cannot be read.
func Of(ctx context.Context, view queries.View, id int64, node puppet.Node) (set Set, err error) {
	if id == 0 {
		set.Types = puppet.NewTypes(nil)
		return set, nil
	}
	shown, err := view.Show(ctx, id)
	if err != nil {
		return set, fmt.Errorf("read revision %d: %w", id, err)
	}
	rendered, err := view.Rendered(ctx, id, queries.Selection{Page: queries.Page{Limit: -1}})
	if err != nil {
		return set, err
	}
	set.Revision = shown.Revision
	set.Overrides, err = changes.GatherOverrides(budget.NewMeter(ctx), rendered.Documents, rendered.Documents, &node)
	if err != nil {
		return set, about(err, id)
	}
	return set, invalid(set, set.Problems)
}

func about(err error, id int64) error {
	return budget.About(err, "override Puppet resources by revision %d", id)
}

// invalid returns a fault with a message for each problem, nil if there are none.
func invalid(set Set, problems []puppet.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	f := fault.New(fault.Invalid, "PuppetOverrideInvalid", "The overrides of revision %d cannot be applied",
		set.Revision.ID)
	f.Messages = changes.OverrideMessages(set.Documents, problems)
	for i := range f.Messages { // errors have no paths of their own
		f.Messages[i].Message = f.Messages[i].Path + ": " + f.Messages[i].Message
	}
	return f
}

// Hiera returns the data of the overrides as Hiera reads them: the keys configuration and configuration_options.
func (s Set) Hiera(ctx context.Context) (document.Mapping, error) {
	merged, err := puppet.Merge(budget.NewMeter(ctx), s.Data)
	return merged, about(err, s.Revision.ID)
}

// Catalog reads a compiled catalog. Faults: Invalid, TooLarge.
func Catalog(ctx context.Context, text []byte) (*puppet.Catalog, error) {
	budget.From(ctx).Grant(len(text))
	catalog, err := puppet.Read(budget.NewMeter(ctx), text)
	return catalog, budget.About(err, "read the catalog")
}

// Apply overrides a catalog. Fault: Invalid with a message for each problem.
func (s Set) Apply(ctx context.Context, catalog *puppet.Catalog) (puppet.Result, error) {
	result, err := puppet.Apply(budget.NewMeter(ctx), catalog, s.Instances, s.Types)
	if err != nil {
		return result, about(err, s.Revision.ID)
	}
	return result, invalid(s, result.Problems)
}

// Text returns a catalog as JSON text.
func Text(ctx context.Context, catalog *puppet.Catalog) ([]byte, error) {
	text, err := catalog.JSON(budget.NewMeter(ctx))
	return text, budget.About(err, "write the catalog")
}

// Differences compares the catalogs that two sets make of one catalog.
func Differences(ctx context.Context, before, after Set, catalog *puppet.Catalog) ([]puppet.Difference, error) {
	was, err := before.Apply(ctx, catalog)
	if err != nil {
		return nil, err
	}
	is, err := after.Apply(ctx, catalog)
	if err != nil {
		return nil, err
	}
	differences, err := puppet.Diff(budget.NewMeter(ctx), was.Catalog, is.Catalog)
	return differences, budget.About(err, "compare the catalogs")
}

// Merged compares the data that two sets give to Hiera, without a catalog; see puppet.Overrides.AsCatalog.
func Merged(ctx context.Context, before, after Set) ([]puppet.Difference, error) {
	meter := budget.NewMeter(ctx)
	was, err := before.AsCatalog(meter)
	if err != nil {
		return nil, about(err, before.Revision.ID)
	}
	is, err := after.AsCatalog(meter)
	if err != nil {
		return nil, about(err, after.Revision.ID)
	}
	differences, err := puppet.Diff(meter, was, is)
	return differences, budget.About(err, "compare the overrides")
}
