package authz

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"purser/internal/document"
)

// The bounds of a policy file.
const (
	MaxSize  = 1 << 20 // bytes
	MaxRules = 1000
	maxName  = 200 // bytes of the name of a rule

	maxValues = 50_000 // keys and values: the names, the expressions and, in their old form, the lists and checks
)

// fallback is the rule that the reference asks in place of one that is not registered. Many files have it; here it is
// read and decides nothing, as all rules that are asked about are registered.
const fallback = "default"

// Parse reads a policy file, in YAML or JSON: a mapping of names of rules to expressions. What is empty gives the
// defaults. The error lists everything that is wrong, a line for each, with the line of the file and the rule.
func Parse(text []byte) (*Policy, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	r := reader{rules: map[string]*rule{}, places: placesOf(text), media: mediaOf(text)}
	if err := r.readAll(text); err != nil {
		return nil, err
	}
	r.addDefaults()
	r.link()
	r.refuseStrangers()
	r.refuseCircles()
	if err := r.problems.err(); err != nil {
		return nil, err
	}
	return &Policy{rules: r.rules, order: sorted(r.rules)}, nil
}

var errQuoteless = errors.New(`write "!" for never and "@" for always, in quotes: YAML drops a ! without`)

// reader collects the rules of a file and all that is wrong with them.
type reader struct {
	rules    map[string]*rule
	places   map[string]place
	media    document.Media
	problems problems
}

// readAll reads the rules of a file. The error is of a text that cannot be read as a list of rules.
func (r *reader) readAll(text []byte) error {
	entry, err := decode(text)
	if err != nil {
		return err
	}
	members, ok := entry.Value.(document.Mapping)
	switch {
	case !ok && entry.Value != nil:
		return errors.New("the file must be a mapping of names of rules to expressions")
	case len(members) > MaxRules:
		return fmt.Errorf("the file has more than %d rules", MaxRules)
	}
	for _, note := range entry.Notes { // nobody can tell which of two rules the author believes to be in force
		r.problems.add(0, errors.New(strings.TrimSuffix(note.Message, "; the last one wins.")))
	}
	for _, member := range members {
		r.read(member.Key, member.Value)
	}
	return nil
}

func (r *reader) read(name string, value any) {
	next := &rule{name: name, expression: never{}, place: r.places[name]}
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, isStrange) {
		r.problems.addf(next, "a name of a rule is 1 to %d bytes without blanks, parentheses and quotes", maxName)
		return
	}
	r.rules[name] = next
	if err := r.checkQuotes(next.place, value); err != nil {
		r.problems.addf(next, "%w", err)
		return
	}
	expression, err := parseValue(value)
	if err != nil {
		r.problems.addf(next, "%w", err)
		return
	}
	next.expression, next.references = expression, referencesOf(expression, nil)
}

func isStrange(c rune) bool {
	return unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune(`()'"`, c)
}

// checkQuotes finds the exclamation mark without quotes, which YAML takes for a tag: never would become always.
func (r *reader) checkQuotes(p place, value any) error {
	isTag := strings.HasPrefix(p.rest, "!")
	isEmpty := value == "" && !strings.HasPrefix(p.rest, `""`) && !strings.HasPrefix(p.rest, `''`)
	if r.media == document.YAML && (isTag || isEmpty) {
		return errQuoteless
	}
	return nil
}

// addDefaults adds the registered rules that the file leaves out.
func (r *reader) addDefaults() {
	for _, known := range registered {
		if _, ok := r.rules[known.Name]; !ok {
			r.read(known.Name, known.Expression)
		}
		r.rules[known.Name].description, r.rules[known.Name].registered = known.Description, true
	}
}

// referencesOf adds the references to other rules that an expression has.
func referencesOf(expression check, found []*ruleCheck) []*ruleCheck {
	switch c := expression.(type) {
	case *ruleCheck:
		found = append(found, c)
	case notCheck:
		found = referencesOf(c.check, found)
	case andCheck:
		for _, part := range c {
			found = referencesOf(part, found)
		}
	case orCheck:
		for _, part := range c {
			found = referencesOf(part, found)
		}
	}
	return found
}
