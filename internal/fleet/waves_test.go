package fleet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/events"
	"purser/internal/wire"
)

func TestWaves(t *testing.T) {
	t.Parallel()
	for sites, want := range map[string]string{
		"":                         "",
		"b= a=":                    ":a,b",
		"c=10 b=2 a=1 d=2":         "1:a 2:b,d 10:c",
		"c=10 b=2 a=1 d=":          "1:a 2:b 10:c :d",
		"c=10 b=2 a=canary":        "10:c 2:b canary:a",
		"a=1.5 b=1 c=2":            "1:b 1.5:a 2:c",
		"a=1 b=01 c=1":             "01:b 1:a,c",
		"a=1 b=1 a=1":              "1:a,b",
		"b=second a=first c=third": "first:a second:b third:c",
	} {
		var targets []Target
		for text := range strings.FieldsSeq(sites) {
			name, wave, _ := strings.Cut(text, "=")
			targets = append(targets, Target{Name: name, Wave: wave})
		}
		if got := textOf(Waves(targets)); got != want {
			t.Errorf("%s: %s, want %s", sites, got, want)
		}
	}
}

func textOf(waves []Wave) string {
	var all []string
	for _, wave := range waves {
		var names []string
		for _, target := range wave.Targets {
			names = append(names, target.Name)
		}
		all = append(all, wave.Name+":"+strings.Join(names, ","))
	}
	return strings.Join(all, " ")
}

// The source, archived sites and those that follow something else are no targets.
func TestTargetOf(t *testing.T) {
	t.Parallel()
	from := events.Upstream{Site: "global", Revision: 17, Bucket: "base"}
	of := func(site, bucket string) map[string]wire.Followed {
		return map[string]wire.Followed{"layer": {Upstream: events.Upstream{Site: site, Revision: 3, Bucket: bucket}}}
	}
	for _, c := range []struct {
		site    wire.Site
		follows bool
		ok      bool
	}{
		{wire.Site{Name: "a"}, false, true},
		{wire.Site{Name: "global"}, false, false},
		{wire.Site{Name: "a", Archived: true}, false, false},
		{wire.Site{Name: "a"}, true, false},
		{wire.Site{Name: "a", Sources: of("global", "base")}, true, true},
		{wire.Site{Name: "a", Sources: of("global", "other")}, true, false},
		{wire.Site{Name: "a", Sources: of("other", "base")}, true, false},
	} {
		c.site.Labels, c.site.Status = map[string]string{"wave": "2"}, "success"
		target, ok := TargetOf(c.site, "wave", "layer", from, c.follows)
		if ok != c.ok || ok && target != (Target{"a", "success", "2"}) {
			t.Errorf("%+v: %+v, %v", c.site, target, ok)
		}
	}
}

// A report says what is done for the same source, whatever it ends in.
func TestResume(t *testing.T) {
	t.Parallel()
	head := Head{Bucket: "layer", From: events.Upstream{Site: "global", Revision: 17, Stamp: "ab", Bucket: "base"}}
	const (
		first  = `{"bucket":"layer","from":{"site":"global","revision":17,"stamp":"ab","bucket":"base"},"dryRun":false,"at":"x"}` + "\n"
		fine   = `{"group":1,"digest":"d1","outcome":"success","lines":[]}` + "\n"
		fails  = `{"group":2,"digest":"d2","outcome":"would-fail","lines":[{"text":"x"}]}` + "\n"
		anew   = `{"group":2,"digest":"d2","outcome":"would-fail","lines":[{"text":"y"}],"more":3}` + "\n"
		atl1   = `{"site":"atl1","outcome":"success","revision":5,"group":1}` + "\n"
		atl2   = `{"site":"atl2","outcome":"would-fail","group":2}` + "\n"
		atl2ok = `{"site":"atl2","outcome":"success","group":1}` + "\n"
		ended  = `{"ended":"stopped","sites":2,"left":3,"groups":[{"group":1,"sites":1}]}` + "\n"
		dryRun = `{"bucket":"layer","from":{"site":"global","revision":17,"stamp":"ab","bucket":"base"},"dryRun":true}` + "\n"
	)
	for name, c := range map[string]struct {
		text   string
		done   string
		length int
		says   string // the error, or what it is about instead
	}{
		"empty":              {"", "map[]", 0, ""},
		"half a line":        {first[:20], "map[]", 0, ""},
		"none done":          {first, "map[]", len(first), ""},
		"one done":           {first + fine + atl1, "map[atl1:1]", len(first + fine + atl1), ""},
		"the last line cut":  {first + fine + atl1 + atl2ok[:9], "map[atl1:1]", len(first + fine + atl1), ""},
		"one failed":         {first + fine + atl1 + fails + atl2 + ended, "map[atl1:1]", len(first + fine + atl1 + fails + atl2 + ended), ""},
		"and then succeeded": {first + fine + fails + anew + atl2 + ended + atl2ok, "map[atl2:1]", len(first + fine + fails + anew + atl2 + ended + atl2ok), ""},
		"and then failed":    {first + fine + fails + atl2ok + ended + atl2, "map[]", len(first + fine + fails + atl2ok + ended + atl2), ""},
		"another revision":   {strings.Replace(first, "17", "18", 1) + fine, "map[]", 0, "copies of bucket base of global@18, whose stamp is ab, to bucket layer"},
		"another stamp":      {strings.Replace(first, "ab", "cd", 1), "map[]", 0, "whose stamp is cd"},
		"another bucket":     {strings.Replace(first, "layer", "other", 1), "map[]", 0, "to bucket other"},
		"a dry run":          {dryRun, "map[]", 0, "dry runs of bucket base"},
		"no report":          {"hello\n", "map[]", 0, "its first line is not that of a report"},
		"another file":       {"{}\n", "map[]", 0, "its first line is not that of a report"},
		"no group":           {first + atl1, "map[]", 0, "line 2: it names group 1, which no line before describes"},
		"no kind":            {first + `{"site":"a","group":1}` + "\n", "map[]", 0, "line 2: it is not that of a report"},
		"no JSON":            {first + fine + "}\n", "map[]", 0, "line 3: it is not that of a report"},
		"a number too large": {first + `{"outcome":"success","group":99999}` + "\n", "map[]", 0, "line 2: it is not that of a report"},
	} {
		got, err := Resume([]byte(c.text), head)
		said := got.Another
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, c.says) || (said == "") != (c.says == "") {
			t.Errorf("%s: it says %q, want %q", name, said, c.says)
		}
		if done := fmt.Sprint(got.Done); c.says == "" && (done != c.done || got.Length != c.length) {
			t.Errorf("%s: %s, %d bytes; want %s, %d", name, done, got.Length, c.done, c.length)
		}
	}
	head.DryRun = true
	got, err := Resume([]byte(dryRun+fine+atl1+fails+anew+atl2), head)
	if diff := cmp.Diff(map[string]int{"atl1": 1, "atl2": 2}, got.Done); diff != "" || err != nil {
		t.Errorf("a dry run: %v, %s", err, diff)
	}
	got.Groups.Count(2, 1)
	want := []Group{{Number: 2, Digest: "d2", Kind: Fails, Lines: []Line{{Text: "y"}}, More: 3, Sites: 1}}
	if diff := cmp.Diff(want, got.Groups.Sorted()); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}
