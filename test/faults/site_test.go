//go:build linux

package faults_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// site is a site of a deployment, with what its clients saw in a round.
type site struct {
	name    string
	clients int           // in a round
	pause   time.Duration // of a client after a request, on average
	read    int           // number of revisions that are read completely at the end
	history *history
}

const defaultSite = "default"

// quiet is the mean pause of clients of the other sites.
const quiet = 2 * time.Second

// newSites returns the default site, whose clients compete without pauses, and others, whose clients leave the machine
// to them.
func newSites(n int) []*site {
	all := []*site{{name: defaultSite, clients: 6, read: 60}}
	for i := 1; i < n; i++ {
		all = append(all, &site{name: "s" + strconv.Itoa(i), clients: 2, pause: quiet, read: 2})
	}
	return all
}

func (s *site) isDefault() bool { return s.name == defaultSite }

// prefix begins the paths of the site.
func (s *site) prefix() string {
	if s.isDefault() {
		return ""
	}
	return "/sites/" + s.name
}

// evidence is what databases contain about the operations of a site, by the ids of the operations.
type evidence struct {
	made    map[string]ref   // the existing revisions
	audited map[string]int64 // the revisions in audit events of successful changes
	rows    map[row]bool     // all rows, among them those with the id of another site's operation
}

// row is a row of a table that has the id of an operation.
type row struct{ table, id string }

// evidences is evidence by site.
type evidences map[string]evidence

// of returns the evidence of a site, to which more can be added.
func (e evidences) of(site string) evidence {
	if _, ok := e[site]; !ok {
		e[site] = evidence{map[string]ref{}, map[string]int64{}, map[row]bool{}}
	}
	return e[site]
}

func (p *postgres) evidence(t *testing.T) evidences {
	t.Helper()
	all := evidences{}
	p.query(t, "SELECT revision, stamp, site, message FROM revisions", func(number, stamp int64, site, id string) {
		e := all.of(site)
		e.made[id], e.rows[row{"revisions", id}] = ref{number, hex(stamp)}, true
	})
	p.query(t, `SELECT coalesce(revision, 0), status, site, target FROM audit WHERE at > now() - interval '10 min'`,
		func(number, status int64, site, target string) {
			id, e := idPattern.FindString(target), all.of(site)
			if e.rows[row{"audit", id}] = true; id != "" && status < 300 {
				e.audited[id] = number
			}
		})
	for _, from := range []string{
		"'results', name FROM results", "'tags', tag FROM tags", "'events', subject FROM events", "'outbox', subject FROM outbox",
	} {
		p.query(t, "SELECT 0, 0, site || ' ' || "+from, func(_, _ int64, at, text string) {
			site, table, _ := strings.Cut(at, " ")
			all.of(site).rows[row{table, idPattern.FindString(text)}] = true
		})
	}
	return all
}

// found reads the states of a database's sites, except for contents, which the model already has.
func (p *postgres) found(t *testing.T) map[string]*state {
	t.Helper()
	all := map[string]*state{}
	p.query(t, "SELECT head, stamp, site, '' FROM sites", func(head, stamp int64, site, _ string) {
		all[site] = emptyState()
		if all[site].head.number = head; head > 0 {
			all[site].head.stamp = hex(stamp)
		}
	})
	for _, notes := range []struct{ kind, from string }{
		{"tags", "tag FROM tags"}, {"validations", "name FROM results WHERE name NOT LIKE 'deckhand-%'"},
	} {
		p.query(t, "SELECT revision, 0, site, "+notes.from, func(revision, _ int64, site, name string) {
			all[site] = all[site].with(note{revision, notes.kind, name})
		})
	}
	return all
}
