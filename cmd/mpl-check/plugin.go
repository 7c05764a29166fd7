package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"purser/internal/murano"
)

const (
	timeLimit = 10 * time.Second
	maxOutput = 1 << 20 // bytes
)

// pluginDescription is the output of a plugin with --describe. Otherwise a plugin reads a package from its standard
// input and writes issues. Both are JSON: see docs/murano.md.
type pluginDescription struct {
	Name  string        `json:"name"`
	Codes []murano.Code `json:"codes"`
}

// file is a file of a package in the input of a plugin.
type file struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
	Text   string `json:"text,omitempty"` // only for files that validators read
}

// input is a package in the input of a plugin.
type input struct {
	Format  string `json:"format"`
	Version string `json:"version"`
	Files   []file `json:"files"`
}

// issue is an issue in the output of a plugin. Lines and columns count from 1; line 0 means none.
type issue struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

// loadPlugins returns the validators of the programs in a folder. Their names and the prefixes of their codes must be
// unique.
func loadPlugins(ctx context.Context, folder string) (validators []murano.Validator, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("find plugins: %w", err)
	}
	known := murano.Builtin()
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		v, err := loadPlugin(ctx, filepath.Join(folder, entry.Name()), known)
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %w", entry.Name(), err)
		}
		known, validators = append(known, v), append(validators, v)
	}
	if len(validators) == 0 {
		return nil, fmt.Errorf("there is no program in %s: no file there is executable", folder)
	}
	return validators, nil
}

var (
	namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)
	codePattern = regexp.MustCompile(`^[A-Z]{2,10}:[EW][0-9]{3}$`)
)

func loadPlugin(ctx context.Context, path string, known []murano.Validator) (murano.Validator, error) {
	var d pluginDescription
	if err := call(ctx, &d, nil, path, "--describe"); err != nil {
		return murano.Validator{}, err
	}
	if !namePattern.MatchString(d.Name) || len(d.Codes) == 0 {
		return murano.Validator{}, fmt.Errorf("it describes itself by the name %q and %d codes; it needs both", d.Name,
			len(d.Codes))
	}
	prefixOf := func(code string) string { return strings.SplitAfter(code, ":")[0] }
	taken := map[string]bool{}
	for _, code := range murano.CodesOf(known) {
		taken[prefixOf(code.Code)] = true
	}
	for _, code := range d.Codes {
		if !codePattern.MatchString(code.Code) || taken[prefixOf(code.Code)] {
			return murano.Validator{}, fmt.Errorf("its code %q should have a prefix of its own, such as ACME:E001", code.Code)
		}
	}
	if slices.ContainsFunc(known, func(v murano.Validator) bool { return v.Name == d.Name }) {
		return murano.Validator{}, fmt.Errorf("there is another validator %q", d.Name)
	}
	check := func(c *murano.Check) { runPlugin(c, path, d) } //nolint:contextcheck // the check has its own
	return murano.Validator{Name: d.Name, Codes: d.Codes, Run: check}, nil
}

// runPlugin checks a package. Errors of the plugin are reported as issues.
func runPlugin(c *murano.Check, path string, d pluginDescription) {
	in := input{Format: c.Format.Name, Version: c.Format.Version, Files: []file{}}
	for _, name := range c.Package.Names() {
		f := c.Package.Files[name]
		in.Files = append(in.Files, file{name, f.Size, f.Digest, string(f.Raw)})
	}
	var out struct {
		Issues []issue `json:"issues"`
	}
	if err := call(c.Context(), &out, in, path); err != nil {
		c.Report(murano.Issue{Code: "E000", Message: fmt.Sprintf("Plugin %s failed: %v", d.Name, err)})
		return
	}
	for _, i := range out.Issues {
		if !slices.ContainsFunc(d.Codes, func(code murano.Code) bool { return code.Code == i.Code }) {
			c.Report(murano.Issue{Code: "E000", Message: fmt.Sprintf("Plugin %s reports the code %.50q, which it has not "+
				"announced", d.Name, i.Code)})
			continue
		}
		_, exists := c.Package.Files[i.File]
		c.Report(murano.Issue{
			Code: i.Code, Message: i.Message, File: i.File, Located: exists && i.Line > 0, Line: max(0, i.Line-1),
			Column: max(0, i.Column-1),
		})
	}
}

// call runs a plugin with a JSON value as its input and decodes its output.
func call(ctx context.Context, out, in any, path string, args ...string) error {
	text, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write the package: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // the folder is the caller's
	cmd.Stdin = bytes.NewReader(text)
	stdout, stderr := &bounded{stop: cancel}, &bounded{stop: cancel}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.WaitDelay = time.Second // for the output of its children
	kill := inGroup(cmd)
	cmd.Cancel = kill
	if err = cmd.Start(); err == nil {
		err = cmd.Wait()
		_ = kill() // its remaining children
	}
	switch {
	case stdout.full || stderr.full:
		return fmt.Errorf("it writes more than %d bytes", maxOutput)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("it takes more than %v", timeLimit)
	case err != nil:
		return fmt.Errorf("%w: %.500s", err, bytes.TrimSpace(stderr.text))
	}
	if err := json.Unmarshal(stdout.text, out); err != nil {
		return fmt.Errorf("its output is malformed: %w", err)
	}
	return nil
}

// bounded keeps the text written to it, up to maxOutput bytes. If more is written, it stops the writer.
type bounded struct {
	text []byte
	stop func()
	full bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if len(b.text)+len(p) > maxOutput {
		b.full = true
		b.stop()
		return 0, errFull
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

var errFull = errors.New("too much output")
