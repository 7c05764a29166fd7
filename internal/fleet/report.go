package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"purser/internal/events"
)

// Head is the first line of a report: what it is about.
type Head struct {
	Bucket string          `json:"bucket"`
	From   events.Upstream `json:"from"`
	DryRun bool            `json:"dryRun"`
	At     string          `json:"at"`
}

// GroupLine is a line of a report with the text of a group. A later one of the same number replaces it.
type GroupLine struct {
	Group   int    `json:"group"`
	Digest  Digest `json:"digest"`
	Outcome Kind   `json:"outcome"`
	Lines   []Line `json:"lines"`
	More    int    `json:"more,omitempty"`
}

// SiteLine is a line of a report with what became of a site. A later one of the same site replaces it.
type SiteLine struct {
	Site     string          `json:"site"`
	Outcome  Kind            `json:"outcome"`
	Revision int64           `json:"revision,omitempty"`
	Stamp    string          `json:"stamp,omitempty"`
	Status   string          `json:"status,omitempty"`
	From     events.Upstream `json:"from"`
	Group    int             `json:"group"`
	At       string          `json:"at"`
}

// EndLine is the last line of a report: how a run ended, and how many sites are in each group, in the order in which
// groups are shown.
type EndLine struct {
	Ended  string       `json:"ended"` // complete, stopped after failures, interrupted, or failed
	Sites  int          `json:"sites"` // with an outcome
	Left   int          `json:"left"`  // without
	Groups []GroupCount `json:"groups"`
	At     string       `json:"at"`
}

// GroupCount is the number of sites in a group.
type GroupCount struct {
	Group int `json:"group"`
	Sites int `json:"sites"`
}

// CountsOf returns the numbers of sites in groups.
func CountsOf(groups []Group) []GroupCount {
	counts := []GroupCount{}
	for _, group := range groups {
		counts = append(counts, GroupCount{group.Number, group.Sites})
	}
	return counts
}

// Resumed is what an earlier run has reported.
type Resumed struct {
	Groups  Groups         // without sites
	Done    map[string]int // the groups of these sites
	Length  int            // bytes of the whole lines
	Another string         // what the report is about instead; "" if it is about the same
}

// Resume reads a report, which may end in the middle of a line. It returns an error if it is none. A site is done if it
// was changed or did not have to be; in a dry run, if it was asked.
func Resume(report []byte, head Head) (Resumed, error) {
	r := Resumed{Length: bytes.LastIndexByte(report, '\n') + 1, Done: map[string]int{}}
	lines := bytes.Split(report[:r.Length], []byte("\n"))
	if r.Length == 0 {
		return r, nil
	}
	var was Head
	if err := json.Unmarshal(lines[0], &was); err != nil || was.From.Site == "" || was.Bucket == "" {
		return r, errors.New("its first line is not that of a report: name another file, or remove it")
	}
	if was.At = head.At; was != head {
		r.Another = was.String()
		return r, nil
	}
	for i, text := range lines[1 : len(lines)-1] {
		if err := r.read(text, head.DryRun); err != nil {
			return r, fmt.Errorf("line %d: %w", i+2, err)
		}
	}
	return r, nil
}

// read reads a line of a report after the first.
func (r *Resumed) read(text []byte, dryRun bool) error {
	var line struct {
		SiteLine

		Digest Digest `json:"digest"`
		Lines  []Line `json:"lines"`
		More   int    `json:"more"`
		Ended  string `json:"ended"`
	}
	if err := json.Unmarshal(text, &line); err != nil {
		return fmt.Errorf("it is not that of a report: %w", err)
	}
	known := r.Groups.Len()
	switch {
	case line.Ended != "":
	case !slices.Contains(Kinds(), line.Outcome) || line.Group < 1 || line.Group > known+1:
		return fmt.Errorf("it is not that of a report: its outcome is %q, and its group %d", line.Outcome, line.Group)
	case line.Site == "":
		r.Groups.Define(Group{
			Number: line.Group, Digest: line.Digest, Kind: line.Outcome, Lines: line.Lines, More: line.More,
		})
	case line.Group > known:
		return fmt.Errorf("it names group %d, which no line before describes", line.Group)
	case dryRun && line.Outcome != Unasked || !line.Outcome.Stops():
		r.Done[line.Site] = line.Group
	default:
		delete(r.Done, line.Site)
	}
	return nil
}

// String says what a report is about.
func (h Head) String() string {
	what := "copies"
	if h.DryRun {
		what = "dry runs"
	}
	return fmt.Sprintf("%s of bucket %s of %s@%d, whose stamp is %s, to bucket %s", what, h.From.Bucket, h.From.Site,
		h.From.Revision, h.From.Stamp, h.Bucket)
}

// Line returns the line of a report with the text of a group.
func (g *Group) Line() GroupLine {
	return GroupLine{Group: g.Number, Digest: g.Digest, Outcome: g.Kind, Lines: append([]Line{}, g.Lines...), More: g.More}
}
