// Package events defines the events of a site as values that follow CloudEvents 1.0
// (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md), and how each is made. It is apart from feed
// so that internal/wire, web and cmd/purser do not depend on the server's code.
package events

import (
	"encoding/json"
	"strconv"
	"time"

	"purser/internal/authz"
)

// Type is the type of an event.
type Type string

// The types.
const (
	RevisionCreated  Type = "purser.revision.created"
	ValidationPosted Type = "purser.validation.posted"
	// ValidationClaimed says that a worker has claimed the work on a result, or has given it back.
	ValidationClaimed   Type = "purser.validation.claimed"
	ValidationRequested Type = "purser.validation.requested"
	VerdictChanged      Type = "purser.verdict.changed"
	TagSet              Type = "purser.tag.set"
	TagDeleted          Type = "purser.tag.deleted"
	WaiverCreated       Type = "purser.waiver.created"
	WaiverEnded         Type = "purser.waiver.ended" // by somebody, before its time
	RevisionPruned      Type = "purser.revision.pruned"
	SitePurged          Type = "purser.site.purged"
)

// WebhookPing is sent to test a webhook. It is not in the feed.
const WebhookPing Type = "purser.webhook.ping"

// Types returns all event types of the feed.
func Types() []Type {
	return []Type{
		RevisionCreated, ValidationPosted, ValidationClaimed, ValidationRequested, VerdictChanged, TagSet, TagDeleted,
		WaiverCreated, WaiverEnded, RevisionPruned, SitePurged,
	}
}

// Event is something that happened.
type Event struct {
	Number   int64 // in the feed: gapless, from 1; 0 until it has one
	At       time.Time
	Type     Type
	Revision int64 // that the event is about; 0 if none or several
	Subject  string
	// Data is a JSON object for everybody who may read the feed.
	Data json.RawMessage
	// Withheld replaces Data for those who may see encrypted documents; nil if it would be the same.
	Withheld json.RawMessage
}

// For returns the data as a viewer sees it.
func (e Event) For(viewer authz.Viewer) json.RawMessage {
	if viewer.Encrypted && e.Withheld != nil {
		return e.Withheld
	}
	return e.Data
}

// Cloud is an event in the structured mode of CloudEvents 1.0.
type Cloud struct {
	SpecVersion     string          `json:"specversion"`
	ID              string          `json:"id"`
	Source          string          `json:"source"`
	Type            Type            `json:"type"`
	Subject         string          `json:"subject"`
	Time            string          `json:"time"`
	DataContentType string          `json:"datacontenttype"`
	Data            json.RawMessage `json:"data"`
}

// Cloud returns the event of a site with a path as a viewer sees it.
func (e Event) Cloud(path string, viewer authz.Viewer) Cloud {
	return Cloud{
		SpecVersion: "1.0", ID: strconv.FormatInt(e.Number, 10), Source: path + "/api/v1.0", Type: e.Type, Subject: e.Subject,
		Time:            e.At.UTC().Format("2006-01-02T15:04:05.000000Z"),
		DataContentType: "application/json", Data: e.For(viewer),
	}
}
