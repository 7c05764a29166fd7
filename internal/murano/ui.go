package murano

import (
	"slices"
	"strconv"
	"strings"

	"purser/internal/murano/yaql"
)

func uiCodes() []Code {
	return []Code{
		{"UI:E020", "a form definition has no Application or no Forms", ""},
		{"UI:E081", "an attribute must be a boolean", "E081"},
		{"UI:E082", "an attribute must be an integer", "E000"},
		{"UI:E083", "a key of Application is malformed", "E083"},
		{"UI:E084", "Application is not a mapping", "E084"},
		{"UI:E085", "forms or fields are malformed", ""},
		{"UI:E100", "the type of a field is malformed", "E100"},
		{"UI:E101", "an expression is not valid YAQL", ""},
		{"UI:W082", "the version of a form definition is unknown", "W082"},
		{"UI:W100", "the type of a field is unknown", "W100"},
		{"UI:W101", "a value looks like an expression, but is a string because it is not valid YAQL", ""},
		{"UI:W102", "an attribute of a field is unknown", ""},
		{"UI:W104", "the dashboard does not read form definitions of version 1", ""},
		{"UI:W103", "a key or an attribute is newer than the version of the form definition", ""},
	}
}

// checkUI checks the form definitions of the dashboard.
func checkUI(c *Check) {
	for _, name := range c.Package.Search("UI/", ".yaml") {
		u := &uiFile{Check: c}
		c.documents(name, false, keywords{
			"Version": u.checkVersion, "Application": u.application, "Templates": u.data, "Forms": u.forms,
			"Parameters": u.newer("Parameters"), "ParametersSource": u.newer("ParametersSource"),
		}, u.begin)
	}
}

// The versions of form definitions that the dashboard reads, as numbers.
const (
	oldestUI = 2.0
	latestUI = 2.4
)

// uiFile checks one form definition.
type uiFile struct {
	*Check

	version float64
}

func (u *uiFile) begin(doc *Value) {
	u.version = latestUI
	if v := doc.Get("Version"); v != nil {
		if number, err := strconv.ParseFloat(v.String(), 64); err == nil {
			u.version = number
		}
	}
	for _, key := range []string{"Application", "Forms"} {
		if doc.Get(key) == nil {
			u.atf("UI:E020", doc, `Missing required key "%s"`, key)
		}
	}
}

func (u *uiFile) checkVersion(v *Value) {
	if !slices.Contains([]string{"1", "1.0", "2", "2.0", "2.1", "2.2", "2.3", "2.4"}, v.String()) {
		u.atf("UI:W082", v, `Incorrect version of UI file "%s"`, v)
	} else if u.version < oldestUI {
		u.atf("UI:W104", v, `The dashboard does not read form definitions of version "%s", but of %v to %v`, v, oldestUI,
			latestUI)
	}
}

// newer returns the check of a key that the newest version introduced.
func (u *uiFile) newer(key string) func(*Value) {
	return func(v *Value) {
		if u.version < latestUI {
			u.atf("UI:W103", v, "%s is available since version %v", key, latestUI)
		}
		u.data(v)
	}
}

func (u *uiFile) application(v *Value) {
	if v.Kind != Map {
		u.atf("UI:E084", v, "Application is not a dict")
		return
	}
	for _, e := range v.Entries {
		if !u.isName(e.Key, namePattern) && !oneOf(e.Key, "?") {
			u.atf("UI:E083", e.Key, `Wrong name in UI file "%s"`, e.Key)
		}
	}
	u.data(v)
}

// data checks a tree of values, in which some strings are expressions.
func (u *uiFile) data(v *Value) {
	if !u.enter(v) {
		return
	}
	switch {
	case v.YAQL && !u.parses(v.Text, yaql.UI):
		u.atf("UI:E101", v, `"%s" is not valid yaql expression`, v)
	case v.Plain && strings.HasPrefix(v.Text, "$") && !u.parses(v.Text, yaql.UI):
		u.atf("UI:W101", v, `"%s" is a string, because it is not valid yaql`, v)
	}
	for _, item := range v.Items {
		u.data(item)
	}
	for _, e := range v.Entries {
		u.data(e.Value)
	}
}

func (u *uiFile) forms(v *Value) {
	if v.Kind != Seq {
		u.atf("UI:E085", v, "Forms should be a list")
		return
	}
	for item := range u.items(v) {
		if item.Kind != Map || len(item.Entries) != 1 || item.Entries[0].Value.Kind != Map {
			u.atf("UI:E085", item, "A form should be a one-key mapping of its name to a mapping")
			continue
		}
		u.form(item.Entries[0].Value)
	}
}

