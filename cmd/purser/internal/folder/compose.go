package folder

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"purser/internal/document"
)

// filesOf returns files by their names with slashes, and the numbers of documents in their canonical form, by why, from
// what the server returns of submitted documents: as they were pushed, BUCKET/PATH, where that is known, and otherwise
// BUCKET/KIND/NAME.yaml. A number is added to names that differ only in case, and to those of documents that differ
// only in layer or version. Names of buckets cannot be shortened, because a change set takes them from the folders: too
// long ones are an error.
func filesOf(ctx context.Context, submitted []byte) (files map[string]pulled, canonical map[string]int, err error) {
	canonical = map[string]int{}
	parts, _, err := document.Files(submitted, len(submitted))
	if err != nil || len(parts) == 0 && len(bytes.TrimSpace(submitted)) > 0 {
		return nil, nil, fmt.Errorf("the server's documents cannot be read: %w", cmp.Or(err, errNoFiles))
	}
	slices.SortStableFunc(parts, func(a, b document.File) int {
		return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	names := naming{files: map[string]pulled{}, taken: map[string]bool{}, folders: map[string]string{}}
	var alone []document.File // parts that are in no file as it was pushed
	for len(parts) > 0 {
		end := 1
		for end < len(parts) && parts[end].Bucket == parts[0].Bucket && parts[end].Path == parts[0].Path {
			end++
		}
		var of []document.File
		of, parts = parts[:end], parts[end:]
		for _, part := range of {
			if part.Why != "" {
				canonical[part.Why]++
			}
		}
		if composed, ok := compose(ctx, of); !ok || !names.asPushed(of[0], composed) {
			alone = append(alone, of...)
		}
	}
	for _, part := range alone {
		if err := names.alone(ctx, part); err != nil {
			return nil, nil, err
		}
	}
	return names.files, canonical, nil
}

// compose returns the file that its parts make up, in order. ok is false if they are not parts of one file, or if
// together they have other documents than one by one.
func compose(ctx context.Context, parts []document.File) (file pulled, ok bool) {
	if parts[0].Path == "" {
		return file, false
	}
	var want []string
	for i, part := range parts {
		if part.JSON != parts[0].JSON || part.JSON && i > 0 {
			return file, false
		}
		if i > 0 && !follows(parts[i-1], part) {
			if !bytes.HasSuffix(file.text, []byte("\n")) {
				file.text = append(file.text, '\n')
			}
			if !begins(part.Text) {
				file.text = append(file.text, "---\n"...)
			}
		}
		file.text = append(file.text, part.Text...)
		has, encrypted, err := identified(ctx, nameOf(part), part.Text)
		if err != nil {
			return file, false
		}
		want, file.encrypted = append(want, has...), file.encrypted || encrypted
	}
	got, _, err := identified(ctx, parts[0].Path, file.text) // as a push would read it
	return file, err == nil && slices.Equal(got, want)
}

// follows reports whether a part of a file begins where another ends. Those in canonical form have other lines.
func follows(before, part document.File) bool {
	return before.Why == "" && part.Why == "" && bytes.HasSuffix(before.Text, []byte("\n")) &&
		part.Line == max(before.Line, 1)+bytes.Count(before.Text, []byte("\n"))
}

// begins reports whether a text begins with a line that begins a document, except for comments.
func begins(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, " \t\r\n")
		if len(line) > 0 && line[0] != '#' {
			return bytes.HasPrefix(line, []byte("---")) || bytes.Equal(line, []byte("..."))
		}
	}
	return false
}

// nameOf returns a name of a file as which a part is read.
func nameOf(part document.File) string {
	if part.JSON {
		return "documents.json"
	}
	return "documents.yaml"
}

// identified returns the documents of a file, each with its identity and the digest of its data, and whether one of
// them is encrypted.
func identified(ctx context.Context, name string, text []byte) (documents []string, encrypted bool, err error) {
	sources, err := parseSources(ctx, name, text)
	if err != nil {
		return nil, false, err
	}
	for i := range sources {
		doc, err := document.New(sources[i].Entry)
		if err != nil {
			return nil, false, err
		}
		documents = append(documents, doc.String()+string(doc.Digest[:])+string(doc.Metadata))
		encrypted = encrypted || doc.Traits().Encrypted
	}
	return documents, encrypted, nil
}

// naming gives files their names.
type naming struct {
	files   map[string]pulled
	taken   map[string]bool   // names of files and folders in lower case
	folders map[string]string // of kinds, by their names in lower case
}

// asPushed adds a file under the path that it was pushed from. It returns false if a push would not read it from there,
// or if another file is in the way.
func (n naming) asPushed(of document.File, file pulled) bool {
	bucket, err := bucketFolder(of.Bucket)
	name := bucket + "/" + of.Path
	tooLong := func(part string) bool { return len(part) > maxName }
	if err != nil || document.CheckPath(of.Path) != nil || !isRead(of.Path) || n.taken[strings.ToLower(name)] ||
		slices.ContainsFunc(strings.Split(of.Path, "/"), tooLong) {
		return false
	}
	for in := path.Dir(name); in != bucket; in = path.Dir(in) {
		if _, isFile := n.files[in]; isFile {
			return false
		}
	}
	for in := name; in != "."; in = path.Dir(in) {
		n.taken[strings.ToLower(in)] = true
	}
	n.files[name] = file
	return true
}

// alone adds a part of a file as a file of its own, which is named after its first document.
func (n naming) alone(ctx context.Context, part document.File) error {
	bucket, err := bucketFolder(part.Bucket)
	if err != nil {
		return err
	}
	sources, err := parseSources(ctx, nameOf(part), part.Text)
	if err != nil || len(sources) == 0 {
		return fmt.Errorf("a document of the server cannot be read: %w", cmp.Or(err, errNoFiles))
	}
	_, encrypted, err := identified(ctx, nameOf(part), part.Text)
	if err != nil {
		return err
	}
	doc, err := sources[0].stored()
	if err != nil {
		return err
	}
	kind := doc.Schema
	if parts := strings.Split(doc.Schema, "/"); len(parts) == 3 {
		kind = parts[1]
	}
	// The first spelling of a kind is used for all, because a file system may ignore case.
	folder := bucket + "/" + shortened(folderName(kind))
	if first, ok := n.folders[strings.ToLower(folder)]; ok {
		folder = first
	}
	n.folders[strings.ToLower(folder)] = folder
	if _, isFile := n.files[folder]; isFile {
		folder += "~"
	}
	base := folder + "/" + shortened(folderName(doc.Name))
	ending := path.Ext(nameOf(part))
	name := base + ending
	for i := 2; n.taken[strings.ToLower(name)]; i++ {
		name = fmt.Sprintf("%s~%d%s", base, i, ending)
	}
	n.taken[strings.ToLower(name)], n.files[name] = true, pulled{part.Text, encrypted}
	return nil
}

// bucketFolder returns the name of the folder of a bucket.
func bucketFolder(bucket string) (string, error) {
	name := folderName(bucket)
	if name == "" {
		return "", fmt.Errorf("the server names no bucket of a document: %w", errNoFiles)
	}
	if len(name) > maxName {
		return "", fmt.Errorf("the name of bucket %s is too long for a folder: it would have %d characters, and file "+
			"systems take %d. Nothing was written. purser show --bucket BUCKET writes the documents of a single bucket to "+
			"standard output, and purser push BUCKET FILE puts them back", bucket, len(name), maxName)
	}
	return name, nil
}

var errNoFiles = errors.New("it is not as this version of purser expects it")
