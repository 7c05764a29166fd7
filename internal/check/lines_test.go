package check_test

import (
	"fmt"
	"strings"
	"testing"

	"purser/internal/check"
)

// passphrase returns an encrypted document that ends with a text.
func passphrase(end string) string {
	text := doc("deckhand/Passphrase/v1", "p", "") + end
	return strings.Replace(strings.Replace(text, "\ndata: \n", "\n", 1), "cleartext", "encrypted", 1) + "\n"
}

// A line is shown if all documents with a part in it say that they are cleartext, whatever their data is.
func TestCheck_lines(t *testing.T) {
	t.Parallel()
	const wrong = "{size: 101} # Hidden"
	widget := doc("acme/Widget/v1", "w", wrong)
	long := doc("acme/Widget/v1", "w", "{size: 101} # Hidden"+strings.Repeat(" ", 400))
	inList := func(text string) string {
		return "- " + strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(text), "---\n"), "\n", "\n  ") + "\n"
	}
	object := `{"schema": "%s", "metadata": {"schema": "metadata/Document/v1", "name": "%s", "storagePolicy": "%s", "layeringDefinition": {"layer": "site"}}, "data": %s}`
	plain, secret := fmt.Sprintf(object, "acme/Widget/v1", "w", "cleartext", `{"size": 101, "a": "Hidden"}`), fmt.Sprintf(object, "deckhand/Passphrase/v1", "p", "encrypted", `[]`)
	for name, c := range map[string]struct {
		name, text string
		shown      bool
	}{
		"cleartext":                 {"a.yaml", widget, true},
		"long":                      {"a.yaml", long, false},
		"beside an encrypted one":   {"a.yaml", passphrase("data: a") + widget + passphrase("data: b"), true},
		"encrypted":                 {"a.yaml", strings.Replace(widget, "cleartext", "encrypted", 1), false},
		"escaped":                   {"a.yaml", strings.Replace(widget, "cleartext", `"\x65ncrypted"`, 1), false},
		"misspelt":                  {"a.yaml", strings.Replace(widget, "cleartext", "encryptd # Hidden", 1), false},
		"control, misspelt":         {"a.yaml", "schema: acme/Widget/v1\nmetadata: {schema: metadata/Control/v1, name: n, storagePolcy: encrypted}\ndata: {size: 101} # Hidden\n", false},
		"control":                   {"a.yaml", "schema: acme/Widget/v1\nmetadata: {schema: metadata/Control/v1, name: n}\ndata: {size: 101} # Hidden\n", true},
		"encrypted and no more":     {"a.yaml", strings.Replace(widget, "storagePolicy: cleartext", "storagePolicy: encrypted, storagePolicy: cleartext", 1), false},
		"a --- is missing":          {"a.yaml", passphrase("data: a") + strings.Replace(widget, "---", "#", 1), false},
		"not YAML":                  {"a.yaml", widget + "b: [ # Hidden\n", false},
		"a stray key":               {"a.yaml", widget + "datta: Hidden\n", false},
		"data under another key":    {"a.yaml", strings.Replace(widget, "data:", "dta:", 1), false},
		"a wrong name":              {"a.yaml", strings.Replace(widget, "name: w", "name: 5", 1) + "# Hidden\n", true},
		"of a list":                 {"a.yaml", inList(widget), true},
		"of a list with a secret":   {"a.yaml", inList(passphrase("data: [] # Hidden")) + inList(widget), true},
		"with directives":           {"a.yaml", "%TAG ! tag:x\n" + widget, true},
		"directives and a secret":   {"a.yaml", "%TAG ! tag:x\n" + passphrase("data: ~ # Hidden"), false},
		"JSON":                      {"a.json", "[" + plain + "]", true},
		"JSON in one line":          {"a.json", "[" + plain + ", " + secret + "]", false},
		"JSON, a line for two":      {"a.json", "[" + secret[:20] + "\n" + secret[20:] + ", " + plain + "]", false},
		"a comment as a passphrase": {"a.yaml", passphrase("data: #Hidden"), false},
		"an anchor":                 {"a.yaml", passphrase("data: &Hidden"), false},
		"null and a comment":        {"a.yaml", passphrase("data: ~ # Hidden"), false},
		"a list and a comment":      {"a.yaml", passphrase("data: [] # Hidden"), false},
		"a tag and a comment":       {"a.yaml", passphrase("data: !!null # Hidden"), false},
		"twice":                     {"a.yaml", passphrase("data: Hidden\ndata: Hidden"), false},
		"an encrypted neighbour":    {"a.yaml", widget + passphrase("data: #Other"), true},
	} {
		report := run(t, check.New(check.Options{}), file("schemas.yaml", layers+widgets), file(c.name, c.text))
		shown := false
		for _, f := range report.Findings {
			if shown = shown || f.File == c.name && f.Source != ""; strings.Contains(f.Source, "Other") {
				t.Errorf("%s: shown is %q", name, f.Source)
			}
		}
		if shown != c.shown || strings.Contains(fmt.Sprintf("%+v", report), "Hidden") && !c.shown {
			t.Errorf("%s: shown is %v in %+v", name, shown, report.Findings)
		}
	}
}

