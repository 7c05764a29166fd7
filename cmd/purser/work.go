package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"purser/internal/client"
	"purser/internal/document"
	"purser/internal/wire"
	"purser/internal/words"
)

// workCommand is a validator: it claims work and has a command do it.
type workCommand struct {
	remoteSites

	Once         bool          `help:"End after one piece of work, with 1 if the validation failed."`
	Wait         time.Duration `help:"End with 1 if there is no work for this long; by default it waits for ever." placeholder:"10m"`
	ClaimTimeout time.Duration `default:"5m" help:"Time after which others may claim the work unless the claim is extended, which is done while the command runs."`
	Worker       string        `help:"Name that tells people who works on it; the default is the host and the process." placeholder:"NAME"`
	Work         []string      `arg:"" name:"validation> ... -- <command" passthrough:"" help:"Names of the validations, in order of preference, then -- and the command with its arguments. Flags come before them." values:"validations"`
}

// Run claims work, has it done, posts the result, and does so again.
func (c *workCommand) Run(ctx context.Context, around *surroundings) error {
	names, command, err := c.parts()
	if err != nil {
		return err
	}
	server, err := c.ProvideClient(ctx, around)
	if err != nil {
		return err
	}
	job := worker{server, around, names, command, c.ClaimTimeout, c.Worker}
	if job.name == "" {
		host, _ := os.Hostname() // empty if it is not known
		job.name = words.First(host, 80) + ":" + strconv.Itoa(os.Getpid())
	}
	for {
		claim, err := job.claim(ctx, c.Wait)
		if err != nil {
			return err
		}
		failed, err := job.at(claim.Site).do(ctx, claim)
		switch {
		case err != nil:
			return err
		case c.Once && failed:
			return no("")
		case c.Once:
			return nil
		}
	}
}

// parts returns the names of the validations, and the command.
func (c *workCommand) parts() (names, command []string, err error) {
	at := slices.Index(c.Work, "--")
	if at < 1 || at == len(c.Work)-1 {
		return nil, nil, errors.New("name the validations and the command: purser work acme-address-validation -- ./check")
	}
	for _, name := range c.Work[:at] {
		if strings.HasPrefix(name, "-") {
			return nil, nil, fmt.Errorf("%s comes after a validation: flags come before them", name)
		}
	}
	return c.Work[:at], c.Work[at+1:], nil
}

// worker does work for a server.
type worker struct {
	server  *client.Client
	around  *surroundings
	names   []string // of validations
	command []string
	timeout time.Duration // of claims
	name    string
}

// at returns the worker for the work of a site: a claim to the work of any says which one it is.
func (w *worker) at(site string) *worker {
	of := *w
	if w.server.Site == client.AllSites {
		of.server = w.server.At(site)
	}
	return &of
}

// sayf writes a line for people.
func (w *worker) sayf(format string, args ...any) {
	fmt.Fprintln(w.around.stderr, "purser:", words.Line(fmt.Sprintf(format, args...)))
}

