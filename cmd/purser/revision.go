package main

import (
	"context"
	"errors"
	"strings"

	"purser/internal/client"
)

// at is the argument that selects a revision.
type at struct {
	Revision string `arg:"" default:"latest" help:"Revision: 17, latest, tag:NAME, latest~1."`
}

// reading holds the flags and the argument of commands that read a revision.
type reading struct {
	remote
	output
	at
}

// open returns a client, and the revision in the form that the server expects.
func (r *reading) open(ctx context.Context, around *surroundings) (*client.Client, string, error) {
	server, err := r.connect(ctx, around)
	if err != nil {
		return nil, "", err
	}
	revision, err := server.Resolve(ctx, r.Revision)
	return server, revision, err
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
