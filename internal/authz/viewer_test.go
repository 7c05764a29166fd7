package authz_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/fault"
)

func TestViewer_Messages(t *testing.T) {
	t.Parallel()
	a, b := fault.Document{Schema: "a/A/v1", Name: "a"}, fault.Document{Schema: "a/A/v1", Name: "b"}
	sealed := fault.Document{Schema: "a/S/v1", Name: "s", Encrypted: true}
	open := fault.Message{Message: "a is not a number", Error: true, Documents: []fault.Document{a}}
	secret := func(text string, documents ...fault.Document) fault.Message {
		return fault.Message{Message: text, Documents: documents, Secret: true}
	}
	withheld := func(documents ...fault.Document) fault.Message {
		return fault.Message{
			Message: authz.Withheld, Error: true, Level: "Error", Kind: "ValidationMessage",
			Documents: documents, Secret: true,
		}
	}
	unasked := func(documents ...fault.Document) fault.Message {
		m := withheld(documents...)
		m.Message = authz.Unasked
		return m
	}
	redacted := authz.Viewer{Encrypted: true, Redacted: true}
	shown := func(m fault.Message) fault.Message {
		m.Secret = false
		return m
	}
	for name, c := range map[string]struct {
		viewer     authz.Viewer
		have, want []fault.Message
	}{
		"none":             {authz.Viewer{}, nil, nil},
		"nothing secret":   {authz.Viewer{}, []fault.Message{open}, []fault.Message{open}},
		"at the end":       {authz.Viewer{}, []fault.Message{secret("x", b), open}, []fault.Message{open, withheld()}},
		"not the number":   {authz.Viewer{}, []fault.Message{secret("x", b), secret("y", b)}, []fault.Message{withheld()}},
		"no encrypted one": {authz.Viewer{}, []fault.Message{secret("x", sealed)}, []fault.Message{withheld()}},
		"redacted": {
			redacted, []fault.Message{secret("x", b), secret("y", a), secret("x", b, sealed)}, []fault.Message{unasked(a, b)},
		},
		"all": {
			authz.Viewer{Encrypted: true},
			[]fault.Message{secret("x", b), open, secret("x", sealed)},
			[]fault.Message{shown(secret("x", b)), open, shown(secret("x", sealed))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.viewer.Messages(c.have)
			if diff := cmp.Diff(c.want, got, cmp.Transformer("nil", func(d []fault.Document) []fault.Document {
				if len(d) == 0 {
					return nil
				}
				return d
			})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What an answer leaves out, it counts: messages that the viewer may see and, for viewers who may see encrypted
// documents, documents that fail for secret reasons.
func TestViewer_Listed(t *testing.T) {
	t.Parallel()
	some := func(n int, secret bool) (messages []fault.Message) {
		for i := range n {
			doc := fault.Document{Name: fmt.Sprintf("%06d", i)}
			messages = append(messages, fault.Message{
				Message: doc.Name, Documents: []fault.Document{doc}, Secret: secret,
			})
		}
		return messages
	}
	const most = authz.MaxListed
	none, redacted := authz.Viewer{}, authz.Viewer{Encrypted: true, Redacted: true}
	all := authz.Viewer{Encrypted: true}
	for name, c := range map[string]struct {
		viewer        authz.Viewer
		have          []fault.Message
		listed, named int
		more          []string
	}{
		"none":             {none, nil, 0, 0, nil},
		"all":              {none, some(most, false), most, 0, nil},
		"one more":         {none, some(most+1, false), most, 0, []string{"More errors, not listed: 1"}},
		"secrets":          {redacted, some(most, true), 0, most, nil},
		"one secret more":  {redacted, some(most+1, true), 0, most, []string{"More documents, not listed: 1"}},
		"not their number": {none, slices.Concat(some(most+1, true), some(most, false)), most, 0, nil},
		"more of both": {redacted, slices.Concat(some(most+2, true), some(most+3, false)), most, most, []string{
			"More errors, not listed: 3", "More documents, not listed: 2",
		}},
		"a number among the others": {none, slices.Concat(some(most, false), []fault.Message{fault.Unlisted(7)}, some(1, false)), most, 0, []string{
			"More errors, not listed: 8",
		}},
		"secrets are shown": {all, slices.Concat(some(most, true), some(3, false)), most, 0, []string{
			"More errors, not listed: 3",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listed, named := 0, 0
			var more []string
			for _, message := range c.viewer.Listed(c.have) {
				switch {
				case authz.IsWithheld(message.Message):
					named = len(message.Documents)
				case len(message.Documents) > 0:
					listed++
				default:
					more = append(more, message.Message)
					if said := strings.HasPrefix(message.Message, "More errors"); said != (message.Unlisted > 0) {
						t.Errorf("%q stands for %d errors", message.Message, message.Unlisted)
					}
				}
			}
			if diff := cmp.Diff([]any{c.listed, c.named, c.more}, []any{listed, named, more}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An answer also leaves out, and counts, messages that together are too large, and the end of one that is.
func TestViewer_Listed_bytes(t *testing.T) {
	t.Parallel()
	messages := slices.Repeat([]fault.Message{{Message: strings.Repeat("x", 1<<20)}}, 100)
	listed, size := (authz.Viewer{}).Listed(messages), 0
	for _, message := range listed {
		size += len(message.Message)
	}
	last := listed[len(listed)-1].Message
	if want := fmt.Sprintf("More errors, not listed: %d", 101-len(listed)); last != want || size < 3<<20 || size > 4<<20 {
		t.Errorf("%d messages of %d bytes, and %s", len(listed), size, last)
	}
}

func TestViewer_Fault(t *testing.T) {
	t.Parallel()
	secret := fault.New(fault.Conflict, "T", "the secret is 123")
	secret.Secret, secret.Reason, secret.Metadata = true, "it is 123", map[string]any{"value": "123"}
	secret.Messages = []fault.Message{{Message: "the secret is 123", Secret: true}}
	got := authz.Viewer{}.Fault(secret)
	if got.Kind != fault.Conflict || got.Message != authz.Withheld || got.Reason != "" || got.Metadata != nil ||
		len(got.Messages) != 1 || got.Messages[0].Message != authz.Withheld || got.Unwrap() != nil {
		t.Errorf("shown without rights: %+v", got)
	}
	if got := (authz.Viewer{Encrypted: true}).Fault(secret); got.Message != secret.Message || got.Reason != secret.Reason {
		t.Errorf("shown with rights: %+v", got)
	}
	stored := fault.New(fault.Unavailable, "T", "no key; nothing was stored").Unstored()
	stored.Messages = secret.Messages
	if !(authz.Viewer{}).Fault(stored).NothingStored {
		t.Error("the caller does not learn that nothing was stored")
	}
	if !secret.Messages[0].Secret {
		t.Error("the fault itself was modified")
	}
}
