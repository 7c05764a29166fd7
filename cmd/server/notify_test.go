package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// Not parallel: systemd names its socket in the environment.
func TestNotify(t *testing.T) {
	dir, err := os.MkdirTemp("", "notify") // shorter than t.TempDir: names of sockets have at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
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
		t.Setenv("NOTIFY_SOCKET", c.socket)
		if err := notify("READY=1"); (err != nil) != c.fails {
			t.Errorf("%q: %v", c.socket, err)
		}
	}
	received := make([]byte, 100)
	if n, err := systemd.Read(received); err != nil || string(received[:n]) != "READY=1" {
		t.Errorf("received %q, %v", received[:n], err)
	}
}
