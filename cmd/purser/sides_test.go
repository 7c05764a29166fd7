package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSideBySide(t *testing.T) {
	t.Parallel()
	unified := `--- revision 1: x
+++ revision 2: x
@@ -1,5 +1,5 @@
 a: 1
-b: 2
--- c
+b: 3, and a line that is much too long
 d: 4
-e
+f
+++ g
Encrypted data of y changed
--- /dev/null
+++ revision 2: z
@@ -0,0 +1 @@
+ä: 1
`
	want := `--- revision 1: x | +++ revision 2: x
@@ -1,5 +1,5 @@
a: 1                a: 1
b: 2              | b: 3, and a line…
-- c              <
d: 4                d: 4
e                 | f
                  > ++ g
Encrypted data of y changed
--- /dev/null     | +++ revision 2: z
@@ -0,0 +1 @@
                  > ä: 1
`
	if diff := cmp.Diff(want, sideBySide(unified, 37, false)); diff != "" {
		t.Errorf("side by side (-want +got):\n%s", diff)
	}
}
