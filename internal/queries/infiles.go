package queries

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/revisions"
)

// maxTraced is the number of documents with findings whose inherited values are looked for in other documents.
const maxTraced = 20

// maxParsed bounds the texts, in bytes, in which values of findings are looked for.
const maxParsed = 4 << 20

// InFiles returns findings about a revision with their places in the files that the documents were pushed from: of the
// value that a finding is about, of the substitution that has written it, or of the value in the parent that it is
// inherited from. Where the viewer may not see the text, or it has several documents, and behind the first 4 MiB of
// texts, the place is where the document or its text begins.
func (v View) InFiles(ctx context.Context, found FindingList) (FindingList, error) {
	of := map[document.Identity][]*Finding{}
	found.Findings = slices.Clone(found.Findings)
	for i := range found.Findings {
		f := &found.Findings[i]
		of[f.Document] = append(of[f.Document], f)
	}
	delete(of, document.Identity{})
	files, err := v.filesOf(ctx, found.ID, maps.Keys(of))
	if err != nil || len(files) == 0 {
		return found, err
	}
	inherited := map[document.Identity][]*Finding{}
	for id, file := range files {
		paths := make([][]string, len(of[id]))
		for i, f := range of[id] {
			var own bool
			if paths[i], own = file.writes(f.Place()); !own && (len(inherited) < maxTraced || inherited[id] != nil) {
				inherited[id] = append(inherited[id], f)
			}
		}
		for i, at := range file.positions(ctx, paths) {
			of[id][i].File, of[id][i].At = file.Path, at
		}
	}
	return found, v.traced(ctx, found.ID, inherited)
}

// writtenFile is a document in the file that it was pushed from.
type writtenFile struct {
	revisions.Origin

	segment *document.Segment // nil if it is not known
	value   any               // nil unless the segment has only this document
}

// positions returns the positions in the file of the values at paths, or else where the document begins.
func (f writtenFile) positions(ctx context.Context, paths [][]string) []document.Position {
	begins := document.Position{Line: f.Line}
	if f.segment != nil {
		begins.Line = f.segment.Line
	}
	var found []document.Position
	if f.value != nil {
		found, _ = document.Positions(budget.NewMeter(ctx), *f.segment, paths) // without them if it is too much work
	}
	positions := make([]document.Position, len(paths))
	for i := range positions {
		if positions[i] = begins; len(found) > 0 && found[i].Line > 0 {
			positions[i] = found[i]
		}
	}
	return positions
}

// filesOf returns where documents of a revision are in files, of those for which that is known.
func (v View) filesOf(ctx context.Context, revision int64, documents iter.Seq[document.Identity]) (
	map[document.Identity]writtenFile, error,
) {
	of := slices.SortedFunc(documents, compareIdentities)
	origins, err := v.store.OriginsNamed(ctx, revision, of)
	if err != nil {
		return nil, fmt.Errorf("find the files of documents: %w", err)
	}
	files, having, order := map[document.Identity]writtenFile{}, map[int64][]document.Identity{}, []int64{}
	for _, id := range of {
		if origin := origins[id]; origin.Path != "" {
			files[id] = writtenFile{Origin: origin}
			if having[origin.Text] == nil {
				order = append(order, origin.Text)
			}
			having[origin.Text] = append(having[origin.Text], id)
		}
	}
	for left := maxParsed; len(order) > 0 && left > 0; {
		next := order[:min(len(order), revisions.MaxTextsOfBlock)]
		order = order[len(next):]
		texts, held, err := v.texts(ctx, next, v.viewer.Secrets())
		if err != nil {
			return nil, err
		}
		for _, number := range next {
			text := texts[number]
			if left -= len(text.Body); text.Body != nil && left > 0 {
				read(ctx, files, having[number], text)
			}
		}
		budget.NewMeter(ctx).Release(held) // what is kept of it is bounded
	}
	return files, nil
}

// read finds documents in a text that they have.
func read(ctx context.Context, files map[document.Identity]writtenFile, of []document.Identity, text revisions.Text) {
	limits, at := document.DefaultLimits(), files[of[0]]
	file := document.File{Path: at.Path, Line: at.Line, JSON: text.JSON, Text: text.Body}
	segments, err := document.SplitFile(ctx, file, limits)
	if err != nil {
		return
	}
	for i := range segments {
		entry, err := document.Decode(ctx, segments[i], limits)
		if err != nil {
			return
		}
		doc, err := document.New(entry)
		if err != nil {
			return
		}
		if file, wanted := files[doc.Identity]; wanted && file.Text == at.Text {
			if file.segment = &segments[i]; len(segments) == 1 { // finding values in others would parse all of it each time
				file.value = entry.Value
			}
			files[doc.Identity] = file
		}
	}
}

// writes returns the path of what writes the value at a path of the rendered document: that of a substitution into it,
// or its own. own is false for a value in the data that the document does not have itself.
func (f writtenFile) writes(path []string) (at []string, own bool) {
	if f.value == nil || len(path) == 0 || path[0] != "data" {
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
	for i := range slices.Backward(substitutions) {
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
	from := map[*Finding]valueOrigin{}
	key := changes.RenderKey{Site: v.renderer.Site, Revision: revision, Stamp: stamp}
	for id, findings := range inherited {
		leaves := v.leavesOf(ctx, key, id)
		for _, f := range findings {
			if origin, known := leaves[strings.Join(f.Place()[1:], ".")]; known {
				from[f] = origin
			}
		}
	}
	of := map[document.Identity]bool{}
	for _, origin := range from {
		of[origin.Identity] = true
	}
	files, err := v.filesOf(ctx, revision, maps.Keys(of))
	if err != nil {
		return err
	}
	for f, origin := range from {
		if file, known := files[origin.Identity]; known {
			f.File, f.At = file.Path, file.positions(ctx, [][]string{origin.path})[0]
		}
	}
	return nil
}

// valueOrigin is where a value was written.
type valueOrigin struct {
	document.Identity

	path []string
}

// leavesOf returns where the values of a rendered document were written, by their paths; nil if the document cannot be
// rendered from a few others.
func (v View) leavesOf(ctx context.Context, key changes.RenderKey, id document.Identity) map[string]valueOrigin {
	selected, whole, err := v.readFew(ctx, key, Selection{
		Schemas: []string{id.Schema}, Names: []string{id.Name}, Page: Page{Limit: maxSelected},
	})
	if err != nil || !whole {
		return nil
	}
	all, whole, err := v.lineage(ctx, key, selected)
	if err != nil || !whole {
		return nil
	}
	explained, err := v.renderer.Explain(ctx, all, id, ".")
	if err != nil {
		return nil
	}
	leaves := map[string]valueOrigin{}
	for _, leaf := range explained.Leaves {
		if leaf.Path != "" {
			at := append([]string{"data"}, document.SplitPath(leaf.Path)...)
			leaves[strings.Join(document.SplitPath(leaf.At), ".")] = valueOrigin{all[leaf.Document].Identity, at}
		}
	}
	return leaves
}
