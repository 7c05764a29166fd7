package murano

import (
	"strings"

	"purser/internal/murano/yaql"
)

// The minor versions of MuranoPL that introduced a feature.
const (
	sinceConfig    = 1
	sinceStatic    = 2
	sinceExtension = 3
	sinceScope     = 4
)

// unknown reports the keys of a mapping that are not in known.
func (f *classFile) unknown(v *Value, known ...string) {
	for _, e := range v.Entries {
		if f.enter(nil) && !oneOf(e.Key, known...) {
			f.atf("E021", e.Key, `Unknown keyword "%s"`, e.Key)
		}
	}
}

func (f *classFile) properties(v *Value) {
	if v.Kind != Map {
		f.atf("MPL:E026", v, "Properties should be a dict")
		return
	}
	for name, property := range f.members(v) {
		if property.Kind != Map {
			f.atf("MPL:E057", property, `Property "%s" should be a dict`, name)
			continue
		}
		f.property(name, property)
	}
}

func (f *classFile) property(name, v *Value) {
	f.unknown(v, "Contract", "Usage", "Default", "Meta")
	usage := v.Get("Usage")
	switch {
	case usage.IsFalsy():
	case !oneOf(usage, "In", "Out", "InOut", "Const", "Runtime", "Config", "Static"):
		f.atf("MPL:E042", usage, `Not allowed usage "%s"`, usage)
	case usage.Text == "Config" && !f.Format.Since(sinceConfig):
		f.atf("MPL:E043", usage, "Usage Config of a property is available since 1.1")
	case usage.Text == "Static" && !f.Format.Since(sinceStatic):
		f.atf("MPL:E043", usage, "Usage Static of a property is available since 1.2")
	}
	if contract := v.Get("Contract"); contract != nil {
		f.contract(contract, "MPL:W048")
	} else {
		f.atf("MPL:E047", name, `Missing Contract in property "%s"`, name)
	}
	if meta := v.Get("Meta"); meta != nil {
		f.meta(meta)
	}
}

// contract checks the contract of a property or an argument.
func (f *classFile) contract(v *Value, code string) {
	if !f.enter(v) {
		return
	}
	switch v.Kind {
	case Seq:
		f.listContract(v, code)
	case Map:
		for _, e := range v.Entries {
			if e.Key.Kind != String {
				f.atf("E040", e.Key, `Value is not a string "%s"`, e.Key)
			}
			f.contract(e.Value, code)
		}
	case String:
		switch {
		case v.Text == "$":
		case strings.HasPrefix(v.Text, "$.") && f.parses(v.Text, yaql.MPL):
			f.contractFunctions(v)
		default:
			f.atf(code, v, `Contract is not valid yaql "%s"`, v)
		}
	case Null, Bool, Int, Float, Date, Other:
		f.atf(code, v, `Contract is not valid yaql "%s"`, v)
	}
}

// contractFunctions checks the functions of a contract such as $.string().notNull().
func (f *classFile) contractFunctions(v *Value) {
	node, err := yaql.Parse(v.Text, yaql.MPL)
	for err == nil && node.Op == "#operator_." {
		switch call := node.Args[1]; call.Op {
		case "string", "int", "bool", "notNull", "check", "class", "template", "owned", "notOwned":
		default:
			if call.IsCall() {
				f.atf("MPL:W050", v, `Contracts have no function "%s"`, call.Op)
			}
		}
		node = node.Args[0]
	}
}

// listContract checks a list of contracts, or a contract with a minimum and an optional maximum length. Problems with
// the contract of the latter are warnings with a code of their own, because murano-pkg-check does not check it.
func (f *classFile) listContract(v *Value, code string) {
	isLength := func(v *Value) bool { return v.Kind == Int || v.Kind == Bool }
	if n := len(v.Items); n == 2 && isLength(v.Items[1]) || n == 3 && isLength(v.Items[1]) && isLength(v.Items[2]) {
		f.contract(v.Items[0], "MPL:W049")
		return
	}
	for _, item := range v.Items {
		f.contract(item, code)
	}
}

// workflow checks Workflow, the legacy name of Methods.
func (f *classFile) workflow(v *Value) {
	for _, e := range f.doc.Entries {
		if e.Value == v && oneOf(e.Key, "Workflow") {
			f.atf("MPL:W033", e.Key, "Workflow is a legacy name of Methods")
		}
	}
	f.methods(v)
}

var methodPattern = mustCompile(`^([a-zA-Z_][\p{L}\p{N}_]*|\.init|\.destroy)$`)

