package validations

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
)

// The built-in schemas for Puppet refuse a wrong form in Puppet's words, which say what to write.
func TestBuiltIn_ownWords(t *testing.T) {
	t.Parallel()
	const example = "such as {file: {/etc/motd: {mode: '0644'}}}"
	for data, want := range map[string]string{
		`null`: "The data of an override should be a hash! Write such as {configuration: {file: {/etc/motd: {mode: '0644'}}}}",
		`{"configuration":[]}`: "Configuration data should contain a resources hash! Write types with titles and parameters, " +
			example,
		`{"configuration":{"file":null}}`: "The 'resources' should be a hash with the override Puppet resources! Write titles " +
			"with their parameters, such as {/etc/motd: {mode: '0644'}}",
		`{"configuration":{"file":{"/a":[]}}}`: "The 'parameters' should be a hash of the resource parameters! Write such as " +
			"{mode: '0644'}, or {} for none",
		`{"configuration":{"file":{"/a":{"mode":null}}}}`: "Got nil value; a parameter cannot be unset, only set to another value",
		`{"configuration":{"file":{"":{}}}}`:              "The 'title' should be the title of the Puppet resource and should not be empty!",
		`{"configuration":{"a b":{}}}`:                    "'a b' does not match '^(::)?[A-Za-z][A-Za-z0-9_]*(::[A-Za-z][A-Za-z0-9_]*)*$'",
		`{"defaults":[]}`: "Defaults data should contain a defaults hash! Write types with parameters, such as " +
			"{file: {mode: '0644'}}",
		`{"create":"maybe"}`:                        "Valid values are true, false, yes, no.",
		`{"configuration_options":{"create":5}}`:    "Valid values are true, false, yes, no.",
		`{"types_filter":[{}]}`:                     "It should be a list of names!",
		`{"configuration":null,"crate":false}`:      "Additional properties are not allowed ('crate' was unexpected)",
		`{"configuration":{"file":{"/a":{"b":5}}}}`: "",
	} {
		findings, err := provided["fuel/PuppetOverride/v1"].compiled().Check(budget.NewMeter(t.Context()), []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, finding := range findings {
			got = append(got, finding.Message)
		}
		if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", data, diff)
		}
	}
}
