package murano_test

import (
	"strings"
	"testing"

	"purser/internal/murano"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1": "1.0.0", "1.": "1.0.0", "1.x": "1.0.0+x", "1.2.3.4": "1.2.3+4", "1,0": "1.0.0-0", "1a": "1.0.0-a",
		"1.0.0_beta": "1.0.0-beta", "01.2": "1.2.0", "1.2.3-a+b+c": "1.2.3-a+b.c",
		"v1": "", "": "", ".1": "", "1..2": "", "-1": "", "1.2.3-01": "", "1.2.3-a..b": "", "null": "",
	} {
		v, err := murano.ParseVersion(text)
		if (err == nil) != (want != "") || err == nil && v.String() != want {
			t.Errorf("ParseVersion(%q) = %v, %v, want %q", text, v, err, want)
		}
	}
}

func TestSpec(t *testing.T) {
	t.Parallel()
	probes := strings.Fields("0.0.0 0.0.4 0.1.0 0.2.0 1.0.0-rc.1 1.0.0 1.2.3-a 1.2.3 1.2.4 1.10.0 2.0.0-rc.1 2.0.0 2.0.0+b")
	for text, want := range map[string]string{
		"": "0.0.0 0.0.4 0.1.0 0.2.0", "1.2": "1.2.3-a 1.2.3 1.2.4", "= 1.0.0": "1.0.0", "1.*": "1.0.0 1.2.3-a 1.2.3 1.2.4 1.10.0",
		"*": strings.Join(probes, " "), ">=1.2.4, <2": "1.2.4 1.10.0", ">1": "2.0.0 2.0.0+b", "<=1.2": "0.0.0 0.0.4 0.1.0 0.2.0 1.0.0-rc.1 1.0.0 1.2.3-a 1.2.3 1.2.4",
		"~1.2.3": "1.2.3 1.2.4", "~=1.2": "1.2.3-a 1.2.3 1.2.4 1.10.0", "^0.0.4": "0.0.4", "^0.1": "0.1.0", "!=1.2,>0.2.0,<1.3": "1.0.0-rc.1 1.0.0",
		"!=2.0.0,>=2.0.0-a": "", "==2.0.0+b": "", "!=1.2.3": "0.0.0 0.0.4 0.1.0 0.2.0 1.0.0-rc.1 1.0.0 1.2.4 1.10.0 2.0.0-rc.1 2.0.0 2.0.0+b",
		">=1,": "-", "1.x": "-", ">=1 || <2": "-", "v1": "-", "01": "-", "1.2.3.4": "-", ">1.0.0+5": "-", "<*": "-", ">": "-", "1.2-a": "-",
	} {
		spec, err := murano.ParseSpec(text)
		if (err != nil) != (want == "-") {
			t.Errorf("ParseSpec(%q): %v", text, err)
		}
		if err != nil {
			continue
		}
		var got []string
		for _, probe := range probes {
			v, err := murano.ParseVersion(probe)
			if err != nil {
				t.Fatal(err)
			}
			if spec.Match(v) {
				got = append(got, probe)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q matches %v, want %s", text, got, want)
		}
	}
}
