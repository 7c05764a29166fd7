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

	"purser/api/parameters"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// setHead sets the newest revision as the ETag, for the If-Match of the next change.
func setHead(w http.ResponseWriter, revision int64, stamp revisions.Stamp) {
	w.Header().Set("ETag", fmt.Sprintf(`"%d-%v"`, revision, stamp))
}

// entityTag returns the ETag of a representation of a revision. If-Match compares only the revision, If-None-Match all.
func entityTag(revision int64, stamp revisions.Stamp, form ...string) string {
	return fmt.Sprintf(`"%d-%v.%s"`, revision, stamp, digest(strings.Join(form, "\n")))
}

func digest(text string) string {
	const size = 8 // collisions cost a client one stale answer
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:size])
}

// varies lists the headers that select the form of an answer.
const varies = "Accept, Accept-Encoding"

// notModified sets the ETag of an answer. If the client already has that answer, it answers with 304 and returns true.
func notModified(w http.ResponseWriter, r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	w.Header().Set("Vary", varies)
	if matchesETag(r, tag) || matchesETag(r, "*") {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	return false
}

// matchesETag reports whether If-None-Match lists a tag.
func matchesETag(r *http.Request, tag string) bool {
	for listed := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if strings.TrimPrefix(strings.TrimSpace(listed), "W/") == tag {
			return true
		}
	}
	return false
}

// version matches an item of If-Match: a revision, in the form of this server's ETags.
var version = regexp.MustCompile(`^(?:W/)?"(0|[1-9]\d{0,17})(?:-([0-9a-f]{1,16})(?:\.[0-9a-f]*)?)?"$`)

// expected reads If-Match: the revisions that a change may be based on.
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
			revision, _ := strconv.ParseInt(parts[1], 10, 64) // it has at most 18 digits
			stamp, _ := revisions.ParseStamp(parts[2])        // or empty, for any
			expected = append(expected, revisions.Version{Revision: revision, Stamp: stamp})
		}
	}
	return expected, nil
}

// about reads the stamp of the numbered revision that a write is meant for, from the ETag in If-Match or the parameter
// revision-stamp. status is that of the answer if the write is made.
func (s *server) about(r *http.Request, revision int64, status int) (revisions.Options, error) {
	options := revisions.Options{Audit: s.auditOf(r, status)}
	var err error
	if options.Expected, err = expected(r); err != nil {
		return options, err
	}
	q := parameters.Of(r)
	text := q.Text("revision-stamp")
	if text == "" || q.Err() != nil {
		return options, q.Err()
	}
	stamp, err := revisions.ParseStamp(text)
	if err != nil || stamp == 0 {
		q.Fail("revision-stamp", "It must be the stamp of a revision, as its status and its ETag show it.")
	}
	if options.Expected != nil {
		q.Fail("revision-stamp", "If-Match says the same: send one of them.")
	}
	options.Expected = revisions.Expected{{Revision: revision, Stamp: stamp}}
	return options, q.Err()
}

// maxMessage bounds the message of a change, in characters.
const maxMessage = 1000

// options reads the precondition, the author and the message of a change.
func (s *server) options(r *http.Request, q *parameters.Query) (revisions.Options, error) {
	expected, err := expected(r)
	if err != nil {
		return revisions.Options{}, err
	}
	message, name := r.Header.Get("X-Purser-Message"), "X-Purser-Message header"
	if message == "" {
		message, name = q.Text("message"), "message parameter"
	}
	if err := q.Err(); err != nil {
		return revisions.Options{}, err
	}
	switch n := utf8.RuneCountInString(message); {
	case !utf8.ValidString(message):
		return revisions.Options{}, fault.New(fault.Invalid, "HTTPBadRequest", "The %s is not valid UTF-8.", name)
	case n > maxMessage:
		return revisions.Options{}, fault.New(fault.Invalid, "HTTPBadRequest",
			"The %s has %d characters, but at most %d are kept with a revision.", name, n, maxMessage)
	}
	return revisions.Options{Reason: revisions.Reason{User: s.user(r), Message: message}, Expected: expected}, nil
}

// user returns the user to record with a revision: X-End-User or, without it, the caller.
func (s *server) user(r *http.Request) string {
	if name := endUser(r); name != "" {
		return name
	}
	return s.callerName(r)
}

// endUser returns X-End-User, shortened. It is only recorded, so an invalid value does not fail the change.
func endUser(r *http.Request) string {
	const maxLength = 255
	name := []rune(strings.ToValidUTF8(r.Header.Get("X-End-User"), "\uFFFD"))
	return string(name[:min(len(name), maxLength)])
}
