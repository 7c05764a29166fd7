package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"purser/cmd/purser/internal/folder"
	"purser/internal/client"
	"purser/internal/wire"
)

// pushCommand puts documents into one bucket, or into several as a change set.
type pushCommand struct {
	remote
	output
	deletionLimit

	Bucket    string   `arg:"" help:"Bucket that the documents replace."                                optional:""     values:"buckets"`
	Paths     []string `arg:"" help:"Files and folders of documents; - for standard input."              complete:"file" name:"path" optional:""`
	Changeset string   `help:"Put the documents of each folder in this one into the bucket of the folder's name, in one revision." placeholder:"DIR" complete:"file"`

	dryRun

	Message     string        `help:"Why the change is made; the revision keeps it." placeholder:"TEXT"                                         short:"m"`
	IfUnchanged string        `help:"Refuse if this revision, such as 17, is no longer the newest."                       placeholder:"REV"`
	Wait        time.Duration `help:"Wait up to this long for the revision to succeed; the exit code is 1 if it does not." placeholder:"10m"`
}

// revisionNumber matches what --if-unchanged takes.
var revisionNumber = regexp.MustCompile(`^[1-9][0-9]*$`)

// Validate refuses a wait that ends before it begins, and a revision that is not named by its number.
func (c *pushCommand) Validate() error {
	if c.IfUnchanged != "" && !revisionNumber.MatchString(c.IfUnchanged) {
		return fmt.Errorf("--if-unchanged must be the number of a revision, such as 17, not %s: purser log lists them",
			c.IfUnchanged)
	}
	return errors.Join(c.validDetail(), validWait(c.Wait))
}

// Run puts the documents into their buckets. On a terminal it lists what would be lost, and asks.
func (c *pushCommand) Run(ctx context.Context, around *surroundings) error {
	body, change, err := c.read(ctx, around)
	if body != nil {
		for _, notice := range body.Notices {
			fmt.Fprintln(around.stderr, "purser:", notice)
		}
	}
	if err != nil {
		return err
	}
	server, err := c.ProvideClient(ctx, around)
	if err != nil {
		return err
	}
	p := &push{pushCommand: c, around: around, server: server, body: body, change: change}
	if c.DryRun {
		return p.plan(ctx)
	}
	policies := bytes.Contains(body.Text, []byte("ValidationPolicy"))
	written, err := c.apply(ctx, around, change, p.send, policies)
	if err != nil {
		return p.refused(err)
	}
	if err := p.report(ctx, written); err != nil || c.Wait == 0 {
		return err
	}
	status := &statusCommand{output: c.output, Revision: written.Revision, Wait: c.Wait, Expect: "success"}
	return status.Run(ctx, around, server)
}

// read reads the documents and returns how to put them.
func (c *pushCommand) read(ctx context.Context, around *surroundings) (
	body *folder.Body, change client.Change, err error,
) {
	change = client.Change{Message: c.Message, DryRun: c.DryRun, Findings: true}
	if c.IfUnchanged != "" {
		change.IfMatch = `"` + c.IfUnchanged + `"`
	}
	switch {
	case c.Changeset != "" && c.Bucket != "":
		return nil, change, errors.New("--changeset names the buckets by its folders; leave the bucket and paths out")
	case c.Changeset != "":
		if body, err = folder.ReadChangeSet(ctx, c.Changeset); err == nil {
			change.Buckets = body.Empty
		}
	case c.Bucket == "" || len(c.Paths) == 0:
		return nil, change, errors.New("name a bucket and the files or folders of its documents: purser push site site/")
	default:
		body, err = folder.Read(ctx, c.Paths, around.stdin)
	}
	if err == nil && len(body.Text) == 0 && !c.Yes {
		err = fmt.Errorf("there are no documents in %s; to delete those that are stored, add --yes",
			cmp.Or(c.Changeset, strings.Join(c.Paths, ", ")))
	}
	return body, change, err
}

// push is the state of one push.
type push struct {
	*pushCommand

	around *surroundings
	server *client.Client
	body   *folder.Body
	change client.Change
}

// send puts the documents. The answer has the findings, if the caller may read them.
func (p *push) send(ctx context.Context, change client.Change) (client.Written, error) {
	written, err := p.server.Put(ctx, p.Bucket, p.body.Text, change)
	if refused, ok := errors.AsType[*client.Error](err); ok && change.Findings && refused.Status == http.StatusForbidden {
		change.Findings = false
		written, err = p.server.Put(ctx, p.Bucket, p.body.Text, change)
	}
	return written, err
}

// refused returns the error for a change that the server refused. It replaces lines of the request by lines of files.
func (p *push) refused(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	text := strings.ReplaceAll(p.body.Located(err.Error()), "If-Match asks for", "--if-unchanged asks for")
	if refused.Refusal() {
		return no(text)
	}
	return errors.New(text)
}

// report prints the result of a change.
func (p *push) report(ctx context.Context, written client.Written) error {
	found, err := written.Findings()
	if err != nil {
		return err
	}
	return p.print(p.around, pushedAnswer(written, found, p.places(ctx, found.Findings), p.around.colors))
}

// places returns the place of each finding in the files, "" if it is in none of them.
func (p *push) places(ctx context.Context, findings []wire.Finding) []string {
	places := make([]string, len(findings))
	for i, f := range findings {
		places[i] = p.body.Place(f.Line, f.Column)
	}
	return places
}
