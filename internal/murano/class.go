package murano

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func classCodes() []Code {
	return []Code{
		{"MPL:E011", "the name of a class is malformed", "E011"},
		{"MPL:E012", "a class of the manifest is not declared in its file", ""},
		{"MPL:E013", "of several classes in a file one has no Name", ""},
		{"MPL:E025", "Extends is not a class name or a list of them", "E025"},
		{"MPL:E026", "Properties is not a mapping", "E026"},
		{"MPL:E027", "Cardinality is neither One nor Many", "E027"},
		{"MPL:E028", "Applies names something that a meta class cannot apply to", "E028"},
		{"MPL:E029", "Import is not a class name or a list of them", "E025"},
		{"MPL:E031", "Inherited is not a boolean", "E027"},
		{"MPL:E032", "Usage of a class is neither Class nor Meta", ""},
		{"MPL:E042", "Usage of a property is unknown", "E042"},
		{"MPL:E043", "Usage of a property is newer than the format", ""},
		{"MPL:E044", "Namespaces is not a mapping", "E044"},
		{"MPL:E045", "a Body is not a list, a mapping or an expression", "E045"},
		{"MPL:E046", "methods or arguments are malformed", "E046"},
		{"MPL:E047", "a property has no Contract", "E047"},
		{"MPL:E048", "arguments in one mapping have no order", "E048"},
		{"MPL:E052", "Usage of an argument is newer than the format", "E052"},
		{"MPL:E053", "Usage of an argument is unknown", "E053"},
		{"MPL:E054", "the name of a method or an argument is malformed", "E054"},
		{"MPL:E055", "Scope is neither Public nor Session", "E044"},
		{"MPL:E056", "Scope is newer than the format", "E044"},
		{"MPL:E057", "a property or an argument is not a mapping", ""},
		{"MPL:E060", "an alias of a namespace is malformed", "E060"},
		{"MPL:E061", "an alias of a namespace is not declared", ""},
		{"MPL:E200", "a statement that takes no value has one", "E200"},
		{"MPL:E201", "a target of an assignment is malformed, or a keyword is unknown", "E201"},
		{"MPL:E203", "a value of a statement must be a string", "E203"},
		{"MPL:E204", "a statement lacks a keyword, or is none", "E204"},
		{"MPL:E206", "a value of a statement must be a mapping", ""},
		{"MPL:W011", "the name of a class is not in CamelCase", "W011"},
		{"MPL:W012", "a class is not named in the manifest", ""},
		{"MPL:W032", "a key has a meaning in meta classes only", ""},
		{"MPL:W033", "a key is a legacy name", ""},
		{"MPL:W045", "Usage of a method is unknown, deprecated or newer than the format", "W045"},
		{"MPL:W048", "a contract is not an expression on $", "W048"},
		{"MPL:W049", "a contract of a list with bounds on its length is not valid", ""},
		{"MPL:W050", "a contract calls a function that contracts do not have", ""},
		{"MPL:W058", "Murano refuses the order of the arguments of a method", ""},
		{"MPL:W059", "Murano refuses a method with Usage: Action and Scope: Session", ""},
		{"MPL:W060", "a namespace is not a fully qualified name", "W060"},
		{"MPL:W202", "an expression is not valid YAQL", "W202"},
		{"MPL:W203", "a value looks like an expression, but is a string because it is not valid YAQL", ""},
		{"MPL:W204", "a line of a body looks like an expression, but is a string", ""},
		{"MPL:W205", "the target of an assignment cannot be assigned to", ""},
	}
}

const classFolder = "Classes/"

// checkClasses checks the files of classes if the package's format is MuranoPL.
func checkClasses(c *Check) {
	if c.Format.Name != MuranoPL {
		return
	}
	named := namedClasses(c.Manifest.Get("Classes"))
	for _, name := range c.Package.Search(classFolder, ".yaml") {
		f := &classFile{Check: c, named: named}
		docs := c.documents(name, true, f.keywords(), f.begin)
		f.end(name, docs)
	}
}

