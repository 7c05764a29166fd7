package puppet

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed core_types.txt
var coreText string

// core returns the types of Puppet 7.23.0. Many programs do not need them.
var core = sync.OnceValue(func() table { return readTable(coreText) })

// table has types, and the parameters of all resources.
type table struct {
	types          map[string]*Type
	metaparameters map[string]values
}

const metaparametersHeader = "metaparameters"

// readTable reads a table of types, whose format is described in its first lines.
func readTable(text string) table {
	p := parser{map[string][]alternative{}}
	read := table{map[string]*Type{}, map[string]values{}}
	var described *Type
	for line := range strings.Lines(strings.ReplaceAll(text, "\n      ", " ")) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		name, rest := words[0], words[1:]
		switch {
		case name == "define":
			p.defined[rest[0]] = p.values(rest[1:], "").allowed
		case line[0] == ' ':
			p.describe(described, name, rest)
		case name == metaparametersHeader:
			described = &Type{parameters: read.metaparameters}
		default:
			described = newCore(name, rest)
			read.types[described.Name] = described
		}
	}
	for _, t := range read.types {
		if _, own := t.parameters[nameParameter]; !own && len(t.namevars) == 1 {
			t.parameters[nameParameter] = t.parameters[t.namevars[0]]
		}
	}
	return read
}

// newCore returns a type with these name variables, and without parameters.
func newCore(name string, namevars []string) *Type {
	t := &Type{Name: capitalised(name), namevars: namevars, parameters: map[string]values{}}
	if last := len(namevars) - 1; namevars[last] == "shared" {
		t.namevars, t.shared = namevars[:last], true
	}
	return t
}

// parser reads the rules of a table.
type parser struct{ defined map[string][]alternative }

// describe adds a parameter to a type, or conditions of which a resource must not meet all.
func (p parser) describe(t *Type, name string, words []string) {
	words, sentence := cutSentence(words)
	switch {
	case name == "never":
		t.never = append(t.never, p.exclusion(words, sentence))
	case len(words) == 0:
		t.parameters[name] = values{}
	default:
		t.parameters[name] = p.values(words[1:], sentence) // words[0] is =
	}
}

// cutSentence separates the words of a rule from the sentence after a colon.
func cutSentence(words []string) (rule []string, sentence string) {
	at := slices.Index(words, ":")
	if at < 0 {
		return words, ""
	}
	return words[:at], strings.Join(words[at+1:], " ")
}

// values parses a rule such as "each String/regexp/ word | alias".
func (p parser) values(words []string, sentence string) values {
	v := values{sentence: sentence}
	for _, word := range words {
		switch word {
		case eachItem, flatItems, headItem:
			v.items, v.whole, v.allowed = word, v.allowed, nil
		case "|":
			v.shown = len(v.allowed)
		default:
			v.allowed = append(v.allowed, p.alternatives(word)...)
		}
	}
	return v
}

// exclusion parses conditions such as "content -path -provider=shell command[0]!QUALIFIED".
func (p parser) exclusion(words []string, sentence string) exclusion {
	x := exclusion{sentence: sentence}
	for _, word := range words {
		var c condition
		word, c.opposite = strings.CutPrefix(word, "-")
		if at := strings.IndexAny(word, "=!"); at > 0 {
			c.refused, c.allowed = word[at] == '!', p.alternatives(word[at+1:])
			word = word[:at]
		}
		c.parameter, c.first = strings.CutSuffix(word, "[0]")
		x.conditions = append(x.conditions, c)
	}
	return x
}

// alternatives parses a word, a /regexp/, a class, a class/regexp/ or a defined name.
func (p parser) alternatives(text string) []alternative {
	if defined := p.defined[text]; defined != nil {
		return defined
	}
	before, pattern, isPattern := strings.Cut(text, "/")
	switch {
	case isPattern:
		return []alternative{{class: before, pattern: regexp.MustCompile(strings.TrimSuffix(pattern, "/"))}}
	case before[0] >= 'A' && before[0] <= 'Z':
		return []alternative{{class: before}}
	}
	return []alternative{{word: before}}
}
