package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// site is a server with lists of what a command line can name.
func site(t *testing.T) *fake {
	t.Helper()
	return newFake(t, func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/sites/atl1"), "/api/v1.0/") {
		case "/sites":
			_, _ = w.Write([]byte(`{"count":2,"results":[{"name":"atl1","labels":{"wave":"1"}},{"name":"bos1","labels":{"wave":"2"}}]}`))
		case "buckets":
			_, _ = w.Write([]byte(`{"count":3,"results":[{"name":"site"},{"name":"schemas"},{"name":"with space"}]}`))
		case "revisions":
			_, _ = w.Write([]byte(`{"count":2,"results":[{"id":12,"tags":["good"]},{"id":11,"tags":["good","old"]}]}`))
		case "revisions/latest/validations":
			_, _ = w.Write([]byte(`{"count":2,"results":[{"name":"drydock"},{"name":"deckhand"}]}`))
		case "revisions/0/deepdiff/latest":
			_, _ = w.Write([]byte(`{"count":3,"results":[{"schema":"acme/X/v1","layer":"site","name":"a"},
				{"schema":"acme/X/v1","layer":null,"name":"b"},{"schema":"acme/Y/v1","layer":"global","name":"a"},
				{"schema":"acme/Y/v1","layer":"global","name":"\u001b[31m"}]}`))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
}

// The word that is being typed is completed by what the server, the configuration file or purser itself knows, at the
// place where it stands.
func TestComplete(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	f := site(t)
	inConfig(t, "current: lab\nservers: {lab: {url: '"+f.URL+"'}, live: {url: 'https://127.0.0.1:1'}}\n")
	parser, err := newParser(t.Context(), &surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"push ":                                 "schemas site",
		"push si":                               "site",
		"fleet push --sites ":                   "wave=1 wave=2",
		"fleet push --sites wave=2 --sites w":   "wave=1 wave=2",
		"push -m why s":                         "schemas site",
		"push --message why --wait=3m sc":       "schemas",
		"push site ":                            "",
		"push si --mess":                        "",
		"show --bucket s":                       "schemas site",
		"show --bucket=s":                       "--bucket=schemas --bucket=site",
		"show --bucket = s":                     "schemas site",
		"show --bucket =":                       "schemas site",
		"show --schema acme/Y":                  "acme/Y/v1",
		"show --name ":                          "a b",
		"render --layer ":                       "global site",
		"status ":                               "11 12 latest latest~1 tag:good tag:old",
		"status tag:g":                          "tag:good",
		"status tag : g":                        "good",
		"status tag :":                          "good old",
		"diff 1":                                "11 12",
		"diff 11 tag:o":                         "tag:old",
		"diff 11 -- acme/X":                     "acme/X/v1/a acme/X/v1/b",
		"diff 11 12 --document acme/X/v1/b":     "acme/X/v1/b",
		"tag ":                                  "good old",
		"tag good lat":                          "latest latest~1",
		"log --document acme/Y":                 "acme/Y/v1/a",
		"explain acme/X/v1/":                    "acme/X/v1/a acme/X/v1/b",
		"explain -r tag:old acme/Y":             "acme/Y/v1/a",
		"results post d":                        "deckhand drydock",
		"results post drydock 1":                "11 12",
		"results list --validation dr":          "drydock",
		"findings --document ":                  "a b",
		"graph --focus b":                       "b",
		"whoami --server l":                     "lab live",
		"push --server live ":                   "",
		"status --site ":                        "atl1 bos1",
		"status --site atl1 tag:g":              "tag:good",
		"status --site bos1 tag:g":              "",
		"sites show a":                          "atl1",
		"sites delete --confirm ":               "",
		"login l":                               "lab live",
		"config use la":                         "lab",
		"config remove ":                        "lab live",
		"check --select unknown-k":              "unknown-key",
		"check --format js":                     "json",
		"check --format=js":                     "--format=json",
		"events --type purser.tag":              "purser.tag.deleted purser.tag.set",
		"help pu":                               "pull puppet push",
		"help results ":                         "list post request",
		"":                                      "",
		"nonsense ":                             "",
		"push -":                                "",
		"push --nonsense x":                     "",
		"show --":                               "",
		"status --wait ":                        "",
		"status 11 12 ":                         "",
		"push --token s3cret --server=live sit": "",
	} {
		words := strings.Fields(line)
		if line == "" || strings.HasSuffix(line, " ") {
			words = append(words, "")
		}
		got := completions(t.Context(), words, parser.Model.Node)
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q (-want +got)\n%s", line, diff)
		}
	}
}

