package document

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// The YAML library refuses the escape \/ and a tab that begins the text after |, and it takes the colon before a comma
// or a bracket as part of a key, as in {a:, b:}. YAML 1.2 and PyYAML read them all. The library therefore reads a text
// with stand-ins, which take up as many characters, and its nodes are mended.

// mender mends the nodes of a text with stand-ins.
type mender struct {
	slash  *strings.Replacer // from the stand-in for \/ to what is written; nil if there is none
	escape string            // the character that the stand-in for \/ means in double quotes
	tab    bool              // the text has stand-ins for tabs
	colons bool              // a colon is before a comma or a closing bracket
}

// standInTab stands for a tab that begins a text. Characters of the private use area are ordinary to YAML.
const standInTab = '\ue000'

var (
	// textHeader matches a line that begins a text with |, without saying how far it is indented.
	textHeader   = regexp.MustCompile(`(?:^|[:?-][ \t]+)(?:[!&][^ \t]+[ \t]+)*\|[-+]?[ \t]*(?:[ \t]#.*)?$`)
	escapedTab   = regexp.MustCompile(`(?i)\\(?:u|U0000)e000`) // the stand-in, as it may be written in double quotes
	strippedTab  = regexp.MustCompile(string(standInTab) + `[ \t]*`)
	endingColon  = regexp.MustCompile(`:[,\]}]`)
	escapedSlash = []byte(`\/`)
)

// escape is an escape sequence that can stand for \/ in a text where used matches neither it nor its character.
type escape struct {
	written, means string
	used           *regexp.Regexp
}

var escapes = sync.OnceValue(func() []escape {
	return []escape{
		{`\a`, "\a", regexp.MustCompile(`\\(?:a|x07|u0007|U00000007)`)},
		{`\b`, "\b", regexp.MustCompile(`\\(?:b|x08|u0008|U00000008)`)},
		{`\P`, "\u2029", regexp.MustCompile(`\\(?:P|u2029|U00002029)|\x{2029}`)},
	}
})

// withStandIns returns a text that the library reads, and the mender of its nodes.
func withStandIns(text []byte) ([]byte, mender) {
	m := mender{colons: endingColon.Match(text)}
	if bytes.Contains(text, []byte(" \t")) && !bytes.ContainsRune(text, standInTab) && !escapedTab.Match(text) {
		text, m.tab = replaceTabs(text)
	}
	if !bytes.Contains(text, escapedSlash) {
		return text, m
	}
	for _, other := range escapes() {
		if !other.used.Match(text) {
			m.slash, m.escape = strings.NewReplacer(other.written, `\/`), other.means
			return replaceSlashes(text, other.written), m
		}
	}
	return text, m
}

// replaceTabs replaces the tabs that begin a text after |, where only spaces indent it.
func replaceTabs(text []byte) (out []byte, replaced bool) {
	isHeader := false // of a text whose first line has not been found
	for line := range bytes.Lines(text) {
		content := bytes.TrimLeft(line, " ")
		switch written := bytes.TrimRight(content, "\r\n"); {
		case len(written) == 0:
		case isHeader && written[0] == '\t' && len(content) < len(line):
			out = append(append(out, line[:len(line)-len(content)]...), string(standInTab)...)
			line, isHeader, replaced = content[1:], false, true
		default:
			isHeader = bytes.IndexByte(written, '|') >= 0 && textHeader.Match(written)
		}
		out = append(out, line...)
	}
	return out, replaced
}

// replaceSlashes replaces the escape \/ in a text, but not a slash after an escaped backslash.
func replaceSlashes(text []byte, by string) []byte {
	out := bytes.Clone(text)
	for at := 0; ; {
		i := bytes.IndexByte(out[at:], '\\')
		if i < 0 || at+i+1 == len(out) {
			return out
		}
		if at += i; out[at+1] == '/' {
			copy(out[at:], by)
		}
		at += len(by)
	}
}

// nothing reports whether there is nothing to mend.
func (m mender) nothing() bool { return m.slash == nil && !m.tab && !m.colons }

// mend mends a node and the nodes in it.
func (m mender) mend(n *yaml.Node) *syntaxError {
	if n.Kind == yaml.ScalarNode {
		return m.scalar(n)
	}
	for _, child := range n.Content {
		if wrong := m.mend(child); wrong != nil {
			return wrong
		}
	}
	if !m.colons || n.Style&yaml.FlowStyle == 0 {
		return nil
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			if endsInColon(item) {
				n.Content[i] = pairOf(item)
			}
		}
	case yaml.MappingNode:
		return mendMembers(n.Content)
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
	return nil
}

// scalar replaces the stand-ins in a scalar.
func (m mender) scalar(n *yaml.Node) *syntaxError {
	switch {
	case m.slash == nil:
	case n.Style&yaml.DoubleQuotedStyle != 0:
		n.Value = strings.ReplaceAll(n.Value, m.escape, "/")
	default:
		n.Value = m.slash.Replace(n.Value)
	}
	if !m.tab || !strings.ContainsRune(n.Value, standInTab) {
		return nil
	}
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		n.Value = strings.ReplaceAll(n.Value, string(standInTab), "\t")
	case n.Style&yaml.FoldedStyle != 0, strings.HasPrefix(n.Value, string(standInTab)):
		return &syntaxError{line: n.Line, column: n.Column, rule: tabIndent}
	default: // it begins a continuation line, whose blanks are not part of the value
		n.Value = strippedTab.ReplaceAllString(n.Value, "")
	}
	return nil
}

const (
	tabIndent rule = "a tab in the indentation; indent with spaces"
	noSpace   rule = "a key with an anchor or a tag needs a space after its colon; write one"
	lastColon rule = "a second colon after the last comma; quote the value that ends with it"
)

// endsInColon reports whether a node in brackets is a plain scalar to which the library has added a colon.
func endsInColon(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style&^yaml.TaggedStyle == 0 && strings.HasSuffix(n.Value, ":")
}

// withoutColon returns the key that the library has read together with its colon.
func withoutColon(key string) string { return strings.TrimRight(strings.TrimSuffix(key, ":"), " \t") }

// pairOf returns the mapping that a scalar with the colon of a key begins, without a value.
func pairOf(key *yaml.Node) *yaml.Node {
	key.Value = withoutColon(key.Value)
	null := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: key.Line, Column: key.Column}
	return &yaml.Node{
		Kind: yaml.MappingNode, Tag: "!!map", Style: yaml.FlowStyle, Line: key.Line, Column: key.Column,
		Content: []*yaml.Node{key, null},
	}
}

// mendMembers removes the colons from the keys of a mapping in braces that have no value, and refuses values with one.
// A colon that another one follows is part of the key.
func mendMembers(content []*yaml.Node) *syntaxError {
	for i := 0; i+1 < len(content); i += 2 {
		key, value := content[i], content[i+1]
		if endsInColon(value) {
			return &syntaxError{line: value.Line, column: value.Column, rule: lastColon}
		}
		isAbsent := value.Kind == yaml.ScalarNode && value.Style == 0 && value.Value == "" && value.Line == key.Line
		switch {
		case !isAbsent || !endsInColon(key):
		case value.Column == key.Column+utf8.RuneCountInString(key.Value): // it is where the key ends
			key.Value = withoutColon(key.Value)
		case key.Anchor != "" || key.Style != 0: // the key's column is that of its anchor or tag
			return &syntaxError{line: key.Line, column: key.Column, rule: noSpace}
		}
	}
	return nil
}
