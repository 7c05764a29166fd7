package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"purser/internal/words"
)

// Colours stay on a terminal that has them, and nothing else that controls it.
func TestScreen(t *testing.T) {
	t.Parallel()
	const text = "\x1b[31m-a\x1b[m \x1b]0;t\a\x1b[2J\x1b \u202e ⟨U+001B⟩[31m\n"
	const rest = " ⟨U+001B⟩]0;t⟨U+0007⟩⟨U+001B⟩[2J⟨U+001B⟩ ⟨U+202E⟩ ⟨U+001B⟩[31m\n"
	for colors, want := range map[bool]string{
		true: "\x1b[31m-a\x1b[m" + rest, false: "⟨U+001B⟩[31m-a⟨U+001B⟩[m" + rest,
	} {
		var out bytes.Buffer
		if n, err := (screen{&out, colors}).Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("colours %v (-want +got):\n%s", colors, diff)
		}
	}
}

// All commands print printable text, whatever names and messages the server, files and arguments have.
func TestRun_hostile(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;t\a\u0085\u2028\u2066\u200f\u202e\u200b\r"
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	answer := strings.ReplaceAll(`{"count":1,"id":1,"stamp":NAME,"message":NAME,"kind":NAME,"status":NAME,"error":NAME,
		"details":{"errorType":NAME,"messageList":[{"message":NAME}]},
		"results":[{"id":1,"name":NAME,"user":NAME,"message":NAME,"kind":NAME,"schema":NAME,"status":NAME,"tags":[NAME],
		"buckets":[NAME],"metadata":{"name":NAME}}],"events":[],"user":{"id":NAME,"name":NAME},"rules":[NAME],
		"nodes":[{"name":NAME}],"problems":[{"message":NAME}],"findings":[{"message":NAME,"validation":NAME,"level":NAME}]}`,
		"NAME", string(quoted))
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a\x1b\u202e.yaml"), []byte("schema: a\u202e\nmetadata: {name: \"b\\e\"}\n\u0007"), 0o600); err != nil {
		t.Fatal(err)
	}
	var around surroundings
	parser, err := newParser(t.Context(), &around)
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{http.StatusOK, http.StatusConflict} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, answer)
		})
		for _, leaf := range parser.Model.Leaves(true) {
			if path := leaf.Path(); path == "completion" || path == "man" {
				continue
			}
			args := strings.Fields(leaf.Path())
			for _, argument := range leaf.Positional {
				given, known := map[string]string{"document": "acme/Host/v1/" + hostile, "path": folder, "dir": t.TempDir()}[argument.Name]
				if !known {
					given = "1"
				}
				args = append(args, given)
			}
			if slices.ContainsFunc(leaf.Flags, func(flag *kong.Flag) bool { return flag.Name == "server" }) {
				args = append(args, "--server", f.URL)
			}
			for _, more := range [][]string{nil, {"--" + hostile}, {"-o", "json"}} {
				stdout, stderr, _ := purser(t, append(slices.Clone(args), more...)...)
				for _, text := range []string{stdout, stderr} {
					if text != words.Printable(text) {
						t.Errorf("%q prints %q", args, text)
					}
				}
			}
		}
	}
}
