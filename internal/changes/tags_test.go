package changes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// tagged is a site of three revisions, the second of them pruned, with tags and results. Each stamp equals the revision
// number.
type tagged struct {
	revisions.Store

	tags     map[string]string
	results  []validations.Result
	policies []revisions.PolicyVersion
	broken   error
}

func (s *tagged) Around(_ context.Context, revision int64) (revisions.Neighbourhood, error) {
	around := revisions.Neighbourhood{Head: revisions.Head{Revision: 3}, Exists: exists(revision), Next: 3, Previous: 1}
	if around.Exists {
		around.Stamp = revisions.Stamp(revision)
	}
	if revision < 1 {
		around.Previous = 0
	}
	return around, s.broken
}

func exists(revision int64) bool { return revision == 1 || revision == 3 }

func meant(about revisions.About) bool {
	return exists(about.Revision) && (about.Stamps == nil || slices.Contains(about.Stamps,
		revisions.Stamp(about.Revision)))
}

func (s *tagged) Tag(_ context.Context, about revisions.About, tag revisions.Tag) (bool, error) {
	if !meant(about) {
		return false, s.broken
	}
	s.tags[tag.Name] = string(tag.Data)
	return true, s.broken
}

func (s *tagged) Untag(_ context.Context, about revisions.About, names ...string) (had bool, err error) {
	for _, name := range names {
		if _, ok := s.tags[name]; ok && meant(about) {
			delete(s.tags, name)
			had = true
		}
	}
	return had, s.broken
}

func (s *tagged) AddResult(_ context.Context, about revisions.About, result validations.Result) (
	revisions.Stamp, []revisions.PolicyVersion, error,
) {
	if !meant(about) {
		return 0, nil, s.broken
	}
	s.results = append(s.results, result)
	return 5, s.policies, s.broken
}

func newTagged(broken error) (*Service, *tagged) {
	s, _ := service()
	store := &tagged{tags: map[string]string{}, broken: broken}
	s.Store = store
	return s, store
}

func TestService_Tag(t *testing.T) {
	t.Parallel()
	s, store := newTagged(nil)
	for _, c := range []struct {
		revision int64
		data     any
		want     string // of the stored tag
		kind     fault.Kind
		message  string
	}{
		{1, nil, "{}", 0, ""},
		{1, document.Mapping{{Key: "b", Value: "x"}, {Key: "a", Value: nil}}, `{"b":"x","a":null}`, 0, ""},
		{1, "text", "", fault.Invalid, `The requested tag data "text" must either be null or dictionary`},
		{9, nil, "", fault.NotFound, "The requested revision=9 was not found"},
		{2, nil, "", fault.Gone, "The requested revision=2 was pruned; the nearest that are left are 1 and 3"},
	} {
		tag, err := s.Tag(t.Context(), c.revision, revisions.Options{}, "good", c.data)
		if c.message != "" {
			wantFault(t, err, c.kind, c.message)
			continue
		}
		if err != nil || tag.Name != "good" || store.tags["good"] != c.want {
			t.Errorf("tag %+v, %v, stored %s", tag, err, store.tags["good"])
		}
	}
}

// late is a site where the revision is created just after an attempt to add something to it.
type late struct{ tagged }

func (*late) AddResult(context.Context, revisions.About, validations.Result) (
	revisions.Stamp, []revisions.PolicyVersion, error,
) {
	return 0, nil, nil
}

// A revision created just after a result about it was refused is reported as not found, not as replaced.
func TestService_Post_early(t *testing.T) {
	t.Parallel()
	s, _ := newTagged(nil)
	s.Store = &late{}
	result := document.Mapping{{Key: "status", Value: "success"}, {Key: "validator", Value: "x"}}
	for _, expected := range []revisions.Expected{nil, {{Revision: 3, Stamp: 3}}} {
		_, err := s.Post(t.Context(), 3, revisions.Options{Expected: expected}, "v", result, nil)
		wantFault(t, err, fault.NotFound, "The requested revision=3 was not found")
	}
	_, err := s.Post(t.Context(), 3, revisions.Options{Expected: revisions.Expected{{Revision: 3, Stamp: 4}}}, "v", result, nil)
	if fault.KindOf(err) != fault.Stale {
		t.Errorf("%v, want a refusal of another revision", err)
	}
}

func TestService_Untag(t *testing.T) {
	t.Parallel()
	s, store := newTagged(nil)
	store.tags["good"] = "{}"
	if err := s.Untag(t.Context(), 1, revisions.Options{}, "good"); err != nil || len(store.tags) != 0 {
		t.Errorf("tags %v, %v", store.tags, err)
	}
	wantFault(t, s.Untag(t.Context(), 1, revisions.Options{}, "good"), fault.NotFound,
		"The requested tag 'good' for revision 1 was not found")
	wantFault(t, s.Untag(t.Context(), 2, revisions.Options{}, "good"), fault.Gone, "was pruned")
	if had, err := s.UntagAll(t.Context(), 3, revisions.Options{}); err != nil || had {
		t.Error(had, err)
	}
	_, err := s.UntagAll(t.Context(), 4, revisions.Options{})
	wantFault(t, err, fault.NotFound, "revision=4")
	broken, _ := newTagged(errors.New("out of order"))
	for _, err := range []error{
		broken.Untag(t.Context(), 1, revisions.Options{}, "x"), broken.Refused(t.Context(), revisions.About{Revision: 1}),
		revisions.Absent(t.Context(), broken.Store, 1),
	} {
		wantFault(t, err, fault.Internal, "out of order")
	}
}

