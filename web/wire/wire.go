package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"purser/internal/client"
)

// Findings lists the problems of a revision.
type Findings struct {
	client.Counts

	Findings []Finding `json:"findings"`
}

// Finding is one thing that is wrong.
type Finding struct {
	client.Finding

	Value  json.RawMessage `json:"value"`
	Secret bool            `json:"secret"`
	Causes []struct {
		Path    string `json:"path"`
		Message string `json:"message"`
	} `json:"causes"`
}

// Document is a document of a revision without its data.
type Document struct {
	Schema   string `json:"schema"`
	Metadata struct {
		Name     string            `json:"name"`
		Labels   map[string]string `json:"labels"`
		Storage  string            `json:"storagePolicy"`
		Layering struct {
			Layer    string `json:"layer"`
			Abstract bool   `json:"abstract"`
		} `json:"layeringDefinition"`
	} `json:"metadata"`
	Status struct {
		Bucket   string `json:"bucket"`
		Revision int64  `json:"revision"`
	} `json:"status"`
}

// Identity returns the document's identity.
func (d Document) Identity() client.Identity {
	return client.Identity{
		Schema: d.Schema, Layer: d.Metadata.Layering.Layer, Name: d.Metadata.Name, Bucket: d.Status.Bucket,
	}
}

// Labels returns the document's labels as text, in order.
func (d Document) Labels() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(d.Metadata.Labels)) {
		all = append(all, name+"="+d.Metadata.Labels[name])
	}
	return all
}

// Encrypted reports whether the document is a secret.
func (d Document) Encrypted() bool { return d.Metadata.Storage == "encrypted" }

// List is a list with pages.
type List[T any] struct {
	Count   int     `json:"count"`
	Results []T     `json:"results"`
	Next    *string `json:"next"`
}

// Result is a result of a validation.
type Result struct {
	ID           int               `json:"id"`
	Name         string            `json:"name"`
	Status       string            `json:"status"`
	CreatedAt    string            `json:"createdAt"`
	ExpiresAt    string            `json:"expiresAt"`
	ExpiresAfter string            `json:"expiresAfter"`
	CarriedFrom  int64             `json:"carriedFrom"`
	Errors       []json.RawMessage `json:"errors"`
}

// Messages returns the messages of a result's errors.
func (r Result) Messages() []string {
	var texts []string
	for _, text := range r.Errors {
		var known struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(text, &known) != nil || known.Message == "" {
			known.Message = string(text)
		}
		texts = append(texts, known.Message)
	}
	return texts
}

// AuditEvent is an entry of the audit.
type AuditEvent struct {
	At   string `json:"at"`
	User struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"user"`
	EndUser  string `json:"endUser"`
	Rule     string `json:"rule"`
	Method   string `json:"method"`
	Target   string `json:"target"`
	Revision int64  `json:"revision"`
	Status   int    `json:"status"`
	Error    string `json:"error"`
	Remote   string `json:"remote"`
	Request  string `json:"request"`
}

// Who names the user.
func (e AuditEvent) Who() string {
	who := e.User.Name
	if who == "" {
		who = e.User.ID
	}
	if e.EndUser != "" {
		who = e.EndUser + " by " + who
	}
	return who
}

// ParseTime reads a time as the API writes it: UTC, without a zone. The zero time is none.
func ParseTime(text string) (time.Time, bool) {
	at, err := time.Parse("2006-01-02T15:04:05.999999", strings.TrimSuffix(text, "Z"))
	const first = 1970
	return at, err == nil && at.Year() >= first
}
