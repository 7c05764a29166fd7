package sites

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// Bounds of what an operator sets. Those of labels are in characters.
const (
	maxLabels, maxKey, maxValue = 20, 63, 255

	maxDocuments, maxChanges, maxKeep = 10_000_000, 1_000_000, 10_000_000
)

// The keys of what is set.
var (
	setKeys   = []string{"name", "labels", "limits", "archived"}
	limitKeys = []string{"documents", "changes", "keep"}
)

var keyPattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$`)

// Parse returns the settings that a value of a document describes, for a site whose name is in the path. Its fault,
// Invalid, lists all mistakes.
func Parse(name string, value any) (Settings, error) {
	p := parser{}
	if !IsName(name) {
		p.failf("%s cannot be the name of a site: names have 1 to 63 lower-case letters, digits, dots, underscores and "+
			"hyphens, and begin and end with a letter or a digit.", strconv.Quote(words.Excerpt(name)))
	}
	settings := p.settings(name, value)
	switch len(p.mistakes) {
	case 0:
		return settings, nil
	case 1:
		return Settings{}, bad(p.mistakes[0].Message)
	}
	f := bad(fmt.Sprintf("The site has %d mistakes.", len(p.mistakes)))
	f.Messages = p.mistakes
	return Settings{}, f
}

func bad(message string) *fault.Fault {
	return fault.New(fault.Invalid, "HTTPBadRequest", "%s", message)
}

// parser collects mistakes. Their number is bounded by the size of a body.
type parser struct{ mistakes []fault.Message }

func (p *parser) failf(format string, args ...any) {
	p.mistakes = append(p.mistakes, fault.Message{Message: fmt.Sprintf(format, args...), Error: true})
}

func (p *parser) settings(name string, value any) (settings Settings) {
	fields, isMapping := value.(document.Mapping)
	if !isMapping {
		p.failf("A site must be a mapping, with the keys %s; {} makes one without labels and limits of its own.",
			words.List(setKeys))
	}
	for _, field := range fields {
		switch field.Key {
		case "name":
			if field.Value != name {
				p.failf("The name must be %s, as in the path: a site cannot be renamed.", name)
			}
		case "labels":
			settings.Labels = p.labels(field.Value)
		case "limits":
			settings.Limits = p.limits(field.Value)
		case "archived":
			var ok bool
			if settings.Archived, ok = field.Value.(bool); !ok {
				p.failf("The value of archived must be true or false.")
			}
		case "revision", "stamp", "status", "documents", "createdAt", "changedAt":
			p.failf("%q of a site is not set, only shown; leave it out.", field.Key)
		default:
			p.unknown("A site", field.Key, setKeys)
		}
	}
	return settings
}

// unknown notes a key that cannot be set.
func (p *parser) unknown(what, key string, known []string) {
	quoted := strconv.Quote(words.Excerpt(key))
	if nearest := words.Nearest(key, known); nearest != "" {
		p.failf("%s has the unknown key %s; did you mean %s?", what, quoted, nearest)
	} else {
		p.failf("%s has the unknown key %s; it can have %s.", what, quoted, words.List(known))
	}
}

func (p *parser) labels(value any) map[string]string {
	fields, isMapping := value.(document.Mapping)
	if !isMapping {
		p.failf("The labels must be a mapping of keys to texts.")
		return nil
	}
	if len(fields) > maxLabels {
		p.failf("There are %d labels, but at most %d are allowed.", len(fields), maxLabels)
		return nil
	}
	labels := map[string]string{}
	for _, field := range fields {
		key := strconv.Quote(words.Excerpt(field.Key))
		text, isText := field.Value.(string)
		switch {
		case !keyPattern.MatchString(field.Key):
			p.failf("%s cannot be the key of a label: keys have 1 to %d letters, digits, dots, underscores, slashes and "+
				"hyphens, and begin and end with a letter or a digit.", key, maxKey)
		case !isText:
			p.failf("The label %s must be a text; put it in quotes.", key)
		case utf8.RuneCountInString(text) > maxValue:
			p.failf("The label %s has %d characters, but at most %d are allowed.", key, utf8.RuneCountInString(text), maxValue)
		case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
			p.failf("The label %s must be a text on one line.", key)
		default:
			labels[field.Key] = text
		}
	}
	return labels
}

func (p *parser) limits(value any) (limits Limits) {
	fields, isMapping := value.(document.Mapping)
	if !isMapping {
		p.failf("The limits must be a mapping, with the keys %s.", words.List(limitKeys))
	}
	for _, field := range fields {
		switch field.Key {
		case "documents":
			limits.Documents = p.limit(field, maxDocuments)
		case "changes":
			limits.Changes = p.limit(field, maxChanges)
		case "keep":
			limits.Keep = p.limit(field, maxKeep)
		default:
			p.unknown("The mapping limits", field.Key, limitKeys)
		}
	}
	return limits
}

// limit returns a limit; nil, as if it were absent, for null.
func (p *parser) limit(field document.Member, most int64) *int64 {
	if field.Value == nil {
		return nil
	}
	number, _ := field.Value.(document.Number)
	limit, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || limit < 1 || limit > most {
		p.failf("The limit %s must be a whole number from 1 to %d; without it, the server's holds.", field.Key, most)
		return nil
	}
	return &limit
}