// A null in an encrypted document where a text was probably written is a warning, which does not quote the text.
func TestCheck_unquoted(t *testing.T) {
	t.Parallel()
	key := func(end string) string {
		return strings.Replace(doc("acme/Key/v1", "k", ""), "\ndata: ", "\n"+end, 1)
	}
	for end, want := range map[string]string{
		"data: #Hidden":                          "8:6 '#'",
		"data: &Hidden":                          "8:7 '&'",
		"data: !!null":                           "8:7 '!'",
		"data:\n  a: 1\n  b: #Hidden\n  c: x":    "10:5 '#'",
		"data:\n- a: #Hidden\n- - b: &x":         "9:5 '#' 10:8 '&'",
		"data: ~ # Hidden":                       "",
		"data: {} # Hidden":                      "",
		"data: # a comment":                      "",
		"data: #Hidden\n  a: 1":                  "",
		"data: |\n  a: #Hidden":                  "",
		"data: \"#Hidden\"":                      "",
		"data:\n  a:\n  # b: #Hidden\n  c: null": "",
	} {
		text := strings.Replace(key(end), "cleartext", "encrypted", 1)
		var got []string
		for _, f := range run(t, check.New(check.Options{}), file("a.yaml", layers+text)).Findings {
			if f.Rule == "unquoted" {
				got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Column, strings.Fields(f.Message)[7]))
			}
			if strings.Contains(fmt.Sprintf("%+v", f), "Hidden") {
				t.Errorf("%s: %+v", end, f)
			}
		}
		if joined := strings.Join(got, " "); joined != want {
			t.Errorf("%q: %s, want %s", end, joined, want)
		}
		for _, f := range run(t, check.New(check.Options{}), file("a.yaml", layers+key(end))).Findings {
			if f.Rule == "unquoted" {
				t.Errorf("%q in cleartext: %+v", end, f)
			}
		}
	}
}

// Keys that are not a document's are warnings at the key, also in encrypted documents, which keep them secret.
func TestCheck_strayKeys(t *testing.T) {
	t.Parallel()
	secret := strings.Replace(doc("acme/Widget/v1", "s", "{a: 1}"), "cleartext", "encrypted", 1) + "id: 1\nHidden: {\n"
	report := run(t, check.New(check.Options{}), file("a.yaml", layers+widgets+doc("acme/Widget/v1", "w", "{}")+"datta: {x: Hidden}\n"+secret+
		"}\n"+doc("acme/Widget/v1", "v", "{}")+"'': 1\nDATA: 2\n"))
	var got []string
	for _, f := range report.Findings {
		got = append(got, fmt.Sprintf("%d:%d %v %s %s %s", f.Line, f.Column, f.Level, f.Rule, f.Path, f.Message))
	}
	want := []string{
		"13:1 warning unknown-key .datta The key 'datta' is not kept: a document has only schema, metadata and data; did you mean data?",
		"19:1 warning unknown-key  A key is not kept, or has no effect; it is not named here, because the document is encrypted",
		"25:1 warning unknown-key . The key '' is not kept: a document has only schema, metadata and data",
		"26:1 warning unknown-key .DATA The key 'DATA' is not kept: a document has only schema, metadata and data; did you mean data?",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
