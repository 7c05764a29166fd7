package main

import (
	"fmt"
	"net"
)

// notify sends the state of the service, such as READY=1, to the socket that systemd names in NOTIFY_SOCKET if it waits
// for that (Type=notify; sd_notify(3)). A name that begins with @ is abstract, for package net too.
func notify(socket, state string) error {
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
