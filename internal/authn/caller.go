package authn

// Caller is the user who sent a request. Fields that the credential does not set are empty.
type Caller struct {
	UserID    string
	UserName  string
	ProjectID string
	DomainID  string
	Roles     []string // as spelt by the issuer; compared case-insensitively (spec/api.md §10)
}
