package document

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"purser/internal/fault"
)

// A body may consist of files as they are. Before each file is a line with its File as JSON, which other readers of
// YAML take as the beginning of a document with a comment:
//
//	--- # purser: {"file":"site/racks.yaml","bytes":61}
//
// The bytes of the file follow, and a line feed if they do not end with one.

// File is one file of a body, or a part of one.
type File struct {
	Path   string `json:"file,omitempty"`   // with slashes, relative to what was pushed; "" if it is not known
	Bucket string `json:"bucket,omitempty"` // for its documents; "" if the request, or each document, names the bucket
	Line   int    `json:"line,omitempty"`   // of its first byte in the file; 0 for 1
	Bytes  int    `json:"bytes"`
	JSON   bool   `json:"json,omitempty"` // it is JSON, not YAML
	// Why says why a document is in its canonical form; "" if it is as it was submitted.
	Why string `json:"canonical,omitempty"`

	Text []byte `json:"-"`
}

// fileMark begins the line before a file.
const fileMark = "--- # purser: {"

// AppendFile appends a file with the line before it. Its Bytes are those of its Text.
func AppendFile(body []byte, f File) []byte {
	f.Bytes = len(f.Text)
	mark, _ := json.Marshal(f) //nolint:errchkjson // it has only texts, numbers and a truth value
	body = append(append(append(body, fileMark[:len(fileMark)-1]...), mark...), '\n')
	body = append(body, f.Text...)
	if !bytes.HasSuffix(f.Text, []byte("\n")) {
		body = append(body, '\n')
	}
	return body
}

// Files returns the files of a body, with the lines of the body at which their texts begin; nil for a body that does
// not begin with one. It stops after limit files. Fault: Invalid.
func Files(body []byte, limit int) (files []File, lines []int, err error) {
	for line := 1; bytes.HasPrefix(body, []byte(fileMark)) && len(files) < limit; {
		mark, rest, _ := bytes.Cut(body, []byte("\n"))
		var f File
		if err := json.Unmarshal(mark[len(fileMark)-1:], &f); err != nil {
			return nil, nil, wrongMark(line, "is not valid JSON")
		}
		switch {
		case f.Bytes < 0, f.Bytes > len(rest):
			return nil, nil, wrongMark(line, "has more bytes than follow")
		case f.Line < 0, f.Line > maxLine:
			return nil, nil, wrongMark(line, "has a line that no file has")
		}
		if err := CheckPath(f.Path); f.Path != "" && err != nil {
			return nil, nil, wrongMark(line, err.Error())
		}
		f.Text, rest = rest[:f.Bytes:f.Bytes], rest[f.Bytes:]
		files, lines = append(files, f), append(lines, line+1)
		if !bytes.HasSuffix(f.Text, []byte("\n")) {
			rest = bytes.TrimPrefix(rest, []byte("\n"))
			line++
		}
		line += 1 + bytes.Count(f.Text, []byte("\n"))
		if body = rest; len(body) > 0 && !bytes.HasPrefix(body, []byte(fileMark)) {
			return nil, nil, wrongMark(line, "must begin here with "+fileMark+": the file before it has fewer bytes")
		}
	}
	return files, lines, nil
}

func wrongMark(line int, wrong string) error {
	return malformed(YAML, Mistake{At: Position{Line: line}, Rule: "the comment before a file " + wrong +
		"; send files with `purser push`, or without such comments"})
}

// maxLine bounds the lines of files.
const maxLine = 1 << 30

// maxPath is the maximum length of the path of a file, in characters.
const maxPath = 500

var errPath = errors.New("has a path that is not relative, with single slashes, without . and .., of at most " +
	"500 characters that can be printed")

// CheckPath returns an error unless a path may be that of a file of a body.
func CheckPath(path string) error {
	if !utf8.ValidString(path) || utf8.RuneCountInString(path) > maxPath ||
		strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' }) {
		return errPath
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." {
			return errPath
		}
	}
	return nil
}

// Source is a text as it was submitted: that of one document with the comments before it, after the last one also those
// that follow, or a whole file if its documents cannot be read one by one. The sources of a file make up the file.
type Source struct {
	Text      []byte
	Path      string // of the file; "" if it is not known
	Line      int    // of the text in the file; of no use if the path is not known
	JSON      bool
	Documents int // how many documents it has
}

// SplitBody splits a body, which may consist of files, into the segments of its documents with their sources. If listed
// is set, a list of documents counts as its items. The digest of a segment is that of its source. Faults: those of
// Split; Invalid for files with wrong comments before them.
func SplitBody(ctx context.Context, body []byte, media Media, limits Limits, listed bool) ([]Segment, error) {
	files, lines, err := Files(body, limits.Documents+1)
	marked := media == YAML && len(files) > 0
	switch {
	case media != YAML || err == nil && len(files) == 0:
		files, lines = []File{{Text: body, JSON: media == JSON}}, []int{1}
	case err != nil:
		return nil, err
	case len(files) > limits.Documents:
		return nil, TooLarge("the body has more than %d files; send them as several buckets, or raise the server's "+
			"--max-documents", limits.Documents)
	}
	var all []Segment
	next := 1
	for i, file := range files {
		segments, err := splitFile(ctx, file, limits, listed, marked, Segment{Line: lines[i], Index: next})
		if err != nil {
			return nil, err
		}
		if all = append(all, segments...); len(all) > limits.Documents {
			return nil, tooMany(limits)
		}
		if len(all) > 0 {
			next = all[len(all)-1].Index + 1
		}
	}
	return all, nil
}

