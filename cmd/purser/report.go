package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"purser/cmd/purser/internal/folder"
	"purser/cmd/purser/internal/markdown"
	"purser/internal/check"
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/wire"
	"purser/internal/words"
)

// pushFormat has the flags of the formats of a push: those of all commands and, for dry runs, those of pull requests.
type pushFormat struct {
	Format string `aliases:"output" default:"table" enum:"table,json,yaml,name,markdown,github,gitlab" help:"Output format: table (default), json, yaml or name; with --dry-run also markdown (the comment of a pull request), and github or gitlab (findings at their lines)." placeholder:"FORM" short:"o"`
	Full   string `help:"With --format markdown: also write the whole comment to this file, however long it is." placeholder:"FILE" complete:"file"`
}

// validFormat refuses a format of pull requests without a dry run, and a file for what no other format leaves out.
func (f pushFormat) validFormat(dryRun bool) error {
	switch {
	case f.isReport() && !dryRun:
		return errors.New("--format " + f.Format + " needs --dry-run")
	case f.Full != "" && f.Format != "markdown":
		return errors.New("--full needs --format markdown")
	}
	return nil
}

// isReport reports whether the format is one of pull requests.
func (f pushFormat) isReport() bool {
	return slices.Contains([]string{"markdown", "github", "gitlab"}, f.Format)
}

// maxComment is how many characters the comment of a pull request may have, so that a pipeline can add to it: GitHub
// takes 65,536.
const maxComment = 60_000

// reported returns what a dry run answers, in a format of pull requests. It writes the file of --full.
func (f pushFormat) reported(r report) (string, error) {
	if f.Format != "markdown" {
		return annotations(f.Format, r)
	}
	page := commentOf(r, false)
	page.All = "`--full FILE` writes all of it"
	if f.Full != "" {
		page.All = markdown.Code(words.First(f.Full, maxName)) + " has all of it"
		if err := os.WriteFile(f.Full, []byte(commentOf(r, true).Text(0)), 0o600); err != nil {
			return "", fmt.Errorf("write the whole comment: %w", err)
		}
	}
	return page.Text(maxComment), nil
}

// refusal prints a report of a change that was refused for its documents, in a format of pull requests. It returns the
// error of the refusal.
func (f pushFormat) refusal(around *surroundings, refused error, files ...string) error {
	_, isNo := errors.AsType[no](refused)
	_, isInvalid := errors.AsType[folder.Invalid](refused)
	if !f.isReport() || !isNo && !isInvalid {
		return refused
	}
	text, err := f.reported(report{files: files, refused: refused.Error()})
	if err != nil {
		return err
	}
	if err := write(around, text); err != nil {
		return err
	}
	return refused
}

// report is what a dry run answers, with what is known of the files.
type report struct {
	preview     wire.Preview[wire.Finding]
	places      []check.Place            // of the findings, with files relative to the root of the repository
	differences map[wire.Identity]string // of documents as submitted
	files       []string                 // that were pushed, as they were named
	at          repository
	unseen      []string // what the caller may not read, in words
	refused     string   // why the change was refused; "" if it was not, and all else is then empty

	names, message int // how many names are listed in a line, and how many characters of a message
}

// repository is where the files of a pipeline are to be seen: blob is the URL of the files of a commit, with a slash at
// its end, "" if it is not known; root is the folder of the repository.
type repository struct{ root, blob string }

// repositoryOf returns the repository that the variables of a pipeline of GitHub or GitLab name.
func repositoryOf(env func(string) string) repository {
	for _, job := range pipelines(env) {
		base, err := url.Parse(job.repository)
		id, isCommit := revisions.ParseCommit(job.commit)
		if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.User != nil ||
			!isCommit || id != job.commit {
			continue
		}
		base.Path, base.RawPath, base.RawQuery, base.Fragment = "", "", "", ""
		path := markdown.Path(strings.Trim(strings.TrimPrefix(job.repository, base.String()), "/"))
		return repository{job.root, base.String() + "/" + path + job.files + id + "/"}
	}
	return repository{}
}

