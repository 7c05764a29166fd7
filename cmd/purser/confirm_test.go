package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/cmd/purser/internal/folder"
	"purser/internal/client"
	"purser/internal/document"
)

// deletions is a server that counts the requests that delete something.
func deletions(t *testing.T) (server *fake, deleted *atomic.Int32) {
	t.Helper()
	deleted = new(atomic.Int32)
	return newFake(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		prunes := strings.HasSuffix(r.URL.Path, "/prune")
		changes := r.Method == http.MethodPut && !strings.HasPrefix(r.URL.Path, "/sites/") || strings.Contains(r.URL.Path, "/rollback/")
		w.Header().Set("ETag", `"3-abc"`)
		w.Header().Set("Purser-Revision", "4")
		switch {
		case prunes && q.Get("dry-run") == "true":
			io.WriteString(w, `{"dryRun":true,"revisions":{"count":2,"ranges":[{"first":1,"last":2}]}}`)
		case changes && q.Get("dry-run") == "true":
			io.WriteString(w, `{"changed":true,"changes":{"deleted":1},"documents":[
				{"change":"deleted","bucket":"b","schema":"deckhand/ValidationPolicy/v1","layer":null,"name":"gate"}]}`)
		case changes && q.Get("max-deleted") == "0":
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, `{"kind":"Status","message":"The change would delete more documents (1) than max-deleted allows (0): `+
				`[deckhand/ValidationPolicy/v1] gate.","details":{"errorType":"TooManyDeleted"}}`)
		case prunes, changes, r.Method == http.MethodDelete:
			deleted.Add(1)
			fmt.Fprint(w, `{"id":4,"findings":[]}`)
		case strings.HasSuffix(r.URL.Path, "/whoami"):
			io.WriteString(w, `{"rules":["deckhand:list_encrypted_documents"]}`)
		case strings.HasSuffix(r.URL.Path, "/documents"):
			if r.URL.Query().Get("form") == "submitted" {
				w.Header().Set("Content-Type", "text/plain")
				w.Write(document.AppendFile(nil, document.File{
					Bucket: "site", Text: []byte("schema: acme/Host/v1\nmetadata: {name: x}\ndata: 1\n"),
				}))
				return
			}
			io.WriteString(w, `[{"schema":"acme/Host/v1","metadata":{"name":"x"},"data":1,"status":{"bucket":"site"}}]`)
		default:
			io.WriteString(w, `{"id":3,"revision":3,"status":"success","results":[],"events":[]}`)
		}
	}), deleted
}

