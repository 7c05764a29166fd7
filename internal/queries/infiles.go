package queries

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// maxTraced is the number of documents with findings whose inherited values are looked for in other documents.
const maxTraced = 20

// InFiles returns findings about a revision with their places in the files that the documents were pushed from: of the
// value that a finding is about, of the substitution that has written it, or of the value in the parent that it is
// inherited from. Where this takes too much work, or the viewer may not see a text, the place is where the text of the
// document begins.
func (v View) InFiles(ctx context.Context, found FindingList) (FindingList, error) {
	of := map[document.Identity]bool{}
	for _, f := range found.Findings {
		of[f.Document] = true
	}
	delete(of, document.Identity{})
	files, err := v.filesOf(ctx, found.ID, of)
	if err != nil || len(files) == 0 {
		return found, err
	}
	found.Findings = slices.Clone(found.Findings)
	inherited := map[document.Identity][]*Finding{}
	meter := budget.NewMeter(ctx)
	for i := range found.Findings {
		f := &found.Findings[i]
		file, known := files[f.Document]
		if !known {
			continue
		}
		f.File, f.At = file.Path, document.Position{Line: file.Line}
		if file.segment == nil {
			continue
		}
		path, own := file.writes(f.Place())
		if at, err := document.Positions(meter, *file.segment, [][]string{path}); err == nil && at[0].Line > 0 {
			f.At = at[0]
		}
		if !own && (len(inherited) < maxTraced || inherited[f.Document] != nil) {
			inherited[f.Document] = append(inherited[f.Document], f)
		}
	}
	return found, v.traced(ctx, found.ID, inherited)
}

// writtenFile is a document in the file that it was pushed from.
type writtenFile struct {
	revisions.Origin

	segment *document.Segment // nil if it is not known
	value   any
}

// filesOf returns where documents of a revision are in files, of those for which that is known.
func (v View) filesOf(ctx context.Context, revision int64, of map[document.Identity]bool) (
	map[document.Identity]writtenFile, error,
) {
	origins, err := v.store.OriginsNamed(ctx, revision, slices.Collect(maps.Keys(of)))
	if err != nil {
		return nil, fmt.Errorf("find the files of documents: %w", err)
	}
	files, numbers := map[document.Identity]writtenFile{}, []int64{}
	for id, origin := range origins {
		if origin.Path != "" {
			files[id] = writtenFile{Origin: origin}
			numbers = append(numbers, origin.Text)
		}
	}
	texts, _, err := v.texts(ctx, numbers, v.viewer.Secrets()) // they are in memory until the answer is made
	if fault.KindOf(err) == fault.TooLarge {
		return files, nil
	}
	if err != nil {
		return nil, err
	}
	for id, file := range files {
		if text := texts[file.Text]; text.Body != nil {
			files[id] = file.read(ctx, id, text)
		}
	}
	return files, nil
}

// read returns the file with the segment and the value of a document, if it can be read.
func (f writtenFile) read(ctx context.Context, id document.Identity, text revisions.Text) writtenFile {
	limits := document.DefaultLimits()
	file := document.File{Path: f.Path, Line: f.Line, JSON: text.JSON, Text: text.Body}
	segments, err := document.SplitFile(ctx, file, limits)
	if err != nil {
		return f
	}
	for i := range segments {
		entry, err := document.Decode(ctx, segments[i], limits)
		if err != nil {
			continue
		}
		if doc, err := document.New(entry); err == nil && doc.Identity == id {
			f.segment, f.value = &segments[i], entry.Value
		}
	}
	return f
}

// writes returns the path of what writes the value at a path of the rendered document: that of a substitution into it,
// or its own. own is false for a value in the data that the document does not have itself.
func (f writtenFile) writes(path []string) (at []string, own bool) {
	if len(path) == 0 || path[0] != "data" {
		return path, true
	}
	if at = substitutionInto(f.value, path); at != nil {
		return at, true
	}
	return path, document.Locate(f.value, path) != nil ||
		document.Locate(f.value, []string{"metadata", "layeringDefinition", "parentSelector"}) == nil
}

// substitutionInto returns the path of the last substitution of a document into the value at a path, or into one that
// has it; nil if there is none.
func substitutionInto(value any, path []string) []string {
	if len(path) == 0 || path[0] != "data" {
		return nil
	}
	list := []string{"metadata", "substitutions"}
	substitutions, _ := document.Locate(value, list).([]any)
	for i := len(substitutions) - 1; i >= 0; i-- {
		of := append(slices.Clone(list), strconv.Itoa(i), "dest")
		dests, several := document.Locate(value, of).([]any)
		if !several {
			dests = []any{document.Locate(value, of)}
		}
		for j, dest := range dests {
			to, _ := document.Locate(dest, []string{"path"}).(string)
			parts := document.SplitPath(to)
			if to == "" || len(parts) > len(path)-1 || !slices.Equal(parts, path[1:1+len(parts)]) {
				continue
			}
			if several {
				of = append(of, strconv.Itoa(j))
			}
			return append(of, "path")
		}
	}
	return nil
}

// traced sets the places of findings about values that documents inherit, by document: those of the values in the
// documents that have written them. It leaves out what takes too much work, and what depends on secrets that the viewer
// is not shown.
func (v View) traced(ctx context.Context, revision int64, inherited map[document.Identity][]*Finding) error {
	if len(inherited) == 0 || !v.viewer.Secrets() {
		return nil
	}
	stamp, err := v.Stamp(ctx, revision)
	if err != nil {
		return err
	}
	type origin struct {
		document.Identity
		path []string
	}
	from := map[*Finding]origin{}
	key := changes.RenderKey{Revision: revision, Stamp: stamp}
	for id, findings := range inherited {
		selected, whole, err := v.readFew(ctx, key, Selection{
			Schemas: []string{id.Schema}, Names: []string{id.Name}, Page: Page{Limit: maxSelected},
		})
		if err != nil || !whole {
			continue
		}
		all, whole, err := v.lineage(ctx, key, selected)
		if err != nil || !whole {
			continue
		}
		explained, err := v.renderer.Explain(ctx, all, id, ".")
		if err != nil {
			continue // a site that cannot be rendered, or too much work
		}
		for _, f := range findings {
			path := f.Place()
			for _, leaf := range explained.Leaves {
				if slices.Equal(document.SplitPath(leaf.At), path[1:]) && leaf.Path != "" {
					from[f] = origin{all[leaf.Document].Identity, append([]string{"data"}, document.SplitPath(leaf.Path)...)}
				}
			}
		}
	}
	of := map[document.Identity]bool{}
	for _, origin := range from {
		of[origin.Identity] = true
	}
	files, err := v.filesOf(ctx, revision, of)
	if err != nil {
		return err
	}
	for f, origin := range from {
		file := files[origin.Identity]
		if file.segment == nil {
			continue
		}
		at, err := document.Positions(budget.NewMeter(ctx), *file.segment, [][]string{origin.path})
		if err == nil && at[0].Line > 0 {
			f.File, f.At = file.Path, at[0]
		}
	}
	return nil
}
