package murano

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"purser/internal/budget"
)

// Package is a package as read by a loader.
type Package struct {
	Files map[string]*File // by name, relative to the package, with slashes
	// Problems are the issues that the loader found.
	Problems []Issue
	// Unread means that the loader gave up: only its problems are reported.
	Unread bool
	// Single means that the package is a single file of a package, so no other files are required.
	Single bool
}

// File is a file of a package.
type File struct {
	Raw    []byte // nil if no validator reads it
	Size   int64
	Digest string // SHA-256 in hexadecimal digits

	read bool
	docs []*Value
	err  error
}

// Documents returns the documents of a YAML file, which it parses once. The error is a *yamlError if the file is
// not YAML. Other errors come from the budget.
func (f *File) Documents(meter *budget.Meter) ([]*Value, error) {
	if !f.read {
		f.read = true
		f.docs, f.err = parseYAML(meter, f.Raw)
	}
	return f.docs, f.err
}

// Names returns the names of all files, sorted.
func (p *Package) Names() []string { return p.Search("", "") }

// Search returns the names of files with a prefix and a suffix, sorted.
func (p *Package) Search(prefix, suffix string) (names []string) {
	for name := range p.Files {
		if strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix) && len(name) >= len(prefix)+len(suffix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Exists reports whether a file or folder with a name exists.
func (p *Package) Exists(name string) bool {
	if _, ok := p.Files[name]; ok {
		return true
	}
	for other := range p.Files {
		if strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}

// Manifest returns the mapping of the manifest, nil if there is none.
func (p *Package) Manifest(meter *budget.Meter) *Value {
	file := p.Files[ManifestName]
	if file == nil {
		return nil
	}
	docs, err := file.Documents(meter)
	if err != nil || len(docs) == 0 || docs[0].Kind != Map {
		return nil
	}
	return docs[0]
}

// ManifestName is the file that describes a package.
const ManifestName = "manifest.yaml"

// The formats that Murano reads: of packages with classes, and of those with a template of Heat.
const (
	MuranoPL = "MuranoPL"
	HeatHOT  = "Heat.HOT"
)

// heatTemplate is the file at the top of a package in the format Heat.HOT.
const heatTemplate = "template.yaml"

// plainName returns the name that a member of an archive should have: relative to the package, its parts separated by
// single slashes.
func plainName(name string) string {
	return path.Clean("/" + strings.ReplaceAll(name, `\`, "/"))[1:]
}

// Format is the format of a package and its version.
type Format struct {
	Name, Version string
	minor         int
	known         bool // the version is a number
}

var versionPattern = regexp.MustCompile(`^(\d{1,9})(?:\.(\d{1,9}))?(?:\.|$)`)

// formatOf returns the format that a manifest declares. It is MuranoPL/1.0 if the manifest declares none, and the
// newest version if manifest is nil.
func formatOf(manifest *Value) Format {
	if manifest == nil {
		return Format{Name: MuranoPL, Version: "1.4"}
	}
	f := Format{Name: MuranoPL, Version: "1.0"}
	if value := manifest.Get("Format"); value != nil {
		name, version, both := strings.Cut(value.String(), "/")
		if f.Version = name; both {
			f.Name, f.Version = name, version
		}
	}
	if parts := versionPattern.FindStringSubmatch(f.Version); parts != nil {
		major, _ := strconv.Atoi(parts[1])
		f.minor, _ = strconv.Atoi(parts[2])
		f.known = major <= 1
		if major < 1 {
			f.minor = -1
		}
	}
	return f
}

// Since reports whether the format is MuranoPL 1.minor or newer. Versions that are not numbers are compared as strings,
// as in murano-pkg-check.
func (f Format) Since(minor int) bool {
	if !f.known {
		return f.Version >= "1."+strconv.Itoa(minor)
	}
	return f.minor >= minor
}
