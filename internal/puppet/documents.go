package puppet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
)

// Document is a rendered document of the schema OverrideKind or TypeKind.
type Document struct {
	document.Identity

	Data   []byte // JSON
	Labels document.Mapping
	Key    document.Digest // identifies Data; zero if it is not known
	Secret bool            // Data contains secrets
	// Encrypted means that the document's name is secret, too.
	Encrypted bool
}

// IsPuppet reports whether a document has the schema OverrideKind or TypeKind.
func IsPuppet(id document.Identity) bool { return id.Schema == OverrideKind || id.Schema == TypeKind }

// Node describes the machine whose overrides are requested. Unknown fields are empty.
type Node struct{ Name, Role, Cluster string }

// selects reports whether a document applies to the node: its labels node, role and cluster, where present, must have
// the node's values.
func (n Node) selects(labels document.Mapping) bool {
	is := func(label, value string) bool {
		wanted, restricted := labels.Lookup(label)
		return !restricted || wanted == value
	}
	return is("node", n.Name) && is("role", n.Role) && is("cluster", n.Cluster)
}

// Overrides holds the instances that documents define, in the order in which they are applied, and the resource types.
type Overrides struct {
	// Documents holds the documents of the instances, in the same order, followed by those of types.
	Documents []Document
	Instances []Instance
	Data      []document.Mapping // of the documents of Instances
	Types     *Types
	Problems  []Problem // found by Gather; Instance is a position in Documents
}

// IsSecret reports whether an instance contains secrets.
func (o Overrides) IsSecret() bool {
	return slices.ContainsFunc(o.Instances, func(in Instance) bool { return in.Secret })
}

// Gather parses documents: the overrides for a node (all of them if node is nil), in order, and all types.
func Gather(meter *budget.Meter, documents []Document, layers []string, node *Node) (o Overrides, err error) {
	ordered := Ordered(documents, layers)
	for _, doc := range ordered {
		if doc.Schema != OverrideKind || node != nil && !node.selects(doc.Labels) {
			continue
		}
		instance, data, problems, err := doc.Instance(meter)
		if err != nil {
			return o, err
		}
		o = o.with(doc, problems)
		o.Instances, o.Data = append(o.Instances, instance), append(o.Data, data)
	}
	var types []*Type
	for _, doc := range ordered {
		if doc.Schema != TypeKind {
			continue
		}
		described, problems, err := doc.Type(meter)
		if err != nil {
			return o, budget.About(err, "read the type that %v describes", doc.Identity)
		}
		if o = o.with(doc, problems); described != nil {
			types = append(types, described)
		}
	}
	o.Types = NewTypes(types)
	return o, nil
}

// Ordered returns documents in the order in which they are applied: by layer and then by name. layers are ordered from
// the most general; documents in none of them come first.
func Ordered(documents []Document, layers []string) []Document {
	rank := make(map[string]int, len(layers)) // from 1; 0 for other layers
	for i, layer := range layers {
		if rank[layer] == 0 {
			rank[layer] = i + 1
		}
	}
	return slices.SortedStableFunc(slices.Values(documents), func(a, b Document) int {
		return cmp.Or(cmp.Compare(rank[a.Layer], rank[b.Layer]), cmp.Compare(a.Name, b.Name))
	})
}

// Instance returns the instance that a document of OverrideKind defines, and its data.
func (d Document) Instance(meter *budget.Meter) (in Instance, data document.Mapping, problems []Problem, err error) {
	value, err := parseData(meter, d.Data)
	if err != nil {
		return in, nil, nil, err
	}
	in, problems = ParseInstance(meter, d.String(), d.Secret, value)
	data, _ = value.(document.Mapping)
	return in, data, problems, nil
}

// Type returns the type that a document of TypeKind describes, nil if it has no name.
func (d Document) Type(meter *budget.Meter) (described *Type, problems []Problem, err error) {
	value, err := parseData(meter, d.Data)
	if err != nil {
		return nil, nil, err
	}
	if described, problems, err = ParseType(meter, value); err != nil {
		return nil, nil, err
	}
	for i := range problems {
		problems[i].Secret = d.Secret
	}
	if described != nil {
		described.Secret = d.Secret
	}
	return described, problems, nil
}

// with returns a copy of o with one more document and its problems.
func (o Overrides) with(doc Document, problems []Problem) Overrides {
	for _, problem := range problems {
		problem.Instance = len(o.Documents)
		o.Problems = append(o.Problems, problem)
	}
	o.Documents = append(o.Documents, doc)
	return o
}

func parseData(meter *budget.Meter, text []byte) (any, error) {
	const bytesPerByte = 4
	if err := meter.Hold(len(text) * bytesPerByte); err != nil {
		return nil, err
	}
	meter.Charge(len(text) * byteSteps)
	value, err := document.ParseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("read a document: %w", err)
	}
	return value, meter.Check()
}

// Place returns the path of the problem in its document, such as .data.configuration.
func (p Problem) Place() string { return strings.Join(append([]string{".data"}, p.Path...), ".") }
