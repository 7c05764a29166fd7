package fleet

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/wire"
)

// previewOf returns the answer to a dry run.
func previewOf(t *testing.T, text string) wire.Preview[wire.Finding] {
	t.Helper()
	preview := wire.Preview[wire.Finding]{Counts: &wire.Counts{}}
	if err := json.Unmarshal([]byte(text), &preview); err != nil {
		t.Fatal(err)
	}
	return preview
}

// Parts of answers to dry runs.
const (
	fine    = `"changed":true,"status":"success"`
	broken  = `"changed":true,"status":"failure","validations":[{"name":"deckhand-schema-validation","status":"failure"}]`
	waiting = `"changed":true,"status":"failure","validationPolicies":[{"name":"p","status":"failure","validations":[
		{"name":"v","status":"missing"}]}]`
	mtu = `{"level":"error","validation":"deckhand-schema-validation","document":{"schema":"acme/Host/v1","layer":"site","name":"cmp-1"},
		"path":".data.mtu","rule":"maximum","message":"9001 is greater than the maximum of 9000"}`
	oob = `{"level":"error","validation":"deckhand-rendering-validation","document":{"schema":"acme/Network/v1","layer":"site","name":"oob"},
		"path":"","rule":"x","message":"a parentSelector selects nothing"}`
	lacks    = `{"level":"error","validation":"v","rule":"missing","message":"No result has been posted"}`
	begin    = `"beginToFail":{"count":1,"more":false,"documents":[{"schema":"acme/Host/v1","layer":"site","name":"cmp-1","bucket":"site"}]}`
	verdict  = `{"status":"failure","validations":[{"name":"deckhand-schema-validation","status":"failure"}]}`
	pending  = `{"status":"failure","policies":[{"name":"p","status":"failure","validations":[{"name":"v","status":"missing"}]}]}`
	findings = `"findings":[` + mtu + `,` + oob + `,` + lacks + `]`
)

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after, before, verdict string
		weakens                bool
		kind                   Kind
		lines                  string
	}{
		"no change":                {`"changed":false,"status":"failure"`, "failure", "", false, Unchanged, ""},
		"stays":                    {fine, "success", "", false, Stays, ""},
		"the first one":            {fine, "", "", false, Mended, ""},
		"mended":                   {fine, "failure", "", false, Mended, ""},
		"waits":                    {waiting, "success", "", false, Waits, "missing: v"},
		"documents begin to":       {broken + `,` + begin + `,` + findings, "failure", "", false, Fails, "[acme/Host/v1, site] cmp-1 .data.mtu: 9001 is greater than the maximum of 9000"},
		"it was a success":         {broken + `,` + findings, "success", "", false, Fails, "[acme/Host/v1, site] cmp-1 .data.mtu: 9001 is greater than the maximum of 9000; [acme/Network/v1, site] oob: a parentSelector selects nothing"},
		"it was none":              {broken, "", "", false, Fails, "deckhand-schema-validation fails"},
		"without findings":         {broken + `,` + begin, "success", "", false, Fails, "[acme/Host/v1, site] cmp-1 begins to fail"},
		"failing already":          {broken + `,` + findings, "failure", verdict, false, Failing, ""},
		"it only waited":           {broken, "failure", pending, false, Fails, "deckhand-schema-validation fails"},
		"perhaps":                  {broken + `,"beginToFail":{"count":0,"more":true,"documents":[]}`, "failure", "", false, Fails, "others may begin to fail: not all failures are listed"},
		"weaker, and not allowed":  {fine + `,"weakened":["policy p no longer requires v"]`, "success", "", false, Refused, "ValidationPolicies are weakened only with --yes; policy p no longer requires v"},
		"weaker":                   {fine + `,"weakened":["policy p no longer requires v"]`, "success", "", true, Stays, "policy p no longer requires v"},
		"waived":                   {fine + `,"waived":[{"validation":"v"}]`, "success", "", false, Stays, "waived: v"},
		"advisory ones may begin":  {fine + `,` + begin, "success", "", false, Stays, ""},
		"not all is known":         {fine + `,"withheld":"Encrypted documents were not checked"`, "success", "", false, Stays, "Encrypted documents were not checked"},
		"what waits may begin too": {waiting + `,` + begin, "success", "", false, Waits, "missing: v"},
	} {
		before := Before{Status: c.before}
		after := previewOf(t, "{"+c.after+"}")
		if NeedsVerdict(after, before) != (c.verdict != "") {
			t.Errorf("%s: the verdict before is needed: %v", name, c.verdict == "")
		}
		if c.verdict != "" {
			before.Verdict = &wire.Verdict{}
			if err := json.Unmarshal([]byte(c.verdict), before.Verdict); err != nil {
				t.Fatal(err)
			}
		}
		weakened := "ValidationPolicies are weakened only with --yes"
		if c.weakens {
			weakened = ""
		}
		got := Judge(after, before, weakened)
		var lines []string
		for _, line := range got.Lines {
			lines = append(lines, line.String())
		}
		if got.Kind != c.kind || strings.Join(lines, "; ") != c.lines {
			t.Errorf("%s: %s %q, want %s %q", name, got.Kind, lines, c.kind, c.lines)
		}
	}
}

