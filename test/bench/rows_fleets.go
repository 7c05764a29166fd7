package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// The sites of row 35: the one that others copy from, and the number of those that the others are copies of, each of
// which has another limit for the value that changes.
const (
	sharedSite  = "shared"
	fleetModels = 10
)

// The documents of each site of row 35: those of the bucket that is copied, half of them parents, and those of its own,
// as many of them children.
const (
	sharedDocuments = 100
	fleetParents    = 50
	fleetOwn        = 400
)

// fleets measures row 35: a change of a bucket that many sites have copied, asked of all of them by purser fleet push.
func (r *run) fleets() {
	sites := max(r.sites/fleetModels, 1) * fleetModels
	label := fmt.Sprintf("%d sites of %d documents", sites, sharedDocuments+fleetOwn)
	r.sayf("row 35: %s", label)
	command := r.build("purser")
	s := r.start("fleets", "--default-validations=deckhand-schema-validation,deckhand-rendering-validation")
	r.sayf("filled in %s", short(timed(func() { s.fillFleets(sites) })))
	s.makeModel(quietSite, documentsOfSite, false)

	s.putIn(sharedSite, "shared", sharedBody(2000))
	alone := r.visitors(s, func() { time.Sleep(ofFleets * r.span) })
	var first, second pushed
	beside := r.visitors(s, func() { first = r.push(s, command, "2") })
	r.infof(35, label+": dry run over all", "%s, %.1f ms each; %d groups", short(first.took),
		first.took.Seconds()*1000/float64(sites), first.groups)
	r.add(35, first.groups == fleetModels, strconv.Itoa(fleetModels), "groups of outcomes",
		strconv.Itoa(first.groups))
	r.within(35, first.took*time.Duration(manySites)/time.Duration(sites), 4*time.Minute,
		"the same, as if it were 10000 sites")
	s.putIn(sharedSite, "shared", sharedBody(2001))
	second = r.push(s, command, "3")
	r.atMost(35, ratio(second.took, first.took), 0.5, "a second one after a small change, to the first", "%s, %s",
		short(second.took), short(first.took))
	r.infof(35, "memory of the client, at most", "%.0f MiB", first.memory)
	if r.hasProc(35) {
		r.infof(35, "memory of the server, at most", "%.0f MiB", s.resident("VmHWM"))
	}
	for _, what := range []string{"PUT", "status"} {
		slow, slowAlone := percentile(beside[what], 99), percentile(alone[what], 99)
		r.atMost(35, ratio(slow, slowAlone), 2, what+" of another user in another site meanwhile, to alone, p99", "%s, %s",
			short(slow), short(slowAlone))
		r.infof(35, "the same, median", "%.2fx  (%s, %s)", ratio(median(beside[what]), median(alone[what])), beside[what],
			alone[what])
	}
	r.dryRuns(s, sites)
}

// ofFleets is the time, in spans, that other users are watched alone.
const ofFleets = 10

// manySites is the number of sites that the target of row 35 is about.
const manySites = 10_000

// fillFleets makes sites whose documents are those of a number of models, a tenth of them of each.
func (s *server) fillFleets(sites int) {
	s.makeSite(sharedSite)
	s.putIn(sharedSite, "shared", sharedBody(1))
	each := sites / fleetModels
	for i := range fleetModels {
		of := fmt.Sprintf("%s-%d", model, i)
		s.send(http.MethodPut, "/sites/"+of, []byte(`{"labels": {"bench": "fleet"}}`), io.Discard)
		s.send(http.MethodPut, below(of, documentsOf("shared")+"?from="+sharedSite+"@1"), nil, io.Discard)
		s.putIn(of, "site", ownBody(i))
		s.settleFeeds()
		s.copySite(of, i*each, (i+1)*each)
		s.send(http.MethodPut, "/sites/"+of, []byte(`{"labels": {}}`), io.Discard)
	}
	s.vacuum()
	s.exec("CHECKPOINT")
}

