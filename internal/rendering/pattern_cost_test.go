package rendering

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/budget/budgettest"
)

// A step of a search is about as long as one of an ordinary search at most, with any pattern.
//
//nolint:paralleltest // it measures the whole process
func TestPattern_cost(t *testing.T) {
	usual := perStep(t, `(\w+)=(\w+);`, strings.Repeat("a=b ", 5000), 0)
	most := 3 * max(1, usual)
	for _, tt := range []struct{ written, text string }{
		{"(?:a?){600}b", "a"},
		{"(a?){300}b", "a"},
		{strings.Repeat("(a?)", 200) + "b", "a"},
		{strings.Repeat("()", 300) + "(?:a?){300}b", "a"},
		{"(a+)(b+)(c+)$", "aaabbb"},
		{`(?i)(?:\pL?é?){50}x`, "éa"},
		{"(a|ab)(c|bcd)(d*)$", "abcd"},
		{`(?:\w*\s?){20}-`, "a "},
	} {
		took := perStep(t, tt.written, strings.Repeat(tt.text, 2000), most)
		t.Logf("%.2f ns a step, %.2f in an ordinary search: %.30s", took, usual, tt.written)
		if took > most {
			t.Errorf("%.30s takes %.1f ns a step, and an ordinary search %.1f", tt.written, took, usual)
		}
	}
	_, many := compiled(t.Context(), t, strings.Repeat("(a?)", 1000)+"b")
	if _, err := many.matches(newMeter(budget.NewMeter(t.Context())), strings.Repeat("a", 2000)); !errors.Is(err, errTooMuchWork) {
		t.Errorf("a pattern with 1000 groups: %v", err)
	}
}

// perStep returns the nanoseconds of CPU that searches take per counted step: the first measurement that
// is enough, or the least.
func perStep(t *testing.T, written, text string, enough float64) float64 {
	t.Helper()
	const while = 5 * time.Millisecond
	return budgettest.Least(enough, func() float64 {
		ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
		defer end()
		m, p := compiled(ctx, t, written)
		before := spentBy(ctx, t, m)
		began := budgettest.CPU()
		for budgettest.CPU()-began < while {
			_, errMatches := p.matches(m, text)
			_, _, errGroup := p.group(m, text, nil)
			if err := errors.Join(errMatches, errGroup); err != nil {
				t.Fatal(err)
			}
		}
		took := budgettest.CPU() - began
		return float64(took) / float64(spentBy(ctx, t, m)-before)
	})
}

// spentBy returns the steps that are counted so far.
func spentBy(ctx context.Context, t *testing.T, m *meter) int64 {
	t.Helper()
	if err := m.check(); err != nil {
		t.Fatal(err)
	}
	steps, _ := budget.From(ctx).Spent()
	return steps
}
