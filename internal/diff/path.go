package diff

import (
	"strconv"
	"strings"
)

// maxPathBytes bounds all paths of one comparison together: thousands of changes below a key of a megabyte would fill
// gigabytes. Beyond it the two values are one change.
const maxPathBytes = 16 << 20

// appendKey appends ['key'], or ["it's"], which is all that deepdiff does about quotes.
func appendKey(path []byte, key string) []byte {
	quote := byte('\'')
	if strings.Contains(key, "'") {
		quote = '"'
	}
	path = append(path, '[', quote)
	path = append(path, key...)
	return append(path, quote, ']')
}

func appendIndex(path []byte, index int) []byte {
	return append(strconv.AppendInt(append(path, '['), int64(index), 10), ']')
}

// appendToken appends a key to a JSON pointer (RFC 6901).
func appendToken(path []byte, key string) []byte {
	path = append(path, '/')
	for i := range len(key) {
		switch key[i] {
		case '~':
			path = append(path, '~', '0')
		case '/':
			path = append(path, '~', '1')
		default:
			path = append(path, key[i])
		}
	}
	return path
}

func appendOffset(path []byte, index int) []byte {
	return strconv.AppendInt(append(path, '/'), int64(index), 10)
}
