package webhooks

import "testing"

// A receiver gets four calls at once, whatever its webhooks, and an owner half of all, whatever his receivers.
func TestCalls(t *testing.T) {
	t.Parallel()
	c := newCalls()
	begin := func(owner string, urls ...string) (ends []func()) {
		for _, url := range urls {
			for end := c.begin(Webhook{URL: url, Owner: owner}); end != nil; end = c.begin(Webhook{URL: url, Owner: owner}) {
				ends = append(ends, end)
			}
		}
		return ends
	}
	for _, each := range []struct {
		owner string
		urls  []string
		want  int
	}{
		{"greedy", []string{"https://a.example/1", "https://a.example/2"}, 4},
		{"greedy", []string{"https://b.example", "https://c.example", "https://d.example"}, 4},
		{"other", []string{"https://a.example/3"}, 0},
		{"other", []string{"https://e.example"}, 4},
		{"", []string{"https://f.example"}, 2}, // of an earlier version
	} {
		ends := begin(each.owner, each.urls...)
		if len(ends) != each.want {
			t.Errorf("%q calls %v %d times at once, want %d", each.owner, each.urls, len(ends), each.want)
		}
		for _, end := range ends {
			defer end()
		}
	}
}

// A call that has ended leaves its place.
func TestCalls_end(t *testing.T) {
	t.Parallel()
	c := newCalls()
	for i := range 100 {
		end := c.begin(Webhook{URL: "https://a.example", Owner: "o"})
		if end == nil {
			t.Fatalf("call %d is refused", i)
		}
		end()
	}
	if len(c.receivers) > 0 || c.owners.Held() > 0 {
		t.Errorf("in the end: %v, %d", c.receivers, c.owners.Held())
	}
}
