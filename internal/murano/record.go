package murano

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"purser/internal/budget"
	"purser/internal/document"
)

// Archive identifies the archive that a package was read from.
type Archive struct {
	Digest string // SHA-256 in hexadecimal digits
	Size   int64
}

// Describe returns the data of a document that describes a package without errors: its manifest, its files with their
// digests, its report, and its archive. Errors come from the budget.
func Describe(meter *budget.Meter, pkg *Package, report Report, archive Archive) (document.Mapping, error) {
	manifest, err := plain(meter, pkg.Manifest(meter))
	if err != nil {
		return nil, err
	}
	files := document.Mapping{}
	for _, name := range pkg.Names() {
		f := pkg.Files[name]
		files = append(files, document.Member{Key: name, Value: describeFile(f.Digest, f.Size)})
	}
	warnings := []any{}
	for _, i := range report.Issues {
		warning := document.Mapping{{Key: "code", Value: i.Code}, {Key: "message", Value: i.Message}}
		if i.File != "" {
			warning = append(warning, document.Member{Key: "file", Value: i.File})
		}
		if i.Located {
			warning = append(warning, document.Member{Key: "line", Value: number(int64(i.Line) + 1)},
				document.Member{Key: "column", Value: number(int64(i.Column) + 1)})
		}
		warnings = append(warnings, warning)
	}
	return document.Mapping{
		{Key: "manifest", Value: manifest},
		{Key: "files", Value: files},
		{Key: "warnings", Value: warnings},
		{Key: "archive", Value: describeFile(archive.Digest, archive.Size)},
	}, nil
}

func describeFile(digest string, size int64) document.Mapping {
	return document.Mapping{{Key: "digest", Value: digest}, {Key: "size", Value: number(size)}}
}

func number(n int64) document.Number { return document.Number(strconv.FormatInt(n, 10)) }

// The cost of a value of a manifest as JSON: steps, and bytes of memory.
const (
	plainSteps = 200
	plainBytes = 100
)

// plain converts a value to JSON, expanding aliases. Values that JSON cannot represent, and keys, become strings.
func plain(meter *budget.Meter, v *Value) (any, error) {
	if err := meter.Spend(plainSteps); err != nil {
		return nil, err
	}
	if err := meter.Hold(plainBytes + len(v.Text)); err != nil {
		return nil, err
	}
	switch v.Kind {
	case Null:
		return nil, nil
	case Bool:
		return !v.IsFalsy(), nil
	case Int:
		if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return number(n), nil
		}
	case Float:
		if f, err := strconv.ParseFloat(v.Text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return document.Number(v.Text), nil
		}
	case Seq:
		return plainItems(meter, v.Items)
	case Map:
		return plainMembers(meter, v.Entries)
	case Date, String, Other:
	}
	return v.Text, nil
}

func plainItems(meter *budget.Meter, items []*Value) (any, error) {
	list := []any{}
	for _, item := range items {
		value, err := plain(meter, item)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

func plainMembers(meter *budget.Meter, entries []pair) (any, error) {
	m, seen := document.Mapping{}, map[string]bool{}
	for _, e := range entries {
		value, err := plain(meter, e.Value)
		if err != nil {
			return nil, err
		}
		if key := e.Key.String(); !seen[key] { // 1 and "1" are different keys in YAML
			m, seen[key] = append(m, document.Member{Key: key, Value: value}), true
		}
	}
	return m, nil
}

// Record is the part of a package's document on which other packages depend.
type Record struct {
	Name     string
	FullName string // of the manifest
	Version  Version
	Classes  []string // classes that it declares, sorted
	Require  []Requirement
	Archive  Archive
}

// Requirement is a package that another package requires.
type Requirement struct {
	Name, Text string
	Spec       Spec
}

// ReadRecord parses the data of a document that Describe created.
func ReadRecord(name string, data []byte) (Record, error) {
	r := Record{Name: name}
	value, err := document.ParseJSON(data)
	if err != nil {
		return r, fmt.Errorf("read the package %s: %w", name, err)
	}
	root, _ := value.(document.Mapping)
	manifest, _ := root.At("manifest").(document.Mapping)
	r.FullName = scalar(manifest.At("FullName"))
	r.Version, _ = ParseVersion(cmp.Or(scalar(manifest.At("Version")), "0")) // it was checked
	classes, _ := manifest.At("Classes").(document.Mapping)
	for _, class := range classes {
		r.Classes = append(r.Classes, class.Key)
	}
	slices.Sort(r.Classes)
	require, _ := manifest.At("Require").(document.Mapping)
	for _, member := range require {
		q := Requirement{Name: member.Key, Text: scalar(member.Value)}
		if q.Spec, err = ParseSpec(q.Text); err != nil {
			return r, fmt.Errorf("read what the package %s requires of %s: %w", name, q.Name, err)
		}
		r.Require = append(r.Require, q)
	}
	archive, _ := root.At("archive").(document.Mapping)
	r.Archive.Digest = scalar(archive.At("digest"))
	r.Archive.Size, _ = strconv.ParseInt(scalar(archive.At("size")), 10, 64)
	return r, nil
}

// scalar returns the text of a string or a number.
func scalar(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case document.Number:
		return string(v)
	}
	return ""
}

// Conflict is a problem between packages.
type Conflict struct {
	Packages []string // names; the first is that of the package with the problem
	Message  string
}

// Conflicts returns the problems between packages: required packages that are missing or have another version, and
// classes that two packages declare. Its cost is linear in the records.
func Conflicts(records []Record) (conflicts []Conflict) {
	byName, byClass := map[string]Record{}, map[string]string{}
	for _, r := range records {
		byName[r.Name] = r
	}
	for _, r := range records {
		for _, q := range r.Require {
			switch other, found := byName[q.Name]; {
			case !found:
				conflicts = append(conflicts, Conflict{[]string{r.Name}, fmt.Sprintf(
					"Package %s requires %s %s, which is not in the revision", r.Name, q.Name, q.Text)})
			case !q.Spec.Match(other.Version):
				conflicts = append(conflicts, Conflict{[]string{r.Name, q.Name}, fmt.Sprintf(
					"Package %s requires %s %s, but the revision has version %v", r.Name, q.Name, cmp.Or(q.Text, "0"), other.Version)})
			}
		}
		for _, class := range r.Classes {
			if first, twice := byClass[class]; twice {
				conflicts = append(conflicts, Conflict{[]string{r.Name, first}, fmt.Sprintf(
					"Packages %s and %s both declare the class %s", first, r.Name, class)})
				continue
			}
			byClass[class] = r.Name
		}
	}
	return conflicts
}
