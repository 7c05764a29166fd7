package murano

import (
	"slices"
	"strings"

	"purser/internal/murano/yaql"
)

// slot is a key of a statement and the check of its value.
type slot struct {
	key      string
	required bool
	check    func(*classFile, *Value)
}

// statements are the kinds of statements, in the order in which they are recognized by their first key. The allowed
// values are those that Murano accepts, even where murano-pkg-check does not.
var statements [][]slot //nolint:gochecknoglobals // never changes

func init() { //nolint:gochecknoinits // the table refers to itself
	block, expression, text := (*classFile).block, (*classFile).expression, (*classFile).text
	branches, empty := (*classFile).branches, (*classFile).empty
	statements = [][]slot{
		{{"Try", true, block}, {"Catch", false, (*classFile).catch}, {"Else", false, block}, {"Finally", false, block}},
		{{"Parallel", true, block}, {"Limit", false, block}},
		{{"Repeat", true, except(expression, Int)}, {"Do", true, block}},
		{{"If", true, (*classFile).condition}, {"Then", true, block}, {"Else", false, block}},
		{{"Break", true, empty}},
		{{"Return", true, (*classFile).data}},
		{{"While", true, expression}, {"Do", true, block}},
		{{"For", true, text}, {"In", true, except(expression, Seq, Map)}, {"Do", true, block}},
		{{"Match", true, branches}, {"Value", true, expression}, {"Default", false, block}},
		{{"Switch", true, branches}, {"Default", false, block}},
		{
			{"Throw", true, except(text, Seq)},
			{"Message", false, text},
			{"Extra", false, (*classFile).data},
			{"Cause", false, (*classFile).data},
		},
		{{"Continue", true, empty}},
		{{"Rethrow", true, empty}},
	}
}

// except returns a check that treats values of some kinds as data.
func except(check func(*classFile, *Value), kinds ...Kind) func(*classFile, *Value) {
	return func(f *classFile, v *Value) {
		if slices.Contains(kinds, v.Kind) {
			f.data(v)
			return
		}
		check(f, v)
	}
}

// body checks the body of a method.
func (f *classFile) body(v *Value) {
	switch v.Kind {
	case Seq, Map, String:
		f.block(v)
	case Null, Bool, Int, Float, Date, Other:
		f.atf("MPL:E045", v, "Body is not a list or scalar/yaql expression")
	}
}

// block checks a block of code: a statement, an expression or a list of them.
func (f *classFile) block(v *Value) {
	for item := range f.items(v) {
		switch item.Kind {
		case Map:
			f.statement(item)
		case String:
			f.expression(item)
			f.bareWord(item)
		case Null, Bool, Int, Float, Date, Seq, Other:
		}
	}
}

var barePattern = mustCompile(`^[\s\p{L}\p{N}_.]+$`)

// bareWord warns of a line that Murano reads as a string, which cannot be run.
func (f *classFile) bareWord(v *Value) {
	if v.Plain && f.isName(v, barePattern) && f.parses(v.Text, yaql.MPL) {
		f.atf("MPL:W204", v, `"%s" is a string for Murano, not an expression: it cannot be run`, v)
	}
}

// expression checks a value that must be an expression.
func (f *classFile) expression(v *Value) {
	if v.Kind == Bool || v.Kind == String && f.parses(v.Text, yaql.MPL) {
		return
	}
	f.atf("MPL:W202", v, `"%s" is not valid yaql expression`, v)
}

// condition checks the condition of an If, which may be any value.
func (f *classFile) condition(v *Value) {
	if v.Kind == String {
		f.expression(v)
		return
	}
	f.data(v)
}

