package murano_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"purser/internal/budget/budgettest"
	"purser/internal/murano"
)

// numbered returns n texts that contain their number.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// aliases returns n items, each the alias a.
func aliases(n int) string { return strings.Repeat("- *a\n", n) }

func class(text func(n int) string) func(n int) map[string]string {
	return func(n int) map[string]string {
		return map[string]string{"manifest.yaml": manifest, "Classes/A.yaml": "Name: A\n" + text(n)}
	}
}

func ui(text func(n int) string) func(n int) map[string]string {
	return func(n int) map[string]string {
		return map[string]string{"manifest.yaml": manifest, "UI/ui.yaml": text(n)}
	}
}

// costly are packages of about n bytes that make checks expensive in some way.
func costly() map[string]func(n int) map[string]string {
	const entry = 20 // bytes, about
	return map[string]func(n int) map[string]string{
		"classes of one file": func(n int) map[string]string {
			n /= 2 * entry
			return map[string]string{
				"manifest.yaml":  manifest + "Classes:\n" + numbered("  a.B%05d: A.yaml\n", n),
				"Classes/A.yaml": numbered("Name: a.B%05d\n---\n", n),
			}
		},
		"classes in files": func(n int) map[string]string {
			n /= 2 * entry
			files := map[string]string{"manifest.yaml": manifest + "Classes:\n" + numbered("  a.B%[1]d: A%[1]d.yaml\n", n)}
			for i := range n {
				files[fmt.Sprintf("Classes/A%d.yaml", i)] = fmt.Sprintf("Name: a.B%d\n", i)
			}
			return files
		},
		"namespaces": class(func(n int) string {
			return "Namespaces:\n" + numbered("  n%05d: a.b\n", n/2/entry) + "Extends:\n" + numbered("- n%05d:A\n", n/2/entry)
		}),
		"aliases of a long name": class(func(n int) string {
			return "Import: [&a " + strings.Repeat("x", n/2) + "]\nExtends:\n" + aliases(n/10)
		}),
		"aliases of a statement": class(func(n int) string {
			return "Import: &a\n" + numbered("  k%05d: 1\n", n/2/entry) + "Methods:\n  m:\n    Body:\n" +
				strings.ReplaceAll(aliases(n/40), "-", "    -")
		}),
		"aliases of a statement with a long key": class(func(n int) string {
			return "Import: &a {" + strings.Repeat("é", n/4) + ": 1}\nMethods:\n  m:\n    Body:\n" +
				strings.ReplaceAll(aliases(n/20), "-", "    -")
		}),
		"aliases of a large value": class(func(n int) string {
			return "Import: &a\n" + numbered("- [k%05d]\n", n/2/entry) + "Extends:\n" + aliases(n/10)
		}),
		"aliases of arguments": class(func(n int) string {
			return "Import: &a\n" + numbered("- k%05d: {}\n", n/2/entry) + "Methods:\n" +
				numbered("  m%05d: {Arguments: *a}\n", n/2/30)
		}),
		"merges": class(func(n int) string {
			return "Import: &a {" + numbered("k%05d: 1, ", n/2/12) + "}\nProperties:\n" + numbered("  m%05d: {<<: *a}\n", n/2/entry)
		}),
		"expressions": class(func(n int) string {
			return "Methods:\n  m:\n    Body:\n" + strings.Repeat("    - $.a($b + 1, c => [1, 2]).d.e\n", n/36)
		}),
		"a long expression": class(func(n int) string { return "Methods:\n  m:\n    Body: $a" + strings.Repeat(" + a", n/4) }),
		"a deep expression": class(func(n int) string {
			return "Methods:\n  m:\n    Body: $" + strings.Repeat("(", n/2) + strings.Repeat(")", n/2)
		}),
		"a contract":      class(func(n int) string { return "Properties:\n  p:\n    Contract: $" + strings.Repeat(".a()", n/4) }),
		"malformed names": class(func(n int) string { return "Extends:\n" + numbered("- a-%d\n", n/8) }),
		"brackets":        class(func(n int) string { return "Extends: [" + strings.Repeat("[], ", n/4) + "]" }),
		"a long full name": func(n int) map[string]string {
			return map[string]string{"manifest.yaml": "Format: MuranoPL/1.4\nType: Library\nDescription: x\nFullName: " + strings.Repeat("aé.", n/4)}
		},
		"a long version": func(n int) map[string]string {
			return map[string]string{"manifest.yaml": manifest + "Version: 1.2.3-" + strings.Repeat("1.", n/2) + "\n"}
		},
		"requirements": func(n int) map[string]string {
			return map[string]string{"manifest.yaml": manifest + "Require:\n" + numbered("  a.b%d: '>=1.2,<3,!=1.3.4'\n", n/30)}
		},
		"lines of many files": func(n int) map[string]string {
			files := map[string]string{"manifest.yaml": manifest}
			for i := range n / 400 {
				files[fmt.Sprintf("Classes/A%d.yaml", i)] = "a: b\n" + strings.Repeat("\n", 390)
			}
			return files
		},
		"forms": ui(func(n int) string {
			return "Version: 2\nx: &a {" + numbered("k%05d: 1, ", n/2/12) + "}\nForms:\n" + strings.Repeat("- f: *a\n", n/2/8)
		}),
		"fields": ui(func(n int) string {
			return "Version: 2\nForms:\n- f:\n    fields:\n" + strings.Repeat("    - {name: a, type: x.y, label: b}\n", n/37)
		}),
		"one field": ui(func(n int) string {
			return "Version: 2\nForms:\n- f:\n    fields:\n    - &a {" + numbered("k%05d: 1, ", n/2/12) + "}\n" +
				strings.ReplaceAll(aliases(n/18), "-", "    -")
		}),
	}
}

func checks() budgettest.Shapes {
	shapes := budgettest.Shapes{}
	for name, files := range costly() {
		shapes[name] = func(n int) func(ctx context.Context) {
			pkg := files(n)
			return func(ctx context.Context) { _, _ = murano.Run(ctx, packageOf(pkg), murano.Options{}) }
		}
	}
	return shapes
}

// Checks take as much time as they count, whatever makes them expensive.
func TestCost_steps(t *testing.T) { checks().Table(t, 100_000) } //nolint:paralleltest // it measures the process

func TestCost_laws(t *testing.T) { checks().Law(t, 400_000) } //nolint:paralleltest // it measures the process
