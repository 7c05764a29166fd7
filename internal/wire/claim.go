package wire

// Claim is a claim to work: the result of a validation of a revision.
type Claim struct {
	ID         string   `json:"id"`             // who has it holds the claim
	Site       string   `json:"site,omitempty"` // of the revision
	Revision   int64    `json:"revision"`
	Stamp      string   `json:"stamp"` // of the revision
	Validation string   `json:"validation"`
	Attempt    int      `json:"attempt"` // claims to the work that ran out, and this one
	ExpiresAt  Optional `json:"expiresAt"`
	Progress   Optional `json:"progress"`
	Documents  string   `json:"documents"` // URL of the rendered documents
	Result     string   `json:"result"`    // URL to post the result to
}

// Work is work in a list, and the last claim to it.
type Work struct {
	Site        string   `json:"site,omitempty"` // in a list of all sites
	Revision    int64    `json:"revision"`
	Stamp       string   `json:"stamp"`
	Validation  string   `json:"validation"`
	State       string   `json:"state"`   // open, claimed or lapsed
	Attempt     int      `json:"attempt"` // as of a Claim
	Worker      Optional `json:"worker"`
	User        Optional `json:"user"`
	Since       Optional `json:"since"`
	ExpiresAt   Optional `json:"expiresAt"`
	Progress    Optional `json:"progress"`
	RequestedAt Optional `json:"requestedAt"` // when somebody asked for a new result
	Reason      Optional `json:"reason"`
}

// Requested is the answer to a request for a new result.
type Requested struct {
	Revision    int64    `json:"revision"`
	Stamp       string   `json:"stamp"`
	Validation  string   `json:"validation"`
	RequestedAt Optional `json:"requestedAt"`
	Reason      Optional `json:"reason"`
	Warning     string   `json:"warning,omitempty"` // that no policy lists the validation
}
