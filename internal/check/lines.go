package check

import (
	"bytes"
	"context"
	"sort"
	"unicode/utf8"

	"purser/internal/document"
	"purser/internal/validations"
)

// owner is a document and the lines of its file that have a part of it.
type owner struct {
	segment     document.Segment
	first, last int
	open        *bool // whether its lines may be shown; nil if that is not known yet
}

// ownersOf returns the owners of the lines of a file, in order. Lines with parts of two documents have both as owners.
func ownersOf(segments []document.Segment) []owner {
	owners := make([]owner, len(segments))
	for i, s := range segments {
		last := s.Line + bytes.Count(bytes.TrimSuffix(s.Text, []byte("\n")), []byte("\n"))
		if i+1 < len(segments) {
			last = min(last, segments[i+1].Line) // the text may hold both documents
		}
		owners[i] = owner{segment: s, first: s.Line, last: last}
	}
	return owners
}

// line returns a line of a file for the report, which has no others. It returns "" if there is no such line, it is too
// long, or it may not be shown.
func (r *run) line(ctx context.Context, file, line int) string {
	const longest = 400 // bytes
	text := r.raw(file, line)
	if len(text) > longest || !utf8.Valid(text) || !r.mayShow(ctx, file, line) {
		return ""
	}
	return string(text)
}

// mayShow reports whether a line of a file belongs to documents, and all of them may be shown.
func (r *run) mayShow(ctx context.Context, file, line int) bool {
	owners := r.owners[file]
	after := sort.Search(len(owners), func(i int) bool { return owners[i].first > line })
	shown := false
	for i := after - 1; i >= 0 && owners[i].last >= line; i-- {
		if owners[i].open == nil {
			owners[i].open = new(isOpen(ctx, owners[i].segment, r.limits))
		}
		if shown = *owners[i].open; !shown {
			return false
		}
	}
	return shown
}

// isOpen reports whether lines of a document may be shown: it can be read, metadata.storagePolicy does not say that it
// is encrypted, whatever its data is, and it has no values under keys that do not belong to it.
func isOpen(ctx context.Context, s document.Segment, limits document.Limits) bool {
	entry, err := document.Decode(ctx, s, limits)
	root, _ := entry.Value.(document.Mapping)
	metadata, _ := root.At("metadata").(document.Mapping)
	policy, said := metadata.Lookup("storagePolicy")
	switch {
	case err != nil || root == nil || validations.StrayPath(root) != nil:
		return false
	case said && policy != "cleartext":
		return false
	case said && entry.Twice == nil && len(entry.Notes) == 0:
		return true
	}
	return !bytes.Contains(s.Text, []byte("encrypt")) // it may be said in another place, or twice
}

// raw returns a line of a file without its end, nil if there is none.
func (r *run) raw(file, line int) []byte {
	text, starts := r.files[file].Text, r.lines[file]
	if starts == nil {
		starts = append(starts, 0)
		for at := 0; ; {
			i := bytes.IndexByte(text[at:], '\n')
			if i < 0 {
				break
			}
			at += i + 1
			starts = append(starts, at)
		}
		r.lines[file] = starts
	}
	if line < 1 || line > len(starts) {
		return nil
	}
	rest := text[starts[line-1]:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return bytes.TrimPrefix(bytes.TrimRight(rest, "\r"), []byte("\ufeff"))
}
