package queries

import (
	"context"
	"fmt"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/words"
)

// Package is a Murano package in a revision.
type Package struct {
	*revisions.Stored

	Manifest document.Mapping
	Archive  string // the SHA-256 digest of the archive, in hexadecimal digits
	Size     string // of the archive, in bytes
	Warnings []any  // the warnings from checking it when it was uploaded
}

// readSteps is the cost of reading a package description, in steps per byte.
const readSteps = 10

// Packages returns the packages of a revision by name. Faults: NotFound, Gone.
func (v View) Packages(ctx context.Context, id int64) (packages []Package, err error) {
	selection := Selection{
		Schemas: []string{validations.PackageKind}, Sort: []SortKey{ByName}, Page: Page{Limit: -1},
	}
	selected, err := v.Documents(ctx, id, selection)
	if err != nil {
		return nil, err
	}
	meter := budget.NewMeter(ctx)
	err = v.Each(ctx, selected, func(documents []*revisions.Stored) error {
		for _, doc := range documents {
			if err := meter.Spend(readSteps * len(doc.Data)); err != nil {
				return budget.About(err, "read package %s", doc.Name)
			}
			if p, ok := packageOf(doc); ok {
				packages = append(packages, p)
			}
		}
		return nil
	})
	return packages, err
}

// packageOf decodes the description of a package in a document; ok is false if it has none or is encrypted.
func packageOf(doc *revisions.Stored) (p Package, ok bool) {
	value, err := document.ParseJSON(doc.Data)
	root, _ := value.(document.Mapping)
	archive, ok := root.At("archive").(document.Mapping)
	if err != nil || !ok {
		return p, false
	}
	p.Stored = doc
	p.Manifest, _ = root.At("manifest").(document.Mapping)
	p.Warnings, _ = root.At("warnings").([]any)
	p.Archive, _ = archive.At("digest").(string)
	size, _ := archive.At("size").(document.Number)
	p.Size = string(size)
	return p, p.Archive != "" && p.Size != ""
}

// Package returns a package of a revision. Faults: NotFound, Gone.
func (v View) Package(ctx context.Context, id int64, name string) (Package, error) {
	selection := Selection{
		Schemas: []string{validations.PackageKind}, Names: []string{name}, Page: Page{Limit: -1},
	}
	selected, err := v.Documents(ctx, id, selection)
	if err != nil {
		return Package{}, err
	}
	for _, doc := range selected.Documents {
		if p, ok := packageOf(doc); ok {
			return p, nil
		}
	}
	all, err := v.Packages(ctx, id)
	if err != nil {
		return Package{}, err
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	hint := fmt.Sprintf("it has %d packages", len(names))
	if len(names) == 1 {
		hint = "it has 1 package"
	}
	if nearest := words.Nearest(name, names[:min(len(names), maxNearest)]); nearest != "" {
		hint = "did you mean " + nearest + "?"
	}
	return Package{}, fault.New(fault.NotFound, "PackageNotFound", "Revision %d has no package %s; %s", id, name, hint)
}

// maxNearest limits the number of names that a misspelt one is compared with.
const maxNearest = 1000

// Archive returns the archive of a package. Faults: NotFound, Gone.
func (v View) Archive(ctx context.Context, id int64, p Package) ([]byte, error) {
	archive, err := v.store.Archive(ctx, p.Digest)
	if err != nil {
		return nil, fmt.Errorf("read the archive of %s: %w", p.Name, err)
	}
	if archive == nil {
		if _, err := v.evidence(ctx, id); err != nil {
			return nil, err // it was pruned meanwhile
		}
		return nil, fault.New(fault.NotFound, "PackageNotFound", "Revision %d has no archive of the package %s: the "+
			"document was stored by a server with --compat=deckhand; PUT the package again", id, p.Name)
	}
	return archive, budget.About(budget.NewMeter(ctx).Hold(len(archive)), "read the archive of %s", p.Name)
}
