package document

import (
	"regexp"
	"strconv"
)

// syntaxError is an error in a text.
type syntaxError struct {
	line   int // of the text, from 1; 0 if unknown
	column int // 0 if unknown
	rule   rule
	own    bool // exceeds a bound of this package; not an error of the library
	deep   bool // nested too deeply
	early  bool // the line may precede that of the mistake
}

func (e *syntaxError) Error() string { return string(e.rule) }

// syntaxErrorAt returns an error at an offset in a text.
func syntaxErrorAt(text []byte, offset int, rule rule) *syntaxError {
	at := positionIn(text, offset)
	return &syntaxError{line: at.Line, column: at.Column, rule: rule}
}

const (
	unknownRule rule = "this is not valid YAML"
	noDirective rule = "a directive, which begins with '%', cannot stand here; end the document before it with a line ..."
	longPrefix  rule = "the prefix of a %TAG directive has more than 1000 bytes"
)

// yamlMessage matches the messages of the YAML library: the line, if it is known, and what the library says.
var yamlMessage = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

var (
	// ofParser matches messages of the library's parser, whose lines are one too small. All others come from its scanner.
	ofParser = regexp.MustCompile(`^(?:did not find expected (?:<|key|node|'-'|',')|found undefined tag handle$)`)
	// early matches messages whose line is the first of the collection or text with the mistake.
	early = regexp.MustCompile(`^(?:did not find expected (?:key|'-')|found a tab character)`)
	// ofReader matches messages without a line. Others lack it if it is the first.
	ofReader  = regexp.MustCompile(`UTF-|^control characters|^invalid Unicode character$|surrogate area$`)
	tooNested = regexp.MustCompile(`^exceeded max depth of \d+$`)
	// noAnchor matches the only messages of the library that quote the text.
	noAnchor = regexp.MustCompile(`(?s)^unknown anchor '.*' referenced$`)
)

// syntaxErrorOf converts an error of the YAML library. Messages that are not known are replaced, as they may quote the
// text.
func syntaxErrorOf(err error) *syntaxError {
	said := yamlMessage.FindStringSubmatch(err.Error())
	if said == nil {
		return &syntaxError{rule: unknownRule}
	}
	message := said[2]
	e := &syntaxError{rule: unknownRule, early: early.MatchString(message)}
	if noAnchor.MatchString(message) {
		e.rule = "'*' begins an alias, and no such anchor precedes it; quote a value that begins with '*'"
		return e
	}
	if tooNested.MatchString(message) {
		e.rule, e.deep = "the brackets are nested too deeply", true
		return e
	}
	switch e.line, _ = strconv.Atoi(said[1]); {
	case ofReader.MatchString(message):
	case e.line == 0:
		e.line = 1
	case ofParser.MatchString(message):
		e.line++
	}
	if known, ok := rules[message]; ok {
		e.rule = known
	}
	return e
}

// rules are the messages of the YAML library and what they mean.
var rules = map[string]rule{
	"block sequence entries are not allowed in this context": "an item of a list cannot stand here; begin the list on " +
		"a line of its own",
	"control characters are not allowed": "control characters are not " +
		"allowed; write an escape in double quotes",
	"could not find expected ':'": "a key has no colon on its line, " +
		"or is longer than 1024 characters",
	"did not find expected ',' or ']'": "a comma or ']' must follow the item; write a space after the colon of a key, " +
		"and quote a text that contains brackets",
	"did not find expected ',' or '}'": "a comma or '}' must follow the value; write a space after the colon of a key, " +
		"and quote a text that contains brackets",
	"did not find expected '-' indicator": "the line does not continue the list around it; indent it like the list's " +
		"items, or more",
	"did not find expected <document start>": "another value follows the " +
		"document's; separate documents with ---",
	"did not find expected alphabetic or numeric character": "a name of letters and digits must follow '&' or '*'; " +
		"quote a value that begins with it",
	"did not find expected comment or line break": "only a comment may follow here, after a space",
	"did not find expected key": "the line does not continue the mapping around it; indent it like the mapping's keys, " +
		"and end each key with a colon",
	"did not find expected node content": "a value is missing, or begins " +
		"with a character that must be quoted",
	"did not find expected tag URI": "a tag has no name; quote a " +
		"value that begins with '!'",
	"did not find expected whitespace or line break": "a space must follow a tag, an anchor or a directive; quote a " +
		"value that begins with '!', '&' or '*'",
	"did not find expected hexdecimal number": "an escape in double quotes has too few hexadecimal digits; write \\\\ " +
		"for a backslash, or use single quotes",
	"found a tab character that violates indentation": tabIndent,
	"found a tab character where an indentation space is expected": "a tab begins a text after > or an empty line " +
		"after |; write the text in double quotes, with \\t",
	"found character that cannot start any token": "a value cannot begin with this character, or a tab indents the " +
		"line; quote the value, and indent with spaces",
	"did not find expected digit or '.' character": noDirective,
	"did not find expected version number":         noDirective,
	"found duplicate %YAML directive":              noDirective,
	"found extremely long version number":          noDirective,
	"found incompatible YAML document":             noDirective,
	"found unknown directive name":                 noDirective,
	"found invalid Unicode character escape code": "an escape in double quotes stands for no character: \\ud800, for " +
		"example, is half of one; write the character itself",
	"found undefined tag handle": "no %TAG directive defines the handle of " +
		"this tag; quote a value that begins with '!'",
	"found unexpected document indicator": "a line with --- or ... is inside quotes; close the quotes before it, or " +
		"indent it",
	"found unexpected end of stream": "a quote is not closed",
	"found unknown escape character": "a backslash in double quotes begins an escape sequence, and this is none; write " +
		"\\\\ for a backslash, or use single quotes",
	"incomplete UTF-8 octet sequence":    "the text ends within a character of UTF-8",
	"invalid Unicode character":          "a character that Unicode does not have",
	"invalid leading UTF-8 octet":        "a byte that is not UTF-8; save the text as UTF-8",
	"invalid trailing UTF-8 octet":       "a byte that is not UTF-8; save the text as UTF-8",
	"invalid length of a UTF-8 sequence": "a byte that is not UTF-8; save the text as UTF-8",
	"mapping values are not allowed in this context": "a key cannot stand here: it is on the line of ---, after " +
		"another value, or longer than 1024 characters; begin it on a line of its own, or quote the text with the " +
		"colon",
}
