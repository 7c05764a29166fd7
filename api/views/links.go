package views

import (
	"net/url"
	"strconv"
)

// Links creates the views that contain URLs of the server.
type Links struct {
	Origin string // that URLs begin with, such as https://purser.example.org
	Compat bool   // leaves out members that the reference does not have
}

// RevisionURL returns the URL of a revision.
func (l Links) RevisionURL(id int64) string {
	return l.Origin + "/api/v1.0/revisions/" + strconv.FormatInt(id, 10)
}

// ValidationURL returns the URL of the results of a validation of a revision.
func (l Links) ValidationURL(id int64, name string) string {
	return l.RevisionURL(id) + "/validations/" + url.PathEscape(name)
}

// PackageURL returns the URL of a package in a revision.
func (l Links) PackageURL(revision int64, name string) string {
	return l.RevisionURL(revision) + "/packages/" + url.PathEscape(name)
}
