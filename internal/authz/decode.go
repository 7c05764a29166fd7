package authz

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
)

// decode decodes a file with one document. The Value is nil if the file is empty. The Notes are about duplicate keys.
//
//nolint:contextcheck,nolintlint // the work is not charged to a request, because all requests use the file
func decode(text []byte) (document.Entry, error) {
	if len(text) > MaxSize {
		return document.Entry{}, fmt.Errorf("the file has more than %d bytes", MaxSize)
	}
	limits := document.DefaultLimits()
	limits.Values, limits.Strict = maxValues, true
	segments, err := document.Split(context.Background(), text, mediaOf(text), limits)
	switch {
	case err != nil:
		return document.Entry{}, inFile(err, limits)
	case len(segments) == 0:
		return document.Entry{}, nil
	case len(segments) > 1:
		return document.Entry{}, fmt.Errorf("line %d: a second document begins; the file must be one", segments[1].Line)
	}
	entry, err := document.Decode(context.Background(), segments[0], limits)
	return entry, inFile(err, limits)
}

// mediaOf returns the media type of a file. JSON needs its own parser, because a YAML parser does not accept all of it.
func mediaOf(text []byte) document.Media {
	if json.Valid(text) && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return document.JSON
	}
	return document.YAML
}

// inFile rewords an error of package document for a policy file, because such errors name settings for request bodies.
func inFile(err error, limits document.Limits) error {
	switch {
	case err == nil:
		return nil
	case fault.KindOf(err) == fault.TooLarge:
		return fmt.Errorf("the file has more than %d keys and values, nests them deeper than %d, or grows beyond %d "+
			"bytes by its aliases", limits.Values, limits.Depth, limits.Size)
	}
	return errors.New(strings.TrimPrefix(document.Details(err), "document 1, "))
}