// Each argument and flag that has values has those of a kind that is known, and no place is left out: what is named
// like one that is completed elsewhere is completed too.
func TestComplete_all(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	f := site(t)
	inConfig(t, "servers: {lab: {url: '"+f.URL+"'}}\n")
	parser, err := newParser(t.Context(), &surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{
		"revision": "revisions", "before": "revisions", "after": "revisions", "bucket": "buckets", "schema": "schemas", "layer": "layers",
		"server": "servers", "tag": "tags", "validation": "validations", "focus": "names", "site": "sites",
	}
	for _, leaf := range parser.Model.Leaves(false) {
		values := slices.Clone(leaf.Positional)
		for _, flag := range leaf.Flags {
			values = append(values, flag.Value)
		}
		for _, value := range values {
			kind := value.Tag.Get("values")
			ofOther := value.Name == "site" && leaf.Parent.Name == "config" // of a server that is not the current one
			if want := kinds[value.Name]; want != "" && kind != want && !ofOther {
				t.Errorf("purser %s: %s is completed by %q, want %q", leaf.Path(), value.Name, kind, want)
			}
			if kind == "" {
				continue
			}
			if found, err := known(t.Context(), kind, strings.Fields(leaf.Path() + " x")[:1], parser.Model.Node); err != nil || len(found) == 0 && kind != "commands" {
				t.Errorf("purser %s: %s: %q, %v", leaf.Path(), value.Name, found, err)
			}
		}
	}
}

// Nothing is printed or asked if a server does not know the caller, cannot be reached or never answers, if its token
// would be readable by others, and if a program would have to be run for it.
func TestComplete_silent(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	ran := filepath.Join(t.TempDir(), "ran")
	f := accepting(t, "s3cret")
	hanging := newFake(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	inConfig(t, "servers:\n  command: {url: '"+f.URL+"', token-command: [touch, '"+ran+"']}\n"+
		"  clear: {url: 'http://192.0.2.1:9000', token-file: token}\n  gone: {url: 'http://127.0.0.1:1'}\n")
	if err := os.WriteFile(filepath.Join(filepath.Dir(configPath()), "token"), []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, server := range []string{"command", "clear", "gone", "nowhere", f.URL, hanging.URL} {
		stdout, stderr, code := purser(t, completeValues, "push", "--server", server, "")
		if stdout != "" || stderr != "" || code != 0 {
			t.Errorf("%s: exit code %d, %q, %q", server, code, stdout, stderr)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program for the token was run")
	}
	if len(f.asked) != 2 { // without a token, as the server by its URL
		t.Errorf("asked %q", f.asked)
	}
}

// bash splits words at : and =; they are put together again, and the part that it keeps is known.
func TestJoined(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"diff tag : good":         "diff tag:good|tag:",
		"diff tag :":              "diff tag:|tag:",
		"diff tag : good x":       "diff tag:good x|",
		"show --bucket = b":       "show --bucket=b|--bucket=",
		"x --server = http : //h": "x --server=http://h|--server=http:",
		"push si":                 "push si|",
		":":                       ":|",
	} {
		whole, kept := joined(strings.Fields(words))
		if got := strings.Join(whole, " ") + "|" + kept; got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
}
