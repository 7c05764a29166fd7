package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"purser/internal/client"
)

// remote holds the flags of commands that connect to a server.
type remote struct {
	connection

	Key string `env:"PURSER_KEY"        group:"connection" help:"Key of the client certificate."                                               placeholder:"FILE"  complete:"file"`
}

// connection has the flags of remote but for the key of the client certificate.
type connection struct {
	Server    string        `env:"PURSER_SERVER"  values:"servers"     group:"connection" help:"URL of the server, or its name in the configuration file; see purser config."                     placeholder:"URL"`
	Site      string        `env:"PURSER_SITE"    values:"sites"       group:"connection" help:"Site of the server, in the place of the one in its URL or in the configuration file." placeholder:"NAME"`
	Token     string        `env:"PURSER_TOKEN"      group:"connection" help:"Token. Other users of this machine can see it; prefer a file."            placeholder:"TOKEN"`
	TokenFile string        `env:"PURSER_TOKEN_FILE" group:"connection" help:"File with the token."                                                         placeholder:"FILE"  complete:"file"`
	CA        string        `env:"PURSER_CA"         group:"connection" help:"Certificates of trusted authorities, instead of the system's." name:"ca"          placeholder:"FILE" complete:"file"`
	Cert      string        `env:"PURSER_CERT"       group:"connection" help:"Client certificate."                                                          placeholder:"FILE"  complete:"file"`
	Timeout   time.Duration `default:"5m"            env:"PURSER_TIMEOUT" group:"connection" help:"Time for a request, including retries."`
}

// ProvideClient returns a client for the server that the flags, the environment and the configuration file specify.
// kong calls it for methods Run that take a client.
func (r *remote) ProvideClient(ctx context.Context, around *surroundings) (*client.Client, error) {
	server, held, err := r.resolve(ctx, around)
	if err != nil {
		return nil, err
	}
	connected, err := r.dial(around, server, held.Token)
	if err != nil {
		return nil, err
	}
	if held.Refresh != "" {
		connected.Renew = held.renewing(server.CA, around.noticeAgain)
	}
	connected.Login = loginHint(ctx, r.Server, server.URL)
	return connected, nil
}

// loginHint says how a command gets a token for a server, which the user has named by its URL, its name or not at all.
func loginHint(ctx context.Context, named, at string) string {
	config, err := readConfiguration(ctx, configPath())
	if known := config.nameOf(named); err == nil && known != "" {
		return "A URL alone sends no stored token or certificate: use --server " + known + ", PURSER_TOKEN or --token-file"
	}
	return "Set PURSER_TOKEN or --token-file, or store a token by purser login " + cmp.Or(named, at)
}

// site returns the flag by which commands in hints name the site of the command line, with a space before it; "" if
// they need none.
func (r *remote) site() string {
	if r.Site == "" || r.Site == os.Getenv("PURSER_SITE") {
		return ""
	}
	return " --site " + r.Site
}

// dial returns a client for a server, and for the site of the flags, the environment or the server's entry. It warns
// before a token is sent over a network without TLS.
func (r *remote) dial(around *surroundings, server serverEntry, token string) (*client.Client, error) {
	site := cmp.Or(r.Site, server.Site)
	if err := checkSite(site); err != nil {
		return nil, err
	}
	c, err := client.New(client.Config{
		Server: server.URL, Site: site, SiteFlag: r.site(), Token: token,
		Timeout: r.Timeout, Agent: "purser/" + versionText(),
		TLS:    client.TLS{CA: server.CA, Certificate: server.Cert, Key: server.Key},
		Notice: func(text string) { fmt.Fprintln(around.stderr, "purser:", text) },
	})
	if err != nil {
		return nil, err
	}
	if c.TokenInClear() {
		fmt.Fprintf(around.stderr, "purser: warning: the token is sent to %s without TLS, where others may read it\n",
			server.URL)
	}
	return c, nil
}

// noticeAgain says that a request to an issuer failed and is sent again.
func (s surroundings) noticeAgain(err error, wait time.Duration) {
	fmt.Fprintf(s.stderr, "purser: %v; trying again in %v\n", err, wait.Round(100*time.Millisecond))
}

// resolve returns the server and the token. Flags take precedence over the environment, and both over the configuration
// file. A token in the file is sent only to the server of its entry.
func (r *remote) resolve(ctx context.Context, around *surroundings) (serverEntry, credential, error) {
	server, err := findServer(ctx, r.Server)
	if err != nil {
		return server, credential{}, err
	}
	server = r.over(server)
	held, err := r.stored(server)
	if err == nil {
		held, err = held.renewed(ctx, server.CA, around.noticeAgain)
	}
	if err == nil && held.Token == "" && len(server.TokenCommand) > 0 {
		held.Token, err = tokenOfCommand(ctx, server.TokenCommand, around.stdin, below(around.stderr))
	}
	return server, held, err
}

// stored returns the token of the flags, the environment or a file, without renewing it; none if there is none.
func (r *remote) stored(server serverEntry) (credential, error) {
	switch file := cmp.Or(r.TokenFile, server.TokenFile); {
	case r.Token != "":
		return credential{Token: r.Token}, nil
	case file != "":
		return credentialOf(file)
	}
	return credential{}, nil
}

// over returns a server with the certificates that the flags and the environment name.
func (r *remote) over(server serverEntry) serverEntry {
	server.CA = cmp.Or(r.CA, server.CA)
	if r.Cert != "" || r.Key != "" {
		server.Cert, server.Key = r.Cert, r.Key
	}
	return server
}
