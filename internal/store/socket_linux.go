package store

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged ends a connection whose peer does not acknowledge sent data. Otherwise the kernel would try
// for a quarter of an hour.
func limitUnacknowledged(network, _ string, conn syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	var failed error
	err := conn.Control(func(socket uintptr) {
		failed = unix.SetsockoptInt(int(socket), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unackedTimeout.Milliseconds()))
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("limit how long the database may keep silent: %w", err)
	}
	return nil
}
