package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
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

// No change makes a site larger than it may be, whatever adds the documents; one that does not make it larger is
// allowed above the limit too.
func TestService_siteDocuments(t *testing.T) {
	t.Parallel()
	const most = 3
	one, two, three, four := widget("w1", "{}"), widget("w2", "{}"), widget("w3", "{}"), widget("w4", "{}")
	for _, c := range []struct {
		name   string
		before []string // bodies of bucket a
		most   int
		change func(s *Service, options revisions.Options) (Written, error)
		full   bool
	}{
		{"up to the limit", []string{one}, most, putting("b", two+three), false},
		{"one too many", []string{one}, most, putting("b", two+three+four), true},
		{"one too many in a change set", []string{one + two + three}, most, func(s *Service, options revisions.Options) (
			Written, error,
		) {
			return s.PutChangeSet(t.Context(), nil, []byte(inBucket("b", four)), document.YAML, options)
		}, true},
		{"one too many by a rollback", []string{one + two + three, one}, 2, rollingBack(1), true},
		{"a rollback up to the limit", []string{one + two + three, one}, most, rollingBack(1), false},
		{"above the limit, one more", []string{one + two + three}, 1, putting("b", four), true},
		{"above the limit, one is replaced", []string{one + two + three}, 1, putting("a", one+two+four), false},
		{"above the limit, one is deleted", []string{one + two + three}, 1, putting("a", one+two), false},
		{"no limit", []string{one + two + three}, 0, putting("b", four), false},
	} {
		for _, dryRun := range []bool{false, true} {
			s, m := service()
			for _, body := range c.before {
				put(t, s, "a", body)
			}
			s.SiteDocuments = c.most
			_, err := c.change(s, revisions.Options{DryRun: dryRun})
			f, _ := errors.AsType[*fault.Fault](err)
			full := f != nil && f.Kind == fault.Conflict && f.Type == "SiteFull"
			if full != c.full || !full && err != nil || full && len(m.commits) > len(c.before) {
				t.Errorf("%s (dry run: %v): %v after %d commits", c.name, dryRun, err, len(m.commits))
			}
		}
	}
}

func putting(bucket, body string) func(*Service, revisions.Options) (Written, error) {
	return func(s *Service, options revisions.Options) (Written, error) {
		return s.Put(context.Background(), bucket, []byte(body), document.YAML, options)
	}
}

func rollingBack(to int64) func(*Service, revisions.Options) (Written, error) {
	return func(s *Service, options revisions.Options) (Written, error) {
		return s.Rollback(context.Background(), to, options)
	}
}

// A change that another one leaves no room for is refused too. Only viewers of encrypted documents, which are among
// those counted, are told how many there are.
func TestService_siteDocuments_meanwhile(t *testing.T) {
	t.Parallel()
	s, m := service()
	s.SiteDocuments = 2
	put(t, s, "a", widget("w1", "{}"))
	m.before = func() { put(t, s, "b", widget("w2", "{}")) }
	s.writes = make(chan struct{}, 2) // as if the other change were of another server
	s.writes <- struct{}{}
	s.writes <- struct{}{}
	const told = "The change adds more documents than it deletes (by 1), and the site would have more than the 2 that " +
		"--site-documents allows."
	_, err := putting("c", widget("w3", "{}"))(s, revisions.Options{})
	wantFault(t, err, fault.Conflict, told+" Nothing was changed.")
	_, err = putting("c", widget("w3", "{}"))(s, revisions.Options{Viewer: authz.Viewer{Encrypted: true}})
	wantFault(t, err, fault.Conflict, told+" There are 2 now. Nothing was changed.")
}