// data checks a tree of values, in which some strings are expressions.
func (f *classFile) data(v *Value) {
	if !f.enter(v) {
		return
	}
	switch v.Kind {
	case String:
		looks := v.Plain && (strings.HasPrefix(v.Text, "$") || strings.Contains(v.Text, "$."))
		switch {
		case !v.YAQL && !looks || f.parses(v.Text, yaql.MPL):
		case v.YAQL:
			f.atf("MPL:W202", v, `"%s" is not valid yaql expression`, v)
		default:
			f.atf("MPL:W203", v, `"%s" is a string, because it is not valid yaql`, v)
		}
	case Seq:
		for _, item := range v.Items {
			f.data(item)
		}
	case Map:
		for _, e := range v.Entries {
			f.data(e.Key)
			f.data(e.Value)
		}
	case Null, Bool, Int, Float, Date, Other:
	}
}

// text checks a value that must be a string.
func (f *classFile) text(v *Value) {
	if v.Kind != String {
		f.atf("MPL:E203", v, `Value of "%s" should be a string`, v)
	}
}

// empty checks that a statement has no value.
func (f *classFile) empty(v *Value) {
	f.atf("MPL:E200", v, `Statement should be empty, not a "%s"`, v)
}

// branches checks a mapping of expressions to blocks.
func (f *classFile) branches(v *Value) {
	if v.Kind != Map {
		f.atf("MPL:E206", v, `Value of "%s" should be a mapping`, v)
		return
	}
	for _, e := range v.Entries {
		if e.Key.Kind != Null {
			f.expression(e.Key)
		}
		if !e.Value.IsFalsy() {
			f.block(e.Value)
		}
	}
}

// catch checks the handlers of a Try.
func (f *classFile) catch(v *Value) {
	for item := range f.items(v) {
		if item.Kind != Map {
			f.atf("MPL:E206", item, `Catch "%s" should be a mapping`, item)
			continue
		}
		if with := item.Get("With"); !with.IsFalsy() && with.Kind != Seq {
			f.text(with)
		}
		if as := item.Get("As"); !as.IsFalsy() {
			f.text(as)
		}
		if do := item.Get("Do"); !do.IsFalsy() {
			f.block(do)
		} else {
			f.atf("MPL:E204", item, `Catch is missing "Do" block`)
		}
	}
}

// statement checks a block that is a mapping.
func (f *classFile) statement(v *Value) {
	for _, slots := range statements {
		if v.Get(slots[0].key) != nil {
			f.slots(v, slots)
			return
		}
	}
	switch do := v.Get("Do"); {
	case len(v.Entries) != 1:
		f.atf("MPL:E204", v, "Wrong code structure/assigment. Probably a typo")
	case do != nil:
		if !do.IsFalsy() {
			f.block(do)
		}
	default:
		f.target(v.Entries[0].Key)
		f.data(v.Entries[0].Value)
	}
}

// slots checks the keys of a statement.
func (f *classFile) slots(v *Value, slots []slot) {
	for _, s := range slots {
		switch value := v.Get(s.key); {
		case value == nil && s.required:
			f.atf("MPL:E204", v, `Missing keyword "%s" for "%s" code structure`, s.key, slots[0].key)
		case !value.IsFalsy():
			s.check(f, value)
		}
	}
	for _, e := range v.Entries {
		if !slices.ContainsFunc(slots, func(s slot) bool { return oneOf(e.Key, s.key) }) {
			f.atf("MPL:E201", e.Key, `Unknown keyword "%s" in "%s"`, e.Key, slots[0].key)
		}
	}
}

var (
	targetPattern = mustCompile(`^\$.?[\p{L}\p{N}_]`)
	staticPattern = mustCompile(`^([A-Za-z_][\p{L}\p{N}_]*)?:[\p{L}\p{N}_.]+\.[\p{L}\p{N}_]+$`)
)

// target checks the left side of an assignment.
func (f *classFile) target(key *Value) {
	switch {
	case f.isName(key, staticPattern):
	case !f.isName(key, targetPattern):
		f.atf("MPL:E201", key, `"%s" is not valid variable name`, key)
	case key.Text == "$this" || !f.parses(key.Text, yaql.MPL):
		f.atf("MPL:W205", key, `"%s" cannot be assigned to`, key)
	}
}
