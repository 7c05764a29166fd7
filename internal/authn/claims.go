package authn

import (
	"time"
)

// claims is the payload of a token whose signature was verified.
type claims map[string]any

// checkTime rejects tokens that are not valid yet. The library, which allows clocks to differ by five minutes, has
// already rejected expired ones.
func (c claims) checkTime(now time.Time) error {
	if _, isLogout := c["events"]; isLogout { // OpenID Connect Back-Channel Logout §2.4
		return rejected("it is a token for another purpose")
	}
	for _, name := range []string{"nbf", "iat"} {
		value, given := c[name]
		if !given {
			continue
		}
		seconds, ok := value.(float64)
		if !ok || seconds > float64(now.Add(skew).Unix()) {
			return rejected("it is not yet valid")
		}
	}
	return nil
}

func (c claims) caller(config *OIDCConfig) (Caller, error) {
	caller := Caller{}
	for _, claim := range []struct {
		path string
		into *string
	}{
		{config.UserClaim, &caller.UserID}, {config.NameClaim, &caller.UserName}, {config.ProjectClaim, &caller.ProjectID},
	} {
		value, given := lookup(c, claim.path)
		text, isText := value.(string)
		if given && !isText {
			return Caller{}, rejected("its claim " + claim.path + " is not a string")
		}
		*claim.into = text
	}
	roles, err := c.roles(config.RolesClaim)
	if err != nil {
		return Caller{}, err
	}
	caller.Roles = roles
	return checkCaller(caller)
}

func (c claims) roles(path string) (roles []string, err error) {
	value, given := lookup(c, path)
	if !given {
		return nil, nil
	}
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for _, item := range list {
		role, isText := item.(string)
		if !isText {
			return nil, rejected("its claim " + path + " is neither a string nor a list of strings")
		}
		roles = append(roles, role)
	}
	return roles, nil
}

// lookup returns the claim at a path. Names may contain dots themselves: https://id.example/roles.
func lookup(members map[string]any, path string) (value any, given bool) {
	if value, given := members[path]; given {
		return value, true
	}
	for i, c := range path {
		if c != '.' {
			continue
		}
		if inner, ok := members[path[:i]].(map[string]any); ok {
			if value, given := lookup(inner, path[i+1:]); given {
				return value, true
			}
		}
	}
	return nil, false
}
