package picture

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"purser/internal/budget/budgettest"
	"purser/internal/document"
	"purser/internal/rendering"
)

// drawings returns the work of writing pictures of graphs whose documents together have about n bytes.
func drawings() budgettest.Shapes {
	const size = 100 // of a document
	of := func(n int, name string, edges func(i, of int) []int) *rendering.Graph {
		g := graphOf()
		for i := range max(2, n/size) {
			id := document.Identity{Schema: "acme/Widget" + strconv.Itoa(i%7) + "/v1", Layer: "site", Name: name + strconv.Itoa(i)}
			g.Vertices = append(g.Vertices, rendering.Vertex{Identity: id, ReplacedBy: -1})
			for _, to := range edges(i, max(2, n/size)) {
				g.Edges = append(g.Edges, rendering.Edge{
					From: i, To: to, Kind: rendering.Substitution, Copies: []rendering.Copied{{From: ".a", To: []string{".b"}}},
				})
			}
		}
		return g
	}
	shapes := budgettest.Shapes{}
	for name, draw := range map[string]func(n int) *rendering.Graph{
		"alone":  func(n int) *rendering.Graph { return of(n, "w", func(int, int) []int { return nil }) },
		"chain":  func(n int) *rendering.Graph { return of(n, "w", func(i, _ int) []int { return []int{max(0, i-1)} }) },
		"to one": func(n int) *rendering.Graph { return of(n, "w", func(int, int) []int { return []int{0} }) },
		"many": func(n int) *rendering.Graph {
			return of(n, "w", func(i, of int) []int { return []int{0, i / 2, of - 1} })
		},
		"long names": func(n int) *rendering.Graph {
			return of(n/3, strings.Repeat("<&", 100), func(i, _ int) []int { return []int{i / 2} })
		},
		"many copies": func(n int) *rendering.Graph {
			g := graphOf("a", "b")
			for range n / 100 {
				g.Edges[0].Copies = append(g.Edges[0].Copies, rendering.Copied{From: ".a", To: []string{".b", ".c"}})
			}
			return g
		},
		"layers": func(n int) *rendering.Graph {
			g := of(n, "w", func(i, _ int) []int { return []int{max(0, i-1)} })
			g.Layers = nil
			for i := range g.Vertices {
				layer := "l" + strconv.Itoa(i)
				g.Layers, g.Vertices[i].Layer, g.Vertices[i].Rank = append(g.Layers, layer), layer, i
			}
			return g
		},
	} {
		shapes[name] = func(n int) func(ctx context.Context) {
			g := draw(n)
			return func(ctx context.Context) { _, _ = Text(ctx, g, "title", link) }
		}
	}
	return shapes
}

// Pictures take as much time as they count, whatever makes them expensive.
func TestCost_steps(t *testing.T) { drawings().Table(t, 200_000) } //nolint:paralleltest // it measures the process

func TestCost_laws(t *testing.T) { drawings().Law(t, 400_000) } //nolint:paralleltest // it measures the process
