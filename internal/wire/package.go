package wire

import "encoding/json"

// Package is a package of a revision, or one that was only checked.
type Package struct {
	Name     string          `json:"name"`
	Version  json.RawMessage `json:"version"` // as written in the manifest; null if absent
	Type     json.RawMessage `json:"type"`
	Archive  *Archive        `json:"archive,omitempty"`
	Bucket   string          `json:"bucket,omitempty"`
	Revision int64           `json:"revision,omitempty"` // in which it last changed
	Warnings any             `json:"warnings"`           // their number in a list of packages, else a list
	URL      string          `json:"url,omitempty"`
}

// Archive is the archive of a package.
type Archive struct {
	Digest string          `json:"digest"` // SHA-256
	Size   json.RawMessage `json:"size"`   // in bytes
}
