// Command bench measures the server's performance, over real HTTP and with a real Postgres. Results are ratios to the
// best that the same machine can do in the same minute, because absolute times say more about the machine than about
// the code.
//
//	go run ./test/bench [-smoke] [-docs 1000] [-wide 10000] [-many 1000000] [-sites 10000]
//		[-revisions 1000] [-rounds 7] [-rows 1,2,3] [-shared ../shared] [-cpuprofile DIR]
//
// It builds cmd/server, and starts a private Postgres (fsync on) and, for each group of rows, a server on a database of
// its own. Both sides of a comparison are measured in turns, after a warm-up. A ratio is the median of the ratios of
// all turns, so a machine that slows down or is shared slows both sides. The exit code is 0 even if a target is missed:
// the bench prints measurements and leaves their judgement to the reader.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// measurements are all groups of rows in the order in which they are measured. A group shares servers.
var measurements = []struct {
	rows    []int
	measure func(*run)
}{
	{[]int{1, 2, 3}, forEachKind((*run).ingests)},
	{[]int{4, 5}, forEachKind((*run).history)},
	{[]int{6}, (*run).verdicts},
	{[]int{6}, (*run).claims},
	{[]int{7}, (*run).memory},
	{[]int{8, 9, 10}, (*run).wideSites},
	{[]int{11}, (*run).rendered},
	{[]int{12}, (*run).growth},
	{[]int{13}, (*run).policies},
	{[]int{14}, (*run).groupChecks},
	{[]int{15}, forEachKind((*run).secrets)},
	{[]int{16}, (*run).admission},
	{[]int{17}, (*run).prunes},
	{[]int{18}, (*run).defaults},
	{[]int{19}, (*run).coldSites},
	{[]int{20}, (*run).rerendered},
	{[]int{21}, (*run).checks},
	{[]int{22}, (*run).offlineChecks},
	{[]int{23}, (*run).overrides},
	{[]int{24}, (*run).packages},
	{[]int{25}, (*run).pages},
	{[]int{26}, (*run).waits},
	{[]int{27}, (*run).sizes},
	{[]int{28}, (*run).crowds},
	{[]int{31}, (*run).inputs},
	{[]int{32, 34}, (*run).fleet},
	{[]int{33}, (*run).fairness},
	{[]int{35}, (*run).fleets},
}

// lastRow is the last row, and longRows those that are measured only if they are asked for.
const lastRow = 35

func longRows() []int { return []int{28, 34, 35} }

func forEachKind(measure func(*run, kind)) func(*run) {
	return func(r *run) {
		for _, k := range []kind{small(), large()} {
			r.part(func(r *run) { measure(r, k) })
		}
	}
}

// options configure the measurements.
type options struct {
	docs      int           // documents of the site
	wide      int           // documents of the site of rows 8 to 10, and of the larger site of row 12
	many      int           // documents of the larger site of row 28
	sites     int           // sites of rows 32, 34 and 35
	revisions int           // revisions that change one document each
	rounds    int           // turns of each comparison
	clients   int           // concurrent clients
	span      time.Duration // time of posting, for each side of a turn
	body      int           // bytes of the large ingest
	rows      []int         // nil for all but the long ones
	shared    string        // directory with real sites, for rows 11, 13, 19, 20, 22, 24 and 25
	smoke     bool          // only check that the bench works
	profiles  string        // directory for CPU profiles; "" for none
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if file := os.Getenv(bareVariable); file != "" {
		if err := serveBare(ctx, file, os.Args[1]); err != nil {
			log.Fatal("bench: ", err)
		}
		return
	}
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute returns the exit code. If a measurement fails, the table has those made before.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parse(args, stderr)
	if err != nil {
		return 2 // the flag package has printed the error
	}
	b := &bench{options: opts, progress: stderr, table: table{machine: machine()}}
	if opts.smoke {
		b.machine = append(b.machine, "a smoke: too small for its ratios to mean anything")
	}
	err = b.runPart(ctx, func(r *run) {
		r.prepare() //nolint:contextcheck // the run has the context
		for _, group := range measurements {
			if opts.wants(group.rows...) {
				must(fmt.Sprintf("rows %v", group.rows), r.runPart(ctx, group.measure))
			}
		}
	})
	b.write(stdout)
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (options, error) {
	const largestBody = 32 << 20 // the server's default limit
	opts := options{clients: 32, span: time.Second, body: largestBody}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&opts.docs, "docs", 1000, "documents of the site")
	flags.IntVar(&opts.wide, "wide", 10_000, "documents of the site of rows 8 to 10, and of the larger one of row 12")
	flags.IntVar(&opts.many, "many", 1_000_000, "documents of the larger site of row 28")
	flags.IntVar(&opts.sites, "sites", 10_000, "sites of rows 32 and 34, of 100 documents each, and of row 35, of 500")
	flags.IntVar(&opts.revisions, "revisions", 1000, "revisions that each change one document")
	flags.IntVar(&opts.rounds, "rounds", 7, "turns that a ratio is the median of")
	flags.BoolVar(&opts.smoke, "smoke", false, "measure as little as possible, to see that it works")
	flags.StringVar(&opts.profiles, "cpuprofile", "", "directory for CPU profiles of each server and of the bench")
	flags.StringVar(&opts.shared, "shared", "../shared", "directory with real sites; without them rows 11, 13 and 20 are "+
		"of one of our own, row 19 is of made-up documents alone, and row 24 is left out")
	flags.Func("rows", fmt.Sprintf("the rows to measure, 1 to %d, as 1,2,3 (default all but %v)", lastRow, longRows()),
		opts.choose)
	if err := flags.Parse(args); err != nil {
		return opts, err //nolint:wrapcheck // reported already
	}
	if opts.smoke {
		opts.docs, opts.wide, opts.revisions, opts.rounds = 50, 200, 20, 1
		opts.sites = 10
		opts.span, opts.body = 100*time.Millisecond, 1<<20
	}
	if opts.docs < 1 || opts.sites < 10 || opts.wide < 2*changing || opts.revisions < changing || opts.rounds < 1 {
		err := fmt.Errorf("too few to measure: -docs %d -sites %d (at least 10) -wide %d (at least %d) -revisions %d "+
			"(at least %d) -rounds %d",
			opts.docs, opts.sites, opts.wide, 2*changing, opts.revisions, changing, opts.rounds)
		fmt.Fprintln(stderr, "bench:", err)
		return opts, err
	}
	return opts, nil
}

func (o *options) choose(list string) error {
	for text := range strings.SplitSeq(list, ",") {
		row, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || row < 1 || row > lastRow {
			return fmt.Errorf("%q is no row from 1 to %d", text, lastRow)
		}
		o.rows = append(o.rows, row)
	}
	return nil
}

// wants reports whether any of the rows is to be measured. Long ones are measured only if asked for.
func (o *options) wants(rows ...int) bool {
	return slices.ContainsFunc(rows, func(row int) bool {
		return slices.Contains(o.rows, row) || o.rows == nil && !slices.Contains(longRows(), row)
	})
}
