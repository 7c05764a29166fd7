package api

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/words"
)

// version matches an item of If-Match: a revision, in the form of this server's ETags.
var versionTag = regexp.MustCompile(`^(?:W/)?"(0|[1-9]\d{0,17})(?:-([0-9a-f]{1,16})(?:\.[0-9a-f]*)?)?"$`)

// expectedRevision reads If-Match: the revisions that a change may be based on. It refuses If-None-Match, which would
// prevent nothing.
func expectedRevision(r *http.Request) (revisions.Expected, error) {
	if len(r.Header.Values("If-None-Match")) > 0 {
		return nil, fault.New(fault.Invalid, "HTTPInvalidHeader", "The \"If-None-Match\" header is only for reading, and "+
			"nothing was changed. Send If-Match with the newest revision you know (If-Match: \"5\"), which is 0 while there "+
			"is none.")
	}
	values := r.Header.Values("If-Match")
	if len(values) == 0 {
		return nil, nil
	}
	var expected revisions.Expected
	for tag := range strings.SplitSeq(strings.Join(values, ","), ",") {
		tag = strings.TrimSpace(tag)
		parts := versionTag.FindStringSubmatch(tag)
		switch {
		case tag == "*":
			expected = append(expected, revisions.Version{Revision: -1})
		case parts == nil:
			return nil, fault.New(fault.Invalid, "HTTPInvalidHeader", "The value provided for the \"If-Match\" header is "+
				"invalid. It must be the newest revision you know, in quotes as in an ETag (If-Match: \"5\"), and not %s.",
				quotedTag(tag))
		default:
			revision, _ := strconv.ParseInt(parts[1], 10, 64) // it has at most 18 digits
			stamp, _ := revisions.ParseStamp(parts[2])        // or empty, for any
			expected = append(expected, revisions.Version{Revision: revision, Stamp: stamp})
		}
	}
	return expected, nil
}

// quoted returns an item of If-Match for a message, without further quotes: a valid item has quotes of its own.
func quotedTag(tag string) string {
	if tag == "" {
		return "empty"
	}
	return words.Excerpt(tag)
}

// expectedAbout reads the stamp of the numbered revision that a write is meant for, from the ETag in If-Match or the
// parameter revision-stamp.
func expectedAbout(r *http.Request, revision int64) (revisions.Expected, error) {
	expected, err := expectedRevision(r)
	if err != nil {
		return nil, err
	}
	q := paramsOf(r)
	text := q.text("revision-stamp")
	if text == "" || q.err() != nil {
		return expected, q.err()
	}
	stamp, err := revisions.ParseStamp(text)
	if err != nil || stamp == 0 {
		q.fail("revision-stamp", "It must be the stamp of a revision, as its status and its ETag show it.")
	}
	if expected != nil {
		q.fail("revision-stamp", "If-Match says the same: send one of them.")
	}
	return revisions.Expected{{Revision: revision, Stamp: stamp}}, q.err()
}
