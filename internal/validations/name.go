package validations

import (
	"strings"
	"unicode/utf8"

	"purser/internal/fault"
)

// MaxName bounds the names of documents, schemas, layers, buckets, tags and validations, in characters.
const MaxName = 255

// CheckName checks the name of a bucket, a tag or a validation. what names the subject in messages. Fault: Invalid.
func CheckName(name, what string) error {
	n := utf8.RuneCountInString(name)
	switch {
	case n == 0:
		return fault.New(fault.Invalid, "HTTPBadRequest", "%s is empty.", what)
	case !utf8.ValidString(name):
		return fault.New(fault.Invalid, "HTTPBadRequest", "%s is not valid UTF-8.", what)
	case strings.ContainsRune(name, 0):
		return fault.New(fault.Invalid, "HTTPBadRequest", "%s holds a NUL character.", what)
	case n > MaxName:
		return fault.New(fault.Invalid, "HTTPBadRequest", "%s has %d characters, but at most %d are allowed.", what, n,
			MaxName)
	}
	return nil
}

// CheckNewName checks the name of a bucket, a tag or a result that is being made, which CheckName accepts. It is a
// segment of URLs, of which clients and proxies remove "." and "..", also if they are escaped. Fault: Invalid.
func CheckNewName(name, what string) error {
	if name == "." || name == ".." {
		return fault.New(fault.Invalid, "HTTPBadRequest",
			"%s is %q, which clients and proxies remove from URLs, so that nobody could read or delete it: choose another name.",
			what, name)
	}
	return nil
}