func (u *uiFile) form(v *Value) {
	for _, e := range v.Entries {
		if !oneOf(e.Key, "fields", "validators", "region") {
			u.atf("E021", e.Key, `Unknown keyword "%s"`, e.Key)
		}
	}
	if validators := v.Get("validators"); !validators.IsFalsy() {
		u.validators(validators)
	}
	fields := v.Get("fields")
	if !fields.Is(Seq) {
		u.atf("UI:E085", v, "The fields of a form should be a list")
		return
	}
	for field := range u.items(fields) {
		if field.Kind != Map {
			u.atf("UI:E085", field, "A field should be a mapping")
			continue
		}
		u.field(field)
	}
}

// validators checks the validators of a form or a field.
func (u *uiFile) validators(v *Value) {
	if v.Kind != Seq {
		u.atf("UI:E085", v, "validators should be a list")
		return
	}
	for item := range u.items(v) {
		expr := item.Get("expr")
		switch {
		case expr == nil:
			u.atf("UI:E085", item, `A validator should be a mapping with "expr"`)
		case expr.Kind == String && !u.parses(expr.Text, yaql.UI):
			u.atf("UI:E101", expr, `"%s" is not valid yaql expression`, expr)
		}
	}
}

// attributes maps the dashboard's attributes to the versions that introduced them. They are in lower case without
// underscores, because the dashboard accepts both spellings.
var attributes = map[string]float64{
	"name": 0, "type": 0, "label": 0, "description": 0, "descriptiontitle": 0, "helptext": 0, "initial": 0,
	"required": 0, "hidden": 0, "enabled": 0, "errormessages": 0, "validators": 0, "regexpvalidator": 0,
	"widgetmedia": 0, "widgetattrs": 0, "minlength": 0, "maxlength": 0, "minvalue": 0, "maxvalue": 0, "choices": 0,
	"requirements": 0, "imagetype": 0, "includesnapshots": 0, "includevolumes": 0, "emptyvaluemessage": 0,
	"filter": 2.1, "muranonetworks": 2.1, "allowauto": 2.1, "includesubnets": 2.1,
	"confirminput": 2.3,
}

// field checks the attributes of a field.
func (u *uiFile) field(v *Value) {
	for _, key := range []string{"name", "type"} {
		if v.Get(key) == nil {
			u.atf("UI:E085", v, `A field has no "%s"`, key)
		}
	}
	for key, value := range u.members(v) {
		since, known := attributes[strings.ToLower(strings.ReplaceAll(key.Text, "_", ""))]
		switch {
		case !known || key.Kind != String:
			u.atf("UI:W102", key, `Unknown attribute "%s"`, key)
		case u.version < since:
			u.atf("UI:W103", key, "Attribute %s is available since version %v", key, since)
		}
		u.attribute(key, value)
	}
}

// attribute checks the value of an attribute. Its type is checked only if the attribute has its usual spelling.
func (u *uiFile) attribute(key, v *Value) {
	u.data(v)
	isExpression := v.YAQL || u.version >= latestUI && v.Plain && strings.HasPrefix(v.Text, "$")
	switch key.Text {
	case "name", "label", "description", "descriptionTitle", "regexpValidator", "helpText":
		if v.Kind != String {
			u.atf("E040", key, `Value of %s should be string not "%s"`, key, v)
		}
	case "required", "hidden":
		if v.Kind != Bool && !isExpression {
			u.atf("UI:E081", key, `Value of %s should be boolean not "%s"`, key, v)
		}
	case "minLength", "maxLength", "minValue", "maxValue":
		if v.Kind != Int && v.Kind != Bool && !isExpression {
			u.atf("UI:E082", key, `Value of %s should be int not "%s"`, key, v)
		}
	case "type":
		u.fieldType(v)
	case "validators":
		if !v.IsFalsy() {
			u.validators(v)
		}
	}
}

// fieldType checks the type of a field: one type, or a list of several.
func (u *uiFile) fieldType(v *Value) {
	for _, item := range itemsOf(v) {
		switch {
		case v.Kind == Seq && item.Kind == Seq: // murano-pkg-check does not look into it
		case !u.isName(item, fqnPattern):
			u.atf("UI:E100", item, `"%s" is not valid FQN or known type`, item)
		case !strings.Contains(item.Text, ".") && !oneOf(item, "string", "boolean", "text", "integer", "password",
			"clusterip", "floatingip", "domain", "databaselist", "table", "flavor", "keypair", "image", "azone",
			"psqlDatabase", "network", "choice", "volume", "zone", "securitygroup"):
			u.atf("UI:W100", item, `"%s" is not known type. Probably a typo`, item)
		}
	}
}
