package files

import (
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A group may only read a private file, and only one that root gives to a process of another user.
func TestForbidden(t *testing.T) {
	t.Parallel()
	const root, server = 0, 65532
	modes := []fs.FileMode{0o400, 0o440, 0o600, 0o640, 0o660, 0o604, 0o444, 0o610}
	for name, c := range map[string]struct {
		of    owner
		known bool
		user  int
		want  string
	}{
		"root's, of a server": {owner{root, server}, true, server, "[400 440 600 640]"},
		"root's own":          {owner{root, root}, true, root, "[400 600]"},
		"the server's own":    {owner{server, server}, true, server, "[400 600]"},
		"another's":           {owner{1000, server}, true, server, "[400 600]"},
		"nobody knows":        {owner{}, false, server, "[400 600]"},
	} {
		var allowed []string
		for _, mode := range modes {
			if mode&forbidden(c.of, c.known, c.user) == 0 {
				allowed = append(allowed, fmt.Sprintf("%o", mode))
			}
		}
		if diff := cmp.Diff(c.want, fmt.Sprint(allowed)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
