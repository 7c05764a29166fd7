package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// table is the output: a line for each measurement, and the machine.
type table struct {
	lines   []line
	machine []string
}

type line struct {
	row                    int
	what, measured, target string
	verdict                string // ok, short, or info if there is no target
}

func (b *bench) add(row int, ok bool, target, what, measured string) {
	verdict := "ok"
	if !ok {
		verdict = "short"
	}
	b.addLine(line{row, what, measured, target, verdict})
}

// addLine adds a line if its row is wanted.
func (b *bench) addLine(l line) {
	if b.wants(l.row) {
		b.lines = append(b.lines, l)
	}
}

// atLeast adds a ratio that should not be below target.
func (b *bench) atLeast(row int, ratio, target float64, what, details string, args ...any) {
	b.add(row, ratio >= target, fmt.Sprintf(">= %gx", target), what, withRatio(ratio, details, args))
}

// atMost adds a ratio that should not be above target. If target is 0, the line only explains others.
func (b *bench) atMost(row int, ratio, target float64, what, details string, args ...any) {
	if target == 0 {
		b.infof(row, what, "%s", withRatio(ratio, details, args))
		return
	}
	b.add(row, ratio <= target, fmt.Sprintf("<= %gx", target), what, withRatio(ratio, details, args))
}

func withRatio(ratio float64, details string, args []any) string {
	return fmt.Sprintf("%.2fx  (%s)", ratio, fmt.Sprintf(details, args...))
}

// within adds a duration that should not be above limit. If limit is 0, the line only explains others.
func (b *bench) within(row int, took, limit time.Duration, what string) {
	if limit == 0 {
		b.infof(row, what, "%s", short(took))
		return
	}
	b.add(row, took <= limit, "<= "+short(limit), what, short(took))
}

// infof adds a line without a target, which explains others.
func (b *bench) infof(row int, what, format string, args ...any) {
	b.addLine(line{row, what, fmt.Sprintf(format, args...), "", "info"})
}

func (t *table) write(w io.Writer) {
	slices.SortStableFunc(t.lines, func(a, b line) int { return cmp.Compare(a.row, b.row) })
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "row\twhat\tmeasured\ttarget\t")
	for _, l := range t.lines {
		fmt.Fprintf(columns, "%d\t%s\t%s\t%s\t%s\n", l.row, l.what, l.measured, l.target, l.verdict)
	}
	_ = columns.Flush() // the output may be closed
	fmt.Fprintf(w, "\n%s\n", strings.Join(t.machine, "; "))
}

// machine describes the machine, with "unknown" for values that Linux does not report.
func machine() []string {
	return []string{
		valueOf("/proc/cpuinfo", "model name"),
		fmt.Sprintf("%d cores", runtime.NumCPU()),
		"load at the start " + firstLine("/proc/loadavg"),
		"kernel " + firstLine("/proc/sys/kernel/osrelease"),
		runtime.Version(),
	}
}

// valueOf returns the value of "key:" in a file such as those in /proc.
func valueOf(path, key string) string {
	file, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return first
}
