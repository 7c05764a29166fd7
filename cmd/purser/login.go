package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"
	"gopkg.in/yaml.v3"

	"purser/internal/client"
	"purser/internal/files"
	"purser/internal/wire"
	"purser/internal/words"
)

// loginCommand stores a token for a server.
type loginCommand struct {
	remote
	output

	At string `arg:"" help:"URL of the server, or its name in the configuration file; default: the server of other commands." name:"server" optional:"" values:"servers"`
}

// Run asks for a token, tries it, and stores it for the server.
func (c *loginCommand) Run(ctx context.Context, around *surroundings) error {
	config, err := readConfiguration(ctx, configPath())
	if err != nil {
		return err
	}
	name, entry, err := config.forLogin(cmp.Or(c.At, c.Server))
	if err != nil {
		return err
	}
	entry = c.over(entry)
	caller, known, err := c.tried(ctx, around, entry, "")
	if err != nil {
		return err
	}
	if known {
		text := fmt.Sprintf("%s needs no token: without one, you are %s\n", entry.URL, userOf(caller))
		return c.print(around, serverAnswer(name, entry.URL, text))
	}
	token, err := c.ask(ctx, around, entry.URL)
	if err != nil {
		return err
	}
	caller, known, err = c.tried(ctx, around, entry, token)
	switch {
	case err != nil:
		return err
	case !known:
		return no(entry.URL + " does not accept this token: it is wrong, expired or revoked. It was not stored")
	}
	file, err := config.storeLogin(ctx, name, entry, token)
	if err != nil {
		return err
	}
	if os.Getenv("PURSER_TOKEN")+os.Getenv("PURSER_TOKEN_FILE") != "" {
		fmt.Fprintln(around.stderr,
			"purser: warning: while PURSER_TOKEN or PURSER_TOKEN_FILE is set, commands use that token")
	}
	text := fmt.Sprintf("Logged in to %s as %s; the token is in %s\n", name, userOf(caller), file)
	return c.print(around, serverAnswer(name, entry.URL, text))
}

// userOf returns the name of a user, or the id of one without a name.
func userOf(caller wire.Caller) string {
	return words.Line(cmp.Or(string(caller.User.Name), caller.User.ID))
}

// forLogin returns the name and the entry of a server: that in the file with a name or URL, or a new one for a URL.
func (c configuration) forLogin(server string) (name string, entry serverEntry, err error) {
	if strings.Contains(server, "://") {
		for _, name := range c.names() {
			if strings.TrimSuffix(c.Servers[name].URL, "/") == strings.TrimSuffix(server, "/") {
				return c.forLogin(name)
			}
		}
		return c.newServer(server)
	}
	if name, err = c.named(server); err == nil {
		entry, err = c.resolved(c.Servers[name])
	}
	if err == nil && len(entry.TokenCommand) > 0 {
		err = fmt.Errorf("the program %s prints the token of %s: remove token-command from %s first",
			entry.TokenCommand[0], name, c.path)
	}
	return name, entry, err
}

// newServer returns an entry for a URL, which is named by its host.
func (c configuration) newServer(server string) (name string, entry serverEntry, err error) {
	parsed, err := url.Parse(server)
	if err != nil {
		return "", entry, fmt.Errorf("the server's URL cannot be read: %w", err)
	}
	if _, taken := c.Servers[parsed.Host]; taken {
		return "", entry, fmt.Errorf("%s has another server named %s: add this one by purser config add NAME %s", c.path,
			parsed.Host, server)
	}
	return parsed.Host, serverEntry{URL: server}, nil
}

// tried asks a server who the caller is. known is false if it does not accept the token, or a request without one.
func (r *remote) tried(ctx context.Context, around *surroundings, server serverEntry, token string) (
	caller wire.Caller, known bool, err error,
) {
	connected, err := r.dial(around, server, token)
	if err != nil {
		return caller, false, err
	}
	_, err = connected.Get(ctx, &caller, nil, "whoami")
	refused, ok := errors.AsType[*client.Error](err)
	if ok && refused.Status == http.StatusUnauthorized && refused.Type != "" { // and the answer is Purser's
		return caller, false, nil
	}
	return caller, err == nil, err
}

