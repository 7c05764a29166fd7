package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"purser/internal/check"
	"purser/internal/document"
	"purser/internal/words"
)

// source is a document that was read from a file.
type source struct {
	document.Entry

	file string
}

// file is a file that was read.
type file struct {
	document.File

	name string // as the user knows it
}

// contents are files and the documents in them, with the files that were left out.
type contents struct {
	files    []file
	sources  []source
	excluded []string // files and folders that .purser.yaml excludes
	skipped  []string // files in folders without documents, such as the values of a chart
	empty    []string // the buckets of a change set without documents
}

// limits bound the cost of a wrong path. They are above those of any server, which reports when its own are exceeded.
func limits() document.Limits {
	const much = 1 << 30
	return document.Limits{Body: much, Documents: much, Size: much, Depth: 10_000, Values: much}
}

// Invalid is the error of a text that is not a stream of documents. It names the file, the line and the mistake.
type Invalid string

// Error implements error.
func (i Invalid) Error() string { return string(i) }

// Parsable returns an Invalid error, which names where a YAML text is from, unless it can be parsed.
func Parsable(ctx context.Context, from string, text []byte) error {
	if _, err := document.ParseOne(ctx, text, document.YAML, limits()); err != nil {
		return Invalid(from + ": " + strings.TrimPrefix(document.Details(err), "document 1, "))
	}
	return nil
}

// Read reads the documents of files, of the files in folders, and of standard input for "-".
func Read(ctx context.Context, paths []string, stdin io.Reader) (*Body, error) {
	config, err := check.FindConfig(ctx, paths)
	if err != nil {
		return nil, err
	}
	read, err := readAll(ctx, &check.Reader{Stdin: stdin, Exclude: config.Exclude}, paths, "")
	if err != nil {
		return nil, err
	}
	return bodyOf(read), nil
}

// readAll reads the files of paths for a bucket, "" if the request names it.
func readAll(ctx context.Context, reader *check.Reader, paths []string, bucket string) (read contents, err error) {
	files, excluded, err := reader.Read(paths, false)
	if err != nil {
		return read, err
	}
	read.excluded = excluded
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].Name
	}
	in := pathsIn(paths, names)
	for _, from := range files {
		path := in[from.Name]
		if from.Name == "-" {
			from.Name, path = "standard input", ""
		}
		if from.Broken != "" {
			return read, fmt.Errorf("%s: %s", from.Name, from.Broken)
		}
		found, err := parseSources(ctx, from.Name, from.Text)
		if err != nil {
			return read, Invalid(from.Name + ": " + document.Details(err))
		}
		if from.Found && !slices.ContainsFunc(found, func(s source) bool { return !check.IsForeign(s.Value) }) {
			read.skipped = append(read.skipped, from.Name)
			continue
		}
		if len(found) == 0 {
			continue
		}
		read.sources = append(read.sources, found...)
		read.files = append(read.files, file{name: from.Name, File: document.File{
			Path: path, Bucket: bucket, JSON: check.MediaOf(from.Name) == document.JSON, Text: from.Text,
		}})
	}
	return read, nil
}

// parseSources returns the documents of a file as a server reads them from the body.
func parseSources(ctx context.Context, name string, text []byte) ([]source, error) {
	file := document.File{JSON: check.MediaOf(name) == document.JSON, Text: text}
	segments, err := document.SplitFile(ctx, file, limits())
	if err != nil {
		return nil, err
	}
	var sources []source
	for _, segment := range segments {
		entry, err := document.Decode(ctx, segment, limits())
		if err != nil {
			return nil, err
		}
		if entry.Value != nil { // nil if it is empty in an unusual way
			sources = append(sources, source{entry, name})
		}
	}
	return sources, nil
}

// Listed lists the first names of files.
func Listed(names []string) string {
	const most = 5
	list := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		list += ", …"
	}
	return words.Line(list)
}

// notices say which files were left out, and which keys appear twice in one mapping, which servers accept. They name no
// keys of encrypted documents.
func (r contents) notices() (notices []string) {
	if len(r.excluded) > 0 {
		notices = append(notices, "excluded by "+check.ConfigName+": "+Listed(r.excluded))
	}
	if len(r.skipped) > 0 {
		notices = append(notices, "skipped, because nothing there has a schema: "+Listed(r.skipped))
	}
	for _, s := range r.sources {
		notes := s.Notes
		if document.Locate(s.Value, []string{"metadata", "storagePolicy"}) == "encrypted" {
			notes = document.Unnamed(notes)
		}
		for _, note := range notes {
			notices = append(notices, "warning: "+s.file+": "+note.Message)
		}
	}
	return notices
}

// ReadChangeSet reads the documents of a folder in which each subfolder is a bucket.
func ReadChangeSet(ctx context.Context, dir string) (*Body, error) {
	read, err := readBuckets(ctx, dir)
	if err != nil {
		return nil, err
	}
	return bodyOf(read), nil
}

// leadsToFolder reports whether a path is a folder or a link to one.
func leadsToFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func readBuckets(ctx context.Context, dir string) (read contents, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return read, fmt.Errorf("read the change set: %w", check.AboutPath(dir, err))
	}
	config, err := check.FindConfig(ctx, []string{dir})
	if err != nil {
		return read, err
	}
	reader := &check.Reader{Exclude: config.Exclude}
	buckets := 0
	for _, entry := range entries {
		at := filepath.Join(dir, entry.Name())
		isFolder := leadsToFolder(at)
		switch {
		case strings.HasPrefix(entry.Name(), "."):
			continue
		case reader.Excludes(entry.Name()):
			if isFolder || check.IsDocumentFile(at) {
				read.excluded = append(read.excluded, at)
			}
			continue
		case !isFolder && check.IsDocumentFile(at):
			return read, fmt.Errorf("%s is in no folder of %s: each folder there is a bucket, and a document must be in one",
				at, dir)
		case !isFolder:
			continue
		}
		bucket, err := bucketOf(entry.Name())
		if err != nil {
			return read, fmt.Errorf("%s: %w", at, err)
		}
		reader.Below = entry.Name()
		found, err := readAll(ctx, reader, []string{at}, bucket)
		if err != nil {
			return read, err
		}
		if buckets++; len(found.sources) == 0 {
			read.empty = append(read.empty, bucket)
		}
		read.files = append(read.files, found.files...)
		read.sources = append(read.sources, found.sources...)
		read.excluded = append(read.excluded, found.excluded...)
		read.skipped = append(read.skipped, found.skipped...)
	}
	if buckets == 0 {
		return read, errors.New(dir + " has no folders: each folder of a change set is a bucket of the folder's name")
	}
	return read, nil
}
