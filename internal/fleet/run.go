package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"purser/internal/client"
	"purser/internal/events"
)

// Push copies the documents of a bucket to sites.
type Push struct {
	Server      *client.Client
	Bucket      string
	From        events.Upstream
	DryRun      bool
	Promotes    bool // only while the source's revision is a success
	Weakens     bool // changes may weaken policies
	MaxDeleted  int  // of each site; -1 for any number
	Message     string
	Parallel    int // sites at the same time
	MaxFailures int // after so many no other site is begun; 0 for any number
	Advice      Advice
}

// Advice is what is said of sites that are refused because of an option, in the words of the program that has it.
type Advice struct {
	Weakened string // of a change that weakens policies
	TooMany  string // of one that deletes too many documents
}

// Result is what became of a site.
type Result struct {
	Outcome

	Revision int64  // the newest one afterwards; 0 if it is not known
	Stamp    string // of that
	Status   string // of that or, in a dry run, of the one that there would be; "" if it is not known
}

// Run copies the documents to the sites of waves, one wave after the other, and calls done with the result of each,
// from one goroutine at a time. It begins no further sites once ctx is done, MaxFailures sites have failed or done
// returns an error, and waits for those that it has begun. It returns the waves with the sites that it has not begun.
func (p Push) Run(ctx context.Context, waves []Wave, done func(Target, Result) error) (left []Wave, err error) {
	r := &running{push: p, done: done}
	for i, wave := range waves {
		if n := r.wave(ctx, wave.Targets); n < len(wave.Targets) {
			left = append([]Wave{{wave.Name, wave.Targets[n:]}}, waves[i+1:]...)
			break
		}
	}
	return left, r.err
}

// running is the state of a run.
type running struct {
	push Push
	done func(Target, Result) error

	mu       sync.Mutex
	failures int
	err      error
}

// wave copies to the sites of a wave, and returns how many of them it has begun.
func (r *running) wave(ctx context.Context, targets []Target) (begun int) {
	var group sync.WaitGroup
	for range min(max(r.push.Parallel, 1), len(targets)) {
		group.Go(func() {
			for {
				r.mu.Lock()
				at, over := begun, begun == len(targets) || r.isOver(ctx)
				if !over {
					begun++
				}
				r.mu.Unlock()
				if over {
					return
				}
				result := r.push.site(context.WithoutCancel(ctx), targets[at])
				r.end(targets[at], result)
			}
		})
	}
	group.Wait()
	return begun
}

// isOver reports whether no further site is begun.
func (r *running) isOver(ctx context.Context) bool {
	return ctx.Err() != nil || r.err != nil || !r.push.DryRun && r.push.MaxFailures > 0 && r.failures >= r.push.MaxFailures
}

// end passes a result on.
func (r *running) end(target Target, result Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if result.Kind.Stops() {
		r.failures++
	}
	if err := r.done(target, result); err != nil && r.err == nil {
		r.err = err
	}
}

// lostAnswer is the line of a site that has the documents after a change whose answer was lost.
const lostAnswer = "an answer was lost: this push may have made the change before"

// maxTries bounds how often a site is looked at again that others change meanwhile.
const maxTries = 4

// site makes the dry run of a site and, unless it would begin to fail, the change.
func (p Push) site(ctx context.Context, target Target) Result {
	server := p.Server.At(target.Name)
	server.Plain = true // hints would be about the site of the command line
	var err error
	lost := false // whether what became of a change is not known
	for range maxTries {
		result, etag, failed := p.dryRun(ctx, server, target)
		if failed != nil {
			return Result{Outcome: p.ofError(failed)}
		}
		if lost && result.Kind == Unchanged {
			result.Outcome = NewOutcome(Unchanged, Line{Text: lostAnswer})
		}
		if p.DryRun || result.Kind.Stops() {
			return result
		}
		var written client.Written
		written, err = p.put(ctx, server, client.Change{IfMatch: etag})
		if err == nil {
			return changed(result, written)
		}
		refused, answered := errors.AsType[*client.Error](err)
		overtaken := answered && refused.Status == http.StatusPreconditionFailed
		if answered && refused.Status/100 == 4 && !overtaken {
			break // else others have changed the site, or what became of the change is not known: look again
		}
		lost = lost || !overtaken
	}
	return Result{Outcome: p.ofError(err)}
}

// dryRun makes the dry run of a site, and returns the ETag of the state that it is about.
func (p Push) dryRun(ctx context.Context, server *client.Client, target Target) (Result, string, error) {
	written, err := p.put(ctx, server, client.Change{DryRun: true})
	if err != nil {
		return Result{}, "", err
	}
	preview, err := written.Preview()
	if err != nil {
		return Result{}, "", err
	}
	result := Result{Status: preview.Status}
	result.Revision, result.Stamp = newest(written.ETag)
	before := Before{Status: target.Status}
	if NeedsVerdict(preview, before) && result.Revision > 0 {
		verdict, _, err := server.Status(ctx, strconv.FormatInt(result.Revision, 10), nil, 0, 0)
		if err != nil {
			return Result{}, "", err
		}
		before.Verdict = &verdict
	}
	weakened := cmp.Or(p.Advice.Weakened, "ValidationPolicies would be weakened")
	if p.Weakens {
		weakened = ""
	}
	result.Outcome = Judge(preview, before, weakened)
	return result, written.ETag, nil
}

// put sends the change, or its dry run. A dry run asks for findings, unless the caller may not read them.
func (p Push) put(ctx context.Context, server *client.Client, change client.Change) (client.Written, error) {
	change.From = fmt.Sprintf("%s@%d-%s/%s", p.From.Site, p.From.Revision, p.From.Stamp, p.From.Bucket)
	change.Message, change.Promotes, change.MaxDeleted = p.Message, p.Promotes, p.MaxDeleted
	change.Findings = change.DryRun
	written, err := server.Put(ctx, p.Bucket, nil, change)
	refused, answered := errors.AsType[*client.Error](err)
	if answered && change.Findings && refused.Status == http.StatusForbidden {
		change.Findings = false
		written, err = server.Put(ctx, p.Bucket, nil, change)
	}
	return written, err
}

// changed returns the result of a change that was made, given that of its dry run.
func changed(would Result, written client.Written) Result {
	result := would
	result.Revision, result.Stamp = newest(written.ETag)
	if written.Status == "" { // nothing was changed
		return result
	}
	result.Status, _, _ = strings.Cut(written.Status, ";")
	if result.Status != success && would.Status == success {
		result.Outcome = NewOutcome(Fails, Line{Text: madeAndFails})
	}
	return result
}

// newest returns the number and the stamp of a revision by its ETag.
func newest(etag string) (revision int64, stamp string) {
	number, stamp, _ := strings.Cut(strings.Trim(etag, `"`), "-")
	revision, _ = strconv.ParseInt(number, 10, 64) // or 0, if it is not known
	return revision, stamp
}

// ofError returns the outcome of a site for which a request failed.
func (p Push) ofError(err error) Outcome {
	kind := Unasked
	refused, answered := errors.AsType[*client.Error](err)
	if answered && refused.Status/100 == 4 && refused.Status != http.StatusTooManyRequests {
		kind = Refused
	}
	var lines []Line
	for text := range strings.Lines(err.Error()) {
		lines = append(lines, Line{Text: strings.TrimSpace(text)})
	}
	if answered && refused.Type == "TooManyDeleted" && p.Advice.TooMany != "" {
		lines = append(lines, Line{Text: p.Advice.TooMany})
	}
	return NewOutcome(kind, lines...)
}
