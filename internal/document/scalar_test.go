package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	for scalar, want := range map[string]any{
		"yes": true, "On": true, "OFF": false, "yEs": "yEs", "y": "y", "n": "n", "true": true, "tRue": "tRue",
		"~": nil, "null": nil, "NULL": nil, "": nil, "None": "None",
		"0": Number("0"), "-1": Number("-1"), "+1": Number("1"), "017": Number("15"), "08": "08", "0o17": "0o17",
		"0b11": Number("3"), "0x1F": Number("31"), "0X1F": "0X1F", "1_000": Number("1000"), "_1": "_1",
		"1:30": Number("90"), "-1:30": Number("-90"), "190:20:30": Number("685230"), "1:60": "1:60",
		"9223372036854775808": Number("9223372036854775808"), "-9223372036854775808": Number("-9223372036854775808"),
		".5": Number("0.5"), "1.": Number("1.0"), "1.0": Number("1.0"), "-0.0": Number("-0.0"), "+.5": "+.5",
		"1e3": "1e3", "1.5e3": "1.5e3", "1.5e+3": Number("1500.0"), "1.e-7": Number("1e-07"), "1.0e+16": Number("1e+16"),
		"123456789012345.0": Number("123456789012345.0"), "1:30.5": Number("90.5"), ".": ".", "..": "..",
		"2001-01-01": "2001-01-01", "2001-12-14 21:59:43.10 -5": "2001-12-14 21:59:43.10 -5", "2001-1-1": "2001-1-1",
		"a-b": "a-b", "192.168.0.1": "192.168.0.1", "1.2a": "1.2a", "inf": "inf",
		"!!str 1": "1", "!!int \"3\"": Number("3"), "!!float 1": Number("1.0"), "!!null x": nil, "!!bool yes": true,
		"\"1\"": "1", "'yes'": "yes", `"a\0b"`: "a\x00b",
	} {
		t.Run(scalar, func(t *testing.T) {
			t.Parallel()
			got, err := ParseOne(t.Context(), []byte("k: "+scalar), YAML, DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(any(Mapping{{"k", want}}), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Values that JSON cannot represent or PyYAML refuses are refused with their position, and not quoted: they may be secret.
func TestResolve_refused(t *testing.T) {
	t.Parallel()
	for scalar, place := range map[string]string{
		".nan": "line 1, column 4: JSON", ".inf": "line 1, column 4", "-.INF": "line 1, column 4",
		"1.0e+999": "line 1, column 4", "18446744073709551616": "line 1, column 4: integers",
		"-9223372036854775809": "line 1, column 4", "2001-02-30": "line 1, column 4: there is no such date",
		"2001-01-01 25:00:00": "line 1, column 4", "0b_": "line 1, column 4", "=": "line 1, column 4", "<<": "line 1, column 4",
		"!!binary aGk=": "the tag !!binary is not read", "!foo x": "'!' begins a tag, and this one is not read", "!!set {a}": "the tag !!set is not read",
		"!!python/object:os.system x": "'!' begins a tag, and this one is not read", "!!timestamp x": "!!timestamp needs a date", "!!timestamp 2001-02-30": "there is no such date",
		"!!int x": "line 1, column 4", "!!bool x": "line 1, column 4", "{[a]: b}": "a key must be a string",
		"{1.5: b}": "a key must be a string or an integer; quote it", "{yes: b}": "a key must be a string or an integer", "{~: b}": "a key must be a string or an integer",
		"&a [*a]": "an alias is inside the value that it refers to", "{<<: 1}": "<< merges a mapping",
		"@x": "line 1", "*a": "document 1",
	} {
		t.Run(scalar, func(t *testing.T) {
			t.Parallel()
			value, err := ParseOne(t.Context(), []byte("k: "+scalar), YAML, DefaultLimits())
			requireRefusal(t, value, err, place)
		})
	}
	for _, scalar := range []string{"!!int hunter2", "!!float hunter2", "!!bool hunter2", "!!timestamp hunter2", "!!null hunter2"} {
		if _, err := ParseOne(t.Context(), []byte("k: "+scalar), YAML, DefaultLimits()); err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", scalar, err)
		}
	}
}

// The shortcuts for numbers and strings do not change the result.
func TestResolvePlain_patterns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[-+.0-9][-+.:_0-9a-fA-FxinIN]{0,20}`), rapid.StringMatching(`-?[0-9]{1,25}`),
			rapid.StringMatching(`[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ][0-9:.Z ]{0,12})?`), texts()).Draw(t, "text")
		got, wrong := resolvePlain(text)
		var want any = text
		var refusal rule
		switch truth, isBoolean := booleans[text]; {
		case text == "", text == "~", text == "null", text == "Null", text == "NULL":
			want = nil
		case text == "<<", text == "=":
			want, refusal = nil, reserved
		case isBoolean:
			want = truth
		case integerPattern.MatchString(text):
			want, refusal = integer(text)
		case floatPattern.MatchString(text):
			want, refusal = float(text)
		default:
			refusal = checkDate(text)
		}
		if diff := cmp.Diff(want, got); diff != "" || wrong != refusal {
			t.Fatalf("%q (-want +got)\n%s%v, want %v", text, diff, wrong, refusal)
		}
	})
}
