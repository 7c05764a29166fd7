package puppet_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"purser/internal/document"
	"purser/internal/puppet"
)

//go:embed testdata/verdicts.json
var verdictsText []byte

// group is a resource whose parameter has one value after another, with the verdicts of Puppet on each (+ or -).
type group struct {
	Type      string         `json:"type"`
	Title     string         `json:"title"`
	Parameter string         `json:"parameter"` // or "title"
	Values    string         `json:"values"`    // the name of a list
	Verdicts  string         `json:"verdicts"`
	With      map[string]any `json:"with"` // other parameters
}

// decided are the values on which our verdict differs from that of Puppet on Debian, with the reason. where matches the
// type and the parameter, then the other parameters; values matches JSON texts.
var decided = []struct{ reason, where, values string }{
	{"another platform accepts it", `.`, `^\[*"([^/ ]*[A-Z]:[/\\]|\\\\\\\\)`},
	{"a module may have the provider", `\.provider$`, `.`},
	{"another provider accepts it", `^package\.ensure`, `^"disabled"$`},
	{"empty lists in references are removed", `\.(before|notify|require|subscribe)$`, `^\[\[\]\]$`},
	{"Puppet does not look at it, but cannot use it", `^exec\.(creates|cwd)$`, `^\{\}$`},
	{"Puppet does not look at it, but cannot use it", `^user\.groups$`, `^\[?[[{]`},
	{"Puppet ignores null", `^file\.(tag|checksum_value)$`, `^\[null\]$`},
	{"Puppet fails to warn of it unless the resource has a file and a line", `^file\.content$`, `^"\{md5\}abc"$`},
	{"Puppet reads it as a date", `^file\.checksum_value checksum=[cm]time$`, `.`},
	{"Puppet reads a part of it", `^schedule\.range$`, `^"(x1-2y|9 - 5pm|1:2:3:4-5|1 : 00-2|1-2-|1\.5-2)"$`},
	{"Puppet judges a line of it", `^user\.(gid|uid|groups)$`, `^"bad\\n5"$`},
}

// Created resources are refused if and only if Puppet refuses them. testdata/record.rb recorded the verdicts.
func TestApply_verdictsOfPuppet(t *testing.T) {
	t.Parallel()
	var recorded struct {
		Values map[string]json.RawMessage `json:"values"`
		Groups []group                    `json:"groups"`
	}
	if err := json.Unmarshal(verdictsText, &recorded); err != nil {
		t.Fatal(err)
	}
	different, judged := map[string]bool{}, 0
	for _, g := range recorded.Groups {
		value, err := document.ParseJSON(recorded.Values[g.Values])
		if err != nil {
			t.Fatal(err)
		}
		values, _ := value.([]any)
		if len(values) != len(g.Verdicts) {
			t.Fatalf("%v: %d values, %d verdicts", g, len(values), len(g.Verdicts))
		}
		for i, value := range values {
			judged++
			for _, reason := range g.differences(t, value, g.Verdicts[i] == '+') {
				different[reason] = true
			}
		}
	}
	for _, d := range decided {
		if !different[d.where] {
			t.Errorf("no verdict differs though %s: %s", d.reason, d.where)
		}
	}
	if judged < 30_000 {
		t.Errorf("only %d values were judged", judged)
	}
}

// differences returns the decisions that explain why our verdict on a value differs, and reports it if there are none.
func (g group) differences(t *testing.T, value any, accepts bool) (decisions []string) {
	t.Helper()
	parameters, title, where := document.Mapping{}, g.Title, g.Type+"."+g.Parameter
	if text, ok := value.(string); ok && g.Parameter == "title" {
		title, where = text, g.Type+" title"
	} else {
		parameters = parameters.With(g.Parameter, value)
	}
	with := []string{where}
	for name, other := range g.With {
		parameters = parameters.With(name, other)
		with = append(with, fmt.Sprintf("%s=%v", name, other))
	}
	where = strings.Join(with, " ")
	problems := problemsOf(t, g.Type, title, parameters)
	if accepts == (len(problems) == 0) {
		return nil
	}
	text := string(document.AppendJSON(nil, value))
	for _, d := range decided {
		if matches(d.where, where) && matches(d.values, text) {
			decisions = append(decisions, d.where)
		}
	}
	if decisions == nil {
		t.Errorf("%s is %s: Puppet accepts it: %v; our problems: %v", where, text, accepts, messages(problems))
	}
	return decisions
}

func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// problemsOf returns the problems with an override that creates a resource.
func problemsOf(t *testing.T, typ, title string, parameters document.Mapping) []puppet.Problem {
	t.Helper()
	resources := document.Mapping{{Key: title, Value: parameters}}
	in, problems := puppet.ParseInstance(meterOf(), "x", false, document.Mapping{
		{Key: "configuration", Value: document.Mapping{{Key: typ, Value: resources}}},
	})
	return append(problems, apply(t, &puppet.Catalog{}, nil, in).Problems...)
}
