package main

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The timeouts for slow clients are set. A test of the built server would have to measure them with a clock.
func TestServeCommand_server(t *testing.T) {
	t.Parallel()
	command := serveCommand{limitFlags: limitFlags{HeaderTimeout: 1, ReadTimeout: 2, WriteTimeout: 3}}
	log := new(bytes.Buffer)
	server := command.server(http.NotFoundHandler(), slog.New(slog.NewTextHandler(log, nil)))
	want := []time.Duration{1, 2, 3}
	got := []time.Duration{server.ReadHeaderTimeout, server.ReadTimeout, server.WriteTimeout}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("timeouts for header, request and answer (-want +got):\n%s", diff)
	}
	server.ErrorLog.Print("http: panic serving")
	if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "panic serving") {
		t.Errorf("what net/http says is logged as %q", text)
	}
}

func TestServeCommand_checkPublicURL(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		"":                              true,
		"https://purser.example":        true,
		"http://[::1]:9000/purser/":     true,
		"purser.example":                false,
		"https:///purser":               false,
		"ftp://purser.example":          false,
		"https://anna@purser.example":   false,
		"https://purser.example?":       false,
		"https://purser.example/#there": false,
	} {
		err := (&serveCommand{PublicURL: text}).checkPublicURL()
		if valid != (err == nil) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
