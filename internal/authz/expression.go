package authz

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"purser/internal/authn"
	"purser/internal/words"
)

// check is an expression or a part of one. Parsing its String gives an equivalent check.
type check struct {
	kind       kind
	key, value string   // before and after the colon; a literal's key has its quotes
	parts      []*check // of not, and, or
}

type kind uint8

const (
	always kind = iota
	never
	role
	reference // to another rule
	credential
	literal
	not
	and
	or
)

// verdict decides a check. One whose value has an attribute that the target lacks depends, and so does its negation.
func (c *check) verdict(e *evaluation) Verdict {
	switch c.kind {
	case always:
		return Allowed
	case reference:
		return e.verdict(e.rules[c.value])
	case not:
		return Allowed - c.parts[0].verdict(e)
	case and:
		return c.first(e, Refused)
	case or:
		return c.first(e, Allowed)
	case never:
		return Refused
	case role, credential, literal:
	}
	value, known := e.fill(c.value)
	switch {
	case !known:
		return Depends
	case c.kind == role && slices.Contains(e.roles, strings.ToLower(value)),
		c.kind == credential && e.has(c.key, value),
		c.kind == literal && value == strings.Trim(c.key, `'"`):
		return Allowed
	}
	return Refused
}

// first returns a verdict if a part has it, or else Depends if a part depends, or else the opposite.
func (c *check) first(e *evaluation, decisive Verdict) Verdict {
	whole := Allowed - decisive
	for _, part := range c.parts {
		switch part.verdict(e) {
		case decisive:
			return decisive
		case Depends:
			whole = Depends
		case Refused, Allowed: // the opposite
		}
	}
	return whole
}

// String returns the check as a policy file has it.
func (c *check) String() string {
	texts := make([]string, len(c.parts))
	for i, part := range c.parts {
		if texts[i] = part.String(); part.kind == or || part.kind == and && c.kind != or { // "and" binds tighter
			texts[i] = "(" + texts[i] + ")"
		}
	}
	switch c.kind {
	case always:
		return "@"
	case never:
		return "!"
	case not:
		return "not " + texts[0]
	case and:
		return strings.Join(texts, " and ")
	case or:
		return strings.Join(texts, " or ")
	case role, reference, credential, literal:
	}
	return c.key + ":" + c.value
}

// references returns the names of the rules that a check refers to, after those that are found already.
func (c *check) references(found []string) []string {
	if c.kind == reference {
		return append(found, c.value)
	}
	for _, part := range c.parts {
		found = part.references(found)
	}
	return found
}

// attributes returns the attributes of a target in a check, after those that are found already.
func (c *check) attributes(found []string) []string {
	for _, name := range targetAttributes {
		if c.kind != reference && mentions(c.value, name) {
			found = append(found, name)
		}
	}
	for _, part := range c.parts {
		found = part.attributes(found)
	}
	return found
}

// checks reports whether a check or a part of it is about a role.
func (c *check) checks(name string) bool {
	return (c.kind == role || c.kind == credential && c.key == rolesKey) && strings.EqualFold(c.value, name) ||
		slices.ContainsFunc(c.parts, func(part *check) bool { return part.checks(name) })
}

// joined returns the only part if there is just one, else a check of all.
func joined(of kind, parts []*check) *check {
	if len(parts) == 1 {
		return parts[0]
	}
	return &check{kind: of, parts: parts}
}

// none is the text of what a caller lacks, as Python writes it.
const none = "None"

// The credentials that are lists: a check passes if one of the items is equal. There are no service roles.
const rolesKey, serviceRolesKey = "roles", "service_roles"

// credentials are the attributes of a caller, before the colon of a check, with the names that oslo.context gives them;
// user_name is Purser's.
var credentials = []string{
	"user_id", "user", "user_name", "user_domain_id", "user_domain", "project_id", "project", "tenant",
	"project_domain_id", "project_domain", "domain_id", "domain", "system_scope", "is_admin_project", "is_admin", rolesKey,
	serviceRolesKey,
	"service_user_id", "service_user_domain_id", "service_project_id", "service_project_domain_id",
}