func TestService_Post(t *testing.T) {
	t.Parallel()
	s, store := newTagged(nil)
	body := document.Mapping{
		{Key: "status", Value: "success"}, {Key: "validator", Value: document.Mapping{{Key: "name", Value: "v"}}},
	}
	got, err := s.Post(t.Context(), 1, revisions.Options{}, "tests", body, nil)
	if err != nil || got.Stamp != 5 || got.Name != "tests" || len(store.results) != 1 || store.results[0].Name != "tests" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = s.Post(t.Context(), 2, revisions.Options{}, "tests", body, nil)
	wantFault(t, err, fault.Gone, "was pruned")
	_, err = s.Post(t.Context(), 1, revisions.Options{}, "deckhand-tests", body, nil)
	wantFault(t, err, fault.Forbidden, "performed by the server")
	_, err = s.Prune(t.Context(), 0, revisions.Options{})
	wantFault(t, err, fault.Invalid, "At least the newest revision must be kept")
}

// A result that no policy in force lists has a warning that it is ignored, except in compat mode.
func TestService_Post_unlisted(t *testing.T) {
	t.Parallel()
	policy := func(since, until int64, names ...string) revisions.PolicyVersion {
		v := revisions.PolicyVersion{Since: since, Until: until}
		for _, name := range names {
			v.Requirements = append(v.Requirements, validations.Requirement{Name: name})
		}
		return v
	}
	const ignored = "No ValidationPolicy of the revision lists site-validaton, so its results are ignored"
	for name, c := range map[string]struct {
		policies []revisions.PolicyVersion
		compat   bool
		want     string
	}{
		"no policy": {},
		"listed":    {policies: []revisions.PolicyVersion{policy(1, 0, "other"), policy(1, 0, "site-validaton")}},
		"misspelt": {
			policies: []revisions.PolicyVersion{policy(1, 0, "other", "site-validation")},
			want:     ignored + "; did you mean site-validation?",
		},
		"unlike":       {policies: []revisions.PolicyVersion{policy(1, 0, "other")}, want: ignored},
		"an empty one": {policies: []revisions.PolicyVersion{policy(1, 0)}, want: ignored},
		"not in force": {policies: []revisions.PolicyVersion{policy(2, 0, "site-validation")}},
		"compat":       {policies: []revisions.PolicyVersion{policy(1, 0, "site-validation")}, compat: true},
	} {
		s, store := newTagged(nil)
		s.Compat, store.policies = c.compat, c.policies
		body := document.Mapping{{Key: "status", Value: "success"}, {Key: "validator", Value: "x"}}
		got, err := s.Post(t.Context(), 1, revisions.Options{}, "site-validaton", body, nil)
		if err != nil || got.Warning != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got.Warning, err, c.want)
		}
	}
}

func TestAbsent(t *testing.T) {
	t.Parallel()
	_, store := newTagged(nil)
	for revision, want := range map[int64]string{
		2: "was pruned; the nearest that are left are 1 and 3", 4: "=4 was not found", 0: "=0 was not found",
		1: "=1 was not found", // it was created meanwhile
	} {
		if err := revisions.Absent(t.Context(), store, revision); !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v, want %s", revision, err, want)
		}
	}
	later, _ := errors.AsType[*fault.Fault](revisions.Absent(t.Context(), store, 4))
	if last := later.Messages[len(later.Messages)-1]; last.Kind != fault.RequestHint {
		t.Errorf("a later one ends with %+v", last)
	}
	other := errors.New("other")
	if err := revisions.Explained(t.Context(), store, 2, other); !errors.Is(err, other) {
		t.Errorf("another error became %v", err)
	}
}

// A request for another revision with the same number is refused, and the fault names the current one.
func TestService_replaced(t *testing.T) {
	t.Parallel()
	body := document.Mapping{
		{Key: "status", Value: "success"}, {Key: "validator", Value: document.Mapping{{Key: "name", Value: "v"}}},
	}
	for name, c := range map[string]struct {
		expected revisions.Expected
		done     bool
	}{
		"any":         {nil, true},
		"any that is": {revisions.Expected{{Revision: -1, Stamp: 0}}, true},
		"the number":  {revisions.Expected{{Revision: 3, Stamp: 0}}, true},
		"the stamp":   {revisions.Expected{{Revision: 3, Stamp: 3}}, true},
		"one of several": {
			revisions.Expected{{Revision: 1, Stamp: 1}, {Revision: 3, Stamp: 2}, {Revision: 3, Stamp: 3}},
			true,
		},
		"another stamp":  {revisions.Expected{{Revision: 3, Stamp: 2}}, false},
		"another number": {revisions.Expected{{Revision: 1, Stamp: 3}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, store := newTagged(nil)
			store.tags["old"] = "{}"
			options := revisions.Options{Expected: c.expected}
			_, tagged := s.Tag(t.Context(), 3, options, "good", nil)
			_, posted := s.Post(t.Context(), 3, options, "tests", body, nil)
			untagged := s.Untag(t.Context(), 3, options, "old")
			_, all := s.UntagAll(t.Context(), 3, options)
			errs := []error{tagged, posted, untagged, all}
			for i, err := range errs {
				if c.done && err == nil {
					continue
				}
				stale, is := errors.AsType[*revisions.Stale](err)
				if c.done || !is || stale.Head != (revisions.Head{Revision: 3, Stamp: 3}) || fault.KindOf(err) != fault.Stale {
					t.Errorf("%d: %v", i, err)
				}
			}
			if (len(store.results) == 1) != c.done || (store.tags["good"] != "") != c.done || (store.tags["old"] == "") != c.done {
				t.Errorf("stored %v, %v", store.results, store.tags)
			}
		})
	}
}
