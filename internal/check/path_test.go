package check

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

func TestAboutPath(t *testing.T) {
	t.Parallel()
	_, missing := os.Stat("nowhere")
	for want, err := range map[string]error{
		"nowhere: no such file or directory": missing, "nowhere: broken": errors.New("broken"),
	} {
		got := AboutPath("nowhere", err)
		if got.Error() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if !errors.Is(AboutPath("nowhere", missing), fs.ErrNotExist) {
		t.Error("the reason is lost")
	}
}
