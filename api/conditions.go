package api

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"purser/internal/fault"
	"purser/internal/revisions"
)

// setHead answers with the newest revision as the ETag, for the next change's If-Match. Numbers begin again after a
// purge, so it tells their epoch too.
func setHead(w http.ResponseWriter, revision, epoch int64) {
	w.Header().Set("ETag", fmt.Sprintf(`"%d-%d"`, revision, epoch))
}

// entityTag names one form of what a revision has to show: If-Match takes it for the revision, If-None-Match for the
// form.
func entityTag(revision, epoch int64, form ...string) string {
	return fmt.Sprintf(`"%d-%d.%s"`, revision, epoch, digest(strings.Join(form, "\n")))
}

func digest(text string) string {
	const enough = 8
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:enough])
}

// unchanged sets the ETag of an answer, and gives that answer with a 304 if it is the one that the client has.
func unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	w.Header().Set("Vary", "Accept")
	if has(r, tag) || has(r, "*") {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	return false
}

// has tells whether If-None-Match names a tag.
func has(r *http.Request, tag string) bool {
	for known := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if strings.TrimPrefix(strings.TrimSpace(known), "W/") == tag {
			return true
		}
	}
	return false
}

// version is what If-Match may hold: a revision as ETags of this server name it.
var version = regexp.MustCompile(`^(?:W/)?"(0|[1-9]\d{0,17})(?:-(\d{1,18})(?:\.[0-9a-f]*)?)?"$`)

// expected reads which revisions a change is meant for.
func expected(r *http.Request) (revisions.Expected, error) {
	values := r.Header.Values("If-Match")
	if len(values) == 0 {
		return nil, nil
	}
	var expected revisions.Expected
	for tag := range strings.SplitSeq(strings.Join(values, ","), ",") {
		tag = strings.TrimSpace(tag)
		parts := version.FindStringSubmatch(tag)
		switch {
		case tag == "*":
			expected = append(expected, revisions.Version{Revision: -1})
		case parts == nil:
			return nil, fault.New(fault.Invalid, "HTTPInvalidHeader", "The value provided for the \"If-Match\" header is "+
				"invalid. It must be the newest revision you know, in quotes as in an ETag (If-Match: \"5\"), and not %q.", tag)
		default:
			revision, _ := strconv.ParseInt(parts[1], 10, 64) // of so few digits
			epoch, _ := strconv.ParseInt(parts[2], 10, 64)
			expected = append(expected, revisions.Version{Revision: revision, Epoch: epoch})
		}
	}
	return expected, nil
}

// longestMessage is how many characters the reason for a change may have.
const longestMessage = 1000

// options reads the conditions of a change, and by whom it is made.
func (s *server) options(r *http.Request, q *query) (revisions.Options, error) {
	expected, err := expected(r)
	if err != nil {
		return revisions.Options{}, err
	}
	message, name := r.Header.Get("X-Purser-Message"), "X-Purser-Message header"
	if message == "" {
		message, name = q.text("message"), "message parameter"
	}
	if err := q.error(); err != nil {
		return revisions.Options{}, err
	}
	switch n := utf8.RuneCountInString(message); {
	case !utf8.ValidString(message):
		return revisions.Options{}, fault.New(fault.Invalid, "HTTPBadRequest", "The %s is no UTF-8 text.", name)
	case n > longestMessage:
		return revisions.Options{}, fault.New(fault.Invalid, "HTTPBadRequest",
			"The %s has %d characters, but at most %d are kept with a revision.", name, n, longestMessage)
	}
	return revisions.Options{Reason: revisions.Reason{User: s.user(r), Message: message}, Expected: expected}, nil
}

// user is who the client says it acts for, or else itself.
func (s *server) user(r *http.Request) string {
	if name := endUser(r); name != "" {
		return name
	}
	return s.callerName(r)
}

// endUser is who the client says it acts for. It is only kept, so what is odd in it is no reason to refuse a change.
func endUser(r *http.Request) string {
	const longest = 255
	name := []rune(strings.ToValidUTF8(r.Header.Get("X-End-User"), "\uFFFD"))
	return string(name[:min(len(name), longest)])
}