// The limit that a site has of its own counts in the place of the server's, and is the one that is named.
func TestService_siteDocuments_own(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		servers int
		own     *int64
		refused string
	}{
		"less":      {10, new(int64(1)), "more than the 1 that the limit of the site allows."},
		"more":      {1, new(int64(2)), ""},
		"none":      {1, new(int64(0)), ""},
		"no own":    {1, nil, "more than the 1 that --site-documents allows."},
		"as before": {2, nil, ""},
	} {
		s, _ := service()
		put(t, s, "a", widget("w1", "{}"))
		s.SiteDocuments = c.servers
		_, err := putting("b", widget("w2", "{}"))(s, revisions.Options{MaxDocuments: c.own})
		if c.refused != "" {
			wantFault(t, err, fault.Conflict, c.refused)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A server prunes once a tenth of what it keeps can be pruned.
func TestPruneDue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prunable, keep int
		due            bool
	}{
		{0, 1, false},
		{1, 1, true},
		{1, 9, true},
		{1, 19, true},
		{1, 20, false},
		{2, 20, true},
		{99, 1000, false},
		{100, 1000, true},
		{5000, 1000, true},
	} {
		if got := pruneDue(c.prunable, c.keep); got != c.due {
			t.Errorf("%d beyond %d: %v", c.prunable, c.keep, got)
		}
	}
}

// The policies in force list a bounded number of validations together; each policy counts as one at least.
func TestService_tooManyValidations(t *testing.T) {
	t.Parallel()
	policy := func(name string, validations int) string {
		list := make([]string, validations)
		for i := range list {
			list[i] = fmt.Sprintf("{name: v%d-validation}", i)
		}
		return control("deckhand/ValidationPolicy/v1", name, "{validations: ["+strings.Join(list, ", ")+"]}")
	}
	for _, dryRun := range []bool{false, true} {
		s, _ := service()
		put(t, s, "a", policy("one", maxRequired-1))
		_, err := putting("b", policy("two", 2))(s, revisions.Options{DryRun: dryRun})
		wantFault(t, err, fault.Conflict, "The ValidationPolicies would list 1001 validations together, and at most 1000")
		put(t, s, "b", policy("two", 1))
		if _, err := putting("c", policy("three", 0))(s, revisions.Options{DryRun: dryRun}); err == nil {
			t.Error("a policy more is accepted")
		}
		put(t, s, "a", policy("one", maxRequired-2)+widget("w", "{}"))
	}
}

// A change that is refused because of what policies list costs no look at each of these, and says which policy it is.
func TestService_tooManyValidations_cost(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "a", control("deckhand/ValidationPolicy/v1", "one", "{validations: [{name: v-validation}]}"))
	list := make([]string, maxRequired+1)
	for i := range list {
		list[i] = fmt.Sprintf("{name: v%d-validation}", i)
	}
	large := control("deckhand/ValidationPolicy/v1", "two", "{validations: ["+strings.Join(list, ", ")+"]}")
	_, err := putting("b", large)(s, revisions.Options{})
	wantFault(t, err, fault.Conflict, "; [deckhand/ValidationPolicy/v1, None] two would list 1001 instead of 0. Nothing")
	for _, need := range m.needs {
		if len(need.Inputs) > maxRequired {
			t.Errorf("the inputs of %d validations were read", len(need.Inputs))
		}
	}
}

// Policies that listed more already keep no change from being made, and may list fewer.
func TestCheckPolicies(t *testing.T) {
	t.Parallel()
	listing := func(n int) []validations.Policy {
		return []validations.Policy{{Requirements: make([]validations.Requirement, n)}}
	}
	for _, c := range []struct {
		before, after int
		refused       bool
	}{
		{0, maxRequired, false},
		{0, maxRequired + 1, true},
		{maxRequired + 5, maxRequired + 5, false},
		{maxRequired + 5, maxRequired + 4, false},
		{maxRequired + 5, maxRequired + 6, true},
	} {
		if err := checkPolicies(listing(c.before), listing(c.after)); (err != nil) != c.refused {
			t.Errorf("from %d to %d: %v", c.before, c.after, err)
		}
	}
}
