package validations

import (
	"errors"
	"strings"
	"testing"

	"purser/internal/document"
	"purser/internal/fault"
)

// The names of the server's own validations are refused, unless anyStatus is set, as in Deckhand.
func TestParseResult_reservedNames(t *testing.T) {
	t.Parallel()
	body := document.Mapping{{Key: "status", Value: "success"}, {Key: "validator", Value: "v"}}
	for name, reserved := range map[string]bool{
		SchemaValidation: true, "deckhand-site-validation": true, CoverageValidation: true, "purser-site-validation": true,
		PuppetValidation: true, PackageValidation: true,
		"drydock-site-validation": false, "pursers-validation": false, "site-purser-validation": false,
	} {
		_, err := ParseResult(name, body, false)
		refused := fault.KindOf(err) == fault.Forbidden
		if refused != reserved || refused && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want reserved: %v", name, err, reserved)
		}
		if f, _ := errors.AsType[*fault.Fault](err); refused && f.Reason != "ReservedName" {
			t.Errorf("%s: the reason is %q", name, f.Reason)
		}
		if _, err := ParseResult(name, body, true); err != nil {
			t.Errorf("%s as in Deckhand: %v", name, err)
		}
	}
}

// A status as in Deckhand is a word that every store can keep.
func TestParseResult_anyStatus(t *testing.T) {
	t.Parallel()
	for status, taken := range map[string]bool{"success": true, "odd": true, "warnings": true, "": false, "too long a": false, "a\x00b": false} {
		body := document.Mapping{{Key: "status", Value: status}, {Key: "validator", Value: "v"}}
		if _, err := ParseResult("x", body, true); (err == nil) != taken {
			t.Errorf("%q: %v", status, err)
		}
	}
}

// The first message is found without reading the errors after it.
func TestFirstMessage(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		`[{"name": "n", "message": "first"}, {"message": "second"}]`: "first",
		`[{"message": "first"}, not even JSON`:                       "first",
		`[{"name": "n"}, {"message": "second"}]`:                     "",
		`["first"]`:                                                  "",
		`[]`:                                                         "",
		`null`:                                                       "",
		``:                                                           "",
	} {
		if got := FirstMessage([]byte(list)); got != want {
			t.Errorf("%s: %q, want %q", list, got, want)
		}
	}
}

func TestAsDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"24h": "PT24H", "30 minutes": "PT30M", "90S": "PT90S", "7 days": "P7D", "2w": "P2W", "1hr": "PT1H", " 5min ": "PT5M",
		"soon": "", "24": "", "1h30m": "", "PT24H": "", "24hippos": "",
	} {
		if got := AsDuration(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
