package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"time"

	"purser/internal/budget"
	"purser/internal/fleet"
	"purser/internal/words"
)

const (
	// maxStreams is the number of pages that are sent while they are made, at the same time.
	maxStreams = 4
	// pushParallel is the number of sites that a push asks at the same time, and maxPushAnswer bounds each answer, in
	// bytes: all streams together hold 256 MiB.
	pushParallel  = 8
	maxPushAnswer = 8 << 20
	// maxProgress bounds the lines about the progress of a push, of at most 100 bytes each.
	maxProgress = 300
	// readerPatience is how long a browser may take to read a part of a page.
	readerPatience = 30 * time.Second
)

// pushView is the content of the page of a push, or of its dry run, which is made while the page is written: as long as
// the browser reads it. Then no further site is begun, and those that are begun are finished.
type pushView struct {
	*pageBuffer

	Asked  string // the source as it was named
	Source string // SITE@REVISION/BUCKET with the number of the revision
	Sites  string // their number
	Back   string // the form
	Start  string // where the form leads that makes the change; "" if this is the change

	fleet.Push

	of       *visit
	waves    []fleet.Wave
	tally    *fleet.Tally
	left     []fleet.Wave
	took     time.Duration
	stopping bool // the server is
}

// pushPage returns the page of a push.
func (v *visit) pushPage(form pushForm, push fleet.Push, targets []fleet.Target) *pushView {
	page := &pushView{
		pageBuffer: v.pageBuffer, Asked: form.From, Push: push, of: v, waves: fleet.Waves(targets),
		Sites:  fleet.Sites(len(targets)),
		Source: push.From.Site + "@" + strconv.FormatInt(push.From.Revision, 10) + "/" + push.From.Bucket,
		Back:   v.Base.Link("fleet") + "?" + form.values().Encode(),
	}
	if push.DryRun {
		form.From, form.Stamp = page.Source, push.From.Stamp
		page.Start = v.Base.Link("fleet", "start") + "?" + form.values().Encode()
	}
	page.tally, _ = fleet.NewTally(page.waves, new(fleet.Resumed))
	v.reserve(len(page.Start))
	return page
}

// stream sends a page while it is made. Few are sent at the same time, and they do not take the place of others.
func (v *visit) stream(ctx context.Context, of view) {
	waiting, cancel := context.WithTimeout(budget.WithOwner(ctx, v.visitor()), patience)
	defer cancel()
	end, err := v.streams.Acquire(waiting, budget.Claim{Weight: 1})
	if err != nil {
		v.fail(&refusal{
			Status:  http.StatusServiceUnavailable,
			Message: "Others copy to many sites at the moment. Try again, or use the command purser fleet push.",
		})
		return
	}
	defer end()
	recordOf(ctx).lasts = true
	v.w.Header().Set("X-Accel-Buffering", "no")                      // by proxies
	_ = http.NewResponseController(v.w).SetReadDeadline(time.Time{}) // which would end the request, too
	v.show(of)
}

// sendOn sends what is written of a page so far.
func (v *visit) sendOn() error {
	control := http.NewResponseController(v.w)
	_ = control.SetWriteDeadline(time.Now().Add(readerPatience)) // tests have no connection
	if _, err := v.WriteTo(v.w); err != nil {
		return err
	}
	if err := control.Flush(); err != nil {
		return fmt.Errorf("send a part of a page: %w", err)
	}
	return nil
}

// Progress makes the push, and yields a line about it from time to time until it has ended. Before each, it sends what
// is written of the page; an empty line only keeps the connection. The push stops once the browser has disconnected,
// reads nothing any more, or the server stops.
func (p *pushView) Progress() iter.Seq[string] {
	return func(yield func(string) bool) {
		ctx, stop := context.WithCancel(p.of.Context())
		began, ended := time.Now(), make(chan struct{})
		stopping := p.of.Stopping
		select {
		case <-stopping: // while it waited for its place
			p.stopping = true
			stop()
		default:
		}
		go func() {
			defer close(ended)
			p.left, _ = p.Run(ctx, p.waves, func(target fleet.Target, result fleet.Result) error {
				p.tally.Add(target.Name, result.Outcome)
				return nil
			})
		}()
		defer func() {
			stop()
			<-ended
			p.took = time.Since(began)
		}()
		for lines := 0; ; {
			if p.of.sendOn() != nil {
				stop()
			}
			select {
			case <-ended:
				return
			case <-stopping:
				stop()
				stopping, p.stopping = nil, true
				continue
			case <-time.After(pause(time.Since(began))):
			}
			line := ""
			if lines++; lines <= maxProgress {
				line = p.tally.Progress(time.Since(began))
			}
			if !yield(line) {
				return
			}
		}
	}
}

