package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
)

// byUser is an authenticator of tokens of the form ID:ROLE,ROLE.
type byUser struct{}

// Authenticate implements authn.Authenticator.
func (byUser) Authenticate(_ context.Context, token string) (authn.Caller, error) {
	id, roles, _ := strings.Cut(token, ":")
	return authn.Caller{UserID: id, UserName: strings.ToUpper(id[:1]) + id[1:], Roles: strings.Split(roles, ",")}, nil
}

// byUsers returns a site of named users, with a policy file that replaces default rules.
func byUsers(t *testing.T, file string) site {
	t.Helper()
	rules := rulesOf(t, authz.WithRoles, file)
	return newSite(t, func(c *api.Config) { c.Access = api.Access{Authenticator: byUser{}, Rules: rules} })
}

// vote posts a result of a user.
func (s site) vote(t *testing.T, revision, validation, status, by string, header ...string) response {
	t.Helper()
	body := "{status: " + status + ", validator: {name: purser}, errors: [{message: bad rack}]}"
	return s.do(t, http.MethodPost, "revisions/"+revision+"/validations/"+validation, body,
		append(as(by, inYAML...), header...)...)
}

// statusText returns the status of a revision as text.
func (s site) statusText(t *testing.T, revision string) string {
	t.Helper()
	return s.get(t, "revisions/"+revision+"/status", as("r:reader", "Accept", "text/plain")...).is(t, http.StatusOK).text
}

// twoApprovals is a policy that needs the approvals of two users.
const twoApprovals = `---
schema: deckhand/ValidationPolicy/v1
metadata: {schema: metadata/Control/v1, name: ready}
data: {validations: [{name: review-validation, approvals: 2}]}
`

// Results of different users are counted; a user counts once, with the newest, and one failure is a rejection.
func TestApprovals(t *testing.T) {
	t.Parallel()
	s := byUsers(t, "")
	s.put(t, "b", twoApprovals+widget("w", "{x: 1}"), as("eve:writer")...).is(t, http.StatusOK)
	isLine := func(revision, want string) {
		t.Helper()
		if got := s.statusText(t, revision); want == "" && !strings.HasPrefix(got, "success\n") || !strings.Contains(got, want) {
			t.Errorf("revision %s: %q, want %q", revision, got, want)
		}
	}
	isLine("1", "review-validation: missing (policy ready): 0 of 2 approvals\n")
	s.vote(t, "1", "review-validation", "success", "anna:validator", "X-End-User", "bob").is(t, http.StatusCreated)
	s.vote(t, "1", "review-validation", "success", "anna:validator", "X-End-User", "carl").is(t, http.StatusCreated)
	isLine("1", "review-validation: missing (policy ready): 1 of 2 approvals, by Anna\n")
	s.vote(t, "1", "review-validation", "failure", "bob:validator").is(t, http.StatusCreated)
	isLine("1", "review-validation: failure (policy ready): rejected by Bob: bad rack\n")
	s.vote(t, "1", "review-validation", "success", "carl:validator").is(t, http.StatusCreated)
	isLine("1", "review-validation: failure (policy ready): rejected by Bob: bad rack\n")
	s.vote(t, "1", "review-validation", "success", "bob:validator").is(t, http.StatusCreated)
	isLine("1", "")

	// They hold after a rollback, with their authors, and are known to dry runs.
	changed := widget("w", "{x: 2}")
	s.put(t, "b", twoApprovals+changed, as("eve:writer")...).is(t, http.StatusOK)
	isLine("2", "0 of 2 approvals")
	const query = "?dry-run=true"
	admin := as("root:admin", asJSON...)
	if got := fmt.Sprint(s.put(t, "b"+query, twoApprovals+changed, admin...).is(t, http.StatusOK).mapping(t)); strings.Contains(got, "status:success") {
		t.Errorf("a dry run that changes nothing: %s", got)
	}
	preview := s.do(t, http.MethodPost, "rollback/1"+query, "", admin...).is(t, http.StatusOK).mapping(t)
	made := s.do(t, http.MethodPost, "rollback/1", "", admin...).is(t, http.StatusCreated).mapping(t)
	if made["status"] != "success" || !strings.Contains(fmt.Sprint(preview), "status:success") {
		t.Errorf("rolled back: %v\npreview: %v", made["status"], preview)
	}
	isLine("3", "")
	if got := fmt.Sprint(s.put(t, "b"+query, twoApprovals+widget("w", "{x: 1}"), admin...).is(t, http.StatusOK).mapping(t)); !strings.Contains(got, "status:success") {
		t.Errorf("a dry run that changes nothing: %s", got)
	}
	s.vote(t, "3", "review-validation", "failure", "anna:validator").is(t, http.StatusCreated)
	isLine("3", "rejected by Anna")
	s.do(t, http.MethodPost, "rollback/3", "", admin...).is(t, http.StatusCreated)
	isLine("4", "rejected by Anna")
	s.vote(t, "4", "review-validation", "success", "anna:validator").is(t, http.StatusCreated)
	isLine("4", "")
	newest := s.get(t, "revisions/4/validations?newest=true", admin...).results(t)
	if got := fmt.Sprint(newest); !strings.Contains(got, "user:Anna") {
		t.Errorf("the newest results do not say who posted them: %s", got)
	}
	s.do(t, http.MethodPost, "rollback/3", "", admin...).is(t, http.StatusCreated)
	isLine("5", "rejected by Anna")
}

