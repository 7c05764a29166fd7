package api

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

// quotedTag returns an item of If-Match for a message, without further quotes: a valid item has quotes of its own.
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

// setHeadTag sets the newest revision as the ETag, for the If-Match of the next change.
func setHeadTag(w http.ResponseWriter, revision int64, stamp revisions.Stamp) {
	w.Header().Set("ETag", fmt.Sprintf(`"%d-%v"`, revision, stamp))
}

// revisionTag returns the ETag of a representation of a revision. If-Match compares only the revision, If-None-Match
// all.
func revisionTag(revision int64, stamp revisions.Stamp, form ...string) string {
	return fmt.Sprintf(`"%d-%v.%s"`, revision, stamp, tagDigest([]byte(strings.Join(form, "\n"))))
}

// textTag returns the ETag of a text of a media type. With the prefix of a revision, it can be used in the If-Match of
// a request about that revision.
func textTag(prefix, kind string, text []byte) string {
	return `"` + prefix + tagDigest([]byte(kind+"\n"), text) + `"`
}

// tagPrefix returns the prefix of ETags that can be used in the If-Match of a request about a revision.
func tagPrefix(revision revisions.Revision) string {
	return fmt.Sprintf("%d-%v.", revision.ID, revision.Stamp)
}

func tagDigest(texts ...[]byte) string {
	const size = 8 // collisions cost a client one stale answer
	hash := sha256.New()
	for _, text := range texts {
		_, _ = hash.Write(text)
	}
	return hex.EncodeToString(hash.Sum(nil)[:size])
}

// varies lists the headers that select the form of an answer.
const varies = "Accept, Accept-Encoding"

// notModified sets the ETag of an answer. If the client already has that answer, it answers with 304 and returns true.
func notModified(w http.ResponseWriter, r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	w.Header().Set("Vary", varies)
	if matchesTag(r, tag) || matchesTag(r, "*") {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	return false
}

// matchesTag reports whether If-None-Match lists a tag.
func matchesTag(r *http.Request, tag string) bool {
	for listed := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if strings.TrimPrefix(strings.TrimSpace(listed), "W/") == tag {
			return true
		}
	}
	return false
}
