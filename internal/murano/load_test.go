package murano_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/murano"
)

// member is a member of an archive.
type member struct {
	name, text string
	mode       fs.FileMode
}

// archive returns an archive with members.
func archive(tb testing.TB, members ...member) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		header.SetMode(m.mode)
		part, err := w.CreateHeader(header)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := part.Write([]byte(m.text)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// replaced returns an archive in which all occurrences of what are replaced by with.
func replaced(archive []byte, what, with string) []byte {
	return bytes.ReplaceAll(archive, []byte(what), []byte(with))
}

// flagged returns an archive whose members are marked as encrypted.
func flagged(archive []byte) []byte {
	archive = bytes.Clone(archive)
	for i := range archive {
		switch {
		case bytes.HasPrefix(archive[i:], []byte("PK\x03\x04")):
			archive[i+6] |= 1
		case bytes.HasPrefix(archive[i:], []byte("PK\x01\x02")):
			archive[i+8] |= 1
		}
	}
	return archive
}

// overlapping returns an archive with n entries of one member.
func overlapping(tb testing.TB, n int, text string) []byte {
	tb.Helper()
	one := archive(tb, member{name: "a0000", text: text})
	directory := bytes.Index(one, []byte("PK\x01\x02"))
	end := bytes.LastIndex(one, []byte("PK\x05\x06"))
	entry := one[directory:end]
	out := bytes.Clone(one[:directory])
	for i := range n {
		out = append(out, replaced(entry, "a0000", fmt.Sprintf("a%04d", i))...)
	}
	tail := bytes.Clone(one[end:])
	binary.LittleEndian.PutUint16(tail[8:], uint16(n))
	binary.LittleEndian.PutUint16(tail[10:], uint16(n))
	binary.LittleEndian.PutUint32(tail[12:], uint32(n*len(entry)))
	return append(out, tail...)
}

// zip64Of returns an archive whose only member has its size in a zip64 field.
func zip64Of(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	extra := []byte{1, 0, 8, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0}
	part, err := w.CreateHeader(&zip.FileHeader{Name: "big", Extra: extra})
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := part.Write([]byte("x")); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// A package that was packed together with its folder is refused with the name of the folder.
func TestZip_inFolder(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"app/manifest.yaml": "manifest.yaml is missing: it is in the folder app; pack the files in the folder without the folder",
		"a/b/manifest.yaml": "manifest.yaml is missing", "x": "manifest.yaml is missing",
	} {
		ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
		defer end()
		pkg, err := murano.ReadZip(ctx, archive(t, member{name: name, text: manifest}), murano.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		report, err := murano.Run(ctx, pkg, murano.Options{})
		if err != nil || !slices.ContainsFunc(report.Errors(), func(i murano.Issue) bool { return i.Message == want }) {
			t.Errorf("%s: %v, %v, want %s", name, report.Errors(), err, want)
		}
	}
}

// A file that is refused is not said to be missing, so the first issue is the cause, and no other follows from it.
func TestZip_refused(t *testing.T) {
	t.Parallel()
	const app = "Type: Application\nFullName: a.B\nDescription: x\nClasses: {a.B: B.yaml}\n"
	names := []string{"manifest.yaml", "LICENSE", "Classes/B.yaml", "UI/ui.yaml", "logo.png"}
	texts := map[string]string{
		"manifest.yaml": app, "Classes/B.yaml": "Name: a.B\n", "UI/ui.yaml": "Version: 2.2\nApplication: {}\nForms: []\n",
	}
	changes := map[string]struct {
		want   string
		change func(*zip.FileHeader)
	}{
		"a dot":        {"PKG:E122", func(h *zip.FileHeader) { h.Name = "./" + h.Name }},
		"a dot inside": {"PKG:E122", func(h *zip.FileHeader) { h.Name = "x/../" + h.Name }},
		"two slashes":  {"PKG:E122", func(h *zip.FileHeader) { h.Name = ".//" + h.Name }},
		"backslashes":  {"PKG:E122", func(h *zip.FileHeader) { h.Name = `.\` + strings.ReplaceAll(h.Name, "/", `\`) }},
		"absolute":     {"PKG:E122", func(h *zip.FileHeader) { h.Name = "/" + h.Name }},
		"bzip2":        {"PKG:E123", func(h *zip.FileHeader) { h.Method = 12 }},
		"encrypted":    {"PKG:E126", func(h *zip.FileHeader) { h.Flags |= 1 }},
		"a link":       {"PKG:E128", func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }},
	}
	for name, c := range changes {
		for _, changed := range names {
			t.Run(name+" "+changed, func(t *testing.T) {
				t.Parallel()
				var b bytes.Buffer
				w := zip.NewWriter(&b)
				for _, member := range append(names, "./") {
					header := &zip.FileHeader{Name: member}
					if member == changed {
						c.change(header)
					}
					header.CRC32 = crc32.ChecksumIEEE([]byte(texts[member]))
					header.CompressedSize64, header.UncompressedSize64 = uint64(len(texts[member])), uint64(len(texts[member]))
					part, err := w.CreateRaw(header)
					if err != nil {
						t.Fatal(err)
					}
					_, _ = part.Write([]byte(texts[member]))
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				pkg, err := murano.ReadZip(t.Context(), b.Bytes(), murano.DefaultLimits())
				if err != nil {
					t.Fatal(err)
				}
				report, err := murano.Run(t.Context(), pkg, murano.Options{})
				if err != nil || len(report.Issues) != 1 || report.Issues[0].Code != c.want {
					t.Errorf("%v, %v, want one %s", report.Issues, err, c.want)
				}
				ignored, err := murano.Run(t.Context(), pkg, murano.Options{Ignore: []string{c.want}})
				if err != nil || changed == "manifest.yaml" && len(ignored.Errors()) == 0 {
					t.Errorf("without the cause: %v, %v", ignored, err)
				}
			})
		}
	}
}

func TestZip_hostile(t *testing.T) {
	t.Parallel()
	good := member{name: "manifest.yaml", text: manifest}
	many := make([]member, 100_000)
	for i := range many {
		many[i].name = fmt.Sprintf("f%d", i)
	}
	for name, c := range map[string]struct {
		archive []byte
		want    string // a code and a part of the message
	}{
		"bomb":           {archive(t, good, member{name: "zeros", text: strings.Repeat("\x00", 50<<20)}), "PKG:E127 inflates to more than 200 times"},
		"overlapping":    {overlapping(t, 1000, strings.Repeat("x", 1<<20)), "PKG:E125 shares bytes"},
		"100,000":        {archive(t, many...), "PKG:E127 more than 10000 entries"},
		"upwards":        {archive(t, good, member{name: "../x", text: "x"}), "PKG:E122 leads out"},
		"upwards inside": {archive(t, good, member{name: "a/../../x", text: "x"}), "PKG:E122 leads out"},
		"backslashes":    {archive(t, good, member{name: `..\x`, text: "x"}), "PKG:E122 leads out"},
		"absolute":       {archive(t, good, member{name: "/etc/passwd", text: "x"}), "PKG:E122 absolute"},
		"a drive":        {archive(t, good, member{name: `C:\x`, text: "x"}), "PKG:E122 absolute"},
		"no UTF-8":       {archive(t, good, member{name: "a\xff", text: "x"}), "PKG:E122 not UTF-8"},
		"NUL":            {archive(t, good, member{name: "a\x00b", text: "x"}), "PKG:E122 control character"},
		"a dot":          {archive(t, good, member{name: "./x", text: "x"}), "PKG:E122 empty part"},
		"a long name":    {archive(t, good, member{name: strings.Repeat("x", 2000), text: "x"}), "PKG:E122 more than 1000 bytes"},
		"a link":         {archive(t, good, member{name: "l", text: "/etc/passwd", mode: fs.ModeSymlink | 0o777}), "PKG:E128 link"},
		"a device":       {archive(t, good, member{name: "d", mode: fs.ModeDevice}), "PKG:E128 device"},
		"twice":          {archive(t, good, good), "PKG:E124 twice"},
		"encrypted":      {flagged(archive(t, good)), "PKG:E126 encrypted"},
		"zip64":          {zip64Of(t), "PKG:E123 zip64"},
		"a false sum":    {replaced(archive(t, member{name: "manifest.yaml"}), "\x00\x00\x00\x00\x0d\x00", "\x01\x00\x00\x00\x0d\x00"), "PKG:E123 cannot be read: it ends early; zip it again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			defer end()
			pkg, err := murano.ReadZip(ctx, c.archive, murano.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			code, part, _ := strings.Cut(c.want, " ")
			if !slices.ContainsFunc(pkg.Problems, func(i murano.Issue) bool { return i.Code == code && strings.Contains(i.Message, part) }) {
				t.Errorf("no problem %s: %.500v", c.want, pkg.Problems)
			}
			report, err := murano.Run(ctx, pkg, murano.Options{})
			if err != nil || len(report.Errors()) == 0 {
				t.Errorf("no errors: %.500v, %v", report, err)
			}
			if steps, bytes := budget.From(ctx).Spent(); steps > budget.Second/2 || bytes > 40<<20 {
				t.Errorf("it took %d steps and %d bytes", steps, bytes)
			}
		})
	}
}

func TestZip_unreadable(t *testing.T) {
	t.Parallel()
	good := archive(t, member{name: "manifest.yaml", text: manifest})
	for name, text := range map[string][]byte{
		"nothing": nil, "text": []byte("no zip"), "truncated": good[:len(good)-30], "no directory": good[:40],
	} {
		if _, err := murano.ReadZip(t.Context(), text, murano.DefaultLimits()); !isUnreadable(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func isUnreadable(err error) bool {
	_, ok := errors.AsType[*murano.Unreadable](err)
	return ok
}

// TestZip_size checks that actual sizes are counted, whatever the headers say.
func TestZip_size(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789abcdef", 1000)
	limits := murano.DefaultLimits()
	limits.File = int64(len(text))
	pkg, err := murano.ReadZip(t.Context(), archive(t, member{name: "a", text: text}), limits)
	if err != nil || pkg.Unread || pkg.Files["a"].Size != int64(len(text)) || pkg.Files["a"].Raw != nil {
		t.Errorf("%+v, %v", pkg, err)
	}
	pkg, err = murano.ReadZip(t.Context(), archive(t, member{name: "a", text: text + "x"}), limits)
	if err != nil || !pkg.Unread {
		t.Errorf("%+v, %v", pkg, err)
	}
	limits.File, limits.Total = limits.Total, int64(len(text))
	pkg, err = murano.ReadZip(t.Context(), archive(t, member{name: "a", text: text}, member{name: "b", text: "x"}), limits)
	if err != nil || !pkg.Unread {
		t.Errorf("%+v, %v", pkg, err)
	}
}

func TestOpen_folder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	for name, text := range map[string]string{
		"manifest.yaml": manifest, "Classes/a/B.yaml": "Name: B", ".hidden": "", "Resources/x.sh": "#!",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"inside": "manifest.yaml", "outside": outside} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	pkg, err := murano.Open(t.Context(), dir, murano.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".hidden", "Classes/a/B.yaml", "Resources/x.sh", "inside", "manifest.yaml"}
	if got := pkg.Names(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if len(pkg.Problems) != 1 || pkg.Problems[0].Code != "PKG:E128" || pkg.Problems[0].File != "outside" {
		t.Errorf("%+v", pkg.Problems)
	}
	if _, err := murano.Open(t.Context(), filepath.Join(dir, "none"), murano.DefaultLimits()); !isUnreadable(err) {
		t.Errorf("a missing folder: %v", err)
	}
	limits := murano.DefaultLimits()
	limits.Files = 3
	if pkg, err = murano.Open(t.Context(), dir, limits); err != nil || !pkg.Unread {
		t.Errorf("too many files: %+v, %v", pkg, err)
	}
}

func TestSingle(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct{ text, want string }{
		"x/manifest.yaml": {manifest, ""},
		"x/App.yaml":      {"Name: app\nScope: 1", "Classes/App.yaml MPL:W011"},
		"form.yaml":       {"Application: 1\nForms: []", "UI/form.yaml UI:E084"},
		"x/UI/a.yaml":     {"[]", "UI/a.yaml E004"},
		"x/Classes/b.yml": {"Name: [", "Classes/b.yml.yaml E002"},
	} {
		pkg, err := murano.ReadSingle(t.Context(), path, []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		report, err := murano.Run(t.Context(), pkg, murano.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(report.Issues) > 0 {
			got = report.Issues[len(report.Issues)-1].File + " " + report.Issues[len(report.Issues)-1].Code
		}
		if c.want == "" && got != "" || c.want != "" && !slices.ContainsFunc(report.Issues, func(i murano.Issue) bool { return i.File+" "+i.Code == c.want }) {
			t.Errorf("%s: %+v, want %s", path, report.Issues, c.want)
		}
	}
}

func FuzzZip(f *testing.F) {
	f.Add(archive(f, member{name: "manifest.yaml", text: manifest}, member{name: "Classes/A.yaml", text: "Name: A"}))
	f.Add(archive(f, member{name: "../x", text: "x"}, member{name: "UI/ui.yaml", text: "Forms: []"}))
	f.Add(overlapping(f, 3, "xxx"))
	f.Add(zip64Of(f))
	limits := murano.Limits{Files: 20, File: 1 << 16, Total: 1 << 17, Ratio: 10}
	f.Fuzz(func(t *testing.T, archive []byte) {
		ctx, end := budget.NewPool(1, time.Minute).Begin(context.Background())
		defer end()
		pkg, err := murano.ReadZip(ctx, archive, limits)
		if isUnreadable(err) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		total := int64(0)
		for name, file := range pkg.Files {
			total += file.Size
			if !filepath.IsLocal(name) || strings.HasSuffix(name, "/") {
				t.Errorf("the name %q is not safe", name)
			}
		}
		if total > limits.Total || len(pkg.Files) > limits.Files {
			t.Errorf("%d files of %d bytes", len(pkg.Files), total)
		}
		if _, err := murano.Run(ctx, pkg, murano.Options{}); err != nil {
			t.Fatal(err)
		}
	})
}
