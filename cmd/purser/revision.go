package main

import (
	"context"
	"errors"
	"strings"

	"purser/internal/client"
)

// revisionArgument selects a revision.
type revisionArgument struct {
	Revision string `arg:"" default:"latest" help:"Revision: 17, latest (default), tag:NAME, or latest~1, the one before latest." values:"revisions"`
}

// remoteRevision holds the flags and the argument of commands that read a revision.
type remoteRevision struct {
	remote
	revisionArgument
}

// opened is a server, and a revision of it in the form that it expects.
type opened struct {
	*client.Client

	revision string
}

// ProvideOpened returns the server and the revision that the command line names. kong calls it for
// methods Run that take them.
func (r *remoteRevision) ProvideOpened(ctx context.Context, around *surroundings) (opened, error) {
	server, err := r.ProvideClient(ctx, around)
	if err != nil {
		return opened{}, err
	}
	revision, err := server.Resolve(ctx, r.Revision)
	return opened{server, revision}, err
}

// documentName is the name of a document in arguments, SCHEMA/NAME, such as acme/Host/v1/cmp-1.
type documentName struct{ Schema, Name string }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *documentName) UnmarshalText(text []byte) error {
	const parts = 4 // the schema has three
	split := strings.SplitN(string(text), "/", parts)
	if len(split) < parts || split[parts-1] == "" {
		return errors.New("a schema and a name are expected, such as acme/Host/v1/cmp-1")
	}
	d.Schema, d.Name = strings.Join(split[:parts-1], "/"), split[parts-1]
	return nil
}
