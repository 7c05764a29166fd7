package api

import (
	"net/url"
	"strconv"
)

// links creates the views that contain URLs of the server.
type links struct {
	origin string // that URLs begin with, such as https://purser.example.org
	compat bool   // leaves out members that Deckhand does not have
}

// revisionURL returns the URL of a revision.
func (l links) revisionURL(id int64) string {
	return l.origin + "/api/v1.0/revisions/" + strconv.FormatInt(id, 10)
}

// validationURL returns the URL of the results of a validation of a revision.
func (l links) validationURL(id int64, name string) string {
	return l.revisionURL(id) + "/validations/" + url.PathEscape(name)
}

// packageURL returns the URL of a package in a revision.
func (l links) packageURL(revision int64, name string) string {
	return l.revisionURL(revision) + "/packages/" + url.PathEscape(name)
}
