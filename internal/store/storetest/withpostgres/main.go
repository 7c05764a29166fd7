// Command withpostgres runs a command, usually go test, with one Postgres that all test binaries below it share, each
// test with a database of its own:
//
//	go run ./internal/store/storetest/withpostgres go test ./...
//
// It stops Postgres when the command has ended. Without it each test binary that needs Postgres starts its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"purser/internal/store/storetest"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
	}
	os.Exit(code)
}

// run returns the exit code of the command.
func run(command []string) (code int, err error) {
	const failed = 1
	if len(command) == 0 {
		return failed, errors.New("no command is given")
	}
	url, stop, err := storetest.Serve()
	if err != nil {
		return failed, fmt.Errorf("start Postgres: %w", err)
	}
	defer func() {
		if stopping := stop(); stopping != nil {
			code, err = max(code, failed), errors.Join(err, fmt.Errorf("stop Postgres: %w", stopping))
		}
	}()
	return execute(command, append(os.Environ(), storetest.Variable+"="+url))
}

// execute passes SIGTERM on; an interrupt at the terminal reaches the command by itself. Either ends the command first.
func execute(command, env []string) (int, error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	cmd := exec.CommandContext(context.Background(), command[0], command[1:]...) //nolint:gosec // its purpose
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, env
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start the command: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case got := <-signals:
			if got == syscall.SIGTERM {
				_ = cmd.Process.Signal(got)
			}
		case err := <-ended:
			if failed, ok := errors.AsType[*exec.ExitError](err); ok {
				return max(failed.ExitCode(), 1), nil
			}
			return cmd.ProcessState.ExitCode(), err
		}
	}
}