// named are the classes that a manifest names.
type named struct {
	inFile  map[string][]*Value // by the file that the manifest names for them
	isNamed map[string]bool
}

// namedClasses returns the classes of a manifest, nil if it has none.
func namedClasses(classes *Value) *named {
	if !classes.Is(Map) {
		return nil
	}
	n := &named{map[string][]*Value{}, map[string]bool{}}
	for _, e := range classes.Entries {
		n.isNamed[e.Key.Text] = true
		if e.Value.Is(String) {
			n.inFile[e.Value.Text] = append(n.inFile[e.Value.Text], e.Key)
		}
	}
	return n
}

// classFile checks one file of classes.
type classFile struct {
	*Check

	named *named // nil if the manifest has no classes

	namespaces *Value // those in force; a document without any inherits them
	doc        *Value
	declared   []declaration
	unnamed    []*Value
}

// declaration is a class that a file declares.
type declaration struct {
	name string // fully qualified
	at   *Value
}

func (f *classFile) keywords() keywords {
	return keywords{
		"Name": f.name, "Namespaces": f.checkNamespaces, "Extends": f.extends, "Import": f.imports,
		"Properties": f.properties, "Methods": f.methods, "Workflow": f.workflow, "Usage": f.usage, "Meta": f.meta,
		"Cardinality": f.cardinality, "Applies": f.applies, "Inherited": f.inherited,
	}
}

// begin records the namespaces and the class that a document declares.
func (f *classFile) begin(doc *Value) {
	f.doc = doc
	if namespaces := doc.Get("Namespaces"); namespaces.Is(Map) {
		f.namespaces = namespaces
	}
	switch name := doc.Get("Name"); {
	case name.Is(String):
		f.declared = append(f.declared, declaration{f.expand(name.Text), name})
	case name == nil && slices.ContainsFunc(doc.Entries, func(e pair) bool { return e.Key.Text != "Namespaces" }):
		f.unnamed = append(f.unnamed, doc)
	}
}

// expand returns the fully qualified name of a class.
func (f *classFile) expand(name string) string {
	alias, short, both := strings.Cut(name, ":")
	switch {
	case !both && strings.Contains(name, "."):
		return name
	case !both:
		alias, short = "=", name
	case alias == "":
		alias = "="
	}
	if namespace := f.namespaces.Get(alias); namespace.Is(String) && namespace.Text != "" {
		return namespace.Text + "." + short
	}
	return short
}

// end compares the declared classes with the manifest.
func (f *classFile) end(name string, docs []*Value) {
	if docs == nil {
		return
	}
	if len(f.unnamed)+len(f.declared) > 1 {
		for _, doc := range f.unnamed {
			f.atf("MPL:E013", doc, "One of several classes in a file has no Name")
		}
	}
	if f.named == nil {
		return
	}
	declared := map[string]bool{}
	for _, d := range f.declared {
		declared[d.name] = true
		if !f.named.isNamed[d.name] {
			f.atf("MPL:W012", d.at, "Class %s is not named in the manifest", d.name)
		}
	}
	f.file = ManifestName
	for _, class := range f.named.inFile[strings.TrimPrefix(name, classFolder)] {
		if !declared[class.Text] && len(f.unnamed) == 0 {
			f.atf("MPL:E012", class, "Class %s is not declared in %s", class, name)
		}
	}
	f.file = name
}

var classNamePattern = mustCompile(`^([A-Za-z_][\p{L}\p{N}_]*:|:)?[a-zA-Z_][\p{L}\p{N}_]*(\.[\p{L}\p{N}_]+)*$`)

// maxAcronym is the maximum length of a name in capitals.
const maxAcronym = 3

