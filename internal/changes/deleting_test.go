package changes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

func TestService_Put_maxDeleted(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 13 {
		list = append(list, widget(fmt.Sprintf("w%d", 100+i), "{}"))
	}
	many := strings.Join(list, "")
	one, two, three := widget("w1", "{}"), widget("w2", "{}"), widget("w3", "{}")
	for _, c := range []struct {
		name   string
		before string
		after  string
		most   int
		want   string // part of the message, "" if the change is made
	}{
		{"nothing is deleted", one, one + two, 0, ""},
		{"what is modified is not deleted", one, widget("w1", "{x: 1}"), 0, ""},
		{"as many as are allowed", one + two, three, 2, ""},
		{
			"one too many", one + three + two, one, 1,
			"more documents (2) than max-deleted allows (1): [acme/Widget/v1, site] w2, [acme/Widget/v1, site] w3. Nothing",
		},
		{"all", one, "", 0, "more documents (1) than max-deleted allows (0): [acme/Widget/v1, site] w1."},
		{"many", many, "", 1, "more documents (13) than max-deleted allows (1): [acme/Widget/v1, " +
			"site] w100,"},
		{"many are not all named", many, "", 1, "w109, and 3 more. Nothing"},
		{"encrypted ones are not told", secret("s1", "x") + secret("s2", "x") + one, "", 2, authz.Withheld},
		{"encrypted ones do not count before others", secret("s1", "x") + one + two, "", 1, "more documents (2) than"},
	} {
		for _, dryRun := range []bool{false, true} {
			s, m := service()
			s.Vault = fakeVault{}
			put(t, s, "a", c.before)
			options := revisions.Options{MaxDeleted: &c.most, DryRun: dryRun}
			_, err := s.Put(t.Context(), "a", []byte(c.after), document.YAML, options)
			changed := len(m.commits) > 1
			if c.want == "" {
				if err != nil || changed == dryRun {
					t.Errorf("%s: error %v, changed %v", c.name, err, changed)
				}
				continue
			}
			f, _ := errors.AsType[*fault.Fault](err)
			if f == nil || f.Kind != fault.Conflict || f.Type != "TooManyDeleted" || changed {
				t.Fatalf("%s: error %v, changed %v", c.name, err, changed)
			}
			shown := authz.Viewer{}.Fault(f)
			if !strings.Contains(shown.Message, c.want) {
				t.Errorf("%s: %s\nwant %s", c.name, shown.Message, c.want)
			}
			for _, message := range shown.Messages {
				if slices.ContainsFunc(message.Documents, func(doc fault.Document) bool { return doc.Encrypted }) {
					t.Errorf("%s: an encrypted document is named: %v", c.name, message)
				}
			}
		}
	}
}

// Documents moved by a change set do not count as deleted.
func TestService_PutChangeSet_maxDeleted(t *testing.T) {
	t.Parallel()
	s, _ := service()
	put(t, s, "a", widget("w1", "{}")+widget("w2", "{}"))
	none := 0
	options := revisions.Options{MaxDeleted: &none, Viewer: authz.Viewer{Encrypted: true}}
	change := func(body string) error {
		_, err := s.PutChangeSet(t.Context(), []string{"a"}, []byte(body), document.YAML, options)
		return err
	}
	wantFault(t, change(inBucket("b", widget("w1", "{}"))), fault.Conflict,
		"max-deleted allows (0): [acme/Widget/v1, site] w2.")
	if err := change(inBucket("b", widget("w1", "{}")) + inBucket("b", widget("w2", "{}"))); err != nil {
		t.Error(err)
	}
}
