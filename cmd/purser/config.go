package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"purser/internal/client"
)

// configCommand reads and changes the configuration file.
type configCommand struct {
	List   configListCommand   `cmd:"" help:"List the servers in the configuration file."`
	Use    configUseCommand    `cmd:"" help:"Choose the server for commands without --server."`
	Add    configAddCommand    `cmd:"" help:"Add a server to the configuration file."`
	Remove configRemoveCommand `cmd:"" help:"Remove a server from the configuration file."`
}

// configListCommand lists servers.
type configListCommand struct{ output }

// Run prints the servers in the configuration file.
func (c *configListCommand) Run(ctx context.Context, around *surroundings) error {
	config, err := readConfiguration(ctx, configPath())
	if err != nil {
		return err
	}
	return c.print(around, serverList(config))
}

// serverList returns the servers of a configuration, without tokens.
func serverList(config configuration) answer {
	rows := [][]string{{"CURRENT", "NAME", "URL", "SITE", "TOKEN"}}
	shown := []map[string]any{}
	chosen, _ := config.named("") // none if a command has to name one
	for _, name := range config.names() {
		entry, token, current := config.Servers[name], "", "-"
		switch {
		case entry.TokenFile != "":
			token = "file " + entry.TokenFile
		case len(entry.TokenCommand) > 0:
			token = "command " + entry.TokenCommand[0]
		case entry.Cert != "":
			token = "certificate " + entry.Cert
		}
		isCurrent := name == chosen
		if isCurrent {
			current = "*"
		}
		rows = append(rows, []string{current, name, entry.URL, dash(entry.Site), dash(token)})
		shown = append(shown, map[string]any{
			"name": name, "url": entry.URL, "site": entry.Site, "current": isCurrent, "token": token,
		})
	}
	return answer{marshal(map[string]any{"file": config.path, "servers": shown}), config.names(), table(rows)}
}

// serverAnswer returns the result of a change of a server in the configuration file.
func serverAnswer(name, url, text string) answer {
	return answer{marshal(map[string]string{"name": name, "url": url}), []string{name}, text}
}

// isEmpty reports whether the file names no server.
func (c configuration) isEmpty() bool { return len(c.Servers) == 0 && c.Current == "" }

// serverAt returns the mapping of a server in a configuration file.
func serverAt(top *yaml.Node, name string) (*yaml.Node, error) {
	servers, err := mappingAt(top, "servers")
	if err != nil {
		return nil, err
	}
	return mappingAt(servers, name)
}

// configUseCommand chooses the current server.
type configUseCommand struct {
	output

	Name string `arg:"" help:"Name of the server." values:"servers"`
	Site string `help:"Also choose this site of it for commands without --site." placeholder:"NAME"`
}

// Run makes the server the current one, and sets its site.
func (c *configUseCommand) Run(ctx context.Context, around *surroundings) error {
	if err := checkSite(c.Site); err != nil {
		return err
	}
	config, err := readConfiguration(ctx, configPath())
	if err == nil {
		c.Name, err = config.named(c.Name)
	}
	if err == nil {
		err = changeConfiguration(ctx, config.path, func(top *yaml.Node) error { return useServer(top, c.Name, c.Site) })
	}
	if err != nil {
		return err
	}
	entry := config.Servers[c.Name]
	text := fmt.Sprintf("Commands without --server now use %s, %s", c.Name, entry.URL)
	if site := cmp.Or(c.Site, entry.Site); site != "" {
		text += ", site " + site
	}
	return c.print(around, serverAnswer(c.Name, entry.URL, text+"\n"))
}

// useServer makes a server of a configuration file the current one, and sets its site unless that is "".
func useServer(top *yaml.Node, name, site string) error {
	setText(top, "current", name)
	if site == "" {
		return nil
	}
	of, err := serverAt(top, name)
	if err == nil {
		setText(of, "site", site)
	}
	return err
}

// configAddCommand adds a server.
type configAddCommand struct {
	output

	Name string `arg:"" help:"Name for the server, such as production."`
	URL  string `arg:"" help:"Its URL, such as https://purser.example:9000." name:"url"`

	Site      string `help:"Its site, for commands without --site." placeholder:"NAME"`
	TokenFile string `complete:"file" help:"File with the token; without it, purser login stores one." placeholder:"FILE"`
	CA        string `complete:"file" help:"Certificates of trusted authorities, instead of the system's." name:"ca" placeholder:"FILE"`
	Cert      string `complete:"file" help:"Client certificate." placeholder:"FILE"`
	Key       string `complete:"file" help:"Key of the client certificate." placeholder:"FILE"`
	Use       bool   `help:"Also choose it for commands without --server, as the first one is."`
}

