package wire

// Waiver is a waiver of a validation of a revision, with what became of it.
type Waiver struct {
	ID          int64    `json:"id"`
	Site        string   `json:"site,omitempty"` // in a list of all sites
	Revision    int64    `json:"revision"`
	Validation  string   `json:"validation"`
	Reason      string   `json:"reason"`
	By          Optional `json:"by"`
	CreatedAt   Optional `json:"createdAt"`
	ExpiresAt   Optional `json:"expiresAt"`
	Status      string   `json:"status"` // active, expired or ended
	EndedAt     Optional `json:"endedAt"`
	EndedBy     Optional `json:"endedBy"`
	CarriedFrom *int64   `json:"carriedFrom"` // nil if the waiver was made about this revision
}
