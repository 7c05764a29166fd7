package main

import (
	"net"
	"path/filepath"
	"testing"
)

func TestNotify(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	socket := filepath.Join(dir, "socket")
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = systemd.Close() })
	for _, c := range []struct {
		socket string
		fails  bool
	}{{"", false}, {filepath.Join(dir, "missing"), true}, {socket, false}} {
		if err := notify(c.socket, "READY=1"); (err != nil) != c.fails {
			t.Errorf("%q: %v", c.socket, err)
		}
	}
	received := make([]byte, 100)
	if n, err := systemd.Read(received); err != nil || string(received[:n]) != "READY=1" {
		t.Errorf("received %q, %v", received[:n], err)
	}
}