func (f *classFile) name(v *Value) {
	switch {
	case v.Kind != String:
		f.atf("MPL:E011", v, `Invalid class name "%s". Class name should be a string`, v)
		return
	case !f.isName(v, classNamePattern) || strings.HasPrefix(v.Text, "__"):
		f.atf("MPL:E011", v, `Invalid class name "%s"`, v)
		return
	}
	f.knownAlias(v)
	last := v.Text[strings.LastIndexAny(v.Text, ".:")+1:]
	first, _ := utf8.DecodeRuneInString(last)
	if !unicode.IsUpper(first) || utf8.RuneCountInString(last) > maxAcronym && last == strings.ToUpper(last) {
		f.atf("MPL:W011", v, `Class name "%s" not in CamelCase`, v)
	}
}

// knownAlias checks that the namespace of a class name is declared.
func (f *classFile) knownAlias(v *Value) {
	alias, _, both := strings.Cut(v.Text, ":")
	if both && alias != "" && f.namespaces.Get(alias) == nil {
		f.atf("MPL:E061", v, `Unknown namespace prefix "%s"`, alias)
	}
}

func (f *classFile) checkNamespaces(v *Value) {
	if v.Kind != Map {
		f.atf("MPL:E044", v, "Wrong type of namespace")
		return
	}
	for alias, namespace := range f.members(v) {
		if !f.isName(namespace, fqnPattern) && namespace.Kind != Null && !oneOf(namespace, "") {
			f.atf("MPL:W060", namespace, `Wrong namespace fqn "%s"`, namespace)
		}
		if !f.isName(alias, namePattern) && !oneOf(alias, "=") {
			f.atf("MPL:E060", namespace, `Wrong name for namespace "%s"`, namespace)
		}
	}
}

func (f *classFile) extends(v *Value) {
	for item := range f.items(v) {
		switch {
		case item.Kind != String:
			f.atf("MPL:E025", item, "Wrong type of Extends field")
		case !f.isName(item, typePattern):
			f.atf("MPL:E025", item, `Wrong FNQ of extended class "%s"`, item)
		default:
			f.knownAlias(item)
		}
	}
}

func (f *classFile) imports(v *Value) {
	for item := range f.items(v) {
		if !f.isName(item, typePattern) {
			f.atf("MPL:E029", item, `Wrong namespace or FNQ of extended class "%s"`, item)
			continue
		}
		f.knownAlias(item)
	}
}

func (f *classFile) usage(v *Value) {
	if !oneOf(v, "Class", "Meta") {
		f.atf("MPL:E032", v, `Wrong Usage of a class "%s"`, v)
	}
}

// ofMeta warns of a key that is only meaningful in meta classes if the class is an ordinary one.
func (f *classFile) ofMeta(v *Value, key string) {
	if usage := f.doc.Get("Usage"); usage == nil || oneOf(usage, "Class") {
		f.atf("MPL:W032", v, "%s has a meaning in classes with Usage: Meta only", key)
	}
}

func (f *classFile) cardinality(v *Value) {
	f.ofMeta(v, "Cardinality")
	if !oneOf(v, "One", "Many") {
		f.atf("MPL:E027", v, `Wrong Cardinality "%s"`, v)
	}
}

func (f *classFile) applies(v *Value) {
	f.ofMeta(v, "Applies")
	for item := range f.items(v) {
		if !oneOf(item, "Package", "Type", "Method", "Property", "Argument", "All") {
			f.atf("MPL:E028", item, `Wrong Applies "%s"`, item)
		}
	}
}

func (f *classFile) inherited(v *Value) {
	f.ofMeta(v, "Inherited")
	if v.Kind != Bool {
		f.atf("MPL:E031", v, `Inherited is not bool "%s"`, v)
	}
}

// meta checks the value of Meta: the name of a meta class, a mapping from it to properties, or a list of these.
func (c *Check) meta(v *Value) {
	for item := range c.items(v) {
		name := item
		if item.Kind == Map && len(item.Entries) == 1 {
			name = item.Entries[0].Key
		}
		if !c.isName(name, typePattern) {
			c.atf("E041", item, `Meta should be a type name, a one-key mapping or a list of those, not "%s"`, item)
		}
	}
}