// placeholders are the names in %(name)s: of attributes of the caller, who is Deckhand's target, and of a Target.
//
//nolint:gochecknoglobals // it never changes
var placeholders = slices.Concat([]string{"project_id", "user_id"}, targetAttributes)

// attributeOf returns an attribute of a caller, with the meaning that oslo.context gives it; "" if the caller lacks it.
// All callers lack those of service tokens (X-Service-Token), which are not read.
func attributeOf(caller authn.Caller, name string) string {
	switch name {
	case "user_id", "user":
		return caller.UserID
	case "user_name":
		return caller.UserName
	case "user_domain_id", "user_domain":
		return caller.UserDomainID
	case "project_id", "project", "tenant":
		return caller.ProjectID
	case "project_domain_id", "project_domain":
		return caller.ProjectDomainID
	case "domain_id", "domain":
		return caller.DomainID
	case "system_scope":
		return caller.SystemScope
	case "is_admin_project":
		if !caller.NoAdminProject {
			return "True"
		}
		return "False"
	case "is_admin": // only services set it, for their own work
		return "False"
	}
	return ""
}

// has reports whether a credential of the caller has a value.
func (e *evaluation) has(key, value string) bool {
	switch key {
	case rolesKey:
		return slices.Contains(e.caller.Roles, value)
	case serviceRolesKey:
		return false
	}
	return value == cmp.Or(attributeOf(e.caller, key), none)
}

// fill replaces the placeholders in the value of a check, which checkValue accepts. It reports false if the target
// lacks one of them.
func (e *evaluation) fill(value string) (filled string, known bool) {
	if !strings.Contains(value, "%") {
		return value, true
	}
	pairs := []string{"%%", "%"}
	known = true
	for _, name := range placeholders {
		attribute, isTarget := e.target.attribute(name)
		if !isTarget {
			attribute = cmp.Or(attributeOf(e.caller, name), none)
		}
		known = known && (attribute != "" || !mentions(value, name))
		pairs = append(pairs, "%("+name+")s", attribute)
	}
	return strings.NewReplacer(pairs...).Replace(value), known
}

// mentions reports whether the value of a check, which has no other parentheses, has a placeholder.
func mentions(value, name string) bool { return strings.Contains(value, "%("+name+")s") }

// checkKnown returns an error unless a name is known. Such a check would never pass, and so its negation always.
func checkKnown(known []string, of, name string) error {
	if slices.Contains(known, name) {
		return nil
	}
	if nearest := words.Nearest(name, known); nearest != "" {
		return fmt.Errorf("%s has no attribute %s; did you mean %s?", of, quote(name), nearest)
	}
	return fmt.Errorf("%s has no attribute %s; it has %s", of, quote(name), strings.Join(known, ", "))
}

var errPercent = errors.New("a % that begins no %(name)s; write %% for a percent sign")

// checkValue returns an error unless each percent sign in the value of a check is doubled or begins %(name)s.
func checkValue(value string) error {
	var parenthesis rune
	for rest := value; ; {
		text, behind, found := strings.Cut(rest, "%")
		if i := strings.IndexAny(text, "()"); i >= 0 && parenthesis == 0 {
			parenthesis = rune(text[i])
		}
		if !found {
			break
		}
		if rest, found = strings.CutPrefix(behind, "%"); found {
			continue
		}
		name, behind, closed := strings.Cut(behind, ")s")
		name, opened := strings.CutPrefix(name, "(")
		if !opened || !closed || name == "" || strings.ContainsAny(name, "()%") {
			return errPercent
		}
		if err := checkKnown(placeholders, "the target", name); err != nil {
			return err
		}
		rest = behind
	}
	if parenthesis != 0 {
		return fmt.Errorf("a %c inside a check; blanks must stand between it and the check", parenthesis)
	}
	return nil
}

// quote quotes a part of a policy file for a message and shortens it if it is long.
func quote(text string) string {
	const maxLength = 80
	return fmt.Sprintf("%q", words.First(text, maxLength))
}