// SplitFile splits a file as SplitBody splits that file of a body, but with the lines of the file.
func SplitFile(ctx context.Context, file File, limits Limits) ([]Segment, error) {
	return splitFile(ctx, file, limits, true, true, Segment{Line: max(file.Line, 1), Index: 1})
}

// splitFile splits a file, whose first document has the line and the index of from. In a file that is marked as one,
// empty documents are left out, and a list of documents always counts as its items.
func splitFile(ctx context.Context, file File, limits Limits, list, marked bool, from Segment) ([]Segment, error) {
	media := YAML
	if file.JSON {
		media = JSON
	}
	segments, err := split(ctx, file.Text, media, limits, from)
	if err == nil && marked {
		segments = slices.DeleteFunc(segments, Segment.isEmpty)
	}
	if err == nil && (list || marked) {
		segments, err = listed(ctx, file.Text, segments, limits, from)
	}
	if err != nil {
		return nil, err
	}
	if marked {
		segments = slices.DeleteFunc(segments, Segment.isEmpty) // items
	}
	segments = sourced(file, segments)
	for _, s := range segments {
		if s.Source.Documents == 1 && !s.Source.JSON && len(s.Source.Text) > limits.Size {
			return nil, TooLarge("%s has %d bytes with the comments before it, and a document has at most %d; shorten them, "+
				"or raise the server's --max-document-size", s.Place(), len(s.Source.Text), limits.Size)
		}
	}
	return segments, nil
}

// isEmpty reports whether a segment has nothing but a line with ---, comments and null, as after the last document of
// many files.
func (s Segment) isEmpty() bool {
	switch {
	case s.decoded != nil:
		return s.decoded.err == nil && s.decoded.entry.Value == nil
	case s.media == JSON:
		return string(s.Text) == "null"
	}
	text, isNull := s.Text, false
	if rest, ok := bytes.CutPrefix(text, []byte("---")); ok && (len(rest) == 0 || isBlank(rest[:1])) {
		text = rest
	}
	for line := range bytes.Lines(text) {
		if isBlank(line) {
			continue
		}
		word := bytes.Trim(line, " \t\r\n")
		if i := bytes.IndexAny(word, " \t"); i >= 0 {
			if !isBlank(word[i:]) {
				return false
			}
			word = word[:i]
		}
		if isNull || !slices.Contains([]string{"~", "null", "Null", "NULL"}, string(word)) {
			return false
		}
		isNull = true
	}
	return true
}

// moved returns the fault of a body that cannot be parsed with its position moved down by lines.
func moved(err error, by int) error {
	mistake, isMistake := errors.AsType[*Mistake](err)
	said, isFault := errors.AsType[*fault.Fault](err)
	if !isMistake || !isFault || by == 0 {
		return err
	}
	other, at := *said, *mistake
	at.At.Line += by
	other.Message = strings.Replace(other.Message, mistake.Error(), at.Error(), 1)
	return other.Because(&at)
}

// sourced returns the segments of a file with their sources and their digests.
func sourced(file File, segments []Segment) []Segment {
	if len(segments) == 0 {
		return nil
	}
	first, isJSON := max(file.Line, 1), segments[0].media == JSON
	marks := len(file.Text) - len(withoutMarks(file.Text)) // bytes of byte order marks, which the segments do not have
	whole := segments[0].decoded != nil || isJSON && file.Path != "" ||
		marks > 0 && (marks > len(byteOrderMark) || !bytes.HasPrefix(file.Text, byteOrderMark)) ||
		!isJSON && slices.ContainsFunc(segments, func(s Segment) bool { // a directive for the next document ends this one
			return holdsDirective(file.Text[marks+s.offset:][:len(s.Text)])
		})
	if whole {
		source := &Source{file.Text, file.Path, first, isJSON, len(segments)}
		text := digestOfText(source.Text, isJSON)
		for i := range segments {
			segments[i].Bucket, segments[i].Source, segments[i].Digest = file.Bucket, source, source.digestOf(text, i)
		}
		return segments
	}
	start := 0
	for i := range segments {
		s := &segments[i]
		end := marks + s.offset + len(s.Text)
		switch {
		case isJSON: // between items are commas
			start = marks + s.offset
		case i == len(segments)-1:
			end = len(file.Text)
		}
		s.Source = &Source{file.Text[start:end:end], file.Path, first, isJSON, 1}
		s.Bucket, s.Digest = file.Bucket, digestOfText(s.Source.Text, isJSON)
		first, start = first+bytes.Count(s.Source.Text, []byte("\n")), end
	}
	return segments
}

// digestOf returns the digest of a document, which counts from 0, of a source with a digest. A source with one document
// has the digest of its text.
func (s *Source) digestOf(text Digest, document int) Digest {
	if s.Documents == 1 {
		return text
	}
	number := []byte{byte(document), byte(document >> 8), byte(document >> 16)} //nolint:gosec // the lower bytes
	part := append([]byte("part "), number...)
	return sha256.Sum256(append(part, text[:]...))
}

// digestOfText returns the digest of a text. The same text may have another meaning in JSON than in YAML.
func digestOfText(text []byte, isJSON bool) Digest {
	if isJSON {
		return sha256.Sum256(append([]byte("JSON "), text...))
	}
	return sha256.Sum256(text)
}
