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

func (t *table) add(row int, ok bool, target, what, measured string) {
	verdict := "ok"
	if !ok {
		verdict = "short"
	}
	t.lines = append(t.lines, line{row, what, measured, target, verdict})
}

// atLeast adds a ratio that should not be below target.
func (t *table) atLeast(row int, ratio, target float64, what, details string) {
	t.add(row, ratio >= target, fmt.Sprintf(">= %gx", target), what, fmt.Sprintf("%.2fx  (%s)", ratio, details))
}

// atMost adds a ratio that should not be above target.
func (t *table) atMost(row int, ratio, target float64, what, details string) {
	t.add(row, ratio <= target, fmt.Sprintf("<= %gx", target), what, fmt.Sprintf("%.2fx  (%s)", ratio, details))
}

// infof adds a line without a target, which explains others.
func (t *table) infof(row int, what, format string, args ...any) {
	t.lines = append(t.lines, line{row, what, fmt.Sprintf(format, args...), "", "info"})
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
