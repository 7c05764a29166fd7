package main

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"golang.org/x/term"
)

// greets reports whether stdout shows the greeting: if it is a terminal. The log goes to standard error, but a terminal
// shows both, so a log in JSON stays alone.
func (f logFlags) greets(stdout io.Writer) bool {
	file, ok := stdout.(*os.File)
	return ok && f.LogFormat == "text" && term.IsTerminal(int(file.Fd()))
}

// greeting returns three lines for whoever has started the server: where the pages and the description of the API are,
// and what to do next. listening is the URL of the listener.
func (c *serveCommand) greeting(listening string) string {
	at := cmp.Or(strings.TrimRight(c.PublicURL, "/"), reachable(listening))
	pages := at + "/ui/"
	if !c.UI {
		pages = "none (--no-ui)"
	}
	return fmt.Sprintf("pages  %s\nAPI    %s/docs\n", pages, at) +
		fmt.Sprintf("next   export PURSER_SERVER=%s, then \"A first tour\" in README.md\n", at)
}

// reachable returns the URL of a listener as clients on this machine use it. A listener on all addresses has none of
// its own.
func reachable(listening string) string {
	scheme, address, _ := strings.Cut(listening, "://")
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return listening
	}
	return scheme + "://" + net.JoinHostPort("localhost", port)
}
