package webhooks

import (
	"fmt"
	"testing"
)

// A receiver gets four calls of a site at once, whatever its webhooks, an owner half of all, whatever his receivers, and a site
// none beyond half once there is another.
func TestCalls(t *testing.T) {
	t.Parallel()
	c := newCalls()
	begin := func(site, owner string, urls ...string) (ends []func()) {
		for _, url := range urls {
			w := Webhook{URL: url, Owner: owner}
			for end := c.begin(site, w); end != nil; end = c.begin(site, w) {
				ends = append(ends, end)
			}
		}
		return ends
	}
	for _, each := range []struct {
		site, owner string
		urls        []string
		want        int
	}{
		{"one", "greedy", []string{"https://a.example/1", "https://a.example/2"}, 4},
		{"one", "greedy", []string{"https://b.example", "https://c.example", "https://d.example"}, 4},
		{"one", "other", []string{"https://a.example/3"}, 0},
		{"one", "other", []string{"https://e.example"}, 4},
		{"two", "", []string{"https://f.example"}, 2}, // of an earlier version
		{"one", "third", []string{"https://g.example"}, 0},
		{"two", "third", []string{"https://g.example"}, 0},
		{"three", "third", []string{"https://g.example"}, 1},
	} {
		ends := begin(each.site, each.owner, each.urls...)
		if len(ends) != each.want {
			t.Errorf("%q of %s calls %v %d times at once, want %d", each.owner, each.site, each.urls, len(ends), each.want)
		}
		for _, end := range ends {
			defer end()
		}
	}
}

// A receiver that hangs for one site is called for others, each of which gets half of what is left of its eight calls.
func TestCalls_sites(t *testing.T) {
	t.Parallel()
	c := newCalls()
	for i, want := range []int{4, 2, 1, 1, 0} {
		site, got := fmt.Sprint("s", i), 0
		for c.begin(site, Webhook{URL: "https://slow.example/" + site, Owner: site}) != nil {
			got++
		}
		if got != want {
			t.Errorf("the %d. site calls it %d times at once, want %d", i+1, got, want)
		}
	}
	if c.begin("s9", Webhook{URL: "https://other.example", Owner: "s9"}) == nil {
		t.Error("another receiver is not called")
	}
}

// A call that has ended leaves its place.
func TestCalls_end(t *testing.T) {
	t.Parallel()
	c := newCalls()
	for i := range 100 {
		end := c.begin("one", Webhook{URL: "https://a.example", Owner: "o"})
		if end == nil {
			t.Fatalf("call %d is refused", i)
		}
		end()
	}
	if len(c.receivers) > 0 || c.owners.Held() > 0 {
		t.Errorf("in the end: %v, %d", c.receivers, c.owners.Held())
	}
}
