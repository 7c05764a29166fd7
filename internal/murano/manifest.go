package murano

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

func manifestCodes() []Code {
	return []Code{
		{"MAN:E001", "manifest.yaml is missing", ""},
		{"MAN:E006", "Require is not a mapping", "E005"},
		{"MAN:E007", "a key of Require is not a fully qualified name", "E005"},
		{"MAN:E008", "a value of Require is not a version or a condition on versions", ""},
		{"MAN:E030", "Description is neither a string nor null", "E030"},
		{"MAN:E050", "a file that Classes names is not in the package", "E050"},
		{"MAN:E051", "a key of Classes is not a fully qualified name", ""},
		{"MAN:E052", "a value of Classes is a list or a mapping", ""},
		{"MAN:E053", "a file that Classes names is not YAML that can be read", ""},
		{"MAN:E070", "Tags is not a list", "E070"},
		{"MAN:E071", "Type is neither Application nor Library", "E071"},
		{"MAN:E072", "UI is not a string", "E072"},
		{"MAN:E073", "FullName is not a fully qualified name", "E073"},
		{"MAN:E074", "Logo is not a string", "E074"},
		{"MAN:E075", "Version cannot be read as one of SemVer", "E071"},
		{"MAN:E076", "Classes is not a mapping", "E074"},
		{"MAN:E077", "a tag is not a string", ""},
		{"MAN:W020", "a file under Classes/ is not named in the manifest", "W020"},
		{"MAN:W030", "the format is neither MuranoPL nor Heat.HOT", "W030"},
		{"MAN:W031", "the version of the format is unknown", "W030"},
		{"MAN:W073", "an application has no UI file", "W073"},
		{"MAN:W074", "an application has no logo", "W074"},
		{"MAN:W075", "Description is missing", ""},
		{"MAN:W076", "a namespace of FullName does not begin with a small letter", ""},
	}
}

// elsewhere says where a package that was packed together with its folder has its manifest, "" if it has none.
func (c *Check) elsewhere() string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(c.Package.Files)), maps.Keys(c.refused))
	slices.Sort(names)
	for _, name := range names {
		if folder, found := strings.CutSuffix(name, "/"+ManifestName); found && !strings.Contains(folder, "/") {
			return fmt.Sprintf(": it is in the folder %s; pack the files in the folder without the folder", folder)
		}
	}
	return ""
}

// checkManifest checks manifest.yaml.
func checkManifest(c *Check) {
	if c.Package.Files[ManifestName] == nil {
		if c.Package.Single || c.refused[ManifestName] {
			return
		}
		c.aboutf("MAN:E001", "", "%s is missing%s", ManifestName, c.elsewhere())
		return
	}
	m := &manifest{Check: c}
	docs := c.documents(ManifestName, false, keywords{
		"Format": m.format, "Type": m.kind, "FullName": m.fullName, "Name": c.isString, "Version": m.version,
		"Description": m.description, "Author": c.isString, "Tags": m.tags, "Classes": m.classes, "Require": m.require,
		"UI": m.ui, "Logo": m.logo, "Meta": c.meta, "Supplier": nil,
	}, func(doc *Value) {
		m.library = oneOf(doc.Get("Type"), "Library")
	})
	if docs == nil && c.Package.Files[ManifestName].err == nil {
		c.aboutf("E004", ManifestName, "The file holds no document")
	}
	for _, doc := range docs {
		if doc.Kind == Map {
			m.required(doc)
		}
	}
}

// manifest checks one manifest.
type manifest struct {
	*Check

	library bool
}

func (m *manifest) required(doc *Value) {
	for _, key := range []string{"FullName", "Type"} {
		if doc.Get(key) == nil {
			m.atf("E020", doc, `Missing required key "%s"`, key)
		}
	}
	if doc.Get("Description") == nil {
		m.atf("MAN:W075", doc, `Missing key "Description"`)
	}
	if doc.Get("UI") == nil && m.Format.Name != HeatHOT { // Murano makes a form of the parameters of a template
		m.exists("MAN:W073", "UI/", defaultUI, nil, `There is no UI file "%s"`)
	}
	if doc.Get("Logo") == nil {
		m.exists("MAN:W074", "", defaultLogo, nil, `There is no Logo file "%s"`)
	}
}

const (
	defaultUI   = "ui.yaml"
	defaultLogo = "logo.png"
)

// exists warns if a file that applications need is missing.
func (m *manifest) exists(code, folder, name string, at *Value, format string) {
	if m.library || m.Package.Single || m.refused[folder+name] || m.Package.Exists(folder+name) {
		return
	}
	if at == nil {
		m.aboutf(code, ManifestName, format, name)
		return
	}
	m.atf(code, at, format, name)
}

