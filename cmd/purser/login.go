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
	"time"

	"golang.org/x/term"
	"gopkg.in/yaml.v3"

	"purser/internal/client"
	"purser/internal/files"
	"purser/internal/wire"
	"purser/internal/words"
)

// loginCommand stores a server, and a token for it if it needs one.
type loginCommand struct {
	remote
	output
	consent

	At string `arg:"" help:"URL of the server, or its name in the configuration file; default: that of --server." name:"server" optional:"" values:"servers"`
}

// Run asks for a token, tries it, and stores it for the server. A server that needs none is stored without one.
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
		return c.storeOpen(ctx, around, config, name, entry, caller)
	}
	held, err := c.obtain(ctx, around, name, entry)
	if err != nil {
		return err
	}
	caller, accepted, err := c.accepted(ctx, around, entry, held)
	if err != nil {
		return err
	}
	file, err := config.storeLogin(ctx, name, entry, accepted)
	if err != nil {
		return err
	}
	warnOfOthers(around, name)
	text := fmt.Sprintf("Logged in to %s as %s; the token is in %s\nCommands send it with %s\n", name, userOf(caller),
		file, config.ways(name))
	return c.print(around, serverAnswer(name, entry.URL, text))
}

// storeOpen stores a server that needs no token. A token that is given is not stored, because nothing has tried it.
func (c *loginCommand) storeOpen(ctx context.Context, around *surroundings, config configuration, name string,
	entry serverEntry, caller wire.Caller,
) error {
	text := fmt.Sprintf("%s needs no token, and none was stored: without one, you are %s\n", entry.URL, userOf(caller))
	if _, exists := config.Servers[name]; !exists {
		entry, err := entry.absolute()
		if err == nil {
			err = changeConfiguration(ctx, config.path, func(top *yaml.Node) error {
				return addServer(top, name, entry, config.isEmpty())
			})
		}
		if err != nil {
			return err
		}
		text += fmt.Sprintf("Added %s to %s\n", name, config.path)
	}
	text += "Commands use it with " + config.ways(name) + "\n"
	return c.print(around, serverAnswer(name, entry.URL, text))
}

// ways returns the flags with which commands use a server that is in the file, or has just been added.
func (c configuration) ways(name string) string {
	if current, err := c.named(""); err == nil && current == name || c.isEmpty() {
		return "--server " + name + ", and without --server"
	}
	return "--server " + name
}

// warnOfOthers warns of variables that make commands use another token or server than login has stored.
func warnOfOthers(around *surroundings, name string) {
	if os.Getenv("PURSER_TOKEN")+os.Getenv("PURSER_TOKEN_FILE") != "" {
		fmt.Fprintln(around.stderr,
			"purser: warning: while PURSER_TOKEN or PURSER_TOKEN_FILE is set, commands use that token")
	}
	if server := os.Getenv("PURSER_SERVER"); server != "" && server != name {
		fmt.Fprintf(around.stderr, "purser: warning: while PURSER_SERVER is %s, commands without --server use that, "+
			"and do not send this token: set it to %s\n", server, name)
	}
}

// accepted returns the first credential that the server accepts, and who the caller is with it.
func (c *loginCommand) accepted(ctx context.Context, around *surroundings, entry serverEntry, found []credential) (
	caller wire.Caller, held credential, err error,
) {
	for _, held = range found {
		if held.Kind == accessToken && !isFor(held.Token, held.ClientID, entry.URL) {
			fmt.Fprintf(around.stderr, "purser: the access token is for others than %s, and is not sent to it\n", entry.URL)
			continue
		}
		var known bool
		if caller, known, err = c.tried(ctx, around, entry, held.Token); err != nil || known {
			return caller, held, err
		}
	}
	if held.Issuer != "" {
		return caller, held, fmt.Errorf("%s accepts no token that %s gives to the client %s: its operator has to set "+
			"--oidc-audience to an audience of these tokens. Nothing was stored", entry.URL, held.Issuer, held.ClientID)
	}
	return caller, held, fmt.Errorf("%s does not accept this token: it is wrong, expired or revoked. It was not stored",
		entry.URL)
}

// userOf returns the name of a user, or the id of one without a name.
func userOf(caller wire.Caller) string {
	return words.Line(cmp.Or(string(caller.User.Name), caller.User.ID, "a user without rights in this site"))
}

