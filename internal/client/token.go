package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// maxToken bounds a token, in bytes. Tokens of Keystone and OpenID Connect have a few thousand.
const maxToken = 64 << 10

// TokenOfFile returns the token in a file, which is its only line.
func TokenOfFile(path string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxToken+1))
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token, err := tokenIn(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return token, nil
}

// TokenOfCommand returns the token that a program prints. It passes on the program's standard error.
func TokenOfCommand(ctx context.Context, command []string, stdin io.Reader, stderr io.Writer) (string, error) {
	const patience = time.Minute // it may ask for a password
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	program := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the user names it
	program.Stdin, program.Stderr = stdin, stderr
	text, err := program.Output()
	if err != nil {
		return "", fmt.Errorf("the command of the token, %s: %w", command[0], err)
	}
	token, err := tokenIn(text)
	if err != nil {
		return "", fmt.Errorf("the command of the token, %s: %w", command[0], err)
	}
	return token, nil
}

func tokenIn(text []byte) (string, error) {
	token := strings.TrimSpace(string(text))
	switch {
	case token == "":
		return "", errors.New("there is no token")
	case len(text) > maxToken || strings.ContainsAny(token, "\r\n"):
		return "", errors.New("more than one line, which is no token")
	}
	return token, nil
}
