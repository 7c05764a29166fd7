package authn

// Caller is who a request comes from. All that is unknown is empty.
type Caller struct {
	UserID    string
	UserName  string
	ProjectID string
	DomainID  string
	Roles     []string // as the issuer writes them; compared without regard to case (spec/api.md §10)
}
