package folder

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// folderName returns a file name for the name of a bucket, a kind or a document, valid on all file systems. Characters
// other than letters, digits and some punctuation are percent-encoded. File names are unique, unless names differ only
// in case.
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

// isReserved reports whether a name is that of a device on Windows.
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

// bucketOf returns the bucket for a folder name.
func bucketOf(folder string) (string, error) {
	name, err := url.PathUnescape(folder)
	if err != nil {
		return "", errors.New("% in the name of a folder must begin an escape such as %2F; write a bucket's % as %25")
	}
	return name, nil
}
