package changes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/murano"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// CheckedPackage is a package without errors.
type CheckedPackage struct {
	Data   document.Mapping // of the document that describes the package
	Report murano.Report    // with warnings only
}

// Manifest returns the manifest.
func (p CheckedPackage) Manifest() document.Mapping {
	manifest, _ := p.Data.At("manifest").(document.Mapping)
	return manifest
}

// Warnings returns messages about the issues of the package, as many as an answer may list.
func (p CheckedPackage) Warnings() []fault.Message {
	warnings := []fault.Message{}
	for _, issue := range p.Report.Issues {
		warnings = append(warnings, issueMessage(issue))
	}
	listed, more := authz.First(warnings)
	if more > 0 {
		others := fault.Message{Message: "More warnings, not listed: " + strconv.Itoa(more), Level: "Warning"}
		others.Kind = "ValidationMessage"
		listed = append(slices.Clip(listed), others)
	}
	return listed
}

// Name returns the name in the manifest.
func (p CheckedPackage) Name() string {
	name, _ := p.Manifest().At("FullName").(string)
	return name
}

// PutPackage stores a Murano archive as the package with a name in a bucket, replacing any package of that name; the
// other documents of the bucket stay. Faults: Invalid, of type InvalidPackage, with a message for each error of the
// package; those of Put.
func (s *Service) PutPackage(ctx context.Context, bucket, name string, archive []byte, options revisions.Options) (
	Written, CheckedPackage, error,
) {
	checked, err := s.CheckPackage(ctx, archive)
	if err != nil {
		return Written{}, checked, err
	}
	if own := checked.Name(); own != name {
		return Written{}, checked, fault.New(fault.Invalid, "InvalidPackage",
			"The manifest names the package %s, but the path names it %s; PUT it to .../packages/%s", own, name, own)
	}
	text := document.AppendJSON(nil, document.Mapping{
		{Key: "schema", Value: validations.PackageKind},
		{Key: "metadata", Value: document.Mapping{
			{Key: "schema", Value: "metadata/Control/v1"},
			{Key: "name", Value: name},
			{Key: "storagePolicy", Value: "cleartext"},
		}},
		{Key: "data", Value: checked.Data},
	})
	payload, err := s.parse(ctx, text, document.JSON, bucket, []string{bucket})
	if err != nil {
		return Written{}, checked, err
	}
	payload.Partial, payload.Archive = true, archive
	written, err := s.put(ctx, payload, revisions.Put, options)
	return written, checked, err
}

// packageLimits are lower than those of the command, because the files of a request are held in memory.
func packageLimits() murano.Limits {
	limits := murano.DefaultLimits()
	limits.File, limits.Total = 32*budget.MiB, 128*budget.MiB
	return limits
}

// CheckPackage checks an archive. Faults: Invalid, of type InvalidPackage, with a message for each error.
func (s *Service) CheckPackage(ctx context.Context, archive []byte) (checked CheckedPackage, err error) {
	budget.From(ctx).Grant(len(archive))
	meter := budget.NewMeter(ctx)
	if err := meter.Hold(len(archive)); err != nil {
		return checked, budget.About(err, "read the archive")
	}
	began := s.Now()
	pkg, err := murano.ReadZip(ctx, archive, packageLimits())
	if unreadable, ok := errors.AsType[*murano.Unreadable](err); ok {
		return checked, invalidPackage(murano.Report{Issues: []murano.Issue{unreadable.Issue()}})
	}
	if err != nil {
		return checked, budget.About(err, "read the archive")
	}
	if checked.Report, err = murano.Run(ctx, pkg, murano.Options{}); err != nil {
		return checked, budget.About(err, "check the package")
	}
	s.observe("check", began)
	if len(checked.Report.Errors()) > 0 {
		return checked, invalidPackage(checked.Report)
	}
	digest := sha256.Sum256(archive)
	checked.Data, err = murano.Describe(meter, pkg, checked.Report, murano.Archive{
		Digest: hex.EncodeToString(digest[:]), Size: int64(len(archive)),
	})
	return checked, budget.About(err, "describe the package")
}

// invalidPackage returns the fault of a package with errors.
func invalidPackage(report murano.Report) error {
	const maxShown = 1000
	errs := report.Errors()
	f := fault.New(fault.Invalid, "InvalidPackage", "The package has %d errors; nothing was stored", len(errs))
	if len(errs) == 1 {
		f.Message = "The package has an error: " + errs[0].Message
	}
	f.Reason = "Validation"
	for _, issue := range errs[:min(len(errs), maxShown)] {
		f.Messages = append(f.Messages, issueMessage(issue))
	}
	if len(errs) > maxShown {
		f.Messages = append(f.Messages, fault.Message{
			Message: fmt.Sprintf("and %d more; mpl-check shows all", len(errs)-maxShown), Error: true,
		})
	}
	return f
}

// issueMessage converts an issue of a package to a message.
func issueMessage(issue murano.Issue) fault.Message {
	m := fault.Message{
		Message: issue.Message, Error: issue.Severity == murano.Error, Code: issue.Code, File: issue.File,
	}
	if issue.Located {
		m.Line, m.Column = issue.Line+1, issue.Column+1
	}
	return m
}

// checkArchives refuses new documents that describe packages, unless the archive is stored or part of the request:
// their contents must be what the server read from an archive. Documents that were read from a revision may be put
// back, in any bucket.
func (p Payload) checkArchives(snapshot revisions.Snapshot, diff revisions.Diff) error {
	for _, doc := range diff.Added {
		if !doc.IsPackage() || p.Archive != nil {
			continue
		}
		if doc.Traits().Encrypted {
			return fault.New(fault.Invalid, "InvalidPackage", "%s describes the package %s and has storagePolicy: encrypted, "+
				"but packages are not encrypted: make it cleartext. Nothing was stored.", p.placeOf(doc.Identity), doc.Name)
		}
		if !snapshot.Contents[doc.Digest].Archived {
			return fault.New(fault.Invalid, "InvalidPackage", "%s describes the package %s, but no archive of it is stored, or "+
				"the archive says something else. Packages are stored as archives: PUT the zip file to "+
				"/api/v1.0/buckets/%s/packages/%s. Nothing was stored.", p.placeOf(doc.Identity), doc.Name, doc.Bucket, doc.Name)
		}
		record, err := murano.ReadRecord(doc.Name, doc.Data)
		if err == nil && (record.FullName != doc.Name || doc.Layer != "") {
			return fault.New(fault.Invalid, "InvalidPackage", "%s is named %s and describes the package %s: it must have "+
				"the name of the package, and no layer. Nothing was stored.", p.placeOf(doc.Identity), doc.Name, record.FullName)
		}
	}
	return nil
}
