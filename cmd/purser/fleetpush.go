package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"purser/internal/client"
	"purser/internal/events"
	"purser/internal/fleet"
	"purser/internal/revisions"
	"purser/internal/words"
)

// fleetPushCommand copies the documents of a bucket of one site to many.
type fleetPushCommand struct {
	remote
	deletionLimit

	Bucket  string   `arg:"" help:"Bucket that the documents replace in each site." values:"buckets"`
	From    string   `required:"" help:"Site and revision that the documents are copied from, such as global@17 or global@tag:candidate, and its bucket if that has another name." placeholder:"SITE@REV[/BUCKET]"`
	Sites   []string `help:"Sites with this label; of several labels, those with all." placeholder:"KEY=VALUE" sep:"none" values:"labels"`
	Follows bool     `help:"Sites whose bucket follows that of --from already: their documents were copied from it."`

	DryRun        bool   `help:"Say what each site would say, and change nothing."`
	Group         int    `help:"List all sites of this group, counted from the first line about sites." placeholder:"N"`
	ExpectSuccess bool   `help:"Copy only while the revision of --from is a success."`
	Waves         string `help:"Change the sites in the order of the value of this label, those of a value only once those before are done." placeholder:"LABEL"`
	MaxFailures   int    `default:"1" help:"Begin no further site after so many would fail, were refused or could not be asked." placeholder:"N"`
	Parallel      int    `default:"16" help:"Sites at the same time." placeholder:"N"`
	Report        string `help:"Write what becomes of each site to this file, as JSON lines. Sites that it says are done are left out." placeholder:"FILE" complete:"file"`
	Message       string `help:"Why the change is made; the revisions keep it." placeholder:"TEXT" short:"m"`
}

// maxParallel bounds the sites at the same time.
const maxParallel = 256

// Validate refuses a source that cannot be one, and sites that are not named.
func (c *fleetPushCommand) Validate() error {
	from, ok := revisions.ParseCopyFrom(c.From)
	_, err := labelsOf("--sites", c.Sites)
	switch {
	case !ok:
		return fmt.Errorf("--from must be SITE@REVISION, such as global@17, global@latest or global@tag:candidate, "+
			"or SITE@REVISION/BUCKET, and not %s", c.From)
	case err != nil:
		return err
	case len(c.Sites) == 0 && !c.Follows:
		return errors.New("name the sites: --sites KEY=VALUE by a label, or --follows for those that follow the bucket " +
			"already")
	case c.Parallel < 1 || c.Parallel > maxParallel:
		return fmt.Errorf("--parallel must be from 1 to %d, not %d", maxParallel, c.Parallel)
	case c.MaxFailures < 1:
		return fmt.Errorf("--max-failures must be at least 1, not %d", c.MaxFailures)
	case c.Group < 0:
		return fmt.Errorf("--group must be the number of a group, from 1 on, not %d", c.Group)
	}
	return checkSite(from.Site)
}

// fleetPushes is locked while documents are copied to sites, so that the end of the process waits for those that are
// begun.
var fleetPushes sync.Mutex //nolint:gochecknoglobals // main ends the process, whatever runs in it

// Run copies the documents, or makes a dry run for each site. After a signal it begins no further site and waits for
// those that it has begun; a second one ends the process.
func (c *fleetPushCommand) Run(ctx context.Context, around *surroundings, server *client.Client) (err error) {
	fleetPushes.Lock()
	defer fleetPushes.Unlock()
	from, err := c.source(ctx, server)
	if err != nil {
		return err
	}
	targets, err := c.targets(ctx, server, from)
	if err != nil {
		return err
	}
	fmt.Fprintf(around.stderr, "purser: %s is revision %d of %s, and its bucket %s is for bucket %s of %s\n", c.From,
		from.Revision, from.Site, from.Bucket, c.Bucket, fleet.Sites(len(targets)))
	p := &fleetPush{fleetPushCommand: c, around: around, from: from, began: time.Now()}
	if p.report, err = openReport(c.Report, fleet.Head{Bucket: c.Bucket, From: from, DryRun: c.DryRun}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.report.close()) }()
	return p.run(ctx, server, targets)
}

// source returns the revision that is copied from.
func (c *fleetPushCommand) source(ctx context.Context, server *client.Client) (events.Upstream, error) {
	named, _ := fleet.ParseSource(c.From, c.Bucket) // Validate has parsed it
	from, err := fleet.Source(ctx, server, named)
	if err != nil || !c.ExpectSuccess {
		return from, err
	}
	status, err := fleet.StatusOf(ctx, server, from)
	if err == nil && status != "success" {
		err = no(fmt.Sprintf("revision %d of %s is a %s (--expect-success), and nothing was changed; purser status "+
			"%[1]d --site %[2]s says why", from.Revision, from.Site, status))
	}
	return from, err
}