// relative returns a file relative to the root of the repository, or as it is if it is not in it.
func (r repository) relative(file string) string {
	if r.root == "" || file == "" {
		return file
	}
	full, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	below, err := filepath.Rel(r.root, full)
	if err != nil || !filepath.IsLocal(below) {
		return file
	}
	return filepath.ToSlash(below)
}

// link returns the URL of a line of a file, "" if it is not known.
func (r repository) link(at check.Place) string {
	if r.blob == "" || !filepath.IsLocal(at.File) {
		return ""
	}
	line := ""
	if at.Line > 0 {
		line = "#L" + strconv.Itoa(at.Line)
	}
	return r.blob + markdown.Path(at.File) + line
}

// reportPlan prints the preview of a push in a format of pull requests.
func (p *push) reportPlan(preview wire.Preview[wire.Finding],
	differences map[wire.Identity]string,
) error {
	r := report{
		preview: readable(preview), differences: differences, at: repositoryOf(os.Getenv), files: p.named(),
		unseen: unseen(preview, p.Format),
	}
	for _, f := range r.preview.Findings {
		at := p.body.At(f.Line, f.Column)
		at.File = r.at.relative(at.File)
		r.places = append(r.places, at)
	}
	text, err := p.reported(r)
	if err != nil {
		return err
	}
	return p.printPreview(p.around, output{"table"}, preview, answer{text: text})
}

// readable returns a preview without what a server lists in the place of findings for callers who may not read those.
func readable(preview wire.Preview[wire.Finding]) wire.Preview[wire.Finding] {
	if !seesFindings(preview) {
		preview.Findings = nil
	}
	return preview
}

// seesFindings reports whether the caller may read findings.
func seesFindings(preview wire.Preview[wire.Finding]) bool {
	return !slices.ContainsFunc(preview.Findings, func(f wire.Finding) bool { return f.Level == "" })
}

// unseen says what a preview lacks because the caller may not read it.
func unseen(preview wire.Preview[wire.Finding], format string) (texts []string) {
	if !seesFindings(preview) {
		texts = append(texts, "The findings are not listed: the caller may not read them")
	}
	if preview.Rendered == nil && format == "markdown" {
		texts = append(texts, "What changes rendered is not known: the caller may not compare documents, or the server is "+
			"of an earlier version")
	}
	return texts
}

// named returns the files and folders that the command line names.
func (c *pushCommand) named() []string {
	if c.Changeset != "" {
		return []string{c.Changeset}
	}
	return c.Paths
}

// annotations returns the findings of a report as purser check writes them for a pipeline. A missing or expired result
// is no error of the files.
func annotations(format string, r report) (string, error) {
	did := r.preview.Changes
	all := check.Report{Files: r.files, Documents: did.Added + did.Modified + did.Unchanged, Whole: true}
	if r.refused != "" {
		all.Findings = []check.Finding{{Rule: "refused", Message: r.refused}}
	}
	for i, f := range r.preview.Findings {
		finding := check.Finding{
			Level: levelOf(f.Level), Rule: check.RuleOf(f.Validation, string(f.Rule)), Path: string(f.Path),
			Broken: string(f.Rule), Message: document.WithoutNone(f.Message), Advice: string(f.Advice),
		}
		if isOpen(f) {
			finding.Level, finding.Rule = levelOf("info"), string(f.Rule)
		}
		if f.Document != nil {
			finding.Document, finding.Bucket = f.Document.Plain(), string(f.Document.Bucket)
		} else {
			finding.Message = f.Validation + ": " + finding.Message
		}
		if i < len(r.places) {
			finding.Place = r.places[i]
		}
		all.Findings = append(all.Findings, finding)
	}
	var b bytes.Buffer
	if err := check.Write(&b, format, all, check.FormatOptions{Version: versionText()}); err != nil {
		return "", err
	}
	if format == "github" {
		if r.refused == "" && r.preview.Counts != nil {
			b.WriteString(words.Rest(r.preview.Total-len(r.preview.Findings), r.preview.More))
		}
		b.WriteString(strings.ReplaceAll(verdictOf(r), "*", "") + "\n")
	}
	return b.String(), nil
}

// isOpen reports whether a finding says that a result is missing or expired, because of which the revision fails.
func isOpen(f wire.Finding) bool { return f.Document == nil && levelWord(f) != f.Level }
