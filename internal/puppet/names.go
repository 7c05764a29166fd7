package puppet

import (
	"regexp"
	"strings"

	"purser/internal/document"
)

// Ref is a reference to a resource, such as File[/etc/motd].
type Ref struct{ Type, Title string }

// String formats the reference as Puppet does.
func (r Ref) String() string { return r.Type + "[" + r.Title + "]" }

// isTag matches valid tags.
var isTag = regexp.MustCompile(`^[0-9a-z_][0-9a-z_:.-]*$`)

// canonical returns the name of a type with each segment capitalised, as in catalogs. ok is false if it is not a valid
// name. A segment is a letter followed by letters, digits and underscores. "::" separates segments and may also come
// first.
func canonical(name string) (canonical string, ok bool) {
	name = strings.TrimPrefix(name, "::")
	same, begins := true, true // same: canonical so far; begins: a segment begins here
	for i := 0; i < len(name); i++ {
		c := name[i]
		small, capital := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z'
		switch {
		case small || capital:
			same, begins = same && capital == begins, false
		case begins:
			return "", false
		case c == ':' && strings.HasPrefix(name[i:], "::"):
			begins = true
			i++
		case c != '_' && (c < '0' || c > '9'):
			return "", false
		}
	}
	if begins || same {
		return name, !begins
	}
	return capitalised(name), true
}

func capitalised(name string) string {
	segments := strings.Split(strings.ToLower(name), "::")
	for i, segment := range segments {
		if segment != "" {
			segments[i] = strings.ToUpper(segment[:1]) + segment[1:]
		}
	}
	return strings.Join(segments, "::")
}

// refOf returns a reference with the type in canonical form and, if the type is Class, the title, too.
func refOf(typ, title string) Ref {
	if name, ok := canonical(typ); ok {
		typ = name
	}
	if typ == classType {
		title = capitalised(strings.TrimPrefix(title, "::"))
	}
	return Ref{typ, title}
}

const classType = "Class"

// ParseRef parses a reference such as Service[ntp]. ok is false if it is invalid.
func ParseRef(text string) (ref Ref, ok bool) {
	typ, rest, found := strings.Cut(text, "[")
	title, closed := strings.CutSuffix(rest, "]")
	if _, named := canonical(typ); !found || !closed || title == "" || !named {
		return Ref{}, false
	}
	return refOf(typ, title), true
}

// textOf returns a scalar as text. ok is false for a list, a mapping and null.
func textOf(value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case document.Number:
		return string(v), true
	case bool:
		if v {
			return "true", true
		}
		return "false", true
	}
	return "", false
}

// items returns the items of a list, or a list of any other value. It returns nil for null.
func items(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	if value == nil {
		return nil
	}
	return []any{value}
}

// shown formats a value briefly for a message.
func shown(value any) string {
	const maxShown = 64
	switch v := value.(type) {
	case nil:
		return "nil"
	case []any:
		return "a list"
	case document.Mapping:
		return "a hash"
	case string:
		short := v
		for i := range v {
			if i >= maxShown {
				short = v[:i] + "…"
				break
			}
		}
		return string(document.AppendJSON(nil, short))
	}
	text, _ := textOf(value)
	return text
}

// rubyClass returns the name of a value's class in Ruby, for messages in Puppet's words.
func rubyClass(value any) string {
	switch v := value.(type) {
	case nil:
		return "NilClass"
	case []any:
		return "Array"
	case document.Mapping:
		return "Hash"
	case string:
		return "String"
	case bool:
		if v {
			return "TrueClass"
		}
		return "FalseClass"
	}
	text, _ := textOf(value)
	if strings.ContainsAny(text, ".eE") {
		return "Float"
	}
	return "Integer"
}
