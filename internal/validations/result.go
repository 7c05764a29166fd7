package validations

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// Result is a validation result that another service posted.
type Result struct {
	Name      string
	Status    string // success or failure; any word if ParseResult was called with anyStatus
	Validator []byte // JSON text, as posted
	Errors    []byte // JSON text of a list
	CreatedAt time.Time
	Inputs    Selection       // the documents that it depends on; zero if it depends on the whole revision
	Held      document.Digest // of these documents, rendered; zero if they are not known
	URL       string          // of a page about it; may be empty
}

// OutcomeOf returns the outcome of the validation that a result reports.
func OutcomeOf(r Result) Outcome {
	outcome := Outcome{Name: r.Name, At: r.CreatedAt}
	if !IsOwn(r.Name) {
		outcome.Validator = string(r.Validator)
	}
	if r.Status != Success.String() {
		outcome.Status, outcome.Message = Failure, FirstMessage(r.Errors)
	}
	return outcome
}

// maxStatus bounds the length of a status with anyStatus, in bytes.
const maxStatus = 8

// ParseResult parses a posted result. With anyStatus, as in Deckhand, the status may be any word of at most 8
// characters, the name may be reserved, and there are neither inputs nor a URL. Faults: Invalid, Forbidden for a
// reserved name.
func ParseResult(name string, body any, anyStatus bool) (Result, error) {
	if err := CheckNewName(name, "The name of the validation"); err != nil {
		return Result{}, err
	}
	if !anyStatus {
		if err := checkReserved(name); err != nil {
			return Result{}, err
		}
	}
	if body == nil {
		return Result{}, badResult("The request body must not be empty.")
	}
	payload, ok := body.(document.Mapping)
	if !ok {
		return Result{}, badResult("A validation result must be a mapping with the keys status, validator and errors.")
	}
	status, err := parseStatus(payload, anyStatus)
	if err != nil {
		return Result{}, err
	}
	errors := payload.At("errors")
	if errors == nil {
		errors = []any{}
	}
	if _, isList := errors.([]any); !isList {
		return Result{}, badResult("The errors of a validation result must be a list.")
	}
	result := Result{
		Name: name, Status: status,
		Validator: document.AppendJSON(nil, payload.At("validator")), Errors: document.AppendJSON(nil, errors),
	}
	if anyStatus {
		return result, nil
	}
	if inputs := payload.At("inputs"); inputs != nil {
		if result.Inputs, err = ParseSelection("inputs", inputs); err != nil {
			return Result{}, err
		}
	}
	result.URL, err = parseURL(payload.At("url"))
	return result, err
}

// CheckPostable checks a name that CheckName accepts, of a validation whose results others are to post. Faults:
// Invalid, Forbidden for a reserved name.
func CheckPostable(name string) error {
	if err := CheckNewName(name, "The name of the validation"); err != nil {
		return err
	}
	return checkReserved(name)
}

// checkReserved returns the fault of a name that is reserved for the server's own validations.
func checkReserved(name string) error {
	if !IsReserved(name) {
		return nil
	}
	reserved := fault.New(fault.Forbidden, "HTTPForbidden",
		"The name %s is reserved: %s and validations whose names begin with %s or %s are performed by the server; "+
			"post yours under another name, and list that in the ValidationPolicy",
		name, strings.Join(Optional(), ", "), ReservedPrefix, purserPrefix)
	reserved.Reason = "ReservedName"
	return reserved
}

// maxURL bounds the URL of a result, in characters.
const maxURL = 2000

// parseURL parses the URL of a page about a result; nil is none.
func parseURL(value any) (string, error) {
	if value == nil {
		return "", nil
	}
	text, _ := value.(string)
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" ||
		utf8.RuneCountInString(text) > maxURL || strings.ContainsFunc(text, unicode.IsControl) {
		return "", badResult(fmt.Sprintf("The url of a validation result must begin with http:// or https://, and have at "+
			"most %d characters.", maxURL))
	}
	return text, nil
}

// LostWarning returns a warning about an unknown key of a posted result that is similar to a known one, "" if there is
// none. It does not warn about other unknown keys, because Deckhand's validators post some, such as createdAt.
func LostWarning(body any) string {
	const maxNamed = 64 // bytes of the key
	known := []string{"status", "validator", "errors", "inputs", "url"}
	payload, _ := body.(document.Mapping)
	for _, field := range payload {
		if slices.Contains(known, field.Key) || len(field.Key) > maxNamed {
			continue
		}
		if nearest := words.Nearest(field.Key, known); nearest != "" {
			return fmt.Sprintf("The key %q of a result has no meaning, and was not kept; did you mean %s?", field.Key, nearest)
		}
	}
	return ""
}

func parseStatus(payload document.Mapping, anyStatus bool) (string, error) {
	missing := ""
	for _, key := range []string{"validator", "status"} {
		if document.IsFalsy(payload.At(key)) {
			missing = key
		}
	}
	if missing != "" {
		return "", badResult(`Validation payload must contain keys: "status", "validator".`).
			Hint("It has no %s, or an empty one. A result is a mapping such as {status: success, validator: {name: "+
				"site-check, version: '1.0'}}, or {status: failure, validator: …, errors: [{message: …}]}.", missing)
	}
	status, _ := payload.At("status").(string)
	switch {
	case status == "success", status == "failure":
		return status, nil
	case anyStatus && status != "" && len(status) <= maxStatus && !strings.Contains(status, "\x00"):
		return status, nil
	}
	return "", badResult(`The status of a validation result must be "success" or "failure".`)
}

func badResult(message string) *fault.Fault {
	return fault.New(fault.Invalid, "HTTPBadRequest", "%s", message)
}
