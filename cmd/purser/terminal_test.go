package main

import (
	"os"
	"testing"
)

// Colours are used only on terminals, unless they are switched off.
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
