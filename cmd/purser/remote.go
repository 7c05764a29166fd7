package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"purser/internal/client"
)

// remote holds the flags of commands that connect to a server.
type remote struct {
	Server    string        `env:"PURSER_SERVER"  values:"servers"     group:"connection" help:"URL of the server, or its name in the configuration file."                     placeholder:"URL"`
	Token     string        `env:"PURSER_TOKEN"      group:"connection" help:"Token. Other users of this machine can see it; prefer a file."            placeholder:"TOKEN"`
	TokenFile string        `env:"PURSER_TOKEN_FILE" group:"connection" help:"File with the token."                                                         placeholder:"FILE"  complete:"file"`
	CA        string        `env:"PURSER_CA"         group:"connection" help:"Certificates of trusted authorities, instead of the system's." name:"ca"          placeholder:"FILE" complete:"file"`
	Cert      string        `env:"PURSER_CERT"       group:"connection" help:"Client certificate."                                                          placeholder:"FILE"  complete:"file"`
	Key       string        `env:"PURSER_KEY"        group:"connection" help:"Key of the client certificate."                                               placeholder:"FILE"  complete:"file"`
	Timeout   time.Duration `default:"5m"            env:"PURSER_TIMEOUT" group:"connection" help:"Time for a request, including retries."`
}

// ProvideClient returns a client for the server that the flags, the environment and the configuration file specify.
// kong calls it for methods Run that take a client.
func (r *remote) ProvideClient(ctx context.Context, around *surroundings) (*client.Client, error) {
	server, token, err := r.resolve(ctx, around)
	if err != nil {
		return nil, err
	}
	return r.dial(around, server, token)
}

// dial returns a client for a server. It warns before a token is sent over a network without TLS.
func (r *remote) dial(around *surroundings, server serverEntry, token string) (*client.Client, error) {
	c, err := client.New(client.Config{
		Server: server.URL, Token: token, Timeout: r.Timeout, Agent: "purser/" + versionText(),
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

// resolve returns the server and the token. Flags take precedence over the environment, and both over the configuration
// file. A token in the file is sent only to the server of its entry.
func (r *remote) resolve(ctx context.Context, around *surroundings) (serverEntry, string, error) {
	server, err := findServer(ctx, r.Server)
	if err != nil {
		return server, "", err
	}
	server = r.over(server)
	token, err := r.stored(server)
	if err == nil && token == "" && len(server.TokenCommand) > 0 {
		token, err = client.TokenOfCommand(ctx, server.TokenCommand, around.stdin, below(around.stderr))
	}
	return server, token, err
}

// stored returns the token of the flags, the environment or a file; "" if there is none.
func (r *remote) stored(server serverEntry) (string, error) {
	switch file := cmp.Or(r.TokenFile, server.TokenFile); {
	case r.Token != "":
		return r.Token, nil
	case file != "":
		return client.TokenOfFile(file)
	}
	return "", nil
}

// over returns a server with the certificates that the flags and the environment name.
func (r *remote) over(server serverEntry) serverEntry {
	server.CA = cmp.Or(r.CA, server.CA)
	if r.Cert != "" || r.Key != "" {
		server.Cert, server.Key = r.Cert, r.Key
	}
	return server
}
