// Command bench measures the server's performance, over real HTTP and with a real Postgres. Results are ratios to the
// best that the same machine can do in the same minute, because absolute times say more about the machine than about
// the code.
//
//	go run ./test/bench [-smoke] [-docs 1000] [-wide 10000] [-many 1000000] [-revisions 1000]
//		[-rounds 7] [-rows 1,2,3] [-shared ../shared] [-cpuprofile DIR]
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
	"strconv"
	"strings"
	"syscall"
	"time"
)

// options configure the measurements.
type options struct {
	docs      int           // documents of the site
	wide      int           // documents of the site of rows 8 to 10, and of the larger site of row 12
	many      int           // documents of the larger site of row 28
	revisions int           // revisions that change one document each
	rounds    int           // turns of each comparison
	clients   int           // concurrent clients
	span      time.Duration // time of posting, for each side of a turn
	body      int           // bytes of the large ingest
	rows      map[int]bool
	shared    string // directory with real sites, for rows 11, 13, 19, 20, 22 and 25
	smoke     bool   // only check that the bench works
	profiles  string // directory for CPU profiles; "" for none
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if file := os.Getenv(bareVariable); file != "" {
		if err := serveBare(ctx, file, os.Args[1]); err != nil {
			log.Fatal("bench: ", err)
		}
		return
	}
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parse(args, stderr)
	if err != nil {
		return 2 // the flag package has printed the error
	}
	table, err := measure(ctx, opts, stderr)
	table.write(stdout)
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
	flags.IntVar(&opts.revisions, "revisions", 1000, "revisions that each change one document")
	flags.IntVar(&opts.rounds, "rounds", 7, "turns that a ratio is the median of")
	flags.BoolVar(&opts.smoke, "smoke", false, "measure as little as possible, to see that it works")
	flags.StringVar(&opts.profiles, "cpuprofile", "", "directory for CPU profiles of each server and of the bench")
	flags.StringVar(&opts.shared, "shared", "../shared", "directory with real sites; without them rows 11, 13 and 20 are "+
		"of one of our own, row 19 is of made-up documents alone, and row 24 is left out")
	flags.Func("rows", fmt.Sprintf("the rows to measure, 1 to %d, as 1,2,3 (default all but 28)", lastRow), opts.choose)
	if err := flags.Parse(args); err != nil {
		return opts, err //nolint:wrapcheck // reported already
	}
	if opts.smoke {
		opts.docs, opts.wide, opts.revisions, opts.rounds = 50, 200, 20, 1
		opts.span, opts.body = 100*time.Millisecond, 1<<20
	}
	if opts.docs < 1 || opts.wide < 2*changing || opts.revisions < changing || opts.rounds < 1 {
		err := fmt.Errorf("too few to measure: -docs %d -wide %d (at least %d) -revisions %d (at least %d) -rounds %d",
			opts.docs, opts.wide, 2*changing, opts.revisions, changing, opts.rounds)
		fmt.Fprintln(stderr, "bench:", err)
		return opts, err
	}
	return opts, nil
}

const lastRow = 28

func (o *options) choose(list string) error {
	o.rows = map[int]bool{}
	for text := range strings.SplitSeq(list, ",") {
		row, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || row < 1 || row > lastRow {
			return fmt.Errorf("%q is no row from 1 to %d", text, lastRow)
		}
		o.rows[row] = true
	}
	return nil
}

// wants reports whether any of the rows is to be measured.
func (o *options) wants(rows ...int) bool {
	for _, row := range rows {
		if o.rows == nil || o.rows[row] {
			return true
		}
	}
	return false
}

// measure returns the table of measurements. If it fails, the table has the measurements made before.
func measure(ctx context.Context, opts options, stderr io.Writer) (_ *table, err error) {
	t := &table{machine: machine()}
	if opts.smoke {
		t.machine = append(t.machine, "a smoke: too small for its ratios to mean anything")
	}
	b, err := newBench(ctx, opts, t, stderr)
	if err != nil {
		return t, err
	}
	defer func() { err = b.close(ctx, err) }()
	end, err := b.profileSelf()
	if err != nil {
		return t, err
	}
	defer end()
	for _, kind := range []kind{small(), large()} {
		if opts.wants(1, 2, 3) {
			if err := b.ingests(ctx, kind); err != nil {
				return t, fmt.Errorf("rows 1-3, %s: %w", kind.label, err)
			}
		}
		if opts.wants(4, 5) {
			if err := b.history(ctx, kind); err != nil {
				return t, fmt.Errorf("rows 4-5, %s: %w", kind.label, err)
			}
		}
	}
	for _, group := range []struct {
		label   string
		rows    []int
		measure func(context.Context) error
	}{
		{"row 6", []int{6}, b.verdicts},
		{"row 7", []int{7}, b.memory},
		{"rows 8-10", []int{8, 9, 10}, b.wideSites},
		{"row 11", []int{11}, b.rendered},
		{"row 12", []int{12}, b.growth},
		{"row 13", []int{13}, b.policies},
		{"row 14", []int{14}, b.groups},
		{"row 15", []int{15}, b.secrets},
		{"row 16", []int{16}, b.admission},
		{"row 17", []int{17}, b.prunes},
		{"row 18", []int{18}, b.defaults},
		{"row 19", []int{19}, b.coldSites},
		{"row 20", []int{20}, b.rerendered},
		{"row 21", []int{21}, b.checks},
		{"row 22", []int{22}, b.checking},
		{"row 23", []int{23}, b.overrides},
		{"row 24", []int{24}, b.packages},
		{"row 25", []int{25}, b.pages},
		{"row 26", []int{26}, b.waits},
		{"row 27", []int{27}, b.sizes},
		{"row 28", []int{28}, b.crowds},
	} {
		if opts.wants(group.rows...) {
			if err := group.measure(ctx); err != nil {
				return t, fmt.Errorf("%s: %w", group.label, err)
			}
		}
	}
	return t, nil
}
