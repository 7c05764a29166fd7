package wire

import "encoding/json"

// Rendered says which rendered documents differ between two revisions, or would change with a change.
type Rendered struct {
	Count    int `json:"count"` // of the documents, also of those that are not listed
	Created  int `json:"created"`
	Deleted  int `json:"deleted"`
	Modified int `json:"modified"`
	Moved    int `json:"moved"`

	Differences []RenderedDifference `json:"differences"` // those of most documents first
	Unlisted    int                  `json:"unlisted"`    // documents that none of them names
	// Unrendered are the sides with documents that cannot be rendered. Nothing is compared then: Count is 0.
	Unrendered []UnrenderedSide `json:"unrendered,omitempty"`
}

// RenderedDifference is a difference that is the same in some documents.
type RenderedDifference struct {
	// Diff is a unified diff of the lines that differ and of those that they are nested in, without names. It is nil if
	// it was not asked for, or is Omitted, and "" if only the order of keys, the bucket or what is not shown differs.
	Diff      *string `json:"diff,omitempty"`
	Omitted   bool    `json:"omitted,omitempty"`   // there was no room for the diffs of these documents
	Encrypted bool    `json:"encrypted,omitempty"` // data differ that are not shown, because a secret is among them

	Documents []Difference `json:"documents"` // all have the same change
}

// UnrenderedSide is a revision that cannot be rendered, and why.
type UnrenderedSide struct {
	Side     string          `json:"side"`     // before or after
	Revision int64           `json:"revision"` // for a dry run, that of the side after is the one that would be made
	Type     string          `json:"errorType"`
	Message  string          `json:"message"`
	Errors   json.RawMessage `json:"errors"` // messages, as an error of rendered-documents lists them
}

// Failing names documents that fail after a change, and do not fail in the newest revision.
type Failing struct {
	Count     int        `json:"count"` // also of those that are not listed
	More      bool       `json:"more"`  // there may be others: not all failures are known
	Documents []Identity `json:"documents"`
}
