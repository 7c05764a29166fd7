package murano_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/murano"
)

// manifest is the manifest of a library, for which no other files are required.
const manifest = "Format: MuranoPL/1.4\nType: Library\nFullName: a.B\nDescription: x\n"

// packageOf returns a package with files.
func packageOf(files map[string]string) *murano.Package {
	pkg := &murano.Package{Files: map[string]*murano.File{}}
	for name, text := range files {
		pkg.Files[name] = &murano.File{Raw: []byte(text), Size: int64(len(text))}
	}
	return pkg
}

// check returns the issues of files, with lines and columns that count from 1.
func check(t *testing.T, files map[string]string) (issues []string) {
	t.Helper()
	report, err := murano.Run(t.Context(), packageOf(files), murano.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range report.Issues {
		place := i.File
		if i.Located {
			place = fmt.Sprintf("%s:%d:%d", i.File, i.Line+1, i.Column+1)
		}
		issues = append(issues, strings.TrimSpace(place+" "+i.Code+" "+i.Message))
	}
	return issues
}

func TestRun_manifest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		manifest: nil,
		"":       {"manifest.yaml E004 The file holds no document"},
		"- a":    {"manifest.yaml:1:1 E004 The document is not a mapping"},
		"a: [":   {"manifest.yaml:2:1 E002 Yaml Error: a value is missing, or begins with a character that must be quoted"},
		"Type: Library\nFullName: a.B": {
			"manifest.yaml:1:1 MAN:W075 Missing key \"Description\"",
		},
		"Description: x": {
			`manifest.yaml:1:1 E020 Missing required key "FullName"`, `manifest.yaml:1:1 E020 Missing required key "Type"`,
			`manifest.yaml MAN:W073 There is no UI file "ui.yaml"`, `manifest.yaml MAN:W074 There is no Logo file "logo.png"`,
		},
		manifest + "Require: {a.B: 1.2, a.C: '>=1 <2', a-b: ~}\nTags: [a, 1]\nVersion: v1\nClasses: {a: [], b-c: x}\nNew: 1\nName: 2\nName: y": {
			`manifest.yaml:5:26 MAN:E008 Version of "a.C" is not valid: ">=1<2" is not a condition such as 1.2, >=1.2 or ~=1.2`,
			`manifest.yaml:5:36 MAN:E007 Require key is not valid FQN "a-b"`,
			`manifest.yaml:6:11 MAN:E077 Tag "1" is not a string`,
			`manifest.yaml:7:10 MAN:E075 Version format should be compatible with SemVer not "v1"`,
			`manifest.yaml:8:14 MAN:E052 File of class "a" is not a string`,
			`manifest.yaml:8:18 MAN:E051 Key of Classes is not valid FQN "b-c"`,
			`manifest.yaml:8:23 MAN:E050 File "x" is present in Manifest, but not in filesystem`,
			`manifest.yaml:9:1 W010 Unknown keyword "New"`,
			`manifest.yaml:11:1 W012 Key "Name" appears twice; the last value counts`,
		},
	} {
		got := check(t, map[string]string{"manifest.yaml": text, "LICENSE": ""})
		if !slices.Equal(got, want) {
			t.Errorf("%q:\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestRun_classes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Namespaces: {=: a}\nName: B": nil,
		"Name: a.B\nExtends: [x:Y, ':Z']\nMeta: [a.M, {b.N: 1}, 3]\nUsage: Other\nInherited: yes": {
			`2:11 MPL:E061 Unknown namespace prefix "x"`,
			`3:23 E041 Meta should be a type name, a one-key mapping or a list of those, not "3"`,
			`4:8 MPL:E032 Wrong Usage of a class "Other"`,
		},
		"Name: a.B\nProperties: {x: {Contract: [$.string().notNul(), $.check(foo($)), $.x.int(), $.f($) + 1]}}": {
			`2:29 MPL:W050 Contracts have no function "notNul"`,
		},
		"Name: a.B\nMethods: {m: {Usage: Action, Scope: Session, Arguments: [{a: {Usage: VarArgs}}, {b: {Usage: VarArgs}}]}}": {
			`2:22 MPL:W045 Usage "Action" is deprecated since 1.4`,
			`2:37 MPL:W059 Murano refuses Usage: Action with Scope: Session`,
			`2:81 MPL:W058 Murano refuses this order: arguments with the usage Standard, one VarArgs, one KwArgs`,
		},
		"Name: a.B\nMethods: {m: {Arguments: [{a: {}}, {b: {Usage: KwArgs}}, {c: {Usage: Standard}}]}}": {
			`2:58 MPL:W058 Murano refuses this order: arguments with the usage Standard, one VarArgs, one KwArgs`,
		},
		"Name: a.B\nMethods: {m: {Arguments: [{a: {}}, {b: {Usage: VarArgs}}, {c: {Usage: KwArgs}}]}}": nil,
		"Name: a.B\nMethods: ~":        nil,
		"Name: a.B\nMethods: ''":       {"2:10 MPL:E046 Methods are not a dict"},
		"Name: a.B\nMethods: false":    {"2:10 MPL:E046 Methods are not a dict"},
		"Name: a.B\nUsage: 2016-01-01": {`2:8 MPL:E032 Wrong Usage of a class "2016-01-01"`},
		"Name: a.B\nMethods: {m: {Arguments: [{x: {Contract: , Usage: ''}}, {y: {Contract: 0}}, {z: {Contract: 1}}]}}": {
			`2:92 MPL:W048 Contract is not valid yaql "1"`,
		},
		"Name: a.B\nCardinality: One": {"2:14 MPL:W032 Cardinality has a meaning in classes with Usage: Meta only"},
		"Name: a.B\n---\nMethods: {}": {"3:1 MPL:E013 One of several classes in a file has no Name"},
		"Name: a.C": {
			"1:7 MPL:W012 Class a.C is not named in the manifest", "manifest.yaml:5:11 MPL:E012 Class a.B is not declared in Classes/B.yaml",
		},
		"Name: a.B\nProperties: {x: {Contract: [bad(, 1]}, y: 5}": {
			`2:29 MPL:W049 Contract is not valid yaql "bad("`, `2:43 MPL:E057 Property "y" should be a dict`,
		},
		"Name: a.B\nWorkflow: {m: {Body: [foo, $this: 1, {Return: $.(}, {$x: [$y)]}, {Match: 1, Value: 1}]}}": {
			`2:1 MPL:W033 Workflow is a legacy name of Methods`,
			`2:23 MPL:W204 "foo" is a string for Murano, not an expression: it cannot be run`,
			`2:28 MPL:W205 "$this" cannot be assigned to`,
			`2:47 MPL:W203 "$.(" is a string, because it is not valid yaql`,
			`2:59 MPL:W203 "$y)" is a string, because it is not valid yaql`,
			`2:74 MPL:E206 Value of "1" should be a mapping`,
			`2:84 MPL:W202 "1" is not valid yaql expression`,
		},
		"Name: a.B\nMethods: {m: {Body: {Return: !yaql '$.('}}}": {`2:30 MPL:W202 "$.(" is not valid yaql expression`},
	} {
		got := check(t, map[string]string{
			"manifest.yaml": manifest + "Classes: {a.B: B.yaml}", "LICENSE": "", "Classes/B.yaml": text,
		})
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], "Classes/B.yaml:")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q:\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestRun_formats(t *testing.T) {
	t.Parallel()
	class := "Name: a.B\nProperties: {x: {Contract: $, Usage: Config}, y: {Contract: $, Usage: Static}}\n" +
		"Methods: {m: {Scope: Public, Usage: Static, Arguments: [{x: {Contract: $, Usage: Standard}}]}, n: {Usage: Action}}"
	for format, want := range map[string]string{
		"MuranoPL/1.0": "E043 E056 E043 W045 E052", "MuranoPL/1.1": "E043 E056 W045 E052", "1.2": "E056 W045 E052",
		"MuranoPL/1.3": "E056 E052", "MuranoPL/1.4": "W045", "MuranoPL/1.10": "W031 W045", "MuranoPL/v2": "W031 W045",
		"MuranoPL/": "W031 E043 E056 E043 W045 E052", "MuranoPL/2.0": "W031 W045", "Heat.HOT/1.0": "W030",
	} {
		var codes []string
		for _, issue := range check(t, map[string]string{
			"manifest.yaml": strings.Replace(manifest, "MuranoPL/1.4", "'"+format+"'", 1) + "Classes: {a.B: B.yaml}", "LICENSE": "",
			"Classes/B.yaml": class,
		}) {
			_, code, _ := strings.Cut(strings.Fields(issue)[1], ":")
			codes = append(codes, code)
		}
		slices.Sort(codes)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if !slices.Equal(codes, wanted) {
			t.Errorf("%s: %v, want %v", format, codes, wanted)
		}
	}
}

func TestRun_ui(t *testing.T) {
	t.Parallel()
	field := func(attributes string) string {
		return "Version: 2.2\nApplication: {}\nForms: [{f: {fields: [{name: a, type: string, " + attributes + "}]}}]"
	}
	for text, want := range map[string][]string{
		field("required: true, min_length: 3"): nil,
		"Version: 1.0\nApplication: {}\nForms: []": {
			`1:10 UI:W104 The dashboard does not read form definitions of version "1.0", but of 2 to 2.4`,
		},
		"Version: 2": {
			`1:1 UI:E020 Missing required key "Application"`, `1:1 UI:E020 Missing required key "Forms"`,
		},
		field("confirmInput: yes, other: 1"): {
			"3:47 UI:W103 Attribute confirmInput is available since version 2.3", `3:66 UI:W102 Unknown attribute "other"`,
		},
		field("initial: !yaql '$.('"): {`3:56 UI:E101 "$.(" is not valid yaql expression`},
		field("initial: $.(, required: $.x"): {
			`3:56 UI:W101 "$.(" is a string, because it is not valid yaql`, `3:61 UI:E081 Value of required should be boolean not "$.x"`,
		},
		field("validators: [{expr: 'a:b'}, {}]"):                                                            {`3:67 UI:E101 "a:b" is not valid yaql expression`, `3:75 UI:E085 A validator should be a mapping with "expr"`},
		"Application: {}\nForms: [a, {b: }, {c: {}}]\nNew: 1":                                               {`2:9 UI:E085 A form should be a one-key mapping of its name to a mapping`, `2:12 UI:E085 A form should be a one-key mapping of its name to a mapping`, `2:23 UI:E085 The fields of a form should be a list`, `3:1 W010 Unknown keyword "New"`},
		"Application: {}\nForms: [{f: {fields: [{name: a, type: integer, minValue: $.x, required: $.y}]}}]": nil,
		"Application: {}\nForms: [{f: {fields: [{name: a, minValue: x}]}}]":                                 {`2:23 UI:E085 A field has no "type"`, `2:33 UI:E082 Value of minValue should be int not "x"`},
	} {
		got := check(t, map[string]string{"manifest.yaml": manifest, "LICENSE": "", "UI/ui.yaml": text})
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], "UI/ui.yaml:")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q:\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestRun_options(t *testing.T) {
	t.Parallel()
	files := map[string]string{"manifest.yaml": "Type: Library\nFullName: 5\nNew: 1", "extra": "", "UI/ui.yaml": "New: 1\nApplication: {}\nForms: []"}
	for want, o := range map[string]murano.Options{
		"MAN:E073":                   {Select: []string{"E073"}},
		"MAN:E073 PKG:W121":          {Select: []string{"MAN:E073", "W121", "PKG:E073"}},
		"MAN:W075 PKG:W120 PKG:W121": {Ignore: []string{"W010", "E073"}},
		"W010 ":                      {Scope: []string{"ui"}},
		"PKG:W120 PKG:W121 W010":     {Scope: []string{"ui", "package"}},
		"W010":                       {Select: []string{"W010", "W121"}, Ignore: []string{"PKG:W121"}},
		"":                           {Scope: []string{"class"}},
		"E000":                       {Validators: []murano.Validator{{Name: "broken", Run: func(*murano.Check) { panic("broken") }}}},
		"MAN:E073 MAN:W075 PKG:W120 PKG:W121 W010": {},
	} {
		report, err := murano.Run(t.Context(), packageOf(files), o)
		if err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, issue := range report.Issues {
			codes = append(codes, issue.Code)
		}
		slices.Sort(codes)
		codes = slices.Compact(codes)
		if got := strings.Join(codes, " "); got != strings.TrimSpace(want) {
			t.Errorf("%+v: %s, want %s", o, got, want)
		}
	}
}

func TestRun_sources(t *testing.T) {
	t.Parallel()
	report, err := murano.Run(t.Context(), packageOf(map[string]string{
		"manifest.yaml": "\ufeffType: Library\r\nFullName: 5\rTags:\u2028  é", "LICENSE": "",
	}), murano.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, issue := range report.Issues {
		got = append(got, fmt.Sprintf("%s %d:%d %s", issue.Code, issue.Line, issue.Column, issue.Source))
	}
	want := []string{"MAN:W075 0:0 Type: Library", "MAN:E073 1:10 FullName: 5", "MAN:E070 3:2   é"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRun_bounded checks that the check of hostile files ends within the budget.
func TestRun_bounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("Name: a.B\nx0: &x0 [foo, foo]\n")
	for i := range 40 {
		fmt.Fprintf(&b, "x%d: &x%d [*x%d, *x%d, *x%d]\n", i+1, i+1, i, i, i)
	}
	laughs := b.String()
	for name, text := range map[string]string{
		"laughs in a body":     laughs + "Methods: {m: {Body: *x40}}",
		"laughs in a contract": laughs + "Properties: {m: {Contract: *x40}}",
		"laughs in a value":    laughs + "Methods: {m: {Body: {$x: *x40}}}",
		"many issues":          "Name: a.B\nMethods: {m: {Body: [" + strings.Repeat("$(,", 200_000) + "]}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := budget.NewPool(1, time.Minute).Begin(context.Background())
			defer end()
			report, err := murano.Run(ctx, packageOf(map[string]string{"manifest.yaml": manifest, "Classes/B.yaml": text}), murano.Options{})
			if _, ok := errors.AsType[*budget.Exceeded](err); err != nil && !ok {
				t.Fatal(err)
			}
			if err == nil && (len(report.Issues) != 10_001 || !slices.ContainsFunc(report.Issues, func(i murano.Issue) bool { return i.Code == "E003" })) {
				t.Errorf("%d issues", len(report.Issues))
			}
		})
	}
}

// TestCodes checks the form of the codes.
func TestCodes(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, code := range murano.CodesOf(murano.Builtin()) {
		prefix, number, _ := strings.Cut(":"+code.Code, ":")
		if seen[code.Code] || len(code.Code) < 4 || !strings.ContainsAny(number[:1]+prefix, "EWMUP") || code.Description == "" {
			t.Errorf("%+v", code)
		}
		seen[code.Code] = true
	}
	reported := map[string]bool{}
	for _, file := range []string{"check.go", "manifest.go", "layout.go", "class.go", "member.go", "body.go", "ui.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`\.(?:atf|aboutf|exists|contract)\(.*?"([A-Z:]*\d{3})"`).FindAllStringSubmatch(string(text), -1) {
			if !seen[found[1]] {
				t.Errorf("%s reports %s, which no validator declares", file, found[1])
			}
			reported[found[1]] = true
		}
	}
	if len(reported) < 70 {
		t.Errorf("only %d codes were found in the sources", len(reported))
	}
}

// TestRun_otherNames checks that the files of classes named in the manifest must be YAML whatever their extension is.
func TestRun_otherNames(t *testing.T) {
	t.Parallel()
	got := check(t, map[string]string{
		"manifest.yaml": manifest + "Classes: {a.B: B.yml, a.C: C.yml, a.D: none.txt}", "LICENSE": "",
		"Classes/B.yml": "Name: [", "Classes/C.yml": "New: a.C", "Classes/other.yml": "[",
	})
	want := []string{
		`Classes/other.yml MAN:W020 File "other.yml" is not present in Manifest, but it is in filesystem`,
		`manifest.yaml:5:16 MAN:E053 File "B.yml" is not YAML, and its name does not end with .yaml: a value is missing, or begins with a character that must be quoted`,
		`manifest.yaml:5:40 MAN:E050 File "none.txt" is present in Manifest, but not in filesystem`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