// A server that has not seen the newest revision judges a dry run that changes nothing by all that is known about it.
func TestApprovals_dryRunOfAnotherServer(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	access := api.Access{Authenticator: byUser{}, Rules: rulesOf(t, authz.WithRoles, "")}
	open := func() site { return openSite(t, settings{url: url}, func(c *api.Config) { c.Access = access }) }
	s, other := open(), open()
	s.put(t, "b", twoApprovals, as("eve:writer")...).is(t, http.StatusOK)
	for _, user := range []string{"anna", "bob"} {
		s.vote(t, "1", "review-validation", "success", user+":validator").is(t, http.StatusCreated)
	}
	got := other.put(t, "b?dry-run=true", twoApprovals, as("root:admin", "If-Match", `"1"`, "Accept", typeJSON)...).is(t, http.StatusOK).mapping(t)
	if !strings.Contains(fmt.Sprint(got), "status:success") {
		t.Errorf("%v", got)
	}
}

// All results without authentication are of one user without a name. Results without a user, from earlier versions, do
// not count.
func TestApprovals_anonymous(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openSite(t, settings{url: url})
	s.put(t, "b", twoApprovals).is(t, http.StatusOK)
	text := func(want string) {
		t.Helper()
		got := s.get(t, "revisions/1/status", "Accept", "text/plain").is(t, http.StatusOK).text
		if !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for range 2 {
		s.report(t, 1, "review-validation", "success")
		text("review-validation: missing (policy ready): 1 of 2 approvals\n")
	}
	if _, err := storetest.Connect(t, url).Exec(t.Context(), "UPDATE results SET author = NULL, author_name = NULL"); err != nil {
		t.Fatal(err)
	}
	fresh := openSite(t, settings{url: url})
	if got := fresh.get(t, "revisions/1/status", "Accept", "text/plain").text; !strings.Contains(got, "0 of 2 approvals\n") {
		t.Errorf("%q", got)
	}
	fresh.rollback(t, "1").is(t, http.StatusCreated)
	if got := fresh.get(t, "revisions/2/status", "Accept", "text/plain").text; !strings.Contains(got, "0 of 2 approvals\n") {
		t.Errorf("%q", got)
	}
}

const fourEyes = `"deckhand:create_validation": "role:%(validation)s and not user_id:%(author)s or rule:admin_api"
"deckhand:list_validations": "'default':%(site)s and role:reader or rule:admin_api"
`

// A rule binds a validation to a role, and nobody approves a change of their own, whatever they say who they are. The
// author counts only if the rule in force asks for it.
func TestFourEyes(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	rules := rulesOf(t, authz.WithRoles, fourEyes)
	s := openSite(t, settings{url: url}, func(c *api.Config) { c.Access = api.Access{Authenticator: byUser{}, Rules: rules} })
	s.put(t, "b", twoApprovals, as("eve:writer,review-validation", "X-End-User", "anna")...).is(t, http.StatusOK)
	const hint = "These roles always have this right: admin. Others have it, depending on who made the revision and which validation it is about."
	refused := func(got response, more string) {
		t.Helper()
		got.isFault(t, http.StatusForbidden, "HTTPForbidden", "Policy doesn't allow deckhand:create_validation to be performed", hint, more)
	}
	refused(s.vote(t, "1", "review-validation", "success", "eve:writer,review-validation", "X-End-User", "bob"), "")
	refused(s.vote(t, "latest", "review-validation", "success", "eve:writer,review-validation"), "")
	refused(s.vote(t, "1", "other", "success", "anna:review-validation"), "")
	refused(s.vote(t, "1", "review-validation", "success", "anna:validator"), "")
	s.vote(t, "1", "review-validation", "success", "anna:review-validation", "X-End-User", "eve").is(t, http.StatusCreated)
	s.vote(t, "latest", "review-validation", "success", "bob:reader,Review-Validation").is(t, http.StatusCreated)
	s.vote(t, "1", "review-validation", "success", "eve:admin").is(t, http.StatusCreated)
	s.vote(t, "7", "review-validation", "success", "bob:review-validation").isFault(t, http.StatusNotFound, "RevisionNotFound")
	s.vote(t, "1", "review-validation", "success", "bob:review-validation", "If-Match", `"1-abcdef"`).
		isFault(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed")
	stamp := s.get(t, "revisions/1", as("root:admin", asJSON...)...).mapping(t)["stamp"]
	s.vote(t, "1", "review-validation", "success", "bob:review-validation", "If-Match", fmt.Sprintf(`"1-%v"`, stamp)).is(t, http.StatusCreated)
	s.get(t, "revisions/1/validations", as("r:reader")...).is(t, http.StatusOK)

	// It is not known who made older revisions.
	if _, err := storetest.Connect(t, url).Exec(t.Context(), "UPDATE revisions SET author_id = ''"); err != nil {
		t.Fatal(err)
	}
	refused(s.vote(t, "1", "review-validation", "success", "anna:review-validation"), "It is not known who made revision 1.")
	s.vote(t, "1", "review-validation", "success", "root:admin").is(t, http.StatusCreated)
}

// GET /whoami lists rights that depend on the validation or the author apart from the others.
func TestFourEyes_whoami(t *testing.T) {
	t.Parallel()
	s := byUsers(t, fourEyes)
	got := s.get(t, "whoami", as("anna:review-validation", asJSON...)...).is(t, http.StatusOK).mapping(t)
	if diff := cmp.Diff([]any{[]any{}, []any{authz.CreateValidation}}, []any{got["rules"], got["depending"]}); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got = s.get(t, "whoami", as("anna:admin", asJSON...)...).is(t, http.StatusOK).mapping(t)
	if rights := fmt.Sprint(got["rules"]); !strings.Contains(rights, authz.CreateValidation) || got["depending"] != nil {
		t.Errorf("%v", got)
	}
}

// authorReads counts how often the author of a revision is read.
type authorReads struct {
	revisions.Store

	reads *atomic.Int64
}

// Around implements revisions.Store.
func (c authorReads) Around(ctx context.Context, revision int64) (revisions.Neighbourhood, error) {
	c.reads.Add(1)
	return c.Store.Around(ctx, revision)
}

// A post takes no statement more unless the right depends on who made the revision.
func TestFourEyes_reads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, by string
		want     int64
	}{
		{"", "anna:validator", 0},
		{`"deckhand:create_validation": "role:%(validation)s"`, "anna:review-validation", 0},
		{fourEyes, "anna:admin", 0},
		{fourEyes, "anna:review-validation", 1},
	} {
		var reads atomic.Int64
		rules := rulesOf(t, authz.WithRoles, c.file)
		s := newSite(t, func(config *api.Config) {
			config.Access = api.Access{Authenticator: byUser{}, Rules: rules}
			config.Service.Store = authorReads{config.Service.Store, &reads}
		})
		s.put(t, "b", twoApprovals, as("eve:writer")...).is(t, http.StatusOK)
		reads.Store(0)
		s.vote(t, "1", "review-validation", "success", c.by).is(t, http.StatusCreated)
		if got := reads.Load(); got != c.want {
			t.Errorf("%s by %s: %d reads", c.file, c.by, got)
		}
	}
}

