package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"purser/internal/store"
	"purser/internal/store/storetest"
)

// explained are settings by which Postgres tells a session how it ran each statement: the plan as JSON, with the number
// of times that each part of it ran. The module comes with Postgres, in some systems as a package "contrib".
const explained = "-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0" +
	" -c auto_explain.log_analyze=on -c auto_explain.log_timing=off -c auto_explain.log_format=json" +
	" -c auto_explain.log_level=notice"

// apart are the tests that do not run with partitioned tables: those about the plans of plain tables, which count pages or
// look for the names of indexes; those of roles and sessions that may not have the settings; and those that take long.
const apart = "^Test(Keys_.*|Store_(partitioned|Evidence_(byIndex|emptied)|manyViolations|longHistory|" +
	"rare.*|fewConnections|silentHost|deadlines|reserved|Append_givenUp|Claim_pages|Prune_(changesBetween|killed|purged)|" +
	"Archives_prunedBetween|Documents_laws)|Database_(DeleteSite|RunDeletions|SweepDeleted_tables)|Service_Rendered_.*)$"

// notSeen are the named statements that none of the tests runs, and overAll those that may visit several partitions, each
// with the reason.
var (
	notSeen = map[string]string{}
	overAll = map[string]string{
		"SitesWithNews": "the feed looks for the sites with news", "SitesDue": "and for those with verdicts that are due",
		"CountSecrets":  "a server without a keyset says how many secrets need one",
		"SitesToReseal": "a new key is for all sites",
		"MarkedSites":   "the sites that are being deleted", "SiteNames": "the list of sites", "TooManySites": "it counts them",
		"OfferedWork":     "one look finds work for the workers of all sites",
		"WorkOfSites":     "it lists the work of all sites",
		"WaiversOfSites":  "it lists the waivers of all sites",
		"SitesWithLabels": "metrics of selected sites", "CountSites": "metrics of all sites",
	}
)

// With tables that are partitioned by site, as a sharded Postgres has them, the tests pass, and each statement visits one
// partition, with a plan for any site. The tests run in a process of their own, which checks the plans: watchPartitions.
func TestStore_partitioned(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Partitions) != "" {
		t.Skip("this is that process")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.skip", apart, "-rapid.checks", "2")
	cmd.Env = append(os.Environ(), storetest.Partitions+"=2", "PGOPTIONS="+explained)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// visits are the partitions that statements have visited, by their texts.
type visits struct {
	sync.Mutex

	partitions map[string]map[string]bool
	invalid    []error
}

// watchPartitions has the plans of all statements checked after the tests, if tables are partitioned.
func watchPartitions() {
	if os.Getenv(storetest.Partitions) == "" {
		return
	}
	v := &visits{partitions: map[string]map[string]bool{}}
	store.OnNotice(v.add)
	storetest.AfterTests(v.check)
}

// plan is a part of a plan.
type plan struct {
	Relation string  `json:"Relation Name"`
	Loops    float64 `json:"Actual Loops"`
	Plans    []plan  `json:"Plans"`
}

// add adds the partitions that a statement has visited.
func (v *visits) add(notice string) {
	_, text, found := strings.Cut(notice, "plan:\n")
	if !found {
		return
	}
	var explained struct {
		Text string `json:"Query Text"`
		Plan plan   `json:"Plan"`
	}
	err := json.Unmarshal([]byte(text), &explained)
	v.Lock()
	defer v.Unlock()
	if err != nil {
		v.invalid = append(v.invalid, fmt.Errorf("%w: %s", err, text))
		return
	}
	seen := map[string]bool{}
	explained.Plan.addTo(seen)
	if known := v.partitions[explained.Text]; len(known) <= len(seen) {
		v.partitions[explained.Text] = seen
	}
}

var (
	partition   = regexp.MustCompile(`_(\d+)$`)
	sitesJoined = regexp.MustCompile(`\bsite = [a-z]+\.site\b`)
)

// addTo adds the numbers of the partitions that a plan has visited.
func (p plan) addTo(seen map[string]bool) {
	if number := partition.FindStringSubmatch(p.Relation); number != nil && p.Loops > 0 {
		seen[number[1]] = true
	}
	for _, part := range p.Plans {
		part.addTo(seen)
	}
}

// check returns the statements that have visited several partitions, and the named ones that were not seen.
func (v *visits) check() error {
	v.Lock()
	defer v.Unlock()
	wrong, names := v.invalid, map[string]string{}
	for name, text := range statements() {
		names[store.Positional(text)] = name
	}
	for text, seen := range v.partitions {
		name := names[text]
		if strings.HasPrefix(text, store.SelectSites) { // the list of sites
			continue
		}
		_, listed := overAll[name]
		if strings.Contains(text, "$1") && sitesJoined.MatchString(text) && !listed {
			wrong = append(wrong, fmt.Errorf("%s compares sites of tables, not each with the one that is asked for:\n%s", name, text))
		}
		if len(seen) > 1 && !listed {
			wrong = append(wrong, fmt.Errorf("%s visits the partitions %v:\n%s", name, slices.Sorted(maps.Keys(seen)), text))
		}
	}
	for text, name := range names {
		_, seen := v.partitions[text]
		if _, listed := notSeen[name]; seen == listed {
			wrong = append(wrong, fmt.Errorf("%s: seen is %v, listed as not seen is %v", name, seen, listed))
		}
	}
	return errors.Join(wrong...)
}
