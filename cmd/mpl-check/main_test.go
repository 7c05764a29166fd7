package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"purser/internal/document"
	"purser/internal/murano"
)

// write writes files below a folder.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		syscall.ForkLock.RLock() // a program started meanwhile would have the file open, and a script could not be run
		err := os.WriteFile(path, []byte(text), mode)
		syscall.ForkLock.RUnlock()
		if err != nil {
			t.Fatal(err)
		}
	}
}

const (
	good = "Type: Library\nFullName: a.B\nDescription: x\n"
	bad  = good + "Classes: {a.B: B.yaml}\nNew: 1\n"
)

// site returns a folder of packages: good, bad, warned (with warnings only), and bundle.zip.
func site(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	var inner, outer bytes.Buffer
	w := zip.NewWriter(&inner)
	part, err := w.Create("manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write([]byte("Type: 1"))
	_ = w.Close()
	w = zip.NewWriter(&outer)
	if part, err = w.Create("one.zip"); err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write(inner.Bytes())
	_ = w.Close()
	write(t, folder, map[string]string{
		"good/manifest.yaml": good, "good/LICENSE": "", "bad/manifest.yaml": bad, "bad/LICENSE": "",
		"bad/Classes/B.yaml": "Name: B\n\tx", "deep/er/manifest.yaml": good, ".hidden/manifest.yaml": bad, "text": "x",
		"bundle.zip": outer.String(),
	})
	return folder
}

// runIn runs the program. FOLDER in arguments stands for a folder.
func runIn(t *testing.T, folder, args string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), strings.Fields(strings.ReplaceAll(args, "FOLDER", folder)), &out, &errs)
	return strings.ReplaceAll(out.String(), folder, "FOLDER"), strings.ReplaceAll(errs.String(), folder, "FOLDER"), code
}

func TestRun(t *testing.T) {
	t.Parallel()
	folder := site(t)
	for args, c := range map[string]struct {
		code int
		want string // in the output
	}{
		"FOLDER/good":                             {ok, "No errors found!\n"},
		"FOLDER/deep/er":                          {ok, `PKG:W121 Missing "LICENSE" in the package`},
		"FOLDER/deep/er --strict":                 {found, `PKG:W121 Missing "LICENSE" in the package`},
		"FOLDER/deep/er --strict --ignore W121":   {ok, "No errors found!"},
		"FOLDER/deep/er --strict -s E001,W012":    {ok, "No errors found!"},
		"FOLDER/bad":                              {found, "manifest.yaml:5:1: W010 Unknown keyword \"New\"\n    New: 1\n    ^\n"},
		"FOLDER/bad -i E002,W010":                 {ok, "No errors found!"},
		"FOLDER/bad --scope=ui,package":           {ok, "No errors found!"},
		"FOLDER/bad -l class":                     {found, "Classes/B.yaml:2:1: E002 Yaml Error"},
		"FOLDER --discover":                       {found, "Errors in package FOLDER/bad\n"},
		"FOLDER/none --discover":                  {unusable, "no such file"},
		"FOLDER/good --discover":                  {unusable, "nothing was checked: there is no package below FOLDER/good"},
		"FOLDER/good --plugin-dir FOLDER/good":    {unusable, "there is no program in FOLDER/good"},
		"FOLDER --discovery --strict -s PKG:W121": {found, "FOLDER/deep/er\nPKG:W121"},
		"FOLDER/bad/manifest.yaml":                {ok, `manifest.yaml:5:1: W010`},
		"FOLDER/bundle.zip":                       {found, "MAN:E001"},
		"FOLDER/bundle.zip --nested":              {found, `MAN:E071 Type is invalid "1"`},
		"FOLDER/none":                             {unusable, "no such file"},
		"FOLDER/text":                             {unusable, "not a zip archive"},
		"":                                        {unusable, "name a package"},
		"FOLDER/good --select E9":                 {unusable, `no code "E9"`},
		"FOLDER/good --scope all":                 {unusable, `no validator "all"; there are manifest, class, ui, package`},
		"FOLDER/good --format markdown":           {unusable, "only codes"},
		"FOLDER/good --nope":                      {unusable, "unknown flag --nope"},
		"FOLDER/good --output FOLDER/none/x":      {unusable, "no such file"},
		"--list-codes":                            {ok, "MPL:W048   a contract is not an expression on $"},
		"--list-codes --format sarif":             {unusable, "codes are listed as"},
		"--version":                               {ok, "development"},
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := runIn(t, folder, args)
			if code != c.code || !strings.Contains(stdout+stderr, c.want) {
				t.Errorf("exit %d, want %d\n%s%s", code, c.code, stdout, stderr)
			}
		})
	}
}