// serverName matches the names that config add takes.
var serverName = regexp.MustCompile(`^[\pL\pN][\pL\pN._-]*$`)

// Run adds the server to the configuration file.
func (c *configAddCommand) Run(ctx context.Context, around *surroundings) error {
	if !serverName.MatchString(c.Name) {
		return fmt.Errorf("%q cannot be the name of a server: take letters, digits, dots, dashes and underscores", c.Name)
	}
	if _, err := client.New(client.Config{Server: c.URL}); err != nil {
		return err
	}
	err := checkSite(c.Site)
	if err != nil {
		return err
	}
	entry, err := serverEntry{
		URL: c.URL, Site: c.Site, TokenFile: c.TokenFile, CA: c.CA, Cert: c.Cert, Key: c.Key,
	}.absolute()
	if err != nil {
		return err
	}
	config, err := readConfiguration(ctx, configPath())
	if err != nil {
		return err
	}
	if old, taken := config.Servers[c.Name]; taken {
		return fmt.Errorf("%s has a server named %s, %s: take another name, or first purser config remove %[2]s",
			config.path, c.Name, old.URL)
	}
	use := c.Use || config.isEmpty()
	err = changeConfiguration(ctx, config.path, func(top *yaml.Node) error { return addServer(top, c.Name, entry, use) })
	if err != nil {
		return err
	}
	text := fmt.Sprintf("Added %s to %s; commands use it with --server %[1]s", c.Name, config.path)
	if use {
		text += ", and without --server"
	}
	return c.print(around, serverAnswer(c.Name, c.URL, text+"\n"))
}

// absolute returns a server with absolute paths instead of those relative to the working directory.
func (s serverEntry) absolute() (serverEntry, error) {
	for _, path := range []*string{&s.TokenFile, &s.CA, &s.Cert, &s.Key} {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return s, fmt.Errorf("find %s: %w", *path, err)
		}
		*path = absolute
	}
	return s, nil
}

// addServer adds a server to a configuration file, and makes it the current one if use is set.
func addServer(top *yaml.Node, name string, entry serverEntry, use bool) error {
	if use {
		setText(top, "current", name)
	}
	of, err := serverAt(top, name)
	if err != nil {
		return err
	}
	for _, pair := range [][2]string{
		{"url", entry.URL},
		{"site", entry.Site},
		{"token-file", entry.TokenFile},
		{"ca", entry.CA},
		{"cert", entry.Cert},
		{"key", entry.Key},
	} {
		setText(of, pair[0], pair[1])
	}
	return nil
}

// configRemoveCommand removes a server.
type configRemoveCommand struct {
	output

	Name string `arg:"" help:"Name of the server." values:"servers"`
}

// Run removes the server, and the token that purser login has stored for it.
func (c *configRemoveCommand) Run(ctx context.Context, around *surroundings) error {
	config, err := readConfiguration(ctx, configPath())
	if err == nil {
		c.Name, err = config.named(c.Name)
	}
	if err != nil {
		return err
	}
	text := "Removed " + c.Name + " from " + config.path
	err = changeConfiguration(ctx, config.path, func(top *yaml.Node) error { return removeServer(top, c.Name) })
	stored := false
	if err == nil {
		stored, err = config.removeLogin(c.Name)
	}
	if err != nil {
		return err
	}
	if stored {
		text += ", and deleted its token"
	}
	return c.print(around, serverAnswer(c.Name, config.Servers[c.Name].URL, text+"\n"))
}

// removeServer removes a server from a configuration file, also as the current one.
func removeServer(top *yaml.Node, name string) error {
	servers, err := mappingAt(top, "servers")
	if err != nil {
		return err
	}
	removeKey(servers, name)
	if len(servers.Content) == 0 {
		removeKey(top, "servers")
	}
	if current := valueAt(top, "current"); current == nil || current.Value != name {
		return nil
	}
	comment := removeKey(top, "current")
	if len(top.Content) > 0 && comment != "" { // it is often about the whole file
		next := top.Content[0]
		next.HeadComment = strings.TrimSuffix(comment+"\n"+next.HeadComment, "\n")
	}
	return nil
}