// forLogin returns the name and the entry of a server: that in the file with a name or URL, or a new one for a URL.
func (c configuration) forLogin(server string) (name string, entry serverEntry, err error) {
	if strings.Contains(server, "://") {
		if name = c.nameOf(server); name != "" {
			return c.forLogin(name)
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

// nameOf returns the name of the server with a URL, whichever site it is about; "" if the file has none.
func (c configuration) nameOf(at string) string {
	for _, name := range c.names() {
		if at != "" && client.Root(c.Servers[name].URL) == client.Root(at) {
			return name
		}
	}
	return ""
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

// tried asks a server who the caller is, who has no name if that may not be known in the site. known is false if the
// server does not accept the token, or a request without one.
func (r *remote) tried(ctx context.Context, around *surroundings, server serverEntry, token string) (
	caller wire.Caller, known bool, err error,
) {
	connected, err := r.dial(around, server, token)
	if err != nil {
		return caller, false, err
	}
	_, err = connected.Get(ctx, &caller, nil, "whoami")
	if unknown, ok := errors.AsType[*client.Error](err); ok && unknown.Type == "UnknownSite" { // or one without rights
		_, err = connected.Sites().Get(ctx, nil, url.Values{"limit": {"1"}})
	}
	refused, ok := errors.AsType[*client.Error](err)
	if ok && refused.Status == http.StatusUnauthorized && refused.Type != "" { // and the answer is Purser's
		return caller, false, nil
	}
	return caller, err == nil, err
}

// obtain returns the token of the flags, the environment or a pipe, or else those that an issuer gives if the server
// names one, or else one that the user types.
func (c *loginCommand) obtain(ctx context.Context, around *surroundings, name string, entry serverEntry) (
	[]credential, error,
) {
	held, err := c.stored(serverEntry{})
	if err == nil && held.Token == "" && !around.asks && givesTokens(around.stdin) {
		held.Token, err = readToken(around.stdin)
	}
	if err != nil || held.Token != "" {
		return []credential{held}, err
	}
	offered, err := c.offered(ctx, around, entry)
	if err != nil {
		return nil, err
	}
	if offered.ClientID != "" {
		return c.signedIn(ctx, around, name, entry, offered)
	}
	if file, isFile := around.stdin.(*os.File); around.asks && isFile {
		fmt.Fprintf(around.stderr, "Token for %s (it is not shown): ", entry.URL)
		held.Token, err = hidden(ctx, int(file.Fd()))
		fmt.Fprintln(around.stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("read the token: %w", err)
	}
	if held.Token = strings.TrimSpace(held.Token); held.Token == "" {
		return nil, errors.New("there is no token: type it, write it to the standard input, or name --token-file")
	}
	return []credential{held}, nil
}

// givesTokens reports whether the standard input is a pipe or file, rather than a terminal or /dev/null.
func givesTokens(stdin io.Reader) bool {
	file, ok := stdin.(*os.File)
	if !ok {
		return true
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

// readToken returns the first line of a pipe or file.
func readToken(from io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(from, maxToken)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", errors.New("there is no token in the standard input: is a variable unset? Without a pipe or file, or " +
			"with /dev/null, purser login signs in with a browser if the server offers it")
	}
	return line, nil
}

// offered returns how the command signs in to a server; without a client id if the server does not offer it.
func (c *loginCommand) offered(ctx context.Context, around *surroundings, entry serverEntry) (
	of wire.Resource, err error,
) {
	connected, err := c.dial(around, entry, "")
	if err != nil {
		return of, err
	}
	_, err = connected.Send(ctx, client.Request{Root: wire.ResourcePath}, &of)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status/100 == 4 { // a server without the route
		return wire.Resource{}, nil
	}
	if len(of.Issuers) == 0 {
		of.ClientID = ""
	}
	return of, err
}

// signedIn returns the tokens that the issuer of a server gives after the user has signed in with a browser. The server
// alone has chosen the issuer, the client and the scopes, so they are shown, and confirmed on a terminal.
func (c *loginCommand) signedIn(ctx context.Context, around *surroundings, name string, entry serverEntry,
	offered wire.Resource,
) ([]credential, error) {
	if err := checkSafe(entry.URL); err != nil {
		return nil, fmt.Errorf("others could forge which issuer the server names: %w. Log in with an https URL, or with a "+
			"token in --token-file", err)
	}
	fmt.Fprintf(around.stderr, "%s asks for a sign-in at %s as the client %s, with the scopes %s\n", name,
		words.Line(offered.Issuers[0]), words.Line(offered.ClientID),
		cmp.Or(words.Line(strings.Join(offered.Scopes, " ")), "none"))
	if around.asks && !c.Yes {
		if err := ask(around, "Sign in?"); err != nil {
			return nil, err
		}
	}
	at, err := issuerNamed(ctx, offered.Issuers[0], offered.ClientID, entry.CA)
	if err != nil {
		return nil, err
	}
	given, err := at.signIn(ctx, offered.Scopes, func(page, code string, wait time.Duration) {
		fmt.Fprintf(around.stderr, "To log in to %s, open this page in a browser within %v:\n    %s\n"+
			"If it asks for a code, or shows one, that is %s\n", name, wait.Round(time.Second), words.Line(page),
			words.Excerpt(words.Line(code)))
	})
	if err != nil {
		return nil, err
	}
	return at.credentials(given), nil
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
func (c configuration) storeLogin(ctx context.Context, name string, entry serverEntry, held credential) (
	file string, err error,
) {
	if c.path == "" {
		return "", errNoConfiguration
	}
	if entry, err = entry.absolute(); err != nil {
		return "", err
	}
	text, err := held.text()
	if err != nil {
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
		return replaceToken(file, text)
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

// replaceToken writes the text of a credential to a new file: others might be able to read the old one.
func replaceToken(file string, text []byte) error {
	err := os.Remove(file)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = files.Create(file, text)
	}
	if err != nil {
		return fmt.Errorf("store the token: %w", err)
	}
	return nil
}

// removeLogin deletes a token that purser login has stored, and reports whether there was one. It waits for a command
// that renews the token, which would write it again.
func (c configuration) removeLogin(name string) (removed bool, err error) {
	entry, err := c.resolved(c.Servers[name])
	if err != nil || entry.TokenFile != c.loginFile(name) {
		return false, err
	}
	_, unlock, err := lockFile(entry.TokenFile)
	if err != nil {
		return false, fmt.Errorf("delete the token: %w", err)
	}
	defer unlock()
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