// pause returns the time between lines about the progress of something that takes as long already: a second at first,
// and at most so long that proxies keep the connection.
func pause(already time.Duration) time.Duration {
	const part, most = 40, 30 * time.Second
	return min(max(already/part, time.Second), most)
}

// pushEnd is the end of the page of a push.
type pushEnd struct {
	Head   string
	Groups []shownGroup
	Would  string // the number of sites that would be changed or, if there are none, that have the documents already
	Same   bool   // no site would be changed
	Fails  string // the number of sites that count as failures; "" for none
	Why    string // not all sites were begun; "" if they were
	Left   []string
}

// shownGroup is a group of sites with the same outcome.
type shownGroup struct {
	fleet.Group

	Count    string
	Sentence string
	Class    string   // good, mild, open or bad
	Names    []string // of its first sites
}

// maxNamed bounds the names of the sites of a group.
const maxNamed = 100

// Ended returns what has become of a push, once Progress has ended.
func (p *pushView) Ended() (end pushEnd) {
	shown := p.tally.Shown(maxNamed)
	shown.Parallel, shown.Took, shown.DryRun, shown.Left = p.Parallel, p.took, p.DryRun, p.left
	end = pushEnd{Head: shown.Head(), Why: p.why(shown)}
	if failures := shown.Failures(); failures > 0 {
		end.Fails = fleet.Sites(failures)
	}
	changed, same := 0, 0
	for _, group := range shown.Groups {
		end.Groups = append(end.Groups, shownGroup{
			group, fleet.Number(group.Sites), shown.Sentence(group), classOf(group.Kind), shown.Names[group.Number],
		})
		switch {
		case group.Kind == fleet.Unchanged:
			same += group.Sites
		case !group.Kind.Stops():
			changed += group.Sites
		}
	}
	if end.Same = changed == 0; end.Same {
		changed = same
	}
	if changed > 0 {
		end.Would = fleet.Sites(changed)
	}
	for _, wave := range p.left {
		text := fleet.Sites(len(wave.Targets))
		if wave.Name != "" {
			text += " of wave " + words.Line(wave.Name)
		}
		end.Left = append(end.Left, text)
	}
	return end
}

// why says why sites are left that were not begun.
func (p *pushView) why(shown fleet.Shown) string {
	left := fleet.Sites(fleet.Count(p.left))
	switch failures := shown.Failures(); {
	case len(p.left) == 0:
		return ""
	case p.stopping:
		return "The server is stopping: " + left + " not begun. Do it again once it is back"
	case !p.DryRun && failures >= p.MaxFailures:
		return "Stopped after " + words.Count(failures, "failure") + ": " + left + " not begun"
	}
	return "Stopped: " + left + " not begun"
}

// classOf returns the class of what is said of a group.
func classOf(kind fleet.Kind) string {
	switch {
	case kind.Stops():
		return "bad"
	case kind == fleet.Unchanged:
		return "mild"
	case slices.Contains([]fleet.Kind{fleet.Stays, fleet.Mended}, kind):
		return "good"
	}
	return "open"
}

// Unnamed returns how many sites of the group are not among its names.
func (g shownGroup) Unnamed() int { return g.Sites - len(g.Names) }

// pushing is the transport of a push. What a page refuses to read is an answer to it, as if the API had refused.
type pushing struct{ inProcess }

// RoundTrip implements http.RoundTripper.
func (p pushing) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := p.inProcess.RoundTrip(r)
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		return answer, err
	}
	message := refused.Message
	if refused.Status == http.StatusRequestEntityTooLarge {
		message = fmt.Sprintf("What the site says has more than %d MiB; the command purser fleet push reads more",
			maxPushAnswer>>20)
	}
	body, err := json.Marshal(map[string]string{"kind": "Status", "message": message})
	if err != nil {
		return nil, fmt.Errorf("write a refusal: %w", err)
	}
	return &http.Response{
		StatusCode: refused.Status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}
