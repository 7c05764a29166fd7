package rendering

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/regex"
)

func compiled(ctx context.Context, t *testing.T, written string) (*meter, *pattern) {
	t.Helper()
	c := newMemo(newMeter(budget.NewMeter(ctx)))
	p, err := c.compile(written)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := c.compile(written); again != p {
		t.Errorf("%s is compiled twice", written)
	}
	return c.meter, p
}

func TestPattern_Matches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		written, text string
		want          [][]int
	}{
		{"a", "aXa", [][]int{{0, 1}, {2, 3}}}, // a literal
		{"aa", "aaa", [][]int{{0, 2}}},
		{"a+", "aaXa", [][]int{{0, 2}, {3, 4}}},
		{"^a", "aa", [][]int{{0, 1}}},
		{"b", "a", [][]int{}},
	} {
		m, p := compiled(t.Context(), t, tt.written)
		got, err := p.matches(m, tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s in %s: %v (-want +got):\n%s", tt.written, tt.text, err, diff)
		}
	}
}

func TestPattern_Group(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		written, text string
		asked         any
		want          any
		found         bool
		refusal       string
	}{
		{"a(b)?", "xab", nil, "ab", true, ""},
		{"a(b)?", "xab", document.Number("1"), "b", true, ""},
		{"a(b)?", "xa", document.Number("1"), nil, true, ""},
		{"a(b)?", "x", document.Number("1"), "x", false, ""},
		{"a(b)?", "xab", document.Number("2"), nil, false, "src.match_group 2 is not one of the 1 groups of the pattern"},
		{"a(b)?", "xab", "1", nil, false, "src.match_group '1' is not one"},
	} {
		m, p := compiled(t.Context(), t, tt.written)
		got, found, err := p.group(m, tt.text, tt.asked)
		refused := err != nil && strings.Contains(err.Error(), tt.refusal)
		if got != tt.want || found != tt.found || refused != (tt.refusal != "") {
			t.Errorf("group %v of %s in %s: %v, %v, %v", tt.asked, tt.written, tt.text, got, found, err)
		}
	}
}

// A pattern is paid for by the rendering that first has it, and known to all others.
func TestCompiler_known(t *testing.T) {
	t.Parallel()
	for _, written := range []string{"in all renderings[a-z]{1000}", "in all renderings(" + strings.Repeat("[a-z]", 500)} {
		var steps [2]int64
		for i := range steps {
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			c := newMemo(newMeter(budget.NewMeter(ctx)))
			_, _ = c.compile(written)
			c.end()
			steps[i] = spentBy(ctx, t, c.meter)
			end()
		}
		if steps[0] < 400_000 || steps[1] > steps[0]/3 {
			t.Errorf("%.20s costs %d steps, then %d", written, steps[0], steps[1])
		}
	}
}

// What would take too long is refused before, and what is too large is not compiled.
func TestPattern_bounded(t *testing.T) {
	t.Parallel()
	m, p := compiled(t.Context(), t, "(a|b){1000}c")
	if _, err := p.matches(m, strings.Repeat("ab", 1<<20)); !errors.Is(err, errTooMuchWork) {
		t.Errorf("a long search gives %v", err)
	}
	for _, written := range []string{strings.Repeat("a", regex.MaxLength+1), "((a{100}){100}){100}", "(?!a)"} {
		if _, err := newMemo(m).compile(written); err == nil {
			t.Errorf("%.20s is compiled", written)
		}
	}
}