// Outcomes that differ in the names of sites and documents, numbers of revisions and times are one group, and others are
// not.
func TestGroups(t *testing.T) {
	t.Parallel()
	host := func(name, path string) Line {
		return Line{"[acme/Host/v1, site]", name, path + ": " + name + " is too large"}
	}
	said := func(text string) Line { return Line{Text: text} }
	sites := []struct {
		site    string
		outcome Outcome
		group   int
		text    string // of the group afterwards
		changed bool
	}{
		{"atl1", NewOutcome(Fails, host("cmp-1", ".mtu")), 1, "[acme/Host/v1, site] cmp-1 .mtu: cmp-1 is too large", true},
		{"atl2", NewOutcome(Fails, host("cmp-1", ".mtu")), 1, "[acme/Host/v1, site] cmp-1 .mtu: cmp-1 is too large", false},
		{"atl3", NewOutcome(Fails, host("cmp-2", ".mtu")), 1, "[acme/Host/v1, site] … .mtu: … is too large", true},
		{"atl4", NewOutcome(Fails, host("a", ".mtu"), host("b", ".mtu")), 1, "[acme/Host/v1, site] … .mtu: … is too large", false},
		{"atl5", NewOutcome(Refused, host("cmp-1", ".mtu")), 2, "[acme/Host/v1, site] cmp-1 .mtu: cmp-1 is too large", true},
		{"atl6", NewOutcome(Fails, host("cmp-1", ".speed")), 3, "[acme/Host/v1, site] cmp-1 .speed: cmp-1 is too large", true},
		{"atl7", NewOutcome(Refused, said("atl7 is archived since 2026-11-20T10:00:00.5, revision 17")), 4, "… is archived since …, revision …", true},
		{"bos1", NewOutcome(Refused, said("bos1 is archived since 2026-11-21 09:00:00Z, revision 3")), 4, "… is archived since …, revision …", false},
		{"is", NewOutcome(Unasked, said("it is busy")), 5, "it … busy", true},
		{"bos2", NewOutcome(Unasked, said("it is busy")), 5, "it … busy", false}, // whatever the first one's name is
		{"bos3", NewOutcome(Unasked, said("bos30 is busy")), 6, "bos30 is busy", true},
		{"bos4", NewOutcome(Fails, host("a", ".x"), host("a", ".y")), 7, "[acme/Host/v1, site] a .x: a is too large; [acme/Host/v1, site] a .y: a is too large", true},
		{"bos5", NewOutcome(Fails, host("a", ".y"), host("a", ".x")), 7, "[acme/Host/v1, site] a .x: a is too large; [acme/Host/v1, site] a .y: a is too large", false},
	}
	var groups Groups
	for _, c := range sites {
		group, changed := groups.Add(c.site, c.outcome)
		var lines []string
		for _, line := range group.Lines {
			lines = append(lines, line.String())
		}
		if got := strings.Join(lines, "; "); group.Number != c.group || changed != c.changed || got != c.text {
			t.Errorf("%s: group %d, changed %v, %q; want %+v", c.site, group.Number, changed, got, c)
		}
	}
}

