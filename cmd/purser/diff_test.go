package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Differences have the colours of git on a terminal, whatever their lines look like, and none elsewhere. What is
// compared cannot colour anything.
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
<red>-b: 2 ⟨U+001B⟩[32m<plain>
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
<red>b: 2 ⟨U+001B⟩[32m<plain>   | <green>b: 3<plain>
c: 4                  c: 4
Encrypted data of y changed
<bold>--- /dev/null<plain>       | <bold>+++ revision 2, bu…<plain>
<cyan>@@ -0,0 +1 @@<plain>
                    > <green>d: 1<plain>
`,
	} {
		for _, colors := range []bool{true, false} {
			var out, said bytes.Buffer
			code := run(t.Context(), []string{"diff", "1", "2", "--server", f.URL, "-o", form, "--width", "41"}, surroundings{
				stdin: strings.NewReader(""), stdout: &out, stderr: &said, colors: colors,
			})
			pairs := []string{
				"\x1b[1m", "<bold>", "\x1b[31m", "<red>", "\x1b[32m", "<green>", "\x1b[36m", "<cyan>", "\x1b[m", "<plain>",
			}
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