// Approvals with inputs hold for later revisions with the same documents unless somebody rejects them, and a late one
// brings those of others along. A user's newer result about the revision itself stays the newest.
func TestApprovals_carried(t *testing.T) {
	t.Parallel()
	s := byUsers(t, "")
	isLine := func(revision, want string) {
		t.Helper()
		if got := s.statusText(t, revision); want == "" && !strings.HasPrefix(got, "success\n") || !strings.Contains(got, want) {
			t.Errorf("revision %s: %q, want %q", revision, got, want)
		}
	}
	vote := func(revision, status, user, inputs string) {
		t.Helper()
		if text := s.do(t, http.MethodPost, "revisions/"+revision+"/validations/review-validation", "{status: "+status+
			", validator: {name: v}"+inputs+"}", as(user+":validator", inYAML...)...).is(t, http.StatusCreated).text; strings.Contains(text, "warning") {
			t.Error(text)
		}
	}
	put := func(bucket, body string) {
		t.Helper()
		s.put(t, bucket, body, as("eve:writer")...).is(t, http.StatusOK)
	}
	const same = ", inputs: {buckets: [b]}"
	put("b", twoApprovals+layerOrder+plain("a/Net/v1", "site", "one", "{}", "{}"))
	for _, user := range []string{"anna", "bob"} {
		vote("1", "success", user, same)
	}
	vote("1", "failure", "carl", same)
	put("other", plain("a/Other/v1", "site", "other", "{}", "{x: 1}"))
	isLine("2", "0 of 2 approvals") // rejected
	vote("1", "success", "carl", same)
	isLine("2", "") // late, with those of the others
	put("other", plain("a/Other/v1", "site", "other", "{}", "{x: 2}"))
	isLine("3", "")
	vote("3", "failure", "anna", "")
	vote("2", "success", "dan", same)
	isLine("3", "rejected by Anna")
}

// Who makes a revision does not approve it by an approval of an earlier one, neither when it is made nor later.
func TestApprovals_ofAuthor(t *testing.T) {
	t.Parallel()
	s := byUsers(t, "")
	vote := func(user string) {
		t.Helper()
		s.do(t, http.MethodPost, "revisions/1/validations/review-validation", "{status: success, validator: {name: v}, "+
			"inputs: {buckets: [b]}}", as(user+":validator", inYAML...)...).is(t, http.StatusCreated)
	}
	s.put(t, "b", twoApprovals+layerOrder+plain("a/Net/v1", "site", "one", "{}", "{}"), as("eve:writer")...).is(t, http.StatusOK)
	vote("anna")
	vote("bob")
	s.put(t, "other", plain("a/Other/v1", "site", "other", "{}", "{x: 1}"), as("anna:writer")...).is(t, http.StatusOK)
	for range 2 {
		if got := s.statusText(t, "2"); !strings.Contains(got, "1 of 2 approvals, by Bob") {
			t.Errorf("%q, want the approval of Bob alone", got)
		}
		vote("anna") // late
	}
	vote("carl")
	if got := s.statusText(t, "2"); !strings.HasPrefix(got, "success\n") {
		t.Errorf("%q, want two approvals", got)
	}
}
