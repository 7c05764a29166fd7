package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"purser/internal/document"
)

// decode reads the one document of a file, without regard to what it says; its Value is nil if the file is empty. Its
// Notes are keys that stand in it twice.
func decode(text []byte) (document.Entry, error) {
	if len(text) > MaxSize {
		return document.Entry{}, fmt.Errorf("the file has more than %d bytes", MaxSize)
	}
	limits := document.DefaultLimits()
	limits.Values = maxValues
	segments, err := document.Split(text, mediaOf(text), limits)
	switch {
	case err != nil:
		return document.Entry{}, inFile(err)
	case len(segments) == 0:
		return document.Entry{}, nil
	case len(segments) > 1:
		return document.Entry{}, fmt.Errorf("line %d: a second document begins; the file must be one", segments[1].Line)
	}
	entry, err := document.Decode(segments[0], limits)
	return entry, inFile(err)
}

// mediaOf tells what to read a file as. YAML reads most of JSON, too, but not all.
func mediaOf(text []byte) document.Media {
	if json.Valid(text) && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return document.JSON
	}
	return document.YAML
}

// inFile takes out of a message what only the sender of a request is told.
func inFile(err error) error {
	if err == nil {
		return nil
	}
	if _, details, found := strings.Cut(err.Error(), "Details: "); found {
		return errors.New(details)
	}
	return err
}
