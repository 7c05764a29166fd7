package queries

import (
	"context"
	"fmt"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/puppet"
	"purser/internal/revisions"
)

// Overrides are the overrides of Puppet resources of one revision that are for a node.
type Overrides struct {
	puppet.Overrides

	Revision revisions.Revision
}

// Size returns the size of the data of their documents, in bytes.
func (o Overrides) Size() (bytes int) {
	for _, doc := range o.Documents {
		bytes += len(doc.Data)
	}
	return bytes
}

// Overrides returns the overrides of a revision that are for a node: without encrypted documents, for a viewer who may
// not see these. 0 is the empty revision before the first one. Faults: those of View.Rendered; Invalid if an override
// cannot be read.
func (v View) Overrides(ctx context.Context, id int64, node puppet.Node) (o Overrides, err error) {
	if id == 0 {
		o.Types = puppet.NewTypes(nil)
		return o, nil
	}
	shown, err := v.Show(ctx, id)
	if err != nil {
		return o, fmt.Errorf("read revision %d: %w", id, err)
	}
	rendered, err := v.Rendered(ctx, id, Selection{Page: Page{Limit: -1}})
	if err != nil {
		return o, err
	}
	o.Revision = shown.Revision
	o.Overrides, err = changes.GatherOverrides(budget.NewMeter(ctx), rendered.Documents, rendered.Documents, &node)
	if err != nil {
		return o, o.about(err)
	}
	return o, o.invalid(o.Problems)
}

func (o Overrides) about(err error) error {
	return budget.About(err, "override Puppet resources by revision %d", o.Revision.ID)
}

// invalid returns a fault with a message for each problem, nil if there are none.
func (o Overrides) invalid(problems []puppet.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	f := fault.New(fault.Invalid, "PuppetOverrideInvalid", "The overrides of revision %d cannot be applied",
		o.Revision.ID)
	f.Messages = changes.OverrideMessages(o.Documents, problems)
	for i := range f.Messages { // errors have no paths of their own
		f.Messages[i].Message = f.Messages[i].Path + ": " + f.Messages[i].Message
	}
	return f
}

// Hiera returns the data of the overrides as Hiera reads them: the keys configuration and configuration_options.
func (o Overrides) Hiera(ctx context.Context) (document.Mapping, error) {
	merged, err := puppet.Merge(budget.NewMeter(ctx), o.Data)
	return merged, o.about(err)
}

// ReadCatalog reads a compiled catalog. Faults: Invalid, TooLarge.
func ReadCatalog(ctx context.Context, text []byte) (*puppet.Catalog, error) {
	budget.From(ctx).Grant(len(text))
	catalog, err := puppet.Read(budget.NewMeter(ctx), text)
	return catalog, budget.About(err, "read the catalog")
}

// Apply overrides a catalog. Fault: Invalid with a message for each problem.
func (o Overrides) Apply(ctx context.Context, catalog *puppet.Catalog) (puppet.Result, error) {
	result, err := puppet.Apply(budget.NewMeter(ctx), catalog, o.Instances, o.Types)
	if err != nil {
		return result, o.about(err)
	}
	return result, o.invalid(result.Problems)
}

// CatalogText returns a catalog as JSON text.
func CatalogText(ctx context.Context, catalog *puppet.Catalog) ([]byte, error) {
	text, err := catalog.JSON(budget.NewMeter(ctx))
	return text, budget.About(err, "write the catalog")
}

// DiffCatalogs compares the catalogs that overrides of two revisions make of one catalog.
func DiffCatalogs(ctx context.Context, before, after Overrides, catalog *puppet.Catalog) (
	[]puppet.Difference, error,
) {
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

// DiffOverrides compares the data that overrides of two revisions give to Hiera, without a catalog; see
// puppet.Overrides.AsCatalog.
func DiffOverrides(ctx context.Context, before, after Overrides) ([]puppet.Difference, error) {
	meter := budget.NewMeter(ctx)
	was, err := before.AsCatalog(meter)
	if err != nil {
		return nil, before.about(err)
	}
	is, err := after.AsCatalog(meter)
	if err != nil {
		return nil, after.about(err)
	}
	differences, err := puppet.Diff(meter, was, is)
	return differences, budget.About(err, "compare the overrides")
}
