package authz

import (
	"errors"
	"fmt"
	"strings"

	"purser/internal/authn"
)

// template is a text in which %(name)s stands for an attribute of the target, and %% for a percent sign.
type template struct {
	written string
	parts   []part
}

// part is a literal text or, if target is not empty, an attribute of the target.
type part struct{ text, target string }

var errPercent = errors.New("a % that begins no %(name)s; write %% for a percent sign")

func parseTemplate(written string) (template, error) {
	t := template{written: written}
	rest := written
	for {
		text, behind, found := strings.Cut(rest, "%")
		t.parts = append(t.parts, part{text: text})
		if !found {
			return t, checkText(t.parts)
		}
		next, behind, err := parseTarget(behind)
		if err != nil {
			return t, err
		}
		t.parts, rest = append(t.parts, next), behind
	}
}

// parseTarget parses the text after a percent sign.
func parseTarget(text string) (next part, behind string, err error) {
	if behind, ok := strings.CutPrefix(text, "%"); ok {
		return part{text: "%"}, behind, nil
	}
	name, behind, closed := strings.Cut(text, ")s")
	name, opened := strings.CutPrefix(name, "(")
	if !opened || !closed || name == "" || strings.ContainsAny(name, "()%") {
		return part{}, "", errPercent
	}
	return part{target: name}, behind, checkKnown(targets, "the target", name)
}

func checkText(parts []part) error {
	for _, p := range parts {
		if i := strings.IndexAny(p.text, "()"); i >= 0 {
			return fmt.Errorf("a %c inside a check; blanks must stand between it and the check", p.text[i])
		}
	}
	return nil
}

// fill returns the text for a caller, who is also the target.
func (t template) fill(caller authn.Caller) string {
	if len(t.parts) == 1 {
		return t.parts[0].text
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.target == "" {
			b.WriteString(p.text)
		} else {
			b.WriteString(attributeOf(targets, p.target).value(caller))
		}
	}
	return b.String()
}
