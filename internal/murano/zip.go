package murano

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	"purser/internal/budget"
)

// signature begins each entry of the directory of an archive.
const signature = "PK\x01\x02"

// entrySteps and entryBytes are the cost of an entry of an archive: steps, and bytes of memory.
const (
	entrySteps = 2000
	entryBytes = 600
)

// ReadZip reads an archive. Its members are counted before its directory is read, and their bytes while they are
// inflated. Problems with members become issues of the package. The error is an *Unreadable if it is not an archive.
// Other errors come from the budget of ctx.
func ReadZip(ctx context.Context, archive []byte, limits Limits) (*Package, error) {
	if n := bytes.Count(archive, []byte(signature)); n > limits.Files {
		return giveUpf("The archive has more than %d entries", limits.Files), nil
	}
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, &Unreadable{"This is not a zip archive, or it is damaged: " + reasonOf(err)}
	}
	most := min(limits.Total, int64(len(archive))*limits.Ratio+budget.MiB)
	z := &zipReader{loader: newLoader(budget.NewMeter(ctx), limits, most), bad: map[*zip.File]bool{}}
	z.meter.Charge(entrySteps * len(reader.File))
	if err := z.meter.Hold(entryBytes * len(reader.File)); err != nil {
		return nil, err
	}
	z.overlaps(reader.File)
	for _, file := range reader.File {
		switch err := z.member(file); {
		case errors.Is(err, errGaveUp):
			return z.pkg, nil
		case err != nil:
			return nil, err
		}
	}
	return z.pkg, nil
}

// zipReader reads the members of an archive.
type zipReader struct {
	*loader

	bad map[*zip.File]bool // members that must not be read
}

// The flag of an encrypted member, and the tag of zip64 fields.
const (
	encrypted = 1
	zip64     = 1
)

// member adds a member to the package, or a problem with it.
func (z *zipReader) member(file *zip.File) error {
	name := strings.TrimSuffix(file.Name, "/")
	if name == "." { // the package itself
		return nil
	}
	if problem := nameProblem(name); problem != "" {
		z.reportf("PKG:E122", file.Name, "the name of this member is refused: %s", problem)
		return nil
	}
	isFolder := name != file.Name
	switch mode := file.Mode(); {
	case z.bad[file]:
		return nil
	case file.Flags&encrypted != 0:
		z.reportf("PKG:E126", name, "this member is encrypted; packages are not")
		return nil
	case hasZip64(file.Extra):
		z.reportf("PKG:E123", name, "this member is written in the zip64 format; a package is too small to need it")
		return nil
	case !isFolder && !mode.IsRegular():
		z.reportf("PKG:E128", name, "this member is a link or a device; only files and folders are read")
		return nil
	case isFolder:
		return nil
	case z.pkg.Files[name] != nil:
		z.reportf("PKG:E124", name, "the archive has this member twice; pack it once")
	}
	content, err := file.Open()
	if err != nil {
		z.reportf("PKG:E123", name, "this member cannot be read: %s", reasonOf(err))
		return nil
	}
	defer func() { _ = content.Close() }() // nothing is written
	err = z.add(name, content)
	if failed, ok := errors.AsType[*readError](err); ok {
		z.reportf("PKG:E123", name, "this member cannot be read: %s", reasonOf(failed))
		return nil
	}
	return err
}

// reasonOf says in plain words what the zip library refuses.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, zip.ErrFormat):
		return "it has no list of its members; zip the files of the package again, and send the whole file"
	case errors.Is(err, zip.ErrAlgorithm):
		return "it is compressed by a method that is not supported; zip it with deflate"
	case errors.Is(err, zip.ErrChecksum):
		return "its checksum does not match its content; zip it again"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends early; zip it again"
	}
	return err.Error()
}

// hasZip64 reports whether a member's extra fields include one of zip64.
func hasZip64(extra []byte) bool {
	const header = 4 // tag and size
	for len(extra) >= header {
		size := int(binary.LittleEndian.Uint16(extra[2:]))
		if binary.LittleEndian.Uint16(extra) == zip64 {
			return true
		}
		if len(extra) < header+size {
			return false
		}
		extra = extra[header+size:]
	}
	return false
}

// overlaps reports members that share bytes of the archive, as in bombs that unpack the same bytes many times.
func (z *zipReader) overlaps(files []*zip.File) {
	const header = 30 // minimum number of bytes before a member
	type extent struct {
		file       *zip.File
		start, end int64
	}
	var extents []extent
	for _, file := range files {
		at, err := file.DataOffset()
		if err != nil {
			z.bad[file] = true
			z.reportf("PKG:E123", file.Name, "this member cannot be found in the archive: %v", err)
			continue
		}
		extents = append(extents, extent{file, at - header, at + int64(min(file.CompressedSize64, 1<<62))})
	}
	slices.SortFunc(extents, func(a, b extent) int { return cmp.Compare(a.start, b.start) })
	end := int64(0)
	for _, e := range extents {
		if e.start < end {
			z.bad[e.file] = true
			z.reportf("PKG:E125", e.file.Name, "this member shares bytes of the archive with another one")
		}
		end = max(end, e.end)
	}
}