func (f *classFile) methods(v *Value) {
	if v.Kind != Map {
		if v.Kind != Null {
			f.atf("MPL:E046", v, "Methods are not a dict")
		}
		return
	}
	for name, method := range f.members(v) {
		switch {
		case method.IsFalsy() && method.Kind != Map:
			continue
		case method.Kind != Map:
			f.atf("MPL:E046", name, "Method is not a dict")
			continue
		case !f.isName(name, methodPattern):
			f.atf("MPL:E054", name, `Invalid name of method "%s"`, name)
		}
		f.method(method)
	}
}

func (f *classFile) method(v *Value) {
	f.unknown(v, "Body", "Arguments", "Usage", "Scope", "Meta")
	if scope := v.Get("Scope"); !scope.IsFalsy() {
		switch {
		case !f.Format.Since(sinceScope):
			f.atf("MPL:E056", scope, "Scope is not supported version earlier than 1.4")
		case !oneOf(scope, "Public", "Session"):
			f.atf("MPL:E055", scope, `Wrong Scope "%s"`, scope)
		}
	}
	f.methodUsage(v.Get("Usage"))
	if scope := v.Get("Scope"); oneOf(v.Get("Usage"), "Action") && oneOf(scope, "Session") {
		f.atf("MPL:W059", scope, "Murano refuses Usage: Action with Scope: Session")
	}
	if arguments := v.Get("Arguments"); !arguments.IsFalsy() {
		f.arguments(arguments)
	}
	if meta := v.Get("Meta"); meta != nil {
		f.meta(meta)
	}
	if body := v.Get("Body"); !body.IsFalsy() {
		f.body(body)
	}
}

func (f *classFile) methodUsage(usage *Value) {
	switch {
	case usage.IsFalsy(), oneOf(usage, "Runtime"):
	case oneOf(usage, "Action"):
		if f.Format.Since(sinceScope) {
			f.atf("MPL:W045", usage, `Usage "%s" is deprecated since 1.4`, usage)
		}
	case oneOf(usage, "Static", "Extension"):
		if !f.Format.Since(sinceExtension) {
			f.atf("MPL:W045", usage, `Usage "%s" is available from 1.3`, usage)
		}
	default:
		f.atf("MPL:W045", usage, `Unsupported usage type "%s" `, usage)
	}
}

func (f *classFile) arguments(v *Value) {
	switch v.Kind {
	case Map:
		if len(v.Entries) > 1 {
			f.atf("MPL:E048", v, "It is not safe to define methods arguments as a dict with several keys")
			return
		}
		for _, e := range v.Entries {
			f.argument(e.Key, e.Value)
		}
	case Seq:
		for _, item := range v.Items {
			if item.Kind != Map || len(item.Entries) != 1 {
				f.atf("MPL:E046", item, "Methods single argument should be a one key dict")
				continue
			}
			f.argument(item.Entries[0].Key, item.Entries[0].Value)
		}
		f.order(v.Items)
	case Null, Bool, Int, Float, Date, String, Other:
		f.atf("MPL:E046", v, "Methods arguments should be a list or dict")
	}
}

// order warns of arguments that Murano refuses: Standard ones must come first, then at most one with VarArgs and one
// with KwArgs.
func (f *classFile) order(items []*Value) {
	last := 0
	for _, item := range items {
		if len(item.Entries) != 1 {
			continue
		}
		usage, rank := item.Entries[0].Value.Get("Usage"), 0
		switch {
		case oneOf(usage, "VarArgs"):
			rank = 1
		case oneOf(usage, "KwArgs"):
			rank = 2
		}
		if rank < last || rank > 0 && rank == last {
			f.atf("MPL:W058", item, "Murano refuses this order: arguments with the usage Standard, one VarArgs, one KwArgs")
			return
		}
		last = rank
	}
}

func (f *classFile) argument(name, v *Value) {
	if !f.enter(v) {
		return
	}
	if !f.isName(name, namePattern) {
		f.atf("MPL:E054", name, `Invalid name of argument "%s"`, name)
	}
	if v.Kind != Map {
		f.atf("MPL:E057", v, `Argument "%s" should be a dict`, name)
		return
	}
	f.unknown(v, "Contract", "Usage", "Default", "Meta")
	if contract := v.Get("Contract"); !contract.IsFalsy() {
		f.contract(contract, "MPL:W048")
	}
	if usage := v.Get("Usage"); !usage.IsFalsy() {
		if !f.Format.Since(sinceScope) {
			f.atf("MPL:E052", usage, "Arguments usage is available since 1.4")
		}
		if !oneOf(usage, "Standard", "VarArgs", "KwArgs") {
			f.atf("MPL:E053", usage, `Usage is invalid value "%s"`, usage)
		}
	}
	if meta := v.Get("Meta"); meta != nil {
		f.meta(meta)
	}
}