// claim waits for work, for at most a time if that is not 0, and claims it. It asks again if the server or the
// connection fails: a claim that was made all the same runs out.
func (w *worker) claim(ctx context.Context, most time.Duration) (claim wire.Claim, err error) {
	const step, pause = time.Minute, 2 * time.Second
	body := marshal(map[string]any{"validations": w.names, "worker": w.name, "timeout": w.timeout.String()})
	for began := time.Now(); ; {
		wait := step
		if most > 0 {
			wait = min(step, most-time.Since(began))
		}
		answer, err := w.server.Do(ctx, client.Request{
			Method: http.MethodPost, Path: []string{"claims"}, Body: body, JSON: true, Wait: max(wait, time.Millisecond),
		})
		refused, isAnswer := errors.AsType[*client.Error](err)
		switch {
		case ctx.Err() != nil:
			return claim, context.Canceled
		case err == nil && answer.Status == http.StatusCreated:
			if err = answer.Decode(&claim); err == nil && claim.Site == "" && w.server.Site == client.AllSites {
				err = fmt.Errorf("the claim of %s to the work of any site does not say of which", w.server.Server)
			}
			return claim, err
		case isAnswer && refused.Type == "HTTPRouteNotFound":
			return claim, fmt.Errorf("%s has no claims: it is an older version of Purser, or runs with --compat=deckhand",
				w.server.Server)
		case isAnswer && refused.Status < http.StatusInternalServerError:
			return claim, err
		case most > 0 && time.Since(began) >= most:
			return claim, no(fmt.Sprintf("there was no work for %v", most))
		case err != nil:
			w.sayf("%v; asking again", err)
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}
}

// do has the command do the work of a claim, extends the claim meanwhile, and posts the result. If ctx ends, it gives
// the work back.
func (w *worker) do(ctx context.Context, claim wire.Claim) (failed bool, err error) {
	dir, err := os.MkdirTemp("", "purser-work-")
	if err != nil {
		return false, w.giveBack(ctx, claim, fmt.Errorf("make a folder for the result: %w", err))
	}
	defer func() { _ = os.RemoveAll(dir) }()
	running, stop := context.WithCancel(ctx)
	defer stop()
	at := filepath.Join(dir, "result")
	program := w.program(running, claim, at)
	if err := program.Start(); err != nil {
		return false, w.giveBack(ctx, claim, fmt.Errorf("start %s: %w", w.command[0], err))
	}
	var lost atomic.Pointer[error]
	extended := make(chan struct{})
	go func() {
		defer close(extended)
		if err := w.extend(running, claim); err != nil {
			lost.Store(&err)
			stop()
		}
	}()
	ended := program.Wait()
	stop()
	<-extended
	why := lost.Load()
	switch exit, exited := errors.AsType[*exec.ExitError](ended); {
	case ctx.Err() != nil:
		return false, w.giveBack(ctx, claim, context.Canceled)
	case why != nil:
		w.sayf("revision %d: %s: %v", claim.Revision, claim.Validation, *why)
		return true, nil
	case ended != nil && (!exited || exit.ExitCode() < 0):
		return false, attempted(claim, fmt.Errorf("run %s: %w", w.command[0], ended))
	}
	body, err := resultOf(ctx, at, w.command[0], ended)
	if err != nil {
		return false, attempted(claim, err)
	}
	return ended != nil, w.post(ctx, claim, body, ended != nil)
}

// program returns the command for a claim.
func (w *worker) program(ctx context.Context, claim wire.Claim, result string) *exec.Cmd {
	const patience = 500 * time.Millisecond                             // this process ends a second after a signal
	program := exec.CommandContext(ctx, w.command[0], w.command[1:]...) //nolint:gosec // the user names it
	program.Stdout, program.Stderr, program.WaitDelay = w.around.stdout, w.around.stderr, patience
	program.Cancel = func() error { return program.Process.Signal(os.Interrupt) }
	site := cmp.Or(w.server.Site, client.DefaultSite)
	program.Env = append(os.Environ(), "PURSER_SITE="+site, "PURSER_REVISION="+strconv.FormatInt(claim.Revision, 10),
		"PURSER_STAMP="+claim.Stamp, "PURSER_VALIDATION="+claim.Validation, "PURSER_DOCUMENTS="+claim.Documents,
		"PURSER_RESULT="+result)
	return program
}

// extend extends a claim until ctx ends. It returns an error if the claim no longer holds the work.
func (w *worker) extend(ctx context.Context, claim wire.Claim) error {
	const parts = 3
	every := time.NewTicker(w.timeout / parts)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
		_, err := w.server.Do(ctx, client.Request{
			Method: http.MethodPut, Path: []string{"claims", claim.ID}, Body: []byte("{}"), Again: true,
		})
		refused, isAnswer := errors.AsType[*client.Error](err)
		switch {
		case ctx.Err() != nil:
			return nil
		case isAnswer && (refused.Status == http.StatusConflict || refused.Status == http.StatusNotFound):
			return err
		case err != nil:
			w.sayf("%v", err) // the next time may succeed
		}
	}
}

