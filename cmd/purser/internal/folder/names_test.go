package folder

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Every bucket has a folder name that is valid on every system and can be converted back to the bucket.
func TestFolderName_laws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"..", ".", "con", "Com1.x", "a/b", `a\b`, "%2F", "nul"})).
			Filter(func(s string) bool { return s != "" }).Draw(t, "name")
		folder := folderName(name)
		back, err := bucketOf(folder)
		if err != nil || back != name {
			t.Errorf("%q becomes %q and then %q, error %v", name, folder, back, err)
		}
		if folder != filepath.Base(folder) || strings.ContainsAny(folder, `/\:*?"<>|`) || strings.HasPrefix(folder, ".") ||
			strings.HasSuffix(folder, ".") {
			t.Errorf("%q becomes %q, which is not a name everywhere", name, folder)
		}
		if base, _, _ := strings.Cut(folder, "."); isReserved(base) {
			t.Errorf("%q becomes %q, which Windows keeps for a device", name, folder)
		}
	})
	if _, err := bucketOf("100%"); err == nil {
		t.Error("a folder with a bare % is a bucket")
	}
}
