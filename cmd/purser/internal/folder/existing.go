package folder

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"purser/internal/check"
	"purser/internal/document"
	"purser/internal/wire"
)

// existingIn returns the files in a folder that a pull of documents may replace or delete, with the documents in each:
// those that hold nothing but documents and are in the folder of a bucket of these documents, or have the name that a
// pull gives them. kept are the others in the folders of these buckets, if something in them is meant as a document, or
// they cannot be read. It skips what push skips, and links.
func existingIn(ctx context.Context, root *os.Root, dir string, documents []Document, encrypted bool) (
	old map[string][]Document, kept []string, err error,
) {
	config, err := check.FindConfig(ctx, []string{dir})
	if err != nil {
		return nil, nil, err
	}
	reader, buckets := &check.Reader{Exclude: config.Exclude}, map[string]bool{}
	for _, doc := range documents {
		buckets[folderName(string(doc.Bucket))] = true
	}
	old = map[string][]Document{}
	const depth = 2 // of BUCKET/KIND/NAME.yaml
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && (strings.HasPrefix(entry.Name(), ".") || reader.Excludes(name)):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular() || !check.IsDocumentFile(name):
			return nil
		}
		in, _, _ := strings.Cut(name, "/")
		if !buckets[in] && strings.Count(name, "/") != depth {
			return nil
		}
		switch held, foreign := documentsIn(ctx, root, name); {
		case foreign, !encrypted && slices.ContainsFunc(held, func(doc Document) bool { return doc.encrypted }):
		case held != nil && (buckets[in] || isPulled(name, held)):
			old[name] = held
		case buckets[in]:
			kept = append(kept, name)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("look for documents: %w", check.AboutPath(dir, err))
	}
	return old, kept, nil
}

// documentsIn returns the documents of a file, nil if it holds anything else or cannot be read. foreign reports whether
// nothing in it is meant as a document.
func documentsIn(ctx context.Context, root *os.Root, name string) (documents []Document, foreign bool) {
	info, err := root.Stat(filepath.FromSlash(name))
	if err != nil || info.Size() > check.MaxFileSize {
		return nil, false
	}
	text, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return nil, false
	}
	sources, err := parseSources(ctx, name, text)
	if err != nil {
		return nil, false
	}
	others := false
	for _, s := range sources {
		of, _ := s.Value.(document.Mapping)
		doc := documentOf(textOf(of.At("schema")), of.At("metadata"), nil)
		documents, others = append(documents, doc), others || doc.Schema == "" || doc.Name == ""
	}
	if others {
		documents = nil
	}
	return documents, !slices.ContainsFunc(sources, func(s source) bool { return !check.IsForeign(s.Value) })
}

// numbered matches the end of the name of a file that needs a number; see filesOf.
var numbered = regexp.MustCompile(`~[0-9]+\.yaml$`)

// isPulled reports whether a file has the name that a pull gives to the file of its document.
func isPulled(name string, documents []Document) bool {
	in, _, _ := strings.Cut(name, "/")
	bucket, err := bucketOf(in)
	if err != nil || len(documents) != 1 {
		return false
	}
	doc := documents[0]
	doc.Bucket = wire.Optional(bucket)
	files, err := filesOf([]Document{doc})
	for pulled := range files {
		return err == nil && strings.EqualFold(pulled, numbered.ReplaceAllString(name, ".yaml"))
	}
	return false
}
