package authn

import "context"

// NoAuth authenticates every request as an admin, like the reference's development mode (spec/api.md §1.2).
type NoAuth struct{}

var _ Authenticator = NoAuth{}

// Authenticate implements Authenticator. It never fails.
func (NoAuth) Authenticate(context.Context, string) (Caller, error) {
	return Caller{UserID: "noauth", UserName: "noauth", ProjectID: "noauth", Roles: []string{"admin"}}, nil
}