// ask returns the token of the flags or the environment, or else asks for it on a terminal, or reads it from the
// standard input.
func (r *remote) ask(ctx context.Context, around *surroundings, server string) (token string, err error) {
	if token, err = r.stored(serverEntry{}); token != "" || err != nil {
		return token, err
	}
	if file, isFile := around.stdin.(*os.File); around.asks && isFile {
		fmt.Fprintf(around.stderr, "Token for %s (it is not shown): ", server)
		token, err = hidden(ctx, int(file.Fd()))
		fmt.Fprintln(around.stderr)
	} else if token, err = bufio.NewReader(around.stdin).ReadString('\n'); errors.Is(err, io.EOF) {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if token = strings.TrimSpace(token); token == "" {
		return "", errors.New("there is no token: type it, write it to the standard input, or name --token-file")
	}
	return token, nil
}

// hidden reads a line from a terminal that does not show it. After a signal, the terminal is as it was.
func hidden(ctx context.Context, terminal int) (string, error) {
	state, err := term.GetState(terminal)
	if err != nil {
		return "", err //nolint:wrapcheck // the caller does
	}
	defer context.AfterFunc(ctx, func() { _ = term.Restore(terminal, state) })()
	line, err := term.ReadPassword(terminal)
	return string(line), err
}

// loginFile returns the path of the file for a token that purser login stores. Windows takes no : in a name.
func (c configuration) loginFile(name string) string {
	return filepath.Join(filepath.Dir(c.path), url.QueryEscape(name)+".token")
}

// storeLogin writes a token to a file that only the user can read, and names the file in the entry of its server.
func (c configuration) storeLogin(ctx context.Context, name string, entry serverEntry, token string) (
	file string, err error,
) {
	if c.path == "" {
		return "", errNoConfiguration
	}
	if entry, err = entry.absolute(); err != nil {
		return "", err
	}
	file = c.loginFile(name)
	_, exists := c.Servers[name]
	entry.TokenFile = filepath.Base(file)
	return file, changeConfiguration(ctx, c.path, func(top *yaml.Node) error {
		add := func() error { return addServer(top, name, entry, c.isEmpty()) }
		if exists {
			add = func() error { return setTokenFile(top, name, entry.TokenFile) }
		}
		if err := add(); err != nil {
			return err // and the old token stays
		}
		return replaceToken(file, token)
	})
}

// setTokenFile sets the file with the token of a server in a configuration file; "" removes it.
func setTokenFile(top *yaml.Node, name, file string) error {
	of, err := serverAt(top, name)
	if err == nil {
		setText(of, "token-file", file)
	}
	return err
}

// replaceToken writes a token to a new file: others might be able to read the old one.
func replaceToken(file, token string) error {
	err := os.Remove(file)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = files.Create(file, []byte(token+"\n"))
	}
	if err != nil {
		return fmt.Errorf("store the token: %w", err)
	}
	return nil
}

// removeLogin deletes a token that purser login has stored, and reports whether there was one.
func (c configuration) removeLogin(name string) (removed bool, err error) {
	entry, err := c.resolved(c.Servers[name])
	if err != nil || entry.TokenFile != c.loginFile(name) {
		return false, err
	}
	if err := os.Remove(entry.TokenFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("delete the token: %w", err)
	}
	return true, nil
}

// logoutCommand deletes a stored token.
type logoutCommand struct {
	output

	Server string `arg:"" env:"PURSER_SERVER" help:"URL of the server, or its name in the configuration file; default: the current one." optional:"" values:"servers"`
}

// Run deletes the token that purser login has stored for the server.
func (c *logoutCommand) Run(ctx context.Context, around *surroundings) error {
	config, err := readConfiguration(ctx, configPath())
	if err != nil {
		return err
	}
	name, entry, err := config.forLogin(c.Server)
	if err != nil {
		return err
	}
	removed, err := config.removeLogin(name)
	switch {
	case err != nil:
		return err
	case removed:
		err = changeConfiguration(ctx, config.path, func(top *yaml.Node) error { return setTokenFile(top, name, "") })
		if err != nil {
			return err
		}
		return c.print(around, serverAnswer(name, entry.URL, "Deleted the token of "+name+"\n"))
	case entry.TokenFile != "":
		return fmt.Errorf("the token of %s is in %s, which purser login did not write: delete it yourself",
			name, entry.TokenFile)
	}
	return c.print(around, serverAnswer(name, entry.URL, "No token of "+name+" is stored\n"))
}
