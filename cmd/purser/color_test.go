package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Differences have git's colours on a terminal, whatever their lines look like, and none elsewhere. The compared
// documents cannot add colours.
func TestDiff_colors(t *testing.T) {
	t.Parallel()
	const unified = `--- revision 1, bucket b: x
+++ revision 2, bucket b: x
@@ -1,4 +1,4 @@
 a: 1
--- names: no
-b: 2 ` + "\x1b[32m" + `
+++ names: neither
+b: 3
 c: 4
Encrypted data of y changed
--- /dev/null
+++ revision 2, bucket b: z
@@ -0,0 +1 @@
+d: 1
`
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, unified)
	})
	for form, want := range map[string]string{
		"unified": `<bold>--- revision 1, bucket b: x<plain>
<bold>+++ revision 2, bucket b: x<plain>
<cyan>@@ -1,4 +1,4 @@<plain>
 a: 1
<red>--- names: no<plain>
<red>-b: 2 �[32m<plain>
<green>+++ names: neither<plain>
<green>+b: 3<plain>
 c: 4
Encrypted data of y changed
<bold>--- /dev/null<plain>
<bold>+++ revision 2, bucket b: z<plain>
<cyan>@@ -0,0 +1 @@<plain>
<green>+d: 1<plain>
`,
		"side": `<bold>--- revision 1, bu…<plain> | <bold>+++ revision 2, bu…<plain>
<cyan>@@ -1,4 +1,4 @@<plain>
a: 1                  a: 1
<red>-- names: no<plain>        | <green>++ names: neither<plain>
<red>b: 2 �[32m<plain>          | <green>b: 3<plain>
c: 4                  c: 4
Encrypted data of y changed
<bold>--- /dev/null<plain>       | <bold>+++ revision 2, bu…<plain>
<cyan>@@ -0,0 +1 @@<plain>
                    > <green>d: 1<plain>
`,
	} {
		for _, colors := range []bool{true, false} {
			var out, said bytes.Buffer
			code := run(t.Context(), []string{"diff", "1", "2", "--server", f.URL, "-f", form, "--width", "41"}, surroundings{
				stdin: strings.NewReader(""), stdout: &out, stderr: &said, colors: colors,
			})
			pairs := []string{bold, "<bold>", red, "<red>", green, "<green>", cyan, "<cyan>", plain, "<plain>"}
			got := strings.NewReplacer(pairs...).Replace(out.String())
			if !colors {
				want = strings.NewReplacer("<bold>", "", "<red>", "", "<green>", "", "<cyan>", "", "<plain>", "").Replace(want)
			}
			if diff := cmp.Diff(want, got); diff != "" || code != 0 {
				t.Errorf("%s, colours %v: exit code %d %s (-want +got)\n%s", form, colors, code, said.String(), diff)
			}
		}
	}
}

// Colours are used only on terminals, and only if NO_COLOR is not set.
func TestHasColors(t *testing.T) { //nolint:paralleltest // it changes the environment
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminal to be had:", err)
	}
	t.Cleanup(func() { terminal.Close() })
	file, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	for _, c := range []struct {
		file       *os.File
		none, term string
		want       bool
	}{
		{terminal, "", "xterm", true},
		{terminal, "1", "xterm", false},
		{terminal, "", "dumb", false},
		{file, "", "xterm", false},
	} {
		t.Setenv("NO_COLOR", c.none)
		t.Setenv("TERM", c.term)
		if got := hasColors(c.file); got != c.want {
			t.Errorf("%s, NO_COLOR=%s, TERM=%s: %v", c.file.Name(), c.none, c.term, got)
		}
	}
}
