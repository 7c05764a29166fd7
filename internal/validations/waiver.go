package validations

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sosodev/duration"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// Bounds of a waiver.
const (
	MaxWaiver = maxWaiverDays * 24 * time.Hour // how long it lasts

	maxWaiverDays = 30
	maxReason     = 1000 // characters
)

// WantedWaiver is a waiver that somebody asks for.
type WantedWaiver struct {
	Validation string
	Reason     string
	Until      time.Time     // when it ends; zero if Lasts says that
	Lasts      time.Duration // how long it lasts; 0 if Until says that
}

// ParseWaiver parses the body of a request for a waiver. Whether it ends in time is for the clock of the database to
// say, unless it lasts too long by itself. Faults: Invalid, NotWaivable for one of the server's own validations.
func ParseWaiver(body any) (w WantedWaiver, err error) {
	fields, isMapping := body.(document.Mapping)
	if !isMapping {
		return w, badWaiver("must be a mapping such as {validation: site-validation, reason: ticket 4711, for: P7D}")
	}
	ends := 0
	for _, field := range fields {
		text, isText := field.Value.(string)
		if !isText && slices.Contains(waiverKeys(), field.Key) {
			return w, badWaiver("must have a text as its " + field.Key)
		}
		switch field.Key {
		case "validation":
			w.Validation = text
		case "reason":
			w.Reason = text
		case "expiresAt":
			ends++
			w.Until, err = parseEnd(text)
		case "for":
			ends++
			w.Lasts, err = parseLasting(text)
		default:
			return w, badWaiver("has the unknown key " + words.Excerpt(field.Key) + "; " + nearestWaiverKey(field.Key))
		}
		if err != nil {
			return w, err
		}
	}
	if err := w.check(); err != nil {
		return w, err
	}
	if ends != 1 {
		return w, badWaiver("must have one of expiresAt, such as 2026-12-01T12:00:00Z, and for, such as P7D: it always ends")
	}
	return w, nil
}

// waiverKeys are the keys of a request for a waiver.
func waiverKeys() []string { return []string{"validation", "reason", "expiresAt", "for"} }

func nearestWaiverKey(key string) string {
	if nearest := words.Nearest(key, waiverKeys()); nearest != "" {
		return "did you mean " + nearest
	}
	return "it can have validation, reason, expiresAt and for"
}

// check checks the name and the reason.
func (w WantedWaiver) check() error {
	if err := CheckName(w.Validation, "The validation of a waiver"); err != nil {
		return err
	}
	if IsReserved(w.Validation) {
		return fault.New(fault.Invalid, "NotWaivable", "%s cannot be waived: the server performs it, and what it finds is "+
			"a mistake in the documents. Correct them, or change the ValidationPolicy", w.Validation)
	}
	n := utf8.RuneCountInString(w.Reason)
	if n > maxReason || strings.TrimSpace(w.Reason) == "" || !utf8.ValidString(w.Reason) ||
		strings.ContainsRune(w.Reason, 0) {
		return badWaiver(fmt.Sprintf("must have a reason of 1 to %d characters", maxReason))
	}
	return nil
}

func badWaiver(what string) error {
	return fault.New(fault.Invalid, "HTTPBadRequest", "A waiver %s.", what)
}

// parseEnd parses the time at which a waiver ends: in RFC 3339, or UTC without a zone as answers have it.
func parseEnd(text string) (time.Time, error) {
	for _, format := range []string{time.RFC3339, "2006-01-02T15:04:05"} { // both take fractions of seconds
		if at, err := time.Parse(format, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, badWaiver("must have a time such as 2026-12-01T12:00:00Z as its expiresAt, and not " +
		words.Excerpt(text))
}

// parseLasting parses how long a waiver lasts, as an ISO 8601 duration.
func parseLasting(text string) (time.Duration, error) {
	parsed, err := duration.Parse(text)
	if err != nil || parsed.Negative {
		hint := ""
		if iso := AsDuration(text); iso != "" {
			hint = ": write " + iso
		}
		return 0, badWaiver("must have an ISO 8601 duration such as P7D as its for, and not " + words.Excerpt(text) + hint)
	}
	lasts := span(parsed)
	return lasts, CheckLasting(lasts, lasts > 0)
}

// CheckLasting returns the fault of a waiver that ends too late, or that would end before it begins.
func CheckLasting(lasts time.Duration, future bool) error {
	switch {
	case !future:
		return badWaiver("must end in the future, by the clock of the server's database")
	case lasts > MaxWaiver:
		return badWaiver(fmt.Sprintf("may last at most %d days; if it is still needed then, make another one, or make the "+
			"requirement advisory in the ValidationPolicy", maxWaiverDays))
	}
	return nil
}

// CheckRequired returns the fault of a waiver of a validation that no policy in force requires, nil for others.
func CheckRequired(policies []Policy, name string) error {
	const maxCandidates = 1000
	required := Required(policies)
	if slices.Contains(required, name) {
		return nil
	}
	unknown := fault.New(fault.Invalid, "UnknownRequirement",
		"No ValidationPolicy in force in the revision requires %s, so there is nothing to waive", name)
	switch nearest := nearestName(name, required[:min(len(required), maxCandidates)]); {
	case len(policies) == 0:
		return unknown.Hint("No ValidationPolicy is in force in the revision.")
	case nearest != "":
		return unknown.Hint("Did you mean %s?", nearest)
	}
	return unknown
}

// ActiveAt reports whether the waiver, which nobody has ended, has not ended by itself.
func (w Waiver) ActiveAt(now time.Time) bool { return w.Until.After(now) }

// WaivedBy returns the validation that the body of a request for a waiver names, "" if it names none.
func WaivedBy(body any) string {
	fields, _ := body.(document.Mapping)
	name, _ := fields.At("validation").(string)
	return name
}