// The texts of a group and the number of groups are bounded, and outcomes that differ beyond that are still told apart.
func TestGroups_bounds(t *testing.T) {
	t.Parallel()
	var groups Groups
	var many []Line
	for i := range 30 {
		many = append(many, Line{Text: fmt.Sprintf("%02d %s", i, strings.Repeat("x", 1000))})
	}
	first, _ := groups.Add("a", NewOutcome(Fails, many...))
	second, _ := groups.Add("b", NewOutcome(Fails, many[:29]...))
	if first.Number == second.Number || len(first.Lines) != maxLines || first.More != 20 || second.More != 19 ||
		len(first.Lines[0].Text) > maxText+len(several) {
		t.Errorf("groups %d and %d: %d lines and %d more", first.Number, second.Number, len(first.Lines), first.More)
	}
	for i := range 2 * maxGroups {
		groups.Add("c", NewOutcome(Refused, Line{Text: strings.Repeat("y", i+1)}))
	}
	if groups.Len() != maxGroups+1 || len(groups.Sorted()) != maxGroups+1 {
		t.Errorf("%d groups", groups.Len())
	}
	other := groups.Sorted()[2] // after two that fail
	if other.Sites != maxGroups+2 || other.Lines[0].Text != "in other ways" {
		t.Errorf("the largest group: %+v", other)
	}
}

// The text about a fleet, as the specification has it.
func TestShown(t *testing.T) {
	t.Parallel()
	names := map[int][]string{4: {"atl1", "atl2", "bos1", "bos2", "bos3", "bos4", "bos5", "bos6", "bos7"}, 5: {"dal7", "dal9"}}
	groups := []Group{
		{Number: 1, Kind: Unchanged, Sites: 9702},
		{Number: 2, Kind: Stays, Sites: 212},
		{Number: 3, Kind: Failing, Sites: 3},
		{Number: 4, Kind: Fails, Sites: 81, Lines: []Line{{"[acme/Host/v1, site]", several, ".data.mtu: 9001 is greater than the maximum of 9000"}}},
		{Number: 5, Kind: Fails, Sites: 2, Lines: []Line{{"[acme/Network/v1, site]", "oob", ": a parentSelector selects nothing"}}, More: 3},
	}
	shown := Shown{Groups: groups, Names: names, Parallel: 16, Took: 41_000_000_000, DryRun: true}
	const want = `10,000 sites, 16 at a time, 41 s
 9,702  would not change
   212  would change, and stay success
     3  are failures already, for other reasons
    81  would FAIL, all in the same way: atl1 atl2 bos1 bos2 bos3 bos4 bos5 bos6 … (--group 4 lists them)
          [acme/Host/v1, site] … .data.mtu: 9001 is greater than the maximum of 9000
     2  would FAIL: dal7 dal9
          [acme/Network/v1, site] oob: a parentSelector selects nothing
          and 3 other lines
`
	if diff := cmp.Diff(want, shown.Text()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	const one = `2  would FAIL
     [acme/Network/v1, site] oob: a parentSelector selects nothing
     and 3 other lines
dal7
dal9
`
	if diff := cmp.Diff(one, shown.One(groups[4], names[5])); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	shown = Shown{Parallel: 1, Took: 125_000_000_000, Before: 1, Left: []Wave{{"2", make([]Target, 3)}, {"", make([]Target, 1)}}, Groups: []Group{
		{Number: 1, Kind: Stays, Sites: 1},
		{Number: 2, Kind: Waits, Sites: 1},
		{Number: 3, Kind: Fails, Sites: 1},
		{Number: 4, Kind: Fails, Sites: 1, Lines: []Line{{Text: madeAndFails}}},
	}, Names: map[int][]string{3: {"a"}, 4: {"b"}}}
	const did = `4 sites, 1 at a time, 2 min 5 s; 1 of them before, as the report says
1  changed, and stayed success
1  changed, and waits for results
1  would FAIL: a
1  FAIL: b
     a revision was made that fails, and its dry run did not
3  not begun: wave 2
1  not begun
`
	if diff := cmp.Diff(did, shown.Text()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
