package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/api"
	"purser/internal/authz"
	"purser/internal/changes"
	"purser/internal/validations"
)

// isolation is a server with several sites, and for each of them a server that has nothing else.
type isolation struct {
	*rapid.T

	outer    *testing.T
	together site
	alone    map[string]site
	seen     map[string]*seenSite
}

// seenSite is what a client has seen of a site, on the server with others and on the server alone.
type seenSite struct {
	tags     map[string][2]string // the newest ETag of each question
	claims   [][2]string          // identifiers
	revision int                  // about the newest number
}

// twin is a request for a site of two servers. own are texts that differ between them, put in the place of OWN.
type twin struct {
	method, path, body, caller, accept, header string
	own                                        [2]string
}

// both sends a request about a site to both servers, and returns their answers if these are equal.
func (s *isolation) both(name string, a twin) [2]response {
	s.Helper()
	for patience := 50; ; patience-- {
		var got [2]response
		var shown [2]string
		for i, server := range []site{s.together, s.alone[name]} {
			prefix := []string{"/sites/" + name, ""}[i]
			own := func(text string) string { return strings.ReplaceAll(text, "OWN", a.own[i]) }
			path := a.path
			if !strings.HasPrefix(path, "/") {
				path = "/api/v1.0/" + path
			}
			header := as(a.caller, append(slices.Clone(inYAML), "Accept", a.accept)...)
			if a.header != "" {
				header = append(header, a.header, a.own[i])
			}
			got[i] = server.ask(s.outer, a.method, prefix+own(path), own(a.body), header...)
			shown[i] = normalized(got[i], name)
		}
		if shown[0] == shown[1] {
			return got
		}
		if !strings.HasPrefix(a.path, "events") || patience == 0 { // which a server numbers within a second
			s.Fatalf("%s %s of %s by %s (%s %v) (-with others +alone)\n%s", a.method, a.path, name, a.caller, a.header, a.own,
				cmp.Diff(shown[0], shown[1]))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// varying are the parts of answers that differ between two servers which were asked the same.
var varying = []*regexp.Regexp{
	regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?`),                       // times
	regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), // requests
	regexp.MustCompile(`\b[0-9a-f]{16}\b`),                                                 // stamps
	regexp.MustCompile(`\b[0-9A-Z]{26}\b`),                                                 // claims
	regexp.MustCompile(`"?\bbytes"?: ?\d+`),                                                // of rows, which have the name of the site
}

// chain is the chain value of a revision, which depends on stamps.
var chain = regexp.MustCompile(`(\bchain"?: ?['"]?)[0-9a-f]{64}\b`)

// digest is that of a secret's reference, which names the site.
var digest = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// entryID is the identifier of an entry of the audit. All sites of a database take them from one sequence.
var entryID = regexp.MustCompile(`(?m)(^|[{,]|- |  )"?id"?: ?\d+`)

// normalized returns an answer without what differs between two servers.
func normalized(r response, name string) string {
	var header []string
	for _, field := range slices.Sorted(maps.Keys(r.Header)) {
		switch field {
		case "X-Deckhand-Req", "Date", "Content-Length":
		case "Etag":
			header = append(header, field)
		default:
			header = append(header, fmt.Sprint(field, r.Header[field]))
		}
	}
	text := fmt.Sprintln(r.StatusCode, header) + r.text
	text = strings.NewReplacer("/sites/"+name, "", "secret://"+name+"/", "secret://default/").Replace(text)
	if strings.Contains(r.path, "/api/v1.0/audit") {
		text = entryID.ReplaceAllString(text, "id: VARIES")
	}
	if strings.Contains(r.path, "/documents?cleartext-secrets=false") && !strings.Contains(r.path, "rendered") {
		text = digest.ReplaceAllString(text, "VARIES")
	}
	text = chain.ReplaceAllString(text, "${1}VARIES")
	for _, pattern := range varying {
		text = pattern.ReplaceAllString(text, "VARIES")
	}
	return strings.ReplaceAll(text, "'VARIES'", "VARIES") // YAML quotes what looks like a number
}

func (s *isolation) oneOf(what string, from ...string) string {
	return rapid.SampledFrom(from).Draw(s.T, what)
}

// documents draws the body of a bucket, with the same names in all sites.
func (s *isolation) documents(bucket string) string {
	switch bucket {
	case "rules":
		maximum := s.oneOf("maximum", "5", "100")
		body := dataSchema("acme/Widget/v1", "{type: object, properties: {size: {type: integer, maximum: "+maximum+"}}}") +
			layers("lp", s.oneOf("order", "global, site", "site", "region, site"))
		if rapid.Bool().Draw(s.T, "policy") {
			body += requiring("a-validation")
		}
		return body
	case "keys":
		return textOf("acme/Key/v1", "key", encrypted, s.oneOf("secret", "one", "two", "[3, 3]")) +
			textOf("acme/Key/v1", "other", encrypted, s.oneOf("secret", "one", "two"))
	default:
		parts := []string{
			plain("acme/Widget/v1", "global", "base", "{a: b}", "{size: "+s.oneOf("size", "1", "50", "500")+"}"),
			plain("acme/Widget/v1", "site", "w", "{}", "{size: "+s.oneOf("size", "1", "50", "x")+"}"),
			"---\nschema: acme/Widget/v1\nmetadata: {schema: metadata/Document/v1, name: child, storagePolicy: cleartext, " +
				"layeringDefinition: {layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}]}}\ndata: " +
				s.oneOf("own", "{}", "{x: 1}", "{size: 7}") + "\n",
		}
		if rapid.Bool().Draw(s.T, "another parent") {
			parts = append(parts, plain("acme/Widget/v1", "global", "second", "{a: b}", "{size: 2}"))
		}
		body := s.oneOf("comment", "", "# a line\n") + strings.Join(rapid.Permutation(parts).Draw(s.T, "order"), "")
		if rapid.Bool().Draw(s.T, "substitution") {
			body += textOf("acme/Gadget/v1", "g", ", storagePolicy: cleartext, substitutions: [{src: {schema: acme/Key/v1, name: "+
				s.oneOf("key", "key", "other", "none")+", path: .}, dest: {path: .x}}]", "{}")
		}
		return body
	}
}

// step does one thing in one of the sites.
func (s *isolation) step() {
	name := s.oneOf("site", slices.Sorted(maps.Keys(s.alone))...)
	seen := s.seen[name]
	revision := rapid.IntRange(1, seen.revision+1).Draw(s.T, "revision")
	caller := s.oneOf("caller", "admin", "admin", "admin", "writer", "reader")
	change := twin{method: http.MethodPost, caller: caller, accept: s.oneOf("accept", typeJSON, typeXYAML)}
	of := fmt.Sprintf("revisions/%d/", revision)
	switch rapid.IntRange(0, 17).Draw(s.T, "step") {
	case 0, 1, 2, 3:
		bucket := s.oneOf("bucket", "rules", "keys", "widgets")
		change.method, change.path = http.MethodPut, "buckets/"+bucket+"/documents"+s.oneOf("query", "", "", "?dry-run=true", "?findings=true")
		change.body = s.documents(bucket)
		s.conditional(&change, "If-Match", seen)
	case 4:
		change.method, change.path = http.MethodPut, "changesets"
		change.body = in("keys", s.documents("keys")) + in("widgets", s.documents("widgets"))
	case 5:
		change.path = fmt.Sprintf("rollback/%d", revision)
	case 6:
		change.path = of + "tags/" + s.oneOf("tag", "t", "u")
		change.body = s.oneOf("body", "", "{by: "+caller+"}")
	case 7:
		change.method, change.path = http.MethodDelete, of+"tags"+s.oneOf("tag", "", "/t", "/u")
	case 8, 9:
		change.path = of + "validations/a-validation"
		change.body = "{status: " + s.oneOf("status", "success", "failure") + ", validator: {name: v}, errors: []}"
		s.claimed(&change, seen)
	case 10:
		change.path, change.body = of+"waivers", "{validation: a-validation, reason: r, for: P1D}"
	case 11:
		change.method, change.path = http.MethodDelete, fmt.Sprintf("%swaivers/%d", of, rapid.IntRange(1, 4).Draw(s.T, "waiver"))
	case 12, 13:
		change.path, change.body = "claims", "{validations: [a-validation], worker: w}"
	case 14:
		if change.method = http.MethodDelete; len(seen.claims) > 0 {
			change.path = "claims/OWN"
			change.own = rapid.SampledFrom(seen.claims).Draw(s.T, "claim")
		} else {
			change.path = "claims/" + strings.Repeat("A", 26)
		}
	case 15:
		change.path = of + "validations/a-validation/request"
		change.body = "{}"
	case 16:
		change.path = fmt.Sprintf("revisions/prune?keep=%d", rapid.IntRange(1, 6).Draw(s.T, "keep"))
	default:
		if change.method, change.path = http.MethodDelete, "revisions"; rapid.IntRange(0, 2).Draw(s.T, "purge") > 0 {
			change.method, change.path = http.MethodPut, "buckets/"+s.oneOf("bucket", "keys", "widgets")+"/documents"
		}
	}
	made := s.both(name, change)
	s.both(name, twin{method: http.MethodGet, path: "events?since=now", caller: "admin", accept: typeJSON})
	s.learn(seen, change, made)
}

// conditional adds a condition about an ETag that the client has seen.
func (s *isolation) conditional(a *twin, header string, seen *seenSite) {
	if own, ok := seen.tags[a.path]; ok && rapid.Bool().Draw(s.T, header) {
		a.header, a.own = header, own
	}
}

// claimed makes a result that of a claim.
func (s *isolation) claimed(a *twin, seen *seenSite) {
	if len(seen.claims) > 0 && rapid.Bool().Draw(s.T, "by claim") {
		a.path += "?claim=OWN"
		a.own = rapid.SampledFrom(seen.claims).Draw(s.T, "claim")
	}
}

// learn notes what a client sees in two answers.
func (s *isolation) learn(seen *seenSite, a twin, got [2]response) {
	if tag := got[0].Header.Get("ETag"); tag != "" {
		seen.tags[a.path] = [2]string{tag, got[1].Header.Get("ETag")}
	}
	if a.path == "claims" && got[0].StatusCode == http.StatusCreated {
		ids := [2]string{fmt.Sprint(got[0].mapping(s.outer)["id"]), fmt.Sprint(got[1].mapping(s.outer)["id"])}
		seen.claims = append(seen.claims, ids)
	}
	if strings.HasSuffix(a.path, "/documents") || strings.HasPrefix(a.path, "changesets") || strings.HasPrefix(a.path, "rollback") {
		seen.revision++
	}
	if a.method == http.MethodDelete && a.path == "revisions" && got[0].StatusCode == http.StatusNoContent {
		seen.revision = 0
	}
}

// look asks one of many questions about one of the sites.
func (s *isolation) look() {
	name := s.oneOf("site", slices.Sorted(maps.Keys(s.alone))...)
	seen := s.seen[name]
	question := twin{
		method: s.oneOf("method", http.MethodGet, http.MethodGet, http.MethodGet, http.MethodHead),
		caller: s.oneOf("caller", "admin", "reader"), accept: s.oneOf("accept", typeJSON, typeXYAML, "text/plain"),
		path: s.question(seen.revision),
	}
	s.conditional(&question, "If-None-Match", seen)
	s.learn(seen, question, s.both(name, question))
}

// question draws the path of a question about a site with so many revisions.
func (s *isolation) question(revisions int) string {
	n, m := rapid.IntRange(1, revisions+1).Draw(s.T, "of"), rapid.IntRange(0, revisions+1).Draw(s.T, "other")
	of := s.oneOf("which", fmt.Sprintf("revisions/%d", n), "revisions/latest", "revisions/latest", "revisions/tag:t")
	return s.oneOf("question", "/versions", "whoami", "buckets", "revisions", "revisions?sort=id&order=desc&limit=2",
		"revisions?tag=t", "audit", "audit?limit=3", "events?since=0&limit=100", "events?since=0&type=revision.created",
		"claims", "waivers", "waivers?active=true", of, of+"/status", of+"/status?waivers=ignore", of+"/status?expect=success",
		of+"/status?details=true&limit=2", of+"/findings", of+"/findings?validation=deckhand-schema-validation",
		of+"/findings?order=cause&limit=1", of+"/documents", of+"/documents?cleartext-secrets=true",
		of+"/documents?cleartext-secrets=false", of+"/documents?search=size", of+"/documents?sort=metadata.name&limit=2&offset=1",
		of+"/rendered-documents", of+"/rendered-documents?cleartext-secrets=true", of+"/rendered-documents?metadata.name=g",
		of+"/rendered-documents/explain?schema=acme/Gadget/v1&name=g&path=.x", of+"/validations", of+"/validations?newest=true",
		of+"/validations/detail", of+"/validations/a-validation", of+"/validations/deckhand-schema-validation",
		of+"/validations/deckhand-rendering-validation/entries/0", of+"/validations/a-validation/entries/0", of+"/tags", of+"/tags/t",
		of+"/waivers", of+"/graph", of+"/schemas", of+"/schemas/acme/Widget/v1", of+"/packages", of+"/puppet/hiera?node=n",
		fmt.Sprintf("%s/diff/%d", of, m), fmt.Sprintf("%s/deepdiff/%d", of, m),
		fmt.Sprintf("%s/deepdiff/%d?rendered=true", of, m), fmt.Sprintf("%s/deepdiff/%d?cleartext-secrets=true", of, m),
		"documents/acme/Widget/v1/site/w/history", "documents/acme/Key/v1/site/key/history")
}

// newServer opens a server with some sites. It keeps next to nothing in its caches, and opens a site for each request.
func newServer(t *testing.T, vault changes.Vault, names ...string) site {
	t.Helper()
	rules := rulesOf(t, authz.WithRoles, "{}")
	s := openSite(t, settings{defaults: validations.DefaultValidations(), vault: vault}, func(c *api.Config) {
		c.Access = api.Access{Authenticator: byRole{}, Rules: rules}
	})
	for _, name := range names {
		s.putSite(t, name, "{}", as("admin")...).is(t, http.StatusCreated)
	}
	return s
}

// newIsolation opens the servers.
func newIsolation(t *testing.T, draw *rapid.T, vault changes.Vault) *isolation {
	t.Helper()
	names := []string{"a", "b", "c"}
	s := &isolation{
		T: draw, outer: t, together: newServer(t, vault, names...), alone: map[string]site{}, seen: map[string]*seenSite{},
	}
	for _, name := range names {
		s.alone[name], s.seen[name] = newServer(t, vault), &seenSite{tags: map[string][2]string{}}
	}
	return s
}

// Whatever happens in three sites of one server, each of them answers as on a server of its own.
func TestIsolation_law(t *testing.T) {
	t.Parallel()
	const draws, steps = 4, 60
	count, vault := 0, newVault(t)
	rapid.Check(t, func(draw *rapid.T) {
		if count++; count > draws && !t.Failed() {
			return
		}
		s := newIsolation(t, draw, vault)
		for range steps {
			s.step()
			s.look()
			s.look()
		}
	})
}
