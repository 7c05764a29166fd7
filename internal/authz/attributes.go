package authz

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"purser/internal/authn"
	"purser/internal/words"
)

// attribute is a property of a caller that a check can compare.
type attribute struct {
	names []string
	of    func(authn.Caller) string // empty if the caller lacks it
}

// none is the text of what a caller lacks, as Python writes it.
const none = "None"

func (a attribute) value(caller authn.Caller) string { return cmp.Or(a.of(caller), none) }

// credentials are the attributes before the colon of a check, with the meaning and the names that oslo.context gives
// them; user_name is Purser's.
var credentials = []attribute{
	{[]string{"user_id", "user"}, func(c authn.Caller) string { return c.UserID }},
	{[]string{"user_name"}, func(c authn.Caller) string { return c.UserName }},
	{[]string{"user_domain_id", "user_domain"}, func(c authn.Caller) string { return c.UserDomainID }},
	{[]string{"project_id", "project", "tenant"}, func(c authn.Caller) string { return c.ProjectID }},
	{[]string{"project_domain_id", "project_domain"}, func(c authn.Caller) string { return c.ProjectDomainID }},
	{[]string{"domain_id", "domain"}, func(c authn.Caller) string { return c.DomainID }},
	{[]string{"system_scope"}, func(c authn.Caller) string { return c.SystemScope }},
	{[]string{"is_admin_project"}, func(c authn.Caller) string { return truth(!c.NoAdminProject) }},
	{[]string{"is_admin"}, func(authn.Caller) string { return truth(false) }}, // only services set it, for their own work
	{[]string{rolesKey, serviceRolesKey}, lacked},
	{[]string{"service_user_id"}, lacked},
	{[]string{"service_user_domain_id"}, lacked},
	{[]string{"service_project_id"}, lacked},
	{[]string{"service_project_domain_id"}, lacked},
}

// lacked is an attribute that no caller has, such as those of service tokens (X-Service-Token), which are not read.
func lacked(authn.Caller) string { return "" }

// The credentials that are lists: a check passes if one of the items is equal. There are no service roles.
const rolesKey, serviceRolesKey = "roles", "service_roles"

// targets are the attributes in %(name)s. Deckhand's target is the caller.
var targets = []attribute{
	{[]string{"project_id"}, func(c authn.Caller) string { return c.ProjectID }},
	{[]string{"user_id"}, func(c authn.Caller) string { return c.UserID }},
}

// truth writes a boolean as Python does.
func truth(is bool) string {
	if is {
		return "True"
	}
	return "False"
}

// attributeOf returns the attribute of a name, which checkKnown accepts.
func attributeOf(all []attribute, name string) attribute {
	return all[slices.IndexFunc(all, func(a attribute) bool { return slices.Contains(a.names, name) })]
}

// checkKnown returns an error if no attribute has a name. Such a check would never pass, and so its negation always.
func checkKnown(all []attribute, of, name string) error {
	var known []string
	for _, a := range all {
		known = append(known, a.names...)
	}
	if slices.Contains(known, name) {
		return nil
	}
	if nearest := words.Nearest(name, known); nearest != "" {
		return fmt.Errorf("%s has no attribute %s; did you mean %s?", of, quote(name), nearest)
	}
	return fmt.Errorf("%s has no attribute %s; it has %s", of, quote(name), strings.Join(known, ", "))
}
