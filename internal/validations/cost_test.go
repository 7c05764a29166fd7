package validations

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"

	"purser/internal/budget"
	"purser/internal/budget/budgettest"
	"purser/internal/document"
)

// registering returns the work of reading DataSchemas that together have about n bytes, each of which refers to the
// ones that to returns.
func registering(n int, to func(i, schemas int) []int) func(ctx context.Context) {
	const size = 80 // of a schema with a reference
	texts, schemas := map[string][]byte{}, max(1, n/size)
	name := func(i int) string { return fmt.Sprintf("a/A/v%d", i) }
	for i := range schemas {
		var names []string
		for _, other := range to(i, schemas) {
			names = append(names, name(other))
		}
		texts[name(i)] = refersTo(names...)
	}
	return func(ctx context.Context) {
		engine, meter := NewEngine(Options{}), budget.NewMeter(ctx)
		registry, err := engine.Registry(meter, digested(texts))
		for i := range schemas {
			schema := registry.DataSchema(sha256.Sum256(texts[name(i)]), name(i))
			if err == nil {
				_, err = engine.RuleOf(meter, schema, document.Digest{})
			}
			if err == nil {
				_, _, err = engine.IsUsable(meter, schema)
			}
		}
		_ = meter.Check()
	}
}

func registries() budgettest.Shapes {
	shapes := budgettest.Shapes{}
	for name, to := range map[string]func(i, schemas int) []int{
		"alone":     func(int, int) []int { return nil },
		"chain":     func(i, _ int) []int { return []int{i + 1} },
		"ring":      func(i, schemas int) []int { return []int{(i + 1) % schemas} },
		"itself":    func(i, _ int) []int { return []int{i} },
		"to one":    func(int, int) []int { return []int{0} },
		"ladder":    func(i, _ int) []int { return []int{i + 1, i + 2} },
		"two rings": func(i, schemas int) []int { return []int{(i + 2) % schemas} },
		"from one": func(i, schemas int) (all []int) {
			for i == 0 && len(all) < schemas {
				all = append(all, len(all))
			}
			return all
		},
	} {
		shapes[name] = func(n int) func(ctx context.Context) { return registering(n, to) }
	}
	return shapes
}

// Reading DataSchemas takes as much time as it counts, whatever refers to what.
func TestCost_steps(t *testing.T) { registries().Table(t, 10_000) } //nolint:paralleltest // it measures the process

func TestCost_laws(t *testing.T) { registries().Law(t, 20_000) } //nolint:paralleltest // it measures the process