func TestRun_formats(t *testing.T) {
	t.Parallel()
	folder := site(t)
	for _, format := range []string{"json", "yaml", "sarif", "junit"} {
		_, stderr, code := runIn(t, folder, "FOLDER/bad --output FOLDER/out."+format+" --format "+format)
		text, err := os.ReadFile(filepath.Join(folder, "out."+format))
		if code != found || stderr != "" || err != nil {
			t.Fatalf("exit %d, %s, %v", code, stderr, err)
		}
		switch format {
		case "json", "yaml":
			value, err := document.ParseOne(t.Context(), text, document.YAML, document.DefaultLimits())
			list, isList := value.([]any)
			if err != nil || !isList || len(list) != 2 {
				t.Fatalf("%v\n%s", err, text)
			}
			last := string(document.AppendJSON(nil, list[1]))
			if want := `"filename":"manifest.yaml","line":4,"column":0`; !strings.Contains(last, want) {
				t.Errorf("%s, want %s", last, want)
			}
		case "sarif":
			var log struct {
				Runs []struct {
					Results []struct {
						RuleID string `json:"ruleId"`
					} `json:"results"`
				} `json:"runs"`
			}
			if err := json.Unmarshal(text, &log); err != nil || len(log.Runs) != 1 || len(log.Runs[0].Results) != 2 {
				t.Errorf("%v\n%s", err, text)
			}
		case "junit":
			var suites struct {
				Suites []struct {
					Failures int `xml:"failures,attr"`
				} `xml:"testsuite"`
			}
			if err := xml.Unmarshal(text, &suites); err != nil || len(suites.Suites) != 1 || suites.Suites[0].Failures != 2 {
				t.Errorf("%v\n%s", err, text)
			}
			if !strings.Contains(string(text), ` errors="0"`) { // which the schema of Jenkins requires
				t.Errorf("no number of errors:\n%s", text)
			}
		}
	}
}

func TestRun_plugins(t *testing.T) {
	t.Parallel()
	describe := func(name, code string) string {
		return "#!/bin/sh\nif [ \"$1\" = --describe ]; then echo '{\"name\":\"" + name + "\",\"codes\":[{\"code\":\"" + code +
			"\",\"description\":\"x\"}]}'; exit; fi\n"
	}
	for name, c := range map[string]struct {
		script string
		code   int
		want   string
	}{
		"finds": {
			describe("acme", "ACME:W001") + `grep -q '"text":"Type: Library' && echo '{"issues":[{"code":"ACME:W001","message":"no!","file":"manifest.yaml","line":2,"column":3}]}'`,
			ok, "manifest.yaml:2:3: ACME:W001 no!\n    FullName: a.B\n      ^",
		},
		"another code":        {describe("acme", "ACME:W001") + `echo '{"issues":[{"code":"ACME:E002"}]}'`, found, "E000 Plugin acme reports the code \"ACME:E002\""},
		"fails":               {describe("acme", "ACME:W001") + "echo why >&2; exit 1", found, "E000 Plugin acme failed: exit status 1: why"},
		"no JSON":             {describe("acme", "ACME:W001") + "echo why", found, "E000 Plugin acme failed: its output"},
		"endless":             {describe("acme", "ACME:W001") + "yes", found, "E000 Plugin acme failed: it writes more than"},
		"a prefix of another": {describe("acme", "MPL:W001"), unusable, `"MPL:W001" should have a prefix of its own`},
		"a code without":      {describe("acme", "W001"), unusable, "should have a prefix of its own"},
		"a name of another":   {describe("ui", "ACME:W001"), unusable, `there is another validator "ui"`},
		"no description":      {"#!/bin/sh\nexit 3\n", unusable, "plugin p: exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := site(t)
			write(t, folder, map[string]string{"plugins/p": c.script, "plugins/readme": "no program"})
			stdout, stderr, code := runIn(t, folder, "FOLDER/good --plugin-dir FOLDER/plugins")
			if code != c.code || !strings.Contains(stdout+stderr, c.want) {
				t.Errorf("exit %d, want %d\n%s%s", code, c.code, stdout, stderr)
			}
		})
	}
}

// An empty list, as of an unset variable, is refused: it would select nothing, and so find nothing.
func TestRun_emptyLists(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--scope", "--select", "--ignore"} {
		_, stderr, code := runIn(t, t.TempDir(), flag+"= FOLDER")
		if code != unusable || !strings.Contains(stderr, flag+" must not be empty") {
			t.Errorf("%s: exit code %d, %q", flag, code, stderr)
		}
	}
}

// The help lists each validator.
func TestHelp_scope(t *testing.T) {
	t.Parallel()
	stdout, _, _ := runIn(t, t.TempDir(), "--help")
	var names []string
	for _, v := range murano.Builtin() {
		names = append(names, v.Name)
	}
	if help := strings.Join(strings.Fields(stdout), " "); !strings.Contains(help, strings.Join(names, ", ")+", or those of plugins") {
		t.Errorf("the help does not list %v:\n%s", names, help)
	}
}

// TestCodes holds docs/murano-codes.md to the codes. It is written with UPDATE=1.
func TestCodes(t *testing.T) {
	t.Parallel()
	stdout, _, _ := runIn(t, t.TempDir(), "--list-codes --format markdown")
	const path = "../../docs/murano-codes.md"
	want := "# Codes of Murano packages\n\nWhat `mpl-check` and the server report about [packages](murano.md). This page is the output of\n" +
		"`mpl-check --list-codes --format markdown`.\n\n" + stdout
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(want, "| MPL:W048 | warning | a contract is not an expression on $ | W048 |\n") {
		t.Errorf("no row of MPL:W048 in\n%s", want)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is not up to date (%v); UPDATE=1 go test ./cmd/mpl-check writes it", path, err)
	}
}
