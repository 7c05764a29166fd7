// Package client is a client of a Purser server for programs in Go: it uploads documents, waits until a revision may be
// deployed, posts results of validations, and reads documents, findings and revisions.
//
//	c, err := client.New("https://purser.example", client.WithToken(token))
//	written, err := c.Put(ctx, "site", documents, client.Change{Message: "renumbered", MaxDeleted: client.AnyNumber})
//	verdict, err := c.Wait(ctx, written.Revision, 10*time.Minute)
//
// Reads, and changes that were certainly not made, are sent again while a server is busy or restarts. Errors that the
// server answers are of type [*Error].
//
// Every type in answers, in their fields and in their methods has a name here.
//
// Names that this package exports keep their meaning within a major version of Purser; structs get new fields, so write
// their literals with names. The module has no path that go get can find: use a clone, with
//
//	go mod edit -require=purser@v0.0.0 -replace=purser=../purser
package client
