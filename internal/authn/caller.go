package authn

// Caller is the user that a request comes from. Fields that the credential does not set are empty.
type Caller struct {
	UserID    string
	UserName  string
	ProjectID string
	DomainID  string
	Roles     []string // as the issuer writes them; compared without regard to case (spec/api.md §10)
}
