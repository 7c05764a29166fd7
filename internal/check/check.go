package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"time"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/propertygroups"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// File is a file's name and bytes. Names have slashes on all systems.
type File struct {
	Name   string
	Text   []byte
	Broken string // why it cannot be read; Text is then empty
	// Found means that the file was found in a folder, not named, so it need not contain documents.
	Found bool
	// SchemasOnly uses only the file's DataSchemas.
	SchemasOnly bool
}

// Options configure a Checker.
type Options struct {
	BucketBy string // folder, file or none
	// ClientVersions are the versions of plugins that no document names.
	ClientVersions map[string]string
	AssertFormats  bool // see validations.Options
	// Progress is called with the number of documents read so far and of all documents to read. It may be nil.
	Progress func(done, of int)
}

// The values of Options.BucketBy.
const (
	ByFolder = "folder"
	ByFile   = "file"
	None     = "none"
)

// Groupings returns the values of Options.BucketBy.
func Groupings() []string { return []string{None, ByFolder, ByFile} }

// Checker checks files. It caches documents and results, so that checking the same files again is faster. It is not
// safe for concurrent use.
type Checker struct {
	options Options
	service *changes.Service
	limits  document.Limits
	known   map[document.Digest]*document.Document // of the last check, by the digest of their text
}

// keptSize bounds the memory of cached rendered documents, in bytes.
const keptSize = 64 << 20

// viewer returns a viewer that may see everything except the contents of encrypted documents.
func viewer() authz.Viewer { return authz.Viewer{Encrypted: true, Redacted: true} }

// New returns a checker.
func New(options Options) *Checker {
	engine := validations.NewEngine(validations.Options{
		Extensions: []validations.Extension{propertygroups.Extension{}}, AssertFormats: options.AssertFormats,
	})
	limits := document.DefaultLimits()
	return &Checker{options: options, limits: limits, service: changes.NewService(changes.Config{
		Engine: engine, Limits: limits, Documents: changes.NewDocumentCache(keptSize), Vault: changes.DiscardVault{},
		ClientVersions: options.ClientVersions, Now: time.Now,
	})}
}

// run is one check.
type run struct {
	*Checker

	report  Report
	files   []File
	skipped map[int]bool // the files without documents
	items   []changes.Item
	of      []int           // index of the file of each item
	lines   map[int][]int   // offsets of lines, by file
	owners  map[int][]owner // documents, by file
	meter   *budget.Meter
}

// Check checks files as one revision. Problems of the files are in the report. An error comes from the budget or the
// context.
func (c *Checker) Check(ctx context.Context, files []File) (Report, error) {
	report, _, err := c.Inspect(ctx, files)
	return report, err
}

// begin returns a context with a budget for files.
func begin(ctx context.Context, files []File) (_ context.Context, end func()) {
	size := 0
	for _, file := range files {
		size += len(file.Text)
	}
	ctx, end = budget.NewPool(math.MaxInt32, time.Minute).Begin(ctx)
	const readings = 6 // of each byte: to split, decode, locate, explain and show, and to look for unquoted values
	budget.From(ctx).Grant(readings * size)
	return ctx, end
}

// Inspect is Check. It also returns the documents, for questions about them.
func (c *Checker) Inspect(ctx context.Context, files []File) (Report, *Site, error) {
	ctx, end := begin(ctx, files)
	defer end()
	r := &run{
		Checker: c, files: files, skipped: map[int]bool{}, lines: map[int][]int{}, owners: map[int][]owner{},
		meter: budget.NewMeter(ctx),
	}
	r.report.Whole = true
	if err := r.read(ctx); err != nil {
		return Report{}, nil, err
	}
	r.separate()
	documents, err := r.judge(ctx)
	if err != nil {
		return Report{}, nil, err
	}
	return r.report.sorted(), newSite(r, documents), nil
}

func (r *run) add(f ...Finding) { r.report.Findings = append(r.report.Findings, f...) }

func (r *run) place(file int, at document.Position) Place {
	return Place{r.files[file].Name, at.Line, at.Column}
}

// position returns the position of the value at a path of an item, or its first line if that takes too much work.
func (r *run) position(item int, path []string) document.Position {
	segment := r.items[item].Segment
	positions, err := document.Positions(r.meter, *segment, [][]string{path})
	if err != nil {
		return document.Position{Line: segment.Line, Column: 1}
	}
	return positions[0]
}

