package authz

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"purser/internal/document"
)

// Bounds of a policy file.
const (
	MaxSize  = 1 << 20 // bytes
	MaxRules = 1000
	maxName  = 200 // bytes of a rule's name

	maxValues = 50_000 // keys and values: names, expressions, and the lists and checks of the old form
)

// fallback is the rule that the reference evaluates in place of an unregistered one. Many files define it. It has no
// effect here, because only registered rules are evaluated.
const fallback = "default"

// Parse parses a policy file, a mapping from names of rules to expressions, in YAML or JSON. An empty file gives the
// defaults. The error lists all problems, one per line, each with its rule and the line of the file.
func Parse(text []byte) (*Policy, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	b := builder{rules: map[string]*rule{}, locations: locate(text), media: mediaOf(text)}
	if err := b.readAll(text); err != nil {
		return nil, err
	}
	b.addDefaults()
	b.link()
	b.refuseUnused()
	b.refuseCycles()
	if err := b.problems.err(); err != nil {
		return nil, err
	}
	return &Policy{rules: b.rules, order: sorted(b.rules)}, nil
}

var errQuoteless = errors.New(`write "!" for never and "@" for always, in quotes: YAML drops a ! without`)

// builder collects the rules of a file and their problems.
type builder struct {
	rules     map[string]*rule
	locations map[string]location
	media     document.Media
	problems  problems
}

// readAll adds the rules of a file. It returns an error if the file is not a mapping of rules.
func (b *builder) readAll(text []byte) error {
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
	for _, note := range entry.Notes { // a duplicate rule: the author may expect either to be used
		b.problems.add(0, errors.New(strings.TrimSuffix(note.Message, "; the last one wins.")))
	}
	for _, member := range members {
		b.read(member.Key, member.Value)
	}
	return nil
}

func (b *builder) read(name string, value any) {
	next := &rule{name: name, expression: never{}, location: b.locations[name]}
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, isForbidden) {
		b.problems.addf(next, "a name of a rule is 1 to %d bytes without blanks, parentheses and quotes", maxName)
		return
	}
	b.rules[name] = next
	if err := b.checkQuotes(next.location, value); err != nil {
		b.problems.addf(next, "%w", err)
		return
	}
	expression, err := parseValue(value)
	if err != nil {
		b.problems.addf(next, "%w", err)
		return
	}
	next.expression, next.references = expression, referencesOf(expression, nil)
}

func isForbidden(c rune) bool {
	return unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune(`()'"`, c)
}

// checkQuotes refuses an unquoted exclamation mark. YAML reads it as a tag, which would turn never into always.
func (b *builder) checkQuotes(at location, value any) error {
	isTag := strings.HasPrefix(at.rest, "!")
	isEmpty := value == "" && !strings.HasPrefix(at.rest, `""`) && !strings.HasPrefix(at.rest, `''`)
	if b.media == document.YAML && (isTag || isEmpty) {
		return errQuoteless
	}
	return nil
}

// addDefaults adds the registered rules that the file does not define.
func (b *builder) addDefaults() {
	for _, known := range registered {
		if _, ok := b.rules[known.Name]; !ok {
			b.read(known.Name, known.Expression)
		}
		b.rules[known.Name].description, b.rules[known.Name].registered = known.Description, true
	}
}

// referencesOf appends the references in an expression to found.
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
