package jsonschema

import (
	"encoding/json"
	"slices"

	santhosh "github.com/santhosh-tekuri/jsonschema/v5"

	"purser/internal/budget"
	"purser/internal/document"
)

// Extension adds keywords to the dialect. It knows nothing of this package's inside, nor this package of its.
type Extension interface {
	// Keywords are the names of what it adds.
	Keywords() []string
	// Compile reads the keywords of one schema object, which is given whole; nil if it has none of them. What Examine
	// finds fault with is never compiled.
	Compile(schema document.Mapping) (Keyword, error)
	// Examine returns what is wrong with the keywords anywhere in a schema, also where nothing leads: Instance is the
	// place in the schema.
	Examine(schema any) []Finding
}

// Keyword is what the keywords of one schema object say. It is safe for concurrent use.
type Keyword interface {
	// Check judges an object, whose numbers are json.Number, and counts what that takes. It returns no errors but the
	// meter's.
	Check(meter *budget.Meter, object map[string]any, versions map[string]string) ([]Violation, error)
	// NamesVersions tells whether the outcome may depend on client versions.
	NamesVersions() bool
}

// Violation is one way in which an object breaks a Keyword. Its message shows nothing but names of the schema.
type Violation struct {
	Instance []string `json:"instance"` // from the object judged
	Keyword  []string `json:"keyword"`  // from the schema object
	Message  string   `json:"message"`
	More     int      `json:"more,omitempty"` // it stands for so many violations that are not told
}

// extend reads the keywords that extensions add.
func (g *graph) extend(extensions []Extension) {
	if len(extensions) == 0 {
		return
	}
	objects := map[*value]document.Mapping{}
	whole := g.document.ordered(objects)
	for _, extension := range extensions {
		g.weigh(g.document, extension.Keywords())
		found := extension.Examine(whole)
		if g.findings = append(g.findings, found...); len(found) > 0 {
			continue
		}
		for _, n := range g.nodes {
			if n.ref != nil || n.raw.kind != object { // $ref hides all beside it
				continue
			}
			keyword, err := extension.Compile(objects[n.raw])
			switch {
			case err != nil:
				g.findings = append(g.findings, Finding{Message: err.Error(), Instance: n.place(), SchemaPath: "."})
			case keyword != nil:
				n.added = append(n.added, keyword)
				g.namesVersions = g.namesVersions || keyword.NamesVersions()
			}
		}
	}
}

// weigh counts what reading the keywords takes wherever they are: each value below one of them.
func (g *graph) weigh(v *value, keywords []string) {
	g.spend(lookupSteps)
	for i, item := range v.items {
		if v.kind == object && slices.Contains(keywords, v.keys[i]) {
			g.spend(item.size() * extendSteps)
		}
		g.weigh(item, keywords)
	}
}

// size returns how many values there are in the value, itself included.
func (v *value) size() int {
	n := 1
	for _, item := range v.items {
		n += item.size()
	}
	return n
}

// ordered returns the value as documents hold it, and notes the objects in it.
func (v *value) ordered(objects map[*value]document.Mapping) any {
	switch v.kind {
	case null:
		return nil
	case boolean:
		return v.text == "true"
	case number:
		return document.Number(v.text)
	case text:
		return v.text
	case array:
		list := make([]any, len(v.items))
		for i, item := range v.items {
			list[i] = item.ordered(objects)
		}
		return list
	case object:
	}
	members := make(document.Mapping, len(v.items))
	for i, item := range v.items {
		members[i] = document.Member{Key: v.keys[i], Value: item.ordered(objects)}
	}
	objects[v] = members
	return members
}

// NamesVersions tells whether the outcome of a check may depend on client versions.
func (s *Schema) NamesVersions() bool { return s.namesVersions }

// extended checks the keywords that extensions add. The library takes the violations along as texts.
func (k *keywords) extended(ctx santhosh.ValidationContext, v any, wrong []error) []error {
	value, ok := v.(map[string]any)
	if !ok {
		return wrong
	}
	for _, keyword := range k.node.added {
		violations, err := keyword.Check(k.run.meter, value, k.run.versions)
		k.run.must(err)
		for _, violation := range violations {
			text, err := json.Marshal(violation)
			if err != nil {
				text = []byte(`{"message": "a violation that cannot be told"}`)
			}
			wrong = append(wrong, k.run.fail(ctx, own, string(text)))
		}
	}
	return wrong
}

// addedTo reads a violation of an added keyword out of what the library says, and moves to its place. Its path tells of
// references (spec/property-groups.md §4).
func (v *violation) addedTo() (Violation, bool) {
	var said Violation
	if v.keyword != own || json.Unmarshal([]byte(v.note), &said) != nil {
		return said, false
	}
	v.instance = slices.Concat(v.instance, said.Instance)
	v.schema = slices.Concat(v.schema[:len(v.schema)-1], said.Keyword)
	for _, at := range slices.Backward(v.refs) {
		v.schema = slices.Insert(v.schema, at, "$ref")
	}
	return said, true
}