// beginning returns the position of an item in the line that the server names, which is that of --- if it has one.
func (r *run) beginning(item int) document.Position {
	at, line := r.position(item, nil), r.items[item].Segment.Line
	if at.Line != line {
		at = document.Position{Line: line, Column: 1}
	}
	return at
}

// bucket returns the bucket for the documents of a file.
func (c *Checker) bucket(name string) string {
	switch c.options.BucketBy {
	case ByFile:
		return name
	case ByFolder:
		return path.Dir(name)
	}
	return "documents"
}

// read splits and decodes the files. Documents whose text is known from the last check are not decoded again.
func (r *run) read(ctx context.Context) error {
	for i, file := range r.files {
		if file.Broken != "" {
			r.report.Whole = false
			r.add(Finding{Place: Place{File: file.Name}, Rule: ruleFile, Message: file.Broken})
			continue
		}
		if err := r.split(ctx, i); err != nil {
			return err
		}
	}
	known := map[document.Digest]*document.Document{}
	var fresh []int
	for i := range r.items {
		if doc := r.known[r.items[i].Segment.Digest]; doc != nil {
			r.items[i].Document, known[doc.Segment] = doc, doc
		} else {
			fresh = append(fresh, i)
		}
	}
	errs, err := r.decode(ctx, fresh)
	if err != nil {
		return err
	}
	for _, i := range fresh {
		doc := r.items[i].Document
		if doc != nil && !doc.Segment.IsZero() && len(doc.Notes) == 0 { // notes contain line numbers
			known[doc.Segment] = doc
		}
	}
	r.Checker.known = known
	r.refuse(ctx, errs)
	for i, file := range r.files {
		if r.skipped[i] {
			r.report.Skipped = append(r.report.Skipped, file.Name)
		} else {
			r.report.Files = append(r.report.Files, file.Name)
		}
	}
	return nil
}

// split splits a file into segments, one per document.
func (r *run) split(ctx context.Context, i int) error {
	file := r.files[i]
	segments, err := segmentsOf(ctx, file, r.limits)
	switch {
	case isOfFile(err):
		r.report.Whole = false
		refusal := refusalOf(err)
		refusal.File = file.Name
		r.add(refusal)
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", file.Name, err)
	case len(segments) == 0:
		r.skipped[i] = true
	}
	r.owners[i] = ownersOf(segments)
	for j := range segments {
		r.items = append(r.items, changes.Item{Segment: &segments[j], Bucket: r.bucket(file.Name)})
		r.of = append(r.of, i)
	}
	return nil
}

// segmentsOf returns the documents of a file, undecoded.
func segmentsOf(ctx context.Context, file File, limits document.Limits) ([]document.Segment, error) {
	media := MediaOf(file.Name)
	segments, err := document.Split(ctx, file.Text, media, limits)
	if err == nil && media == document.YAML {
		segments, err = document.Listed(ctx, file.Text, segments, limits)
	}
	return segments, err
}

// decode decodes items. It returns their errors by index.
func (r *run) decode(ctx context.Context, fresh []int) (map[int]error, error) {
	const atOnce = 1000
	errs := map[int]error{}
	for done := 0; done < len(fresh); done += atOnce {
		if r.options.Progress != nil {
			r.options.Progress(done, len(fresh))
		}
		some := fresh[done:min(done+atOnce, len(fresh))]
		items := make([]changes.Item, len(some))
		for i, at := range some {
			items[i] = r.items[at]
		}
		decoded, faults, err := r.service.Decode(ctx, items)
		if err != nil {
			return nil, err
		}
		for i, at := range some {
			if r.items[at] = decoded[i]; faults[i] != nil {
				r.items[at].Document, errs[at] = nil, faults[i]
			}
		}
	}
	return errs, nil
}

// refuse removes the items that are not valid documents, and reports those that are not empty.
func (r *run) refuse(ctx context.Context, errs map[int]error) {
	foreign := r.foreign(ctx, errs)
	maps.Copy(r.skipped, foreign)
	for _, i := range slices.Sorted(maps.Keys(errs)) {
		schemasOnly := r.files[r.of[i]].SchemasOnly
		if foreign[r.of[i]] || isEmpty(errs[i]) || schemasOnly && r.isOther(ctx, i) {
			continue
		}
		r.report.Whole = false
		if schemasOnly {
			r.report.Schemas++
		} else {
			r.report.Documents++
		}
		r.add(r.refusals(ctx, i, errs[i])...)
	}
	r.keep(func(i int) bool {
		return r.items[i].Document != nil &&
			(!r.files[r.of[i]].SchemasOnly || r.items[i].Document.Schema == validations.DataSchemaKind)
	})
	for _, file := range r.of {
		if r.files[file].SchemasOnly {
			r.report.Schemas++
		} else {
			r.report.Documents++
		}
	}
}

