package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// copied is two sites of a server. The first one gets documents of a third by copies, the second one their text by bodies.
type copied struct {
	*isolation

	revision int
}

// pair are the two sites.
func pair() [2]string { return [2]string{"a", "b"} }

const upstream = "c"

// equal sends a request to both sites, with a query and a body for each, and returns the first answer if both are equal,
// but for provenance.
func (s *copied) equal(method, path string, queries, bodies [2]string, header ...string) response {
	s.Helper()
	for patience := 50; ; patience-- {
		var got [2]response
		var shown [2]string
		for i, name := range pair() {
			got[i] = s.together.ask(s.outer, method, "/sites/"+name+"/api/v1.0/"+path+queries[i], bodies[i], header...)
			switch shown[i] = normalized(got[i], name); {
			case provenance.MatchString(path):
				shown[i] = unsourced(eventID.ReplaceAllString(shown[i], "${1}0"))
			case method == http.MethodPut:
				shown[i] = position.ReplaceAllString(shown[i], "")
			}
		}
		if shown[0] == shown[1] {
			return got[0]
		}
		if !strings.HasPrefix(path, "events") || patience == 0 { // which a server numbers within a second
			s.Fatalf("%s %s%s %v (-copied +put)\n%s\nthe body:\n%s", method, path, queries[0], header, cmp.Diff(shown[0], shown[1]),
				bodies[1])
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// provenance matches the paths of questions whose answers may say where documents were copied from.
var provenance = regexp.MustCompile(`^(events|buckets|rollback/.|revisions(/[^/]+)?)(\?|$)`)

// eventID is the number of an event, or of the last one, which depends on those of verdicts.
var eventID = regexp.MustCompile(`(\b(?:id|cursor)"?: ?)['"]\d+['"]`)

// position is that of a finding in a body, which the caller of a copy does not have.
var position = regexp.MustCompile(`(?m)^ *(line|column): \d+\n|,"(line|column)":\d+`)

// unsourced returns a normalized answer, which begins with a line of headers, without what documents were copied from.
func unsourced(text string) string {
	head, body, _ := strings.Cut(text, "\n")
	var answer any
	if yaml.Unmarshal([]byte(body), &answer) != nil {
		return text
	}
	plain, err := yaml.Marshal(withoutSources(answer))
	if err != nil {
		return err.Error()
	}
	return head + "\n" + string(plain)
}

func withoutSources(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range []string{"sources", "behind", "from"} {
			delete(value, name)
		}
		for name := range value {
			value[name] = withoutSources(value[name])
		}
	case []any:
		for i := range value {
			value[i] = withoutSources(value[i])
		}
	}
	return value
}

// step changes the third site, both others by the same body, or one by a copy and the other by its text.
func (s *copied) step() {
	bucket := s.oneOf("bucket", "rules", "keys", "widgets")
	path, query := "buckets/"+bucket+"/documents", s.oneOf("query", "", "", "dry-run=true", "findings=true", "dry-run=true&findings=true")
	accept := s.oneOf("accept", typeJSON, typeXYAML)
	admin := as("admin", append(slices.Clone(inYAML), "Accept", accept)...)
	none := [2]string{}
	switch rapid.IntRange(0, 8).Draw(s.T, "step") {
	case 0, 1, 2:
		s.together.ask(s.outer, http.MethodPut, "/sites/"+upstream+"/api/v1.0/"+path, s.documents(bucket), admin...)
	case 3:
		body := s.documents(bucket)
		s.count(s.equal(http.MethodPut, path+"?detach=true&"+query, none, [2]string{body, body}, admin...))
	case 4:
		s.count(s.equal(http.MethodPost, s.oneOf("rollback", "rollback/1", "rollback/2", "rollback/3"), none, none, admin...))
	case 5:
		s.equal(http.MethodPost, "revisions/latest/validations/a-validation", none, [2]string{
			"{status: success, validator: {name: v}}", "{status: success, validator: {name: v}}",
		}, admin...)
	default:
		text := s.together.ask(s.outer, http.MethodGet, "/sites/"+upstream+"/api/v1.0/revisions/latest/documents?form=submitted&"+
			"cleartext-secrets=true&status.bucket="+bucket, "", as("admin")...)
		if text.StatusCode != http.StatusOK || text.text == "" {
			return // there is no such revision, or nothing to copy
		}
		caller := admin
		if bucket != "keys" && rapid.Bool().Draw(s.T, "by a writer") {
			caller = as("writer", admin[2:]...)
		}
		queries := [2]string{"?from=" + upstream + "@latest&" + query, "?" + query}
		s.count(s.equal(http.MethodPut, path, queries, [2]string{"", text.text}, caller...))
	}
}

// count notes that a change may have made a revision.
func (s *copied) count(got response) {
	if got.StatusCode < http.StatusBadRequest {
		s.revision++
	}
}

// A copy is what a body with the submitted text of the source is: in its answer, its dry run and its findings, and in all
// that the site answers afterwards, but for where it came from and for positions in the body.
func TestCopies_law(t *testing.T) {
	t.Parallel()
	const draws, steps, questions = 3, 40, 2
	count, vault := 0, newVault(t)
	rapid.Check(t, func(draw *rapid.T) {
		if count++; count > draws && !t.Failed() {
			return
		}
		s := &copied{isolation: &isolation{T: draw, outer: t, together: newServer(t, vault, "a", "b", upstream)}}
		for range steps {
			s.step()
			for range questions {
				path := s.question(s.revision)
				if strings.HasPrefix(path, "audit") { // has the queries of requests
					path = "revisions/latest/documents?form=submitted"
				}
				if strings.HasPrefix(path, "events?since=0&limit") {
					path += "&type=purser.revision.created" // those of verdicts depend on what is numbered together
				}
				s.equal(http.MethodGet, path, [2]string{}, [2]string{}, as(s.oneOf("caller", "admin", "reader"), "Accept",
					s.oneOf("accept", typeJSON, typeXYAML, "text/plain"))...)
			}
		}
	})
}
