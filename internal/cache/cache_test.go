package cache_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/cache"
)

func TestCache_Add(t *testing.T) {
	t.Parallel()
	const room = 10_000
	type added struct {
		key  string
		size int
	}
	for name, c := range map[string]struct {
		add  []added
		used string // after the first two were added
		want []string
	}{
		"all fit":                   {[]added{{"a", 1}, {"b", 1}, {"c", 1}}, "", []string{"a", "b", "c"}},
		"oldest goes first":         {[]added{{"a", 4000}, {"b", 4000}, {"c", 4000}}, "", []string{"b", "c"}},
		"least recently used goes":  {[]added{{"a", 4000}, {"b", 4000}, {"c", 4000}}, "a", []string{"a", "c"}},
		"several go":                {[]added{{"a", 3000}, {"b", 3000}, {"c", 3000}, {"d", 4800}}, "", []string{"c", "d"}},
		"more than half":            {[]added{{"a", 4000}, {"b", 4000}, {"c", 9000}}, "", []string{"c"}},
		"more than all":             {[]added{{"a", 4000}, {"b", 4000}, {"c", 9900}}, "", []string{"a", "b"}},
		"negative":                  {[]added{{"a", 4000}, {"b", -1}}, "", []string{"a"}},
		"replaced":                  {[]added{{"a", 4000}, {"b", 4000}, {"a", 4100}, {"a", 4200}}, "", []string{"a", "b"}},
		"replaced by a large value": {[]added{{"a", 4000}, {"b", 4000}, {"a", 9900}}, "", []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := cache.New[string, int](room)
			for i, value := range c.add {
				if i == 2 && c.used != "" {
					kept.Get(c.used)
				}
				kept.Add(value.key, value.size, value.size)
			}
			if kept.Bytes() > room {
				t.Errorf("%d bytes are kept", kept.Bytes())
			}
			var got []string
			for _, key := range []string{"a", "b", "c", "d"} {
				if _, ok := kept.Get(key); ok {
					got = append(got, key)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCache_Remove(t *testing.T) {
	t.Parallel()
	kept := cache.New[string, string](1000)
	kept.Add("a", "first", 5)
	kept.Add("a", "second", 6)
	if got, ok := kept.Get("a"); got != "second" || !ok {
		t.Errorf("got %q, %v", got, ok)
	}
	kept.Remove("a")
	kept.Remove("b")
	if got, ok := kept.Get("a"); got != "" || ok || kept.Bytes() != 0 {
		t.Errorf("after it was removed: %q, %v, %d bytes", got, ok, kept.Bytes())
	}
}

// Values of no size are bounded too.
func TestCache_Add_empty(t *testing.T) {
	t.Parallel()
	kept := cache.New[int, struct{}](100_000)
	n := 0
	for ; n < 10_000; n++ {
		kept.Add(n, struct{}{}, 0)
	}
	if _, ok := kept.Get(0); ok || kept.Bytes() > 100_000 {
		t.Errorf("%d bytes are kept", kept.Bytes())
	}
	if _, ok := kept.Get(n - 1); !ok {
		t.Error("the newest value is not kept")
	}
}

func TestNew_nothing(t *testing.T) {
	t.Parallel()
	kept := cache.New[string, int](0)
	kept.Add("a", 1, 0)
	if _, ok := kept.Get("a"); ok {
		t.Error("a cache of no bytes keeps something")
	}
}
