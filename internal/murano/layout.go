package murano

import (
	"slices"
	"strings"
)

func layoutCodes() []Code {
	return []Code{
		{"PKG:E122", "the name of a file is not a plain path in the package", ""},
		{"PKG:E123", "the archive cannot be read", ""},
		{"PKG:E124", "two files of the archive have one name", ""},
		{"PKG:E125", "files of the archive overlap", ""},
		{"PKG:E126", "a file of the archive is encrypted", ""},
		{"PKG:E127", "the package is too large", ""},
		{"PKG:E128", "a member is neither a file nor a folder", ""},
		{"PKG:W120", "a file is not expected at the top of a package", "W120"},
		{"PKG:W121", "a file that each package has is missing", "W121"},
	}
}

// checkLayout checks the names at the top of a package.
func checkLayout(c *Check) {
	if c.Package.Single {
		return
	}
	expected := []string{ManifestName, "LICENSE", "images.lst", "README.rst", defaultLogo, "UI", "Classes"}
	required := []string{"LICENSE", ManifestName}
	if c.Format.Name == HeatHOT {
		expected, required = append(expected, heatTemplate), append(required, heatTemplate)
	}
	for _, logo := range []*Value{c.Manifest.Get("Logo"), c.Manifest.Get("Supplier").Get("Logo")} {
		if logo.Is(String) {
			expected = append(expected, logo.Text)
		}
	}
	for _, name := range c.Package.Names() {
		if c.enter(nil) && !strings.Contains(name, "/") && !slices.Contains(expected, name) {
			c.aboutf("PKG:W120", name, `Unknown "%s" in the package`, name)
		}
	}
	for _, name := range required {
		if _, ok := c.Package.Files[name]; !ok && !c.refused[name] {
			c.aboutf("PKG:W121", "", `Missing "%s" in the package`, name)
		}
	}
}
