package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
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
	pushFormat
	deletionLimit

	Bucket    string   `arg:"" help:"Bucket that the documents replace."                                optional:""     values:"buckets"`
	Paths     []string `arg:"" help:"Files and folders of documents; - for standard input."              complete:"file" name:"path" optional:""`
	Changeset string   `help:"Put the documents of each folder in this one into the bucket of the folder's name, in one revision." placeholder:"DIR" complete:"file"`

	FromGit string `complete:"file" help:"Push what a commit of this clone has, and not what is in its working tree; paths are those of the commit." placeholder:"DIR"`
	Ref     string `help:"With --from-git: the commit, or a branch or a tag of it; default: HEAD." placeholder:"REF"`

	dryRun

	Message     string        `help:"Why the change is made; the revision keeps it. With --from-git, it is that of the commit by default." placeholder:"TEXT" short:"m"`
	Source      string        `help:"URL of the commit that the documents are from, https:// or git+https://; the revision keeps it. Default: that of --from-git, or of the pipeline in GitHub Actions and GitLab CI." placeholder:"URL"`
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
	if c.Ref != "" && c.FromGit == "" {
		return errors.New("--ref needs --from-git, which names the clone")
	}
	return errors.Join(c.validDetail(), validWait(c.Wait), c.validFormat(c.DryRun))
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
		return c.refusal(around, err, c.named()...)
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
	if err := p.report(written); err != nil || c.Wait == 0 {
		return err
	}
	status := &statusCommand{output: output{c.Format}, Revision: written.Revision, Wait: c.Wait, Expect: "success"}
	return status.Run(ctx, around, server)
}

// read reads the documents and returns how to put them.
func (c *pushCommand) read(ctx context.Context, around *surroundings) (
	body *folder.Body, change client.Change, err error,
) {
	change = client.Change{Message: c.Message, Source: c.Source, DryRun: c.DryRun, Findings: true, Rendered: c.Rendered}
	if c.IfUnchanged != "" {
		change.IfMatch = `"` + c.IfUnchanged + `"`
	}
	paths := c.Paths
	read := func(paths []string) (*folder.Body, error) { return folder.Read(ctx, paths, around.stdin) }
	switch {
	case c.Changeset != "" && c.Bucket != "":
		return nil, change, errors.New("--changeset names the buckets by its folders; leave the bucket and paths out")
	case c.Changeset != "":
		paths = []string{c.Changeset}
		read = func(paths []string) (*folder.Body, error) { return folder.ReadChangeSet(ctx, paths[0]) }
	case c.Bucket == "" || len(c.Paths) == 0 && c.FromGit == "":
		return nil, change, errors.New("name a bucket and the files or folders of its documents: purser push site site/")
	}
	if c.FromGit == "" {
		change.Source = cmp.Or(change.Source, pipelineSource(os.Getenv))
		body, err = read(paths)
	} else {
		var of commit
		body, of, err = readCommit(ctx, clone(c.FromGit), cmp.Or(c.Ref, "HEAD"), paths, read)
		change.Message, change.Source = cmp.Or(change.Message, of.message), cmp.Or(change.Source, of.source)
	}
	if err != nil {
		return nil, change, err
	}
	change.Buckets = body.Empty
	if len(body.Text) == 0 && !c.Yes {
		err = fmt.Errorf("there are no documents in %s; to delete those that are stored, add --yes",
			cmp.Or(strings.Join(paths, ", "), "the commit"))
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
func (p *push) report(written client.Written) error {
	found, err := written.Findings()
	if err != nil {
		return err
	}
	places := p.places(found.Findings)
	return output{p.Format}.print(p.around, pushedAnswer(written, found, places, p.site(), p.around.colors))
}

// places returns the place of each finding in the files, "" if it is in none of them.
func (p *push) places(findings []wire.Finding) []string {
	places := make([]string, len(findings))
	for i, f := range findings {
		places[i] = p.body.Place(f.Line, f.Column)
	}
	return places
}
