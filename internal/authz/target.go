package authz

// Target has the attributes of what a caller asks for. An empty one is missing: the request is not about such a thing,
// or it is not known.
type Target struct {
	Site       string
	Validation string // its name
	Author     string // the ID of the user who made the revision
}

// targetAttributes are the names of a target's attributes in expressions.
var targetAttributes = []string{"author", "site", "validation"}

// attribute returns an attribute by its name; ok is false if targets have none with it.
func (t Target) attribute(name string) (value string, ok bool) {
	switch name {
	case "author":
		return t.Author, true
	case "site":
		return t.Site, true
	case "validation":
		return t.Validation, true
	}
	return "", false
}

// Verdict is the decision of a rule, in the order from never to always.
type Verdict uint8

// The verdicts. Depends means that the rule could decide either way if the target had an attribute that it lacks. Such
// a caller has no right: "not user_id:%(author)s" must not let everybody pass if nobody knows the author.
const (
	Refused Verdict = iota
	Depends
	Allowed
)
