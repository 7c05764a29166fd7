package puppet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
)

// Document is a rendered document that overrides resources or describes a type.
type Document struct {
	document.Identity

	Data   []byte // JSON
	Labels document.Mapping
	Secret bool // there is something secret in its data
	// Encrypted says that its name is secret, too.
	Encrypted bool
}

// IsPuppet reports whether a document overrides resources or describes a type.
func IsPuppet(id document.Identity) bool { return id.Schema == OverrideKind || id.Schema == TypeKind }

// Node says for which machine overrides are asked for; "" is unknown.
type Node struct{ Name, Role, Cluster string }

// selects reports whether a document with labels is for the node: each of the labels node, role and cluster that it has
// must be that of the node.
func (n Node) selects(labels document.Mapping) bool {
	is := func(label, value string) bool {
		wanted, restricted := labels.Lookup(label)
		return !restricted || wanted == value
	}
	return is("node", n.Name) && is("role", n.Role) && is("cluster", n.Cluster)
}

// Overrides are the instances that documents define, in the order in which they are applied, and the types.
type Overrides struct {
	// Documents are those of the instances, in their order, and then those of types.
	Documents []Document
	Instances []Instance
	Data      []document.Mapping // of the instances
	Types     *Types
	Problems  []Problem // of reading them; Instance is a position in Documents
}

// IsSecret reports whether there is something secret in one of the instances.
func (o Overrides) IsSecret() bool {
	return slices.ContainsFunc(o.Instances, func(in Instance) bool { return in.Secret })
}

// Gather reads documents: the overrides that are for a node, nil for all of them, in the order of layers, then names,
// and all types. Layers are the most general first; documents of no layer come before them. The error is the meter's,
// unwrapped.
func Gather(meter *budget.Meter, documents []Document, layers []string, node *Node) (o Overrides, err error) {
	ordered := slices.Clone(documents)
	slices.SortStableFunc(ordered, func(a, b Document) int {
		return cmp.Or(cmp.Compare(slices.Index(layers, a.Layer), slices.Index(layers, b.Layer)), cmp.Compare(a.Name, b.Name))
	})
	for _, doc := range ordered {
		if doc.Schema != OverrideKind || node != nil && !node.selects(doc.Labels) {
			continue
		}
		data, err := parseData(meter, doc.Data)
		if err != nil {
			return o, err
		}
		instance, problems := ParseInstance(doc.String(), doc.Secret, data)
		o = o.with(doc, problems)
		mapping, _ := data.(document.Mapping)
		o.Instances, o.Data = append(o.Instances, instance), append(o.Data, mapping)
	}
	var types []*Type
	for _, doc := range ordered {
		if doc.Schema != TypeKind {
			continue
		}
		data, err := parseData(meter, doc.Data)
		if err != nil {
			return o, err
		}
		described, problems, err := ParseType(meter, data)
		if err != nil {
			return o, budget.About(err, "read the type that %v describes", doc.Identity)
		}
		for i := range problems {
			problems[i].Secret = doc.Secret
		}
		if o = o.with(doc, problems); described != nil {
			described.Secret = doc.Secret
			types = append(types, described)
		}
	}
	o.Types = NewTypes(types)
	return o, nil
}

// with returns overrides with another document, and what is wrong with it.
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

// Place returns where in its document a problem is, as findings name it: .data.configuration.
func (p Problem) Place() string { return strings.Join(append([]string{".data"}, p.Path...), ".") }