// Each command is here. One that deletes does so only with --yes, or once it was confirmed on a terminal; all others
// delete nothing. FILE, DIR and CATALOG stand for paths, and --yes is added to the commands that have it.
func TestCommands_delete(t *testing.T) {
	t.Parallel()
	commands := map[string]struct{ args, asks string }{ // asks is part of the question; "" if nothing is deleted
		"push":     {"push b FILE", "Delete 1 document, a ValidationPolicy among them?"},
		"rollback": {"rollback 1", "Roll back to revision 1 and delete 1 document, a ValidationPolicy among them?"},
		"tag":      {"tag good --delete", "Delete the tag good of revision 3?"},
		"prune":    {"prune --keep 1", "Delete 2 revisions?"},
		"pull":     {"pull DIR --replace", "  would delete  site/Host/old.yaml\nDelete 1 file?"},
		"approve":  {"approve v", ""}, "reject": {"reject v", ""},
		"results post": {"results post v 3 --status success", ""}, "results list": {"results list", ""},
		"waive": {"waive v 3 --reason r --for 7d", ""}, "waivers list": {"waivers", ""}, "waivers end": {"waivers end 1", ""},
		"results request": {"results request v 3", ""}, "work": {"work --once --wait 1ms v -- true", ""}, "claims": {"claims", ""},
		"check": {"check FILE", ""}, "verify": {"verify FILE --key FILE", ""}, "lsp": {"lsp", ""}, "status": {"status", ""}, "findings": {"findings", ""}, "log": {"log", ""},
		"show": {"show", ""}, "render": {"render", ""}, "explain": {"explain acme/Host/v1/x", ""}, "diff": {"diff 1", ""},
		"graph": {"graph", ""}, "help": {"help", ""}, "login": {"login", ""}, "logout": {"logout", ""}, "config list": {"config list", ""},
		"config use": {"config use lab", ""}, "config add": {"config add new http://new", ""}, "config remove": {"config remove lab", ""},
		"sites list": {"sites", ""}, "sites show": {"sites show y", ""}, "sites set": {"sites set y --label a=b", ""},
		"sites archive": {"sites archive y", ""}, "sites open": {"sites open y", ""},
		"sites delete": {"sites delete y", "deletes site y"},
		"fleet push":   {"fleet push b --from y@1 --follows", ""}, "fleet status": {"fleet status y", ""},
		"buckets": {"buckets", ""}, "events": {"events", ""}, "whoami": {"whoami", ""},
		"puppet apply": {"puppet apply CATALOG", ""}, "puppet diff": {"puppet diff 1 2 CATALOG", ""},
		"token": {"token", ""}, "completion": {"completion bash", ""}, "man": {"man DIR", ""}, "version": {"version", ""},
	}
	parser, err := newParser(t.Context(), &surroundings{stdout: io.Discard, stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	var all, listed []string
	for _, leaf := range parser.Model.Leaves(false) {
		name := strings.TrimPrefix(strings.Join(strings.Fields(leaf.FullPath())[1:], " "), "purser ")
		all = append(all, name)
		if _, ok := commands[name]; ok {
			listed = append(listed, name)
		}
	}
	if diff := cmp.Diff(all, listed); diff != "" || len(all) != len(commands) {
		t.Errorf("commands (-all +listed):\n%s", diff)
	}
	for name, c := range commands {
		for _, how := range []struct {
			flag, answer string
			asks         bool
			code         int // if something would be deleted
		}{
			{"", "", false, exitNo},
			{"", "y\n", false, exitNo},
			{"", "n\n", true, exitNo},
			{"", "y\n", true, 0},
			{"--yes", "", false, 0},
		} {
			if c.asks == "" && how.flag != "" {
				continue
			}
			t.Run(fmt.Sprintf("%s %s %q %v", name, how.flag, how.answer, how.asks), func(t *testing.T) {
				t.Parallel()
				server, deleted := deletions(t)
				dir := t.TempDir()
				old := filepath.Join(dir, "site", "Host", "old.yaml")
				const text = "schema: acme/Host/v1\nmetadata: {name: old}\n"
				if name == "pull" {
					wasPulled(t, dir, text)
				} else {
					writeFile(t, old, text)
				}
				args := strings.Fields(strings.NewReplacer("FILE", old, "CATALOG", old, "DIR", dir).Replace(c.args) + " " + how.flag)
				allow := "--yes"
				if name == "sites delete" { // it asks for the name
					allow = "--confirm"
					args = strings.Fields(strings.Replace(strings.Join(args, " "), "--yes", "--confirm=y", 1))
				}
				if name != "check" && name != "completion" && name != "man" && name != "version" {
					args = append(args, "--server", server.URL)
				}
				var stdout, stderr bytes.Buffer
				code := run(t.Context(), args, surroundings{
					stdin: strings.NewReader(how.answer), stdout: &stdout, stderr: &stderr, asks: how.asks,
				})
				last := server.asked[max(0, len(server.asked)-1):]
				if name == "prune" && how.answer == "y\n" && how.asks && !slices.Contains(last, `POST revisions/prune?keep=1 "3-abc"`) {
					t.Errorf("it is not made under the condition of its preview: %q", last)
				}
				_, err := os.Stat(old)
				did := deleted.Load() > 0 || err != nil
				if want := c.asks != "" && how.code == 0; did != want || c.asks != "" && code != how.code {
					t.Errorf("deleted: %v, want %v; exit code %d\n%s", did, want, code, &stderr)
				}
				want := c.asks
				if c.asks != "" && !how.asks && how.flag == "" {
					want = allow
				}
				if how.flag == "" && !strings.Contains(stderr.String(), want) {
					t.Errorf("it says %q, want %q", &stderr, want)
				}
			})
		}
	}
}

// wasPulled records that an earlier pull has written the file site/Host/old.yaml in a folder.
func wasPulled(t *testing.T, dir, text string) {
	t.Helper()
	plan, err := folder.PlanPull(t.Context(), dir, document.AppendFile(nil, document.File{
		Path: "Host/old.yaml", Bucket: "site", Text: []byte(text),
	}), folder.Allowed{Replace: true, Encrypted: true})
	if err != nil {
		t.Fatal(err)
	}
	if unrecorded, err := plan.Write(); err != nil || unrecorded != nil {
		t.Fatal(err, unrecorded)
	}
}

// A pull names the files of earlier ones that it keeps because they have changed: documents may now be in two files.
func TestPull_kept(t *testing.T) {
	t.Parallel()
	server, _ := deletions(t)
	dir := t.TempDir()
	at := filepath.Join(dir, "site", "Host", "old.yaml")
	const text = "schema: acme/Host/v1\nmetadata: {name: x}\n---\na: 1\n"
	wasPulled(t, dir, "schema: acme/Host/v1\nmetadata: {name: old}\n")
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := purser(t, "pull", dir, "--replace", "--server", server.URL)
	left, err := os.ReadFile(at)
	if code != 0 || !strings.Contains(stderr, "warning: kept, ") || !strings.Contains(stderr, ": site/Host/old.yaml\n") ||
		string(left) != text {
		t.Errorf("exit code %d, %q is left, %v\n%s", code, left, err, stderr)
	}
}

// Only those limits count that the user has given.
func TestDeletionLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[deletionLimit]int{
		{MaxDeleted: -1}:         0,
		{consent{Yes: true}, -1}: -1,
		{MaxDeleted: 3}:          3,
		{consent{Yes: true}, 3}:  3,
		{consent{Yes: true}, 0}:  0,
	} {
		if got := limit.of(client.Change{}).MaxDeleted; got != want {
			t.Errorf("%+v permits %d, want %d", limit, got, want)
		}
		if got := limit.of(client.Change{DryRun: true}).MaxDeleted; got != -1 {
			t.Errorf("%+v permits %d in a dry run", limit, got)
		}
	}
}

// A change that weakens a policy is previewed, said before it is made, and needs --yes or an answer, whether or not it
// deletes something that --max-deleted permits. One that weakens none is made without a question.
func TestChange_weakens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, schema := range map[string]string{"policy": "deckhand/ValidationPolicy/v1", "host": "acme/Host/v1"} {
		text := "schema: " + schema + "\nmetadata: {name: x}\ndata: {}\n"
		if err := os.MkdirAll(filepath.Join(dir, "set", name), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{name, filepath.Join("set", name, "x.yaml")} {
			if err := os.WriteFile(filepath.Join(dir, at), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	const weakened = `"weakened":["The ValidationPolicy gate no longer applies"]`
	for _, c := range []struct {
		args, preview, answer string
		asks, previewed, made bool
		says                  string
	}{
		{"push b policy", weakened, "", false, true, false, "this would weaken ValidationPolicies; add --yes to allow it"},
		{"push b policy", weakened, "n\n", true, true, false, "Weaken ValidationPolicies? [y/N]"},
		{"push b policy", weakened, "y\n", true, true, true, "Weaken ValidationPolicies? [y/N]"},
		{"push b policy --yes", weakened, "", false, false, true, ""},
		{"push b policy", `"weakened":[]`, "", false, true, true, ""},
		{"push b host", weakened, "", false, false, true, ""},
		{"push b host --max-deleted 1", weakened, "", false, true, false, "weaken ValidationPolicies; add --yes"},
		{"push --changeset set", weakened, "", false, true, false, "weaken ValidationPolicies; add --yes"},
		{"rollback 1", weakened, "", false, true, false, "weaken ValidationPolicies; add --yes"},
		{"rollback 1", `"weakened":[]`, "", false, true, true, ""},
		{"rollback 1", weakened, "y\n", true, true, true, "Roll back to revision 1 and weaken ValidationPolicies? [y/N]"},
		{"rollback 1 --max-deleted 3", weakened, "", false, true, false, "weaken ValidationPolicies; add --yes"},
	} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"7-abc"`)
			w.Header().Set("Purser-Revision", "8")
			fmt.Fprintf(w, `{"changed":true,%s,"id":8,"findings":[]}`, c.preview)
		})
		args := strings.Fields(c.args)
		for i, arg := range args {
			if arg == "policy" || arg == "host" || arg == "set" {
				args[i] = filepath.Join(dir, arg)
			}
		}
		var stderr bytes.Buffer
		code := run(t.Context(), append(args, "--server", f.URL), surroundings{
			stdin: strings.NewReader(c.answer), stdout: io.Discard, stderr: &stderr, asks: c.asks,
		})
		var previewed, made bool
		for _, asked := range f.asked {
			if strings.HasPrefix(asked, "GET ") {
				continue
			}
			dry := strings.Contains(asked, "dry-run=true")
			previewed, made = previewed || dry, made || !dry
			if !dry && c.answer != "" && !strings.HasSuffix(asked, `"7-abc"`) {
				t.Errorf("%s: %s has no condition", c.args, asked)
			}
		}
		if previewed != c.previewed || made != c.made || (code == 0) != c.made {
			t.Errorf("%s: previewed %v, made %v, exit code %d\n%s", c.args, previewed, made, code, &stderr)
		}
		said := strings.Contains(stderr.String(), "warning: The ValidationPolicy gate no longer applies\n")
		if said != (c.says != "") && !c.asks || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%s: it says %q, want %q", c.args, &stderr, c.says)
		}
	}
}

// A rollback to the newest revision, by whatever name, changes nothing. The server decides for a caller who may not read
// revisions.
func TestRollback_newest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		read int // status of reading a revision
		want string
		made bool
	}{
		{"rollback latest", http.StatusOK, "Nothing changed: revision 3 is the newest.\n", false},
		{"rollback tag:good", http.StatusOK, "Nothing changed: revision 3 is the newest.\n", false},
		{"rollback 3 --yes -o name", http.StatusOK, "3\n", false},
		{"rollback 3 -o json", http.StatusOK, `{"id":3}`, false},
		{"rollback 2 -o name", http.StatusOK, "4\n", true},
		{"rollback 3 -o name", http.StatusForbidden, "4\n", true},
		{"rollback 3 --dry-run", http.StatusOK, "Nothing would change: the newest revision has the documents of revision 3.\n", false},
	} {
		t.Run(fmt.Sprint(c.args, c.read), func(t *testing.T) {
			t.Parallel()
			var made atomic.Bool
			f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodGet:
					w.WriteHeader(c.read)
					io.WriteString(w, `{"id":3}`)
				case r.URL.Query().Get("dry-run") == "true":
					io.WriteString(w, `{"changed":false,"weakened":[],"documents":[],"changes":{}}`)
				default:
					made.Store(true)
					w.Header().Set("Purser-Revision", "4")
					io.WriteString(w, `{"id":4}`)
				}
			})
			stdout, stderr, _ := purser(t, append(strings.Fields(c.args), "--server", f.URL)...)
			if !strings.HasPrefix(stdout, c.want) || made.Load() != c.made {
				t.Errorf("made: %v, %q, %q, want %v, %q", made.Load(), stdout, stderr, c.made, c.want)
			}
		})
	}
}
