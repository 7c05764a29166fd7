package events

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"purser/internal/words"
)

// Bounds on the data of an event, because many clients read it. Its subject has the rest.
const (
	maxBuckets   = 100
	maxRanges    = 1000
	maxValidator = 4 << 10 // bytes
	maxLines     = 20
	maxLine      = 500 // bytes
)

// Created is the data of RevisionCreated.
type Created struct {
	Revision int64    `json:"revision"`
	Stamp    string   `json:"stamp"`
	Kind     string   `json:"kind"`
	Buckets  []string `json:"buckets"` // the first hundred
	User     string   `json:"user"`
	Message  string   `json:"message"`
	Source   string   `json:"source,omitempty"`
	// Sources are where the documents of buckets were copied from; the event has those of Buckets.
	Sources map[string]Upstream `json:"sources,omitempty"`
	// Chain is the chain value of the revision; "" in events of earlier versions.
	Chain   string `json:"chain,omitempty"`
	Added   int    `json:"added"`   // versions of documents that begin with the revision
	Removed int    `json:"removed"` // versions that end with it; a document that is modified counts in both
	// Modified is the number of documents that count in both; nil in events of earlier versions, and for viewers from
	// whom encrypted ones are withheld.
	Modified *int   `json:"modified,omitempty"`
	Status   string `json:"status"`
}

// Upstream is a bucket of a revision of another site that documents were copied from.
type Upstream struct {
	Site     string `json:"site"`
	Revision int64  `json:"revision"`
	Stamp    string `json:"stamp"`
	Bucket   string `json:"bucket"`
}

// Effect has the numbers of versions of documents that a revision begins and ends, as in Created.
type Effect struct {
	Added    int  `json:"added"`
	Removed  int  `json:"removed"`
	Modified *int `json:"modified,omitempty"`
}

// Effect returns the numbers of versions of documents.
func (c Created) Effect() Effect { return Effect{c.Added, c.Removed, c.Modified} }

// String returns the numbers of documents in words, such as "4 documents changed, 1 added"; "" if there are none.
func (e Effect) String() string {
	type part struct {
		number int
		did    string
	}
	noun := "document"
	parts := []part{{e.Added, "began"}, {e.Removed, "ended"}}
	if e.Modified == nil {
		noun = "document version"
	} else {
		parts = []part{{*e.Modified, "changed"}, {e.Added - *e.Modified, "added"}, {e.Removed - *e.Modified, "deleted"}}
	}
	var said []string
	for _, p := range parts {
		switch {
		case p.number == 0:
		case len(said) == 0:
			said = append(said, words.Count(p.number, noun)+" "+p.did)
		default:
			said = append(said, fmt.Sprintf("%d %s", p.number, p.did))
		}
	}
	return strings.Join(said, ", ")
}

// Counts are numbers of versions of documents.
type Counts struct{ Added, Removed int }

// Event returns the event. encrypted counts those among the versions that are encrypted.
func (c Created) Event(encrypted Counts) Event {
	c.Buckets = append([]string{}, c.Buckets[:min(len(c.Buckets), maxBuckets)]...)
	sources := map[string]Upstream{}
	for _, bucket := range c.Buckets {
		if from, follows := c.Sources[bucket]; follows {
			sources[bucket] = from
		}
	}
	c.Sources = sources
	event := Event{Type: RevisionCreated, Revision: c.Revision, Subject: subject(c.Revision)}
	if encrypted != (Counts{}) {
		event.Withheld = written(c)
		c.Added, c.Removed, c.Modified = c.Added-encrypted.Added, c.Removed-encrypted.Removed, nil
	}
	event.Data = written(c)
	return event
}

// ReadCreated parses the data of RevisionCreated.
func ReadCreated(data json.RawMessage) (c Created, err error) {
	if err = json.Unmarshal(data, &c); err != nil {
		err = fmt.Errorf("read the data of an event: %w", err)
	}
	return c, err
}

// Posted is the data of ValidationPosted.
type Posted struct {
	Revision  int64           `json:"revision"`
	Name      string          `json:"name"`
	Status    string          `json:"status"`
	Validator json.RawMessage `json:"validator"` // as posted; null if it is large
	// CarriedFrom is the revision that the result was posted about, if it holds for this one too; else 0.
	CarriedFrom int64 `json:"carriedFrom,omitempty"`
}

// Event returns the event.
func (p Posted) Event() Event {
	if len(p.Validator) > maxValidator {
		p.Validator = nil
	}
	return Event{
		Type: ValidationPosted, Revision: p.Revision, Subject: subject(p.Revision) + "/validations/" + p.Name,
		Data: written(p),
	}
}

// Claimed is the data of ValidationClaimed.
type Claimed struct {
	Revision  int64  `json:"revision"`
	Stamp     string `json:"stamp"`
	Name      string `json:"name"`
	Worker    string `json:"worker"`
	Attempt   int    `json:"attempt"`
	GivenBack bool   `json:"givenBack"` // without a result
}

// Event returns the event.
func (c Claimed) Event() Event {
	return Event{
		Type: ValidationClaimed, Revision: c.Revision, Subject: subject(c.Revision) + "/validations/" + c.Name,
		Data: written(c),
	}
}

// Requested is the data of ValidationRequested.
type Requested struct {
	Revision int64  `json:"revision"`
	Name     string `json:"name"`
	Reason   string `json:"reason"`
}

// Event returns the event.
func (r Requested) Event() Event {
	return Event{
		Type: ValidationRequested, Revision: r.Revision, Subject: subject(r.Revision) + "/validations/" + r.Name,
		Data: written(r),
	}
}

// Changed is the data of VerdictChanged.
type Changed struct {
	Revision int64  `json:"revision"`
	Stamp    string `json:"stamp"`
	From     string `json:"from"`
	To       string `json:"to"`
	// Because lists the reasons from the textual status; empty for a success.
	Because []string `json:"because"`
}

// Event returns the event.
func (c Changed) Event() Event {
	lines := []string{}
	for _, line := range c.Because[:min(len(c.Because), maxLines)] {
		lines = append(lines, words.FirstBytes(line, maxLine))
	}
	if more := len(c.Because) - maxLines; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	c.Because = lines
	return Event{Type: VerdictChanged, Revision: c.Revision, Subject: subject(c.Revision), Data: written(c)}
}

// Range is a range of revisions, both ends included.
type Range struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// Pruned is the data of RevisionPruned.
type Pruned struct {
	Revisions []Range `json:"revisions"` // in order; the first thousand ranges
	Kept      int     `json:"kept"`      // revisions
}

// PrunedEvent returns the event of a prune of revisions with the given sorted numbers.
func PrunedEvent(revisions []int64, kept int) Event {
	data := Pruned{Revisions: []Range{}, Kept: kept}
	for _, revision := range revisions {
		if n := len(data.Revisions); n > 0 && data.Revisions[n-1].Last == revision-1 {
			data.Revisions[n-1].Last = revision
		} else if n < maxRanges {
			data.Revisions = append(data.Revisions, Range{revision, revision})
		} else {
			break
		}
	}
	return Event{Type: RevisionPruned, Subject: "revisions", Data: written(data)}
}

func subject(revision int64) string { return "revisions/" + strconv.FormatInt(revision, 10) }

// written returns data as JSON.
func written(data any) json.RawMessage {
	text, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Errorf("write the data of an event: %w", err)) // all types of data can be marshaled
	}
	return text
}