func (m *manifest) format(v *Value) {
	versions := map[string][]string{
		MuranoPL: {"1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0"}, HeatHOT: {"1.0.0"},
	}
	known := versions[m.Format.Name]
	version, err := ParseVersion(m.Format.Version)
	switch {
	case known == nil:
		m.atf("MAN:W030", v, `Not supported format "%s"`, v)
	case err != nil || !slices.Contains(known, version.String()):
		m.atf("MAN:W031", v, `Not supported format version "%s"`, v)
	}
}

func (m *manifest) kind(v *Value) {
	if !oneOf(v, "Application", "Library") {
		m.atf("MAN:E071", v, `Type is invalid "%s"`, v)
	}
}

var namespacePattern = regexp.MustCompile(`(^|\.)[A-Z][^.]*\.`)

func (m *manifest) fullName(v *Value) {
	switch {
	case !m.isName(v, fqnPattern):
		m.atf("MAN:E073", v, `Invalid FullName "%s"`, v)
	case namespacePattern.MatchString(v.Text):
		m.atf("MAN:W076", v, `Namespaces of FullName "%s" should begin with small letters`, v)
	}
}

func (m *manifest) version(v *Value) {
	if _, err := ParseVersion(v.String()); err != nil {
		m.atf("MAN:E075", v, `Version format should be compatible with SemVer not "%s"`, v)
	}
}

func (m *manifest) description(v *Value) {
	if v.Kind != String && v.Kind != Null {
		m.atf("MAN:E030", v, `Value is not valid string "%s"`, v)
	}
}

func (m *manifest) tags(v *Value) {
	if v.Kind != Seq {
		m.atf("MAN:E070", v, "Tags should be a list")
		return
	}
	for tag := range m.items(v) {
		if tag.Kind != String {
			m.atf("MAN:E077", tag, `Tag "%s" is not a string`, tag)
		}
	}
}

func (m *manifest) classes(v *Value) {
	if v.Kind != Map {
		m.atf("MAN:E076", v, "Classes section should be a dict")
		return
	}
	const folder = "Classes/"
	named := map[string]bool{}
	for class, file := range m.members(v) {
		if !m.isName(class, fqnPattern) {
			m.atf("MAN:E051", class, `Key of Classes is not valid FQN "%s"`, class)
		}
		name := file.String()
		switch _, exists := m.Package.Files[folder+name]; {
		case file.Kind >= Seq:
			m.atf("MAN:E052", file, `File of class "%s" is not a string`, class)
		case named[name], !exists && m.refused[folder+name]:
		case !exists && !m.Package.Single || file.Kind != String:
			m.atf("MAN:E050", file, `File "%s" is present in Manifest, but not in filesystem`, path.Clean(name))
		case exists && !strings.HasSuffix(name, ".yaml"):
			m.isYAML(folder+name, file)
		}
		named[name] = true
	}
	for _, name := range m.Package.Search(folder, "") {
		if short := strings.TrimPrefix(name, folder); !named[short] && short != "" {
			m.aboutf("MAN:W020", name, `File "%s" is not present in Manifest, but it is in filesystem`, short)
		}
	}
}

// isYAML checks a file that the class validator skips because of its name, but that Murano reads: it must be YAML.
func (m *manifest) isYAML(name string, at *Value) {
	_, err := m.Package.Files[name].Documents(m.meter)
	if problem, ok := errors.AsType[*yamlError](err); ok {
		m.atf("MAN:E053", at, `File "%s" is not YAML, and its name does not end with .yaml: %s`, at, problem.Message)
	} else if err != nil {
		m.fail(err)
	}
}

func (m *manifest) require(v *Value) {
	if v.Kind != Map {
		m.atf("MAN:E006", v, "Require is not a dict type")
		return
	}
	for name, versions := range m.members(v) {
		if !m.isName(name, fqnPattern) {
			m.atf("MAN:E007", name, `Require key is not valid FQN "%s"`, name)
		}
		if versions.Kind == Null {
			continue
		}
		if _, err := ParseSpec(versions.String()); err != nil {
			m.atf("MAN:E008", versions, `Version of "%s" is not valid: %v`, name, err)
		}
	}
}

func (m *manifest) ui(v *Value) {
	if v.Kind != String {
		m.atf("MAN:E072", v, "UI is not a string")
		return
	}
	m.exists("MAN:W073", "UI/", v.Text, v, `There is no UI file "%s"`)
}

func (m *manifest) logo(v *Value) {
	if v.Kind != String {
		m.atf("MAN:E074", v, "Logo is not a string")
		return
	}
	m.exists("MAN:W074", "", v.Text, v, `There is no Logo file "%s"`)
}