// targets returns the sites that the flags name.
func (c *fleetPushCommand) targets(ctx context.Context, server *client.Client, from events.Upstream) (
	[]fleet.Target, error,
) {
	of := fleet.Selection{Bucket: c.Bucket, Labels: c.Sites, Follows: c.Follows, Waves: c.Waves}
	targets, err := of.Targets(ctx, server, from)
	if err == nil && len(targets) == 0 {
		err = c.nothing(from)
	}
	return targets, err
}

// nothing says that no site is selected, and what would select some.
func (c *fleetPushCommand) nothing(from events.Upstream) error {
	if c.Follows {
		return fmt.Errorf("no site that you may see and that --sites selects has a bucket %s which follows bucket %s of %s: "+
			"purser fleet status %[3]s lists those that do, and --sites KEY=VALUE without --follows is for the first copy",
			c.Bucket, from.Bucket, from.Site)
	}
	return fmt.Errorf("no site that you may see, besides %s and archived ones, has the labels %s: purser sites lists the "+
		"sites with their labels, and purser sites set SITE --label KEY=VALUE sets one", from.Site, words.List(c.Sites))
}

// fleetPush is the state of a push to a fleet.
type fleetPush struct {
	*fleetPushCommand

	around *surroundings
	from   events.Upstream
	report *fleetReport
	began  time.Time
	tally  *fleet.Tally
}

// run copies to sites, or makes their dry runs, and prints the groups of outcomes.
func (p *fleetPush) run(ctx context.Context, server *client.Client, targets []fleet.Target) error {
	var waves []fleet.Wave
	p.tally, waves = fleet.NewTally(fleet.Waves(targets), &p.report.before)
	var stop func()
	if p.around.live {
		stop = redrawn(below(p.around.stderr), p.progress)
	} else {
		stop = func() {}
	}
	push := fleet.Push{
		Server: p.quieter(server), Bucket: p.Bucket, From: p.from, DryRun: p.DryRun, Promotes: p.ExpectSuccess,
		Weakens:    p.Yes,
		MaxDeleted: p.deletionLimit.of(client.Change{}).MaxDeleted, Message: p.Message, Parallel: p.Parallel,
		MaxFailures: p.MaxFailures, Advice: fleet.Advice{
			Weakened: "ValidationPolicies are weakened only with --yes",
			TooMany:  "--max-deleted allows so many for each site, and --yes any number",
		},
	}
	left, err := push.Run(ctx, waves, p.done)
	stop()
	shown := p.tally.Shown(len(targets))
	shown.Parallel, shown.Took, shown.DryRun, shown.Left = p.Parallel, time.Since(p.began), p.DryRun, left
	ended := endOf(ctx, left, err)
	if err == nil {
		err = p.report.end(ended, shown.Groups, left)
	}
	err = errors.Join(err, p.print(shown))
	switch {
	case err != nil:
		return err
	case ended == endInterrupted:
		return context.Canceled
	}
	return p.exit(shown)
}

// quieter returns a client whose notices about requests that are sent again do not mix with each other and the
// progress.
func (p *fleetPush) quieter(server *client.Client) *client.Client {
	of, notice := *server, server.Notice
	var mu sync.Mutex
	of.Notice = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if p.around.live {
			fmt.Fprint(below(p.around.stderr), eraseLine)
		}
		notice(text)
	}
	return &of
}

// progress returns a line about what is done.
func (p *fleetPush) progress() string { return p.tally.Progress(time.Since(p.began)) }

// done takes the result of a site.
func (p *fleetPush) done(target fleet.Target, result fleet.Result) error {
	group, changed := p.tally.Add(target.Name, result.Outcome)
	return p.report.site(target, result, group, changed)
}

// print prints the groups or, with --group, one of them.
func (p *fleetPush) print(shown fleet.Shown) error {
	switch groups := shown.Groups; {
	case p.Group > len(groups):
		return errors.Join(write(p.around, shown.Text()),
			fmt.Errorf("there is no group %d: there are %d", p.Group, len(groups)))
	case p.Group > 0:
		group := groups[p.Group-1]
		return write(p.around, shown.One(group, shown.Names[group.Number]))
	}
	return write(p.around, shown.Text())
}

// exit returns the error of a push.
func (p *fleetPush) exit(shown fleet.Shown) error {
	unasked := 0
	for _, group := range shown.Groups {
		if group.Kind == fleet.Unasked {
			unasked += group.Sites
		}
	}
	text := ""
	if len(shown.Left) > 0 {
		text = fmt.Sprintf("stopped after %s (--max-failures %d); %s not begun", words.Count(shown.Failures(), "failure"),
			p.MaxFailures, fleet.Sites(fleet.Count(shown.Left)))
	}
	switch {
	case unasked > 0 && text == "":
		return fmt.Errorf("%s could not be asked", fleet.Sites(unasked))
	case unasked > 0:
		return errors.New(text)
	case shown.Failures() > 0:
		return no(text)
	}
	return nil
}
