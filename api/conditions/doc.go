// Package conditions makes requests conditional: it sets the ETags of answers, and compares those that clients send
// back.
//
//	"5-1f3a"           the newest revision, in the answer to a change
//	"5-1f3a.77aa…"     a text about revision 5, or another form of it: the part after the dot is a digest of the form
//	"77aa…"            a text about no revision
//
// If-None-Match, for reading, compares whole ETags; If-Match, for writing, only the revision and its stamp. A
// compressed answer has a weak ETag, which both accept.
package conditions