// sharedBody returns the bucket that is copied. n is the value of its first parent.
func sharedBody(n int) []byte {
	var b strings.Builder
	b.WriteString(strings.Replace(layerOrder, "[site]", "[global, site]", 1))
	for i := range fleetParents {
		value := 1
		if i == 0 {
			value = n
		}
		fmt.Fprintf(&b, "---\nschema: bench/Base/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: base-%d\n"+
			"  labels: {role: role-%[1]d}\n  layeringDefinition: {abstract: true, layer: global}\n  storagePolicy: cleartext\n"+
			"data: {n: %d, text: some text that all sites share, list: [a, b, c]}\n", i, value)
	}
	plain := newSite(small(), sharedDocuments-fleetParents-1)
	for _, doc := range plain.documents {
		b.WriteString(strings.ReplaceAll(doc, "name: ", "name: shared-"))
	}
	return []byte(b.String())
}

// ownBody returns the documents of a model, whose DataSchema is broken by the change unless it is the last one.
func ownBody(of int) []byte {
	maximum := 1000 + of
	if of == fleetModels-1 {
		maximum = 1 << 20
	}
	var b strings.Builder
	b.WriteString(small().schema)
	fmt.Fprintf(&b, "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, name: bench/Base/v1}\n"+
		"data: {type: object, properties: {n: {type: integer, maximum: %d}}}\n", maximum)
	for i := range fleetParents {
		fmt.Fprintf(&b, "---\nschema: bench/Base/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: own-%d\n"+
			"  layeringDefinition:\n    layer: site\n    parentSelector: {role: role-%[1]d}\n"+
			"    actions: [{method: merge, path: .}]\n  storagePolicy: cleartext\ndata: {own: value %[1]d}\n", i)
	}
	const schemas = 2
	for _, doc := range newSite(small(), fleetOwn-fleetParents-schemas).documents {
		b.WriteString(doc)
	}
	return []byte(b.String())
}

// pushed is what a push of the command has taken.
type pushed struct {
	took   time.Duration
	groups int
	memory float64 // MiB
}

// push makes the dry run of a push of a revision to all sites. Some of them would fail.
func (r *run) push(s *server, command, revision string) (p pushed) {
	cmd := exec.CommandContext(r.ctx, command, "fleet", "push", "shared", "--from", sharedSite+"@"+revision,
		"--sites", "bench=fleet", "--dry-run", "--server", "http://"+s.address)
	cmd.Env = append(environment(), "HOME="+r.dir)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	var err error
	p.took = timed(func() { err = cmd.Run() })
	if exit, failed := errors.AsType[*exec.ExitError](err); !failed || exit.ExitCode() != 1 {
		must("push", fmt.Errorf("%w: %s%s", err, out.Bytes(), said.Bytes()))
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "  would ") && !strings.HasPrefix(line, "   ") {
			p.groups++
		}
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		p.memory = float64(usage.Maxrss) / 1024
	}
	return p
}

// visitors lets another user change and read another site while work is done, and returns the times that took.
func (r *run) visitors(s *server, work func()) series {
	// The server tells anonymous users apart by their addresses.
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, 1)}}
	other := *s
	other.Client = &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
	defer other.CloseIdleConnections()
	ctx, stop := context.WithCancel(r.ctx)
	took, change := series{}, other.changer()
	var visiting sync.WaitGroup
	visiting.Go(func() {
		for ctx.Err() == nil {
			took.time("PUT", func() { change(quietSite) })
			took.time("status", func() { other.get(below(quietSite, latest+"/status")) })
			time.Sleep(20 * time.Millisecond)
		}
	})
	work()
	stop()
	visiting.Wait()
	return took
}

// dryRuns compares dry runs over many sites with as many of one.
func (r *run) dryRuns(s *server, sites int) {
	const most, atOnce = 1000, 16
	n := min(most, sites)
	path := documentsOf("shared") + "?dry-run=true&findings=true&from=" + sharedSite + "@3"
	all := func(site func(i int) string) func() {
		return func() {
			var next atomic.Int64
			var group sync.WaitGroup
			for range atOnce {
				group.Go(func() {
					for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
						s.send(http.MethodPut, below(site(i), path), nil, io.Discard)
					}
				})
			}
			group.Wait()
		}
	}
	over, one := times{}, times{}
	for turn := range min(r.rounds, 3) {
		one = append(one, timed(all(func(int) string { return copied(sites - 1) })))
		over = append(over, timed(all(func(i int) string { return copied((turn*n + i) % sites) })))
	}
	r.atMost(35, over.over(one), 3, fmt.Sprintf("%d dry runs over as many sites, to as many of one", n), "%s, %s", over,
		one)
}