// giveBack gives the work of a claim back because of an error, which it returns. If it cannot, the claim runs out.
func (w *worker) giveBack(ctx context.Context, claim wire.Claim, because error) error {
	const patience = 800 * time.Millisecond // this process ends a second after a signal
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_, err := w.server.Do(ctx, client.Request{Method: http.MethodDelete, Path: []string{"claims", claim.ID}, Again: true})
	if err != nil {
		w.sayf("revision %d: %s is not given back, so its claim runs out: %v", claim.Revision, claim.Validation, err)
	}
	return because
}

// attempted returns an error that the command may cause whenever it does the work of a claim. The claim runs out, so
// that the attempt counts: given back, the work would be claimed again and again, and never end.
func attempted(claim wire.Claim, because error) error {
	return fmt.Errorf("revision %d: %s: the claim runs out: %w", claim.Revision, claim.Validation, because)
}

// resultOf returns the body of the result: what the command has written to a file, with the status by its exit code.
func resultOf(ctx context.Context, file, command string, ended error) ([]byte, error) {
	text, err := os.ReadFile(file) //nolint:gosec // it is this process's
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read PURSER_RESULT: %w", err)
	}
	var written document.Mapping
	if strings.TrimSpace(string(text)) != "" {
		value, err := document.ParseOne(ctx, text, document.YAML, document.DefaultLimits())
		if err != nil {
			return nil, fmt.Errorf("read PURSER_RESULT: %w", err)
		}
		var isMapping bool
		if written, isMapping = value.(document.Mapping); !isMapping {
			return nil, errors.New("PURSER_RESULT must have a mapping, such as errors: [{message: what is wrong}]")
		}
	}
	status := document.Member{Key: "status", Value: "success"}
	if ended != nil {
		status.Value = "failure"
	}
	body := document.Mapping{status}
	for _, field := range written {
		if field.Key != status.Key {
			body = append(body, field)
		}
	}
	if written.At("validator") == nil {
		body = append(body, document.Member{
			Key: "validator", Value: document.Mapping{{Key: "name", Value: filepath.Base(command)}},
		})
	}
	if ended != nil && written.At("errors") == nil {
		message := filepath.Base(command) + ": " + ended.Error()
		errs := []any{document.Mapping{{Key: "message", Value: message}}}
		body = append(body, document.Member{Key: "errors", Value: errs})
	}
	return document.AppendJSON(nil, body), nil
}

// post posts the result of a claim. It goes on if the result is refused because the work is somebody else's by now.
func (w *worker) post(ctx context.Context, claim wire.Claim, body []byte, failed bool) error {
	_, err := w.server.Do(ctx, client.Request{
		Method: http.MethodPost,
		Path:   []string{"revisions", strconv.FormatInt(claim.Revision, 10), "validations", claim.Validation},
		Query:  url.Values{"revision-stamp": {claim.Stamp}, "claim": {claim.ID}}, Body: body, JSON: true, Again: true,
	})
	refused, isAnswer := errors.AsType[*client.Error](err)
	const gone = http.StatusGone
	isOver := isAnswer && slices.Contains(
		[]int{http.StatusConflict, http.StatusNotFound, gone, http.StatusPreconditionFailed}, refused.Status)
	switch {
	case isOver:
		w.sayf("revision %d: the result of %s is not taken: %v", claim.Revision, claim.Validation, err)
		return nil
	case isAnswer && (refused.Status == http.StatusBadRequest || refused.Status == http.StatusRequestEntityTooLarge):
		return attempted(claim, err)
	case err != nil:
		return w.giveBack(ctx, claim, err)
	}
	word := "success"
	if failed {
		word = "failure"
	}
	return write(w.around, fmt.Sprintf("Revision %d: %s is a %s\n", claim.Revision, words.Line(claim.Validation), word))
}
