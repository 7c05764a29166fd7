package authn

// Caller is the user who sent a request. Fields that the credential does not set are empty.
type Caller struct {
	UserID          string
	UserName        string
	UserDomainID    string
	ProjectID       string // to which the token is scoped, as the next two
	ProjectDomainID string
	DomainID        string
	SystemScope     string   // all, if the token is scoped to the system
	NoAdminProject  bool     // Keystone has an admin project, and it is another one
	Roles           []string // as spelt by the issuer; checks compare them without regard to case
}

// texts returns the names and ids of a caller, and its roles.
func (c Caller) texts() []string {
	return append([]string{
		c.UserID, c.UserName, c.UserDomainID, c.ProjectID, c.ProjectDomainID, c.DomainID, c.SystemScope,
	}, c.Roles...)
}
