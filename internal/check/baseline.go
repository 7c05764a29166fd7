package check

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/document/blockyaml"
)

// Baseline is a list of known findings. They are compared without their lines, so it remains valid after edits.
type Baseline struct {
	Findings []KnownFinding `json:"findings"`
}

// KnownFinding is a finding of a Baseline.
type KnownFinding struct {
	File     string `json:"file,omitempty"`
	Rule     string `json:"rule"`
	Document string `json:"document,omitempty"`
	Path     string `json:"path,omitempty"`
	Message  string `json:"message"`
}

func knownOf(f Finding) KnownFinding {
	known := KnownFinding{File: f.File, Rule: f.Rule, Path: f.Path, Message: f.Message}
	if f.Document.Schema+f.Document.Name != "" {
		known.Document = f.Document.String()
	}
	return known
}

// Baseline returns a baseline with the findings of a report.
func (r Report) Baseline() Baseline {
	baseline := Baseline{Findings: []KnownFinding{}}
	for _, f := range r.Findings {
		if f.Rule != ruleUnlisted { // which errors these are is not known
			baseline.Findings = append(baseline.Findings, knownOf(f))
		}
	}
	slices.SortFunc(baseline.Findings, func(a, b KnownFinding) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Document, b.Document),
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	return baseline
}

// Write writes the baseline as YAML.
func (b Baseline) Write(w io.Writer) error {
	text, err := json.Marshal(b)
	if err == nil {
		text = blockyaml.Append([]byte("# Findings that purser check passes over: made by --write-baseline.\n"), text)
		_, err = w.Write(text)
	}
	if err != nil {
		return fmt.Errorf("write a baseline: %w", err)
	}
	return nil
}

// ReadBaseline reads a baseline from a file that Write has written.
func ReadBaseline(ctx context.Context, path string) (baseline Baseline, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // the user names it
	if err != nil {
		return baseline, fmt.Errorf("read the baseline: %w", err)
	}
	if err := Decode(ctx, text, &baseline); err != nil {
		return baseline, fmt.Errorf("%s: this is not a baseline as this version writes it: %w\n"+
			"Write it anew with --write-baseline", path, err)
	}
	return baseline, nil
}

// MayReplace reports whether a text may be replaced by a baseline: it is empty, or a baseline of any version.
func MayReplace(ctx context.Context, text []byte) bool {
	value, err := document.ParseOne(ctx, text, document.YAML, document.DefaultLimits())
	root, _ := value.(document.Mapping)
	_, known := root.Lookup("findings")
	return err == nil && (value == nil || known)
}

// Without returns the report without the findings of a baseline, each removed as often as it is listed.
func (r Report) Without(baseline Baseline) Report {
	left := map[KnownFinding]int{}
	for _, known := range baseline.Findings {
		left[known]++
	}
	before := len(r.Findings)
	r.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool {
		known := knownOf(f)
		left[known]--
		return left[known] >= 0
	})
	r.Known += before - len(r.Findings)
	return r
}
