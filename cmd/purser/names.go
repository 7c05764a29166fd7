package main

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// folderName returns the name of a bucket, a kind or a document as one that every file system takes: characters other
// than letters, digits and some marks are percent-encoded. No two names have the same one, apart from the case of their
// letters.
func folderName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_',
			c == '.' && i > 0 && i < len(name)-1:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	text := b.String()
	if base, _, _ := strings.Cut(text, "."); isReserved(base) {
		text = fmt.Sprintf("%%%02X", text[0]) + text[1:]
	}
	return text
}

// isReserved reports whether Windows keeps a name for a device.
func isReserved(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	rest, com := strings.CutPrefix(name, "com")
	rest, lpt := strings.CutPrefix(rest, "lpt")
	return (com != lpt) && len(rest) == 1 && '0' <= rest[0] && rest[0] <= '9'
}

// bucketOf returns the bucket that a folder stands for.
func bucketOf(folder string) (string, error) {
	name, err := url.PathUnescape(folder)
	if err != nil {
		return "", errors.New("% in the name of a folder must begin an escape such as %2F; write a bucket's % as %25")
	}
	return name, nil
}
