package revisions

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Source is the URL of the commit that a change was made from; empty if it is unknown.
type Source string

// maxSource bounds a Source, in characters.
const maxSource = 500

// ParseSource checks the URL of a commit: https://, or git+https:// for a repository, then a host without a user, and
// behind it the id of a commit, as Commit finds it. The error says what the URL lacks, as the end of a sentence.
func ParseSource(text string) (Source, error) {
	if len(text) > maxSource {
		return "", fmt.Errorf("it has %d characters, and at most %d are kept with a revision", len(text), maxSource)
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return "", errors.New("it has a space, a control character or one outside of ASCII, which a URL has escaped as %20")
		}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, !strings.HasPrefix(strings.TrimPrefix(text, "git+"), "https://"), u.Hostname() == "":
		return "", errors.New("it does not begin with https:// or git+https:// and a host")
	case u.User != nil:
		return "", errors.New("it has a user or a password before the host, which must not be kept")
	case Source(text).Commit() == "":
		return "", errors.New("it names no commit")
	}
	return Source(text), nil
}

// commitID matches the id of a commit, or at least 7 of the digits that it begins with.
var commitID = regexp.MustCompile(`^[0-9A-Fa-f]{7,64}$`)

// ParseCommit returns the id of a commit, which may be abbreviated to 7 hexadecimal digits, in lower case. ok is false
// if the text is no such id.
func ParseCommit(text string) (id string, ok bool) {
	return strings.ToLower(text), commitID.MatchString(text)
}

// Commit returns the id of the commit that the URL names, in lower case: behind the host, the longest part between two
// of the characters / ? # @ & = that is an id, and the last one of several that are as long. It is empty if there is
// none.
func (s Source) Commit() (id string) {
	_, rest, _ := strings.Cut(string(s), "://")
	_, rest, _ = strings.Cut(strings.NewReplacer("?", "/", "#", "/", "@", "/", "&", "/", "=", "/").Replace(rest), "/")
	for part := range strings.SplitSeq(rest, "/") {
		if found, ok := ParseCommit(part); ok && len(found) >= len(id) {
			id = found
		}
	}
	return id
}
