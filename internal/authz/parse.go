package authz

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"purser/internal/document"
	"purser/internal/fault"
)

// Bounds of a policy file.
const (
	MaxSize  = 1 << 20 // bytes
	MaxRules = 1000
	maxName  = 200 // bytes of a rule's name

	maxValues = 50_000 // keys and values: names, expressions, and the lists and checks of the old form
)

// fallback is the rule that oslo.policy evaluates in place of an unregistered one. Many files define it. It has no
// effect here, because only registered rules are evaluated.
const fallback = "default"

// Parse parses a policy file, a mapping from names of rules to expressions, in YAML or JSON. Rules that it
// does not name have their defaults. The error lists all problems, one per line, each with its rule and the line of the
// file.
func Parse(text []byte, defaults Defaults) (*Policy, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	b := builder{rules: map[string]*rule{}, locations: locate(text), media: mediaOf(text)}
	if err := b.readAll(text); err != nil {
		return nil, err
	}
	replaced := b.replaced(defaults)
	b.addDefaults(defaults, replaced)
	b.refuseUnknown()
	b.refuseUnused()
	b.refuseCycles()
	if err := b.problems.err(); err != nil {
		return nil, err
	}
	return &Policy{rules: b.rules, order: b.ordered(), replaced: replaced}, nil
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
	next := &rule{name: name, expression: &check{kind: never}, location: b.locations[name]}
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
	next.expression = expression
	seen := map[string]bool{}
	for _, name := range expression.references(nil) {
		if !seen[name] {
			seen[name] = true
			next.references = append(next.references, name)
		}
	}
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

// replaced returns the built-in roles that the file checks without saying who has them. It then decides alone what they
// may do: a file from before there were such roles must not give them more than it says.
func (b *builder) replaced(defaults Defaults) (roles []Role) {
	inFile := b.byName()
	for _, role := range Roles() {
		checked := slices.ContainsFunc(inFile, func(r *rule) bool { return r.expression.checks(role.Name) })
		if checked && defaults == WithRoles && role.Rule != AdminAPI && b.rules[role.Rule] == nil {
			roles = append(roles, role)
		}
	}
	return roles
}

// addDefaults adds the registered rules that the file does not define. Nobody has a built-in role that is replaced.
func (b *builder) addDefaults(defaults Defaults, replaced []Role) {
	for _, known := range registered {
		if _, ok := b.rules[known.Name]; !ok {
			expression := defaults.expression(known)
			if slices.ContainsFunc(replaced, func(role Role) bool { return role.Rule == known.Name }) {
				expression = noCaller
			}
			b.read(known.Name, expression)
		}
		b.rules[known.Name].description, b.rules[known.Name].registered = known.Description, true
	}
}

// decode decodes a file with one document. The Value is nil if the file is empty. The Notes are about duplicate keys.
//
//nolint:contextcheck,nolintlint // the work is not charged to a request, because all requests use the file
func decode(text []byte) (document.Entry, error) {
	if len(text) > MaxSize {
		return document.Entry{}, fmt.Errorf("the file has more than %d bytes", MaxSize)
	}
	limits := document.DefaultLimits()
	limits.Values, limits.Strict = maxValues, true
	segments, err := document.Split(context.Background(), text, mediaOf(text), limits)
	switch {
	case err != nil:
		return document.Entry{}, inFile(err, limits)
	case len(segments) == 0:
		return document.Entry{}, nil
	case len(segments) > 1:
		return document.Entry{}, fmt.Errorf("line %d: a second document begins; the file must be one", segments[1].Line)
	}
	entry, err := document.Decode(context.Background(), segments[0], limits)
	return entry, inFile(err, limits)
}

// mediaOf returns the media type of a file. JSON needs its own parser, because a YAML parser does not accept all of it.
func mediaOf(text []byte) document.Media {
	if json.Valid(text) && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return document.JSON
	}
	return document.YAML
}

// inFile rewords an error of package document for a policy file, because such errors name settings for request bodies.
func inFile(err error, limits document.Limits) error {
	switch {
	case err == nil:
		return nil
	case fault.KindOf(err) == fault.TooLarge:
		return fmt.Errorf("the file has more than %d keys and values, nests them deeper than %d, or grows beyond %d "+
			"bytes by its aliases", limits.Values, limits.Depth, limits.Size)
	}
	return errors.New(strings.TrimPrefix(document.Details(err), "document 1, "))
}

// location is where a file defines a rule.
type location struct {
	line int    // counts from 1; 0 if unknown
	rest string // the rest of the line after the name
}

// locate returns the locations of the rules in a file, for messages. The YAML reader returns only values, so locate
// searches for lines that begin with a name. It does not find names in unusual notation.
func locate(text []byte) map[string]location {
	locations, number := map[string]location{}, 0
	for line := range bytes.Lines(text) {
		number++
		name, rest, ok := nameAt(strings.TrimLeft(string(line), " \t{,"))
		if _, seen := locations[name]; ok && !seen {
			locations[name] = location{number, strings.TrimSpace(rest)}
		}
	}
	return locations
}

// nameAt splits a line after the key at its beginning.
func nameAt(line string) (name, rest string, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		name, rest, ok = strings.Cut(line[1:], line[:1])
		rest, isKey := strings.CutPrefix(strings.TrimLeft(rest, " \t"), ":")
		return name, rest, ok && isKey
	}
	if name, isLast := strings.CutSuffix(line, ":"); isLast && !strings.Contains(name, ": ") {
		return name, "", true
	}
	name, rest, ok = strings.Cut(line, ": ")
	return strings.TrimRight(name, " \t"), rest, ok
}
