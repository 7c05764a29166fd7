package api

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"purser/internal/revisions"
)

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
