package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"purser/internal/words"

	"purser/internal/budget"
	"purser/internal/check"
	"purser/internal/document"
)

// source is a document that was read from a file.
type source struct {
	document.Entry

	file    string
	segment document.Segment
	bucket  string // "" unless the document belongs to a change set
}

// contents holds what was read from files and folders.
type contents struct {
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

// readSources reads the documents of files, of the files in folders, and of standard input for "-". It reads the same
// files as purser check.
func readSources(ctx context.Context, paths []string, stdin io.Reader) (contents, error) {
	config, err := check.FindConfig(ctx, paths)
	if err != nil {
		return contents{}, err
	}
	return readAll(ctx, &check.Reader{Stdin: stdin, Exclude: config.Exclude}, paths)
}

func readAll(ctx context.Context, reader *check.Reader, paths []string) (read contents, err error) {
	files, excluded, err := reader.Read(paths, false)
	if err != nil {
		return read, err
	}
	read.excluded = excluded
	for _, file := range files {
		if file.Name == "-" {
			file.Name = "standard input"
		}
		if file.Broken != "" {
			return read, fmt.Errorf("%s: %s", file.Name, file.Broken)
		}
		found, err := parseSources(ctx, file.Name, bytes.TrimPrefix(file.Text, []byte("\xef\xbb\xbf")))
		if err != nil {
			return read, no(file.Name + ": " + document.Details(err))
		}
		if file.Found && !slices.ContainsFunc(found, func(s source) bool { return !check.IsForeign(s.Value) }) {
			read.skipped = append(read.skipped, file.Name)
			continue
		}
		read.sources = append(read.sources, found...)
	}
	return read, nil
}

// note says which files are not pushed, and why.
func (r contents) note(stderr io.Writer) {
	const most = 5
	note := func(why string, names []string) {
		if len(names) == 0 {
			return
		}
		list := strings.Join(names[:min(most, len(names))], ", ")
		if len(names) > most {
			list += ", …"
		}
		fmt.Fprintln(stderr, words.Line("purser: "+why+": "+list))
	}
	note("excluded by "+check.ConfigName, r.excluded)
	note("skipped, because nothing there has a schema", r.skipped)
}

func parseSources(ctx context.Context, name string, text []byte) ([]source, error) {
	media := document.YAML
	if strings.EqualFold(filepath.Ext(name), ".json") {
		media = document.JSON
	}
	segments, err := document.Split(ctx, text, media, limits())
	if err == nil && media == document.YAML {
		segments, err = document.Listed(ctx, text, segments, limits())
	}
	if err != nil {
		return nil, err
	}
	var sources []source
	for _, segment := range segments {
		entry, err := document.Decode(ctx, segment, limits())
		if err != nil {
			return nil, err
		}
		if entry.Value != nil { // nil if there are only comments
			sources = append(sources, source{Entry: entry, file: name, segment: segment})
		}
	}
	return sources, nil
}

// warnOfTwice warns of keys that appear twice in one mapping, which servers accept. It names none of encrypted
// documents.
func warnOfTwice(stderr io.Writer, sources []source) {
	for _, s := range sources {
		root, _ := s.Value.(document.Mapping)
		metadata, _ := root.At("metadata").(document.Mapping)
		if metadata.At("storagePolicy") == "encrypted" {
			continue
		}
		for _, note := range s.Notes {
			fmt.Fprintf(stderr, "purser: warning: %s\n", words.Printable(s.file+": "+note.Message))
		}
	}
}

// body is the body of a request, a stream of documents, and the sources of its lines.
type body struct {
	text   []byte
	lines  int
	pieces []piece
}

// piece is a document in a body.
type piece struct {
	*source

	from  int  // its first line in the body, which may be a separator that the file does not have
	line  int  // the first line of its text in the body
	exact bool // its lines are the same as in the file
}

// bodyOf returns a body with documents. In a change set, each document names its bucket.
func bodyOf(sources []source) *body {
	b := &body{}
	for i := range sources {
		b.add(&sources[i])
	}
	return b
}

// add adds a document: unchanged if possible, and otherwise as JSON on one line.
func (b *body) add(s *source) {
	text := s.segment.Text
	root, isMapping := s.Value.(document.Mapping)
	_, hasStatus := root.Lookup("status")
	verbatim := !s.segment.Digest.IsZero() // it does not depend on a directive, and is not an item of a list
	if s.bucket != "" {
		verbatim = verbatim && isMapping && !hasStatus && isBlock(text)
	}
	if !verbatim {
		value := s.Value
		if s.bucket != "" && isMapping {
			value = root.With("status", document.Mapping{{Key: "bucket", Value: s.bucket}})
		}
		text = document.AppendJSON(nil, value)
	}
	from := b.lines + 1
	if !bytes.HasPrefix(text, []byte("---")) {
		b.append([]byte("---\n"))
	}
	b.pieces = append(b.pieces, piece{s, from, b.lines + 1, verbatim})
	b.append(text)
	if !bytes.HasSuffix(text, []byte("\n")) {
		b.append([]byte("\n"))
	}
	if s.bucket != "" && verbatim {
		b.append(append(document.AppendJSON([]byte("status: {bucket: "), s.bucket), "}\n"...))
	}
}

func (b *body) append(text []byte) {
	b.text = append(b.text, text...)
	b.lines += bytes.Count(text, []byte("\n"))
}

// block matches a document whose top-level keys begin lines.
var block = regexp.MustCompile(`\A(---[ \t]*(#.*)?\r?\n)?([ \t]*(#.*)?\r?\n)*[A-Za-z"']`)

func isBlock(text []byte) bool { return block.Match(text) }

// at returns the document at a line of the body, nil if there is none.
func (b *body) at(line int) *piece {
	i, _ := slices.BinarySearchFunc(b.pieces, line, func(p piece, line int) int {
		if p.from <= line {
			return -1
		}
		return 1
	})
	if i == 0 {
		return nil
	}
	return &b.pieces[i-1]
}

// place returns the place in the file of a line of the body: FILE:LINE, with the column if it is known.
func (p *piece) place(line, column int) string {
	if !p.exact {
		return fmt.Sprintf("%s:%d", p.file, p.segment.Line)
	}
	place := fmt.Sprintf("%s:%d", p.file, p.segment.Line+max(line-p.line, 0))
	if column > 0 {
		place += ":" + strconv.Itoa(column)
	}
	return place
}

// bodyLine matches a line number in a message of the server.
var bodyLine = regexp.MustCompile(`\bline (\d+)(?:,? column (\d+))?`)

// located replaces lines of the body in a message of the server by lines of files.
func (b *body) located(message string) string {
	return bodyLine.ReplaceAllStringFunc(message, func(match string) string {
		parts := bodyLine.FindStringSubmatch(match)
		line, _ := strconv.Atoi(parts[1])
		column, _ := strconv.Atoi(parts[2])
		if p := b.at(line); p != nil {
			return p.place(line, column)
		}
		return match
	})
}

// positionOf returns the position of a value in its file: FILE:LINE:COLUMN.
func (s *source) positionOf(ctx context.Context, path string) string {
	at, err := document.Positions(budget.NewMeter(ctx), s.segment, [][]string{document.SplitPath(path)})
	if err != nil || len(at) == 0 || at[0].Line == 0 {
		return fmt.Sprintf("%s:%d", s.file, s.segment.Line)
	}
	return fmt.Sprintf("%s:%d:%d", s.file, at[0].Line, at[0].Column)
}

// changeSet reads the documents of a folder in which each subfolder is a bucket.
func changeSet(ctx context.Context, dir string) (read contents, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return read, fmt.Errorf("read the change set: %w", err)
	}
	config, err := check.FindConfig(ctx, []string{dir})
	if err != nil {
		return read, err
	}
	reader := &check.Reader{Exclude: config.Exclude}
	buckets := 0
	for _, entry := range entries {
		at := filepath.Join(dir, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), "."):
			continue
		case reader.Excludes(entry.Name()):
			if entry.IsDir() || check.IsDocumentFile(at) {
				read.excluded = append(read.excluded, at)
			}
			continue
		case !entry.IsDir() && check.IsDocumentFile(at):
			return read, fmt.Errorf("%s is in no folder of %s: each folder there is a bucket, and a document must be in one",
				at, dir)
		case !entry.IsDir():
			continue
		}
		bucket, err := bucketOf(entry.Name())
		if err != nil {
			return read, fmt.Errorf("%s: %w", at, err)
		}
		reader.Below = entry.Name()
		found, err := readAll(ctx, reader, []string{at})
		if err != nil {
			return read, err
		}
		if buckets++; len(found.sources) == 0 {
			read.empty = append(read.empty, bucket)
		}
		for _, s := range found.sources {
			s.bucket = bucket
			read.sources = append(read.sources, s)
		}
		read.excluded = append(read.excluded, found.excluded...)
		read.skipped = append(read.skipped, found.skipped...)
	}
	if buckets == 0 {
		return read, errors.New(dir + " has no folders: each folder of a change set is a bucket of the folder's name")
	}
	return read, nil
}
