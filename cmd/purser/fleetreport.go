package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"purser/internal/fleet"
	"purser/internal/wire"
)

// fleetReport is a file in which a push to a fleet writes what becomes of each site, as soon as that is known.
type fleetReport struct {
	file   *os.File // nil if none is wanted
	head   fleet.Head
	before fleet.Resumed
}

// openReport opens a report, which may be that of an earlier run of the same push; none if path is "".
func openReport(path string, head fleet.Head) (r *fleetReport, err error) {
	r = &fleetReport{head: head}
	if path == "" {
		return r, nil
	}
	// Messages are for those who may read the documents.
	const mode = 0o600
	if r.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, mode); err != nil { //nolint:gosec // named by the user
		return nil, fmt.Errorf("open the report: %w", err)
	}
	if err = r.resume(path); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// resume reads what the file has, and continues behind its last whole line.
func (r *fleetReport) resume(path string) error {
	text, err := io.ReadAll(r.file)
	if err == nil {
		r.before, err = fleet.Resume(text, r.head)
	}
	switch {
	case err != nil:
		return fmt.Errorf("read the report %s: %w", path, err)
	case r.before.Another != "":
		return fmt.Errorf("the report %s is about %s, and not about %s; name another file, or remove it", path,
			r.before.Another, r.head)
	}
	if err = r.file.Truncate(int64(r.before.Length)); err == nil {
		_, err = r.file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return fmt.Errorf("continue the report %s: %w", path, err)
	}
	if r.before.Length > 0 {
		return nil
	}
	r.head.At = now()
	return r.write(r.head)
}

// write writes a line.
func (r *fleetReport) write(line any) error {
	if r.file == nil {
		return nil
	}
	text, err := json.Marshal(line)
	if err == nil {
		_, err = r.file.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// site writes the result of a site, after the text of its group if that has changed.
func (r *fleetReport) site(target fleet.Target, result fleet.Result, group fleet.Group, changed bool) error {
	if changed {
		if err := r.write(group.Line()); err != nil {
			return err
		}
	}
	return r.write(fleet.SiteLine{
		Site: target.Name, Outcome: result.Kind, Revision: result.Revision, Stamp: result.Stamp, Status: result.Status,
		From: r.head.From, Group: group.Number, At: now(),
	})
}

// How a push ends.
const (
	endComplete    = "complete"
	endStopped     = "stopped"
	endInterrupted = "interrupted"
	endFailed      = "failed"
)

// endOf returns how a push ended that has left sites behind.
func endOf(ctx context.Context, left []fleet.Wave, err error) string {
	switch {
	case err != nil:
		return endFailed
	case len(left) == 0:
		return endComplete
	case ctx.Err() != nil:
		return endInterrupted
	}
	return endStopped
}

// end writes how the push ended.
func (r *fleetReport) end(ended string, groups []fleet.Group, left []fleet.Wave) error {
	counts := fleet.CountsOf(groups)
	line := fleet.EndLine{Ended: ended, Left: fleet.Count(left), Groups: counts, At: now()}
	for _, count := range counts {
		line.Sites += count.Sites
	}
	return r.write(line)
}

// close closes the file.
func (r *fleetReport) close() error {
	if r.file == nil {
		return nil
	}
	if err := r.file.Close(); err != nil {
		return fmt.Errorf("close the report: %w", err)
	}
	return nil
}

// now returns the time as answers of the server have it.
func now() string { return string(wire.TimeText(time.Now())) }