// isOther reports whether the text of an item says that it is a document of another kind than a DataSchema.
func (r *run) isOther(ctx context.Context, item int) bool {
	entry, err := document.Decode(ctx, *r.items[item].Segment, r.limits)
	kind, _ := document.Locate(entry.Value, []string{"schema"}).(string)
	return err == nil && kind != "" && kind != validations.DataSchemaKind
}

// keep removes the items for which kept returns false.
func (r *run) keep(kept func(i int) bool) {
	items, of := r.items[:0:0], r.of[:0:0]
	for i := range r.items {
		if kept(i) {
			items, of = append(items, r.items[i]), append(of, r.of[i])
		}
	}
	r.items, r.of = items, of
}

// foreign returns the files without a document: those that have only empty documents or, if they were found, YAML of
// other kinds.
func (r *run) foreign(ctx context.Context, errs map[int]error) map[int]bool {
	foreign := map[int]bool{}
	for i := range errs {
		foreign[r.of[i]] = true
	}
	for i := range r.items {
		if errs[i] == nil {
			delete(foreign, r.of[i])
		} else if foreign[r.of[i]] && !isEmpty(errs[i]) {
			entry, err := document.Decode(ctx, *r.items[i].Segment, r.limits)
			foreign[r.of[i]] = r.files[r.of[i]].Found && err == nil && IsForeign(entry.Value)
		}
	}
	maps.DeleteFunc(foreign, func(_ int, is bool) bool { return !is })
	return foreign
}

// isEmpty reports whether the error of an item is that it is empty, such as after --- at the end of a file. purser push
// leaves such items out.
func isEmpty(err error) bool {
	not, ok := errors.AsType[*changes.NotDocument](err)
	return ok && not.IsEmpty()
}

// IsForeign reports whether a value was not meant as a document: it has no schema, and no metadata except that of
// Kubernetes.
func IsForeign(value any) bool {
	root, _ := value.(document.Mapping)
	_, hasSchema := root.Lookup("schema")
	_, hasMetadata := root.Lookup("metadata")
	_, hasVersion := root.Lookup("apiVersion")
	return !hasSchema && (!hasMetadata || hasVersion)
}

// separate reports and removes documents that collide with others.
func (r *run) separate() {
	out := map[int]bool{}
	for _, collision := range changes.Collisions(r.items) {
		i, with := collision.Item, collision.With
		out[i] = true
		if r.files[r.of[i]].SchemasOnly && !r.files[r.of[with]].SchemasOnly {
			continue // the one in the paths takes precedence
		}
		f := Finding{
			Place: r.place(r.of[i], r.beginning(i)), Rule: ruleSecondPolicy, Message: collision.Fault.Error(),
			Document: r.items[i].Document.Identity, Bucket: r.items[i].Bucket,
		}
		other := r.place(r.of[with], r.beginning(with))
		if r.items[i].Document.Identity == r.items[with].Document.Identity {
			f.Rule = ruleDuplicate
			f.Message = fmt.Sprintf("Document %s appears twice: it is in %s too", f.Document, other.File)
		}
		f.Advice = adviceOf(f.Rule)
		f.Chain = []Step{{other, "the other one"}}
		r.add(f)
	}
	if len(out) > 0 {
		r.keep(func(i int) bool { return !out[i] })
	}
}

// judge judges the documents together as one revision. It returns them in the order of the items.
func (r *run) judge(ctx context.Context) ([]*revisions.Stored, error) {
	if len(r.items) == 0 {
		return nil, nil
	}
	draft, err := r.service.CheckOffline(ctx, r.items, r.report.Whole, viewer())
	if err != nil {
		return nil, err
	}
	if err := r.describe(ctx, draft); err != nil {
		return nil, err
	}
	for _, policy := range draft.Policies {
		for _, required := range policy.Requirements {
			needed := Needed{required.Name, policy.Identity, required.Approvals, required.Advisory}
			switch {
			case required.Inapplicable && r.report.Whole: // else a document that could not be read may match
				r.report.Inapplicable = append(r.report.Inapplicable, needed)
			case !validations.IsOwn(required.Name):
				r.report.Needed = append(r.report.Needed, needed)
			}
		}
	}
	if draft.Rendered != nil {
		r.report.Rendered = changes.Redacted(draft.Rendered.Documents)
	}
	return draft.Documents, nil
}
