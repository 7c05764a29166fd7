package main

import (
	"fmt"
	"io"
	"time"

	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// awaited asks for a verdict, and again with a minute's wait each until the verdict is final or the whole wait is over.
// Meanwhile it says on standard error what the verdict waits for: in a countdown on a terminal, else once a minute.
func awaited(around *surroundings, wait time.Duration,
	ask func(wait time.Duration) (wire.Verdict, client.Answer, error),
) (verdict wire.Verdict, said client.Answer, err error) {
	verdict, said, err = ask(0)
	for wait > 0 && err == nil && !verdict.Final() {
		what, step := words.Line("waiting for "+words.List(openOf(verdict))), min(wait, time.Minute)
		stop := func() {}
		if around.live {
			stop = countDown(below(around.stderr), what, wait)
		} else {
			fmt.Fprintf(around.stderr, "purser: %s, for up to %v\n", what, wait.Round(time.Second))
		}
		verdict, said, err = ask(step)
		stop()
		wait -= step
	}
	return verdict, said, err
}

// openOf returns the names of the validations whose results are missing or expired: the first ones, and the number of
// the others.
func openOf(verdict wire.Verdict) (names []string) {
	const most = 3
	seen := map[string]bool{}
	add := func(validations []wire.Validation) {
		for _, v := range validations {
			if (v.Status == "missing" || v.Status == "expired") && !v.Passes() && !seen[v.Name] {
				seen[v.Name], names = true, append(names, v.Name)
			}
		}
	}
	for _, policy := range verdict.Policies {
		add(policy.Validations)
	}
	add(verdict.Validations)
	if others := len(names) - most; others > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", others))
	}
	return names
}

// countDown shows on a terminal what is waited for and the time that is left, until stop is called.
func countDown(terminal io.Writer, what string, left time.Duration) (stop func()) {
	const width = 60
	return redrawn(terminal, func() string {
		line := fmt.Sprintf("%s, %v left", words.First(what, width), max(0, left.Round(time.Second)))
		left -= time.Second
		return line
	})
}

// eraseLine erases the line of a terminal.
const eraseLine = "\r\x1b[K"

// redrawn shows a line on a terminal, and shows it anew each second, until stop is called.
func redrawn(terminal io.Writer, line func() string) (stop func()) {
	stopping, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for {
			_, _ = io.WriteString(terminal, eraseLine+line())
			select {
			case <-second.C:
			case <-stopping:
				_, _ = io.WriteString(terminal, eraseLine)
				return
			}
		}
	}()
	return func() {
		close(stopping)
		<-stopped
	}
}
