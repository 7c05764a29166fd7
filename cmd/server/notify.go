package main

import (
	"fmt"
	"net"
	"os"
)

// notify tells systemd the state of the service, such as READY=1, if systemd waits for it (Type=notify; sd_notify(3)).
func notify(state string) error {
	socket := os.Getenv("NOTIFY_SOCKET") // a name that begins with @ is abstract, for package net too
	if socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	defer conn.Close() //nolint:errcheck // the datagram is sent
	if _, err := conn.Write([]byte(state)); err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return nil
}
