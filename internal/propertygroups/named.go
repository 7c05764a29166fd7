package propertygroups

import (
	"strconv"
	"strings"

	"purser/internal/document"
)

// named reads property_groups.
func (p *parser) named(value any) error {
	items, isList := value.([]any)
	if m, ok := value.(document.Mapping); ok {
		items = singletons(m)
	} else if !isList {
		return p.refuse("property_groups should be a list of named groups, found %s instead.", class(value))
	}
	p.declareNames(items)
	before := len(p.groups.rules)
	for i, item := range items {
		if p.at = []string{namedKeyword}; isList {
			p.at = append(p.at, strconv.Itoa(i))
		}
		m, err := p.single(item)
		if err != nil {
			return err
		}
		p.at = append(p.at, m.Key)
		if err := p.group(m.Key, m.Value); err != nil {
			return err
		}
	}
	return p.connect(p.groups.rules[before:])
}

// singletons returns a one-key mapping for each member.
func singletons(m document.Mapping) []any {
	items := make([]any, len(m))
	for i := range m {
		items[i] = m[i : i+1]
	}
	return items
}

// declareNames creates all groups with their names, so that they can be referred to before they are read.
func (p *parser) declareNames(items []any) {
	p.groupsByName = make(map[string]*group, len(items))
	for _, item := range items {
		if m, ok := item.(document.Mapping); ok && len(m) == 1 {
			p.groupsByName[m[0].Key] = &group{name: m[0].Key, memo: -1}
		}
	}
}

// connect analyzes the named groups once all are read.
func (p *parser) connect(rules []*rule) error {
	for _, r := range rules {
		p.at = r.keyword
		if r.isTerm() && r.group.operator == noOperator {
			return p.noOperator(r.name) // others need its truth value
		}
		if err := p.finish(r); err != nil {
			return err
		}
		if r.group.references > 1 {
			r.group.memo = p.groups.shared
			p.groups.shared++
		}
	}
	return nil
}

func (p *parser) noOperator(name string) error {
	return p.refuse("Operator of group '%s' should be one of: AND, OR, XOR, DEPENDS_ON.", name)
}

func (p *parser) group(name string, body any) error {
	g := p.groupsByName[name]
	if g.operands != nil {
		return p.refuse("Group '%s' is declared twice.", name)
	}
	m, ok := body.(document.Mapping)
	if !ok {
		return p.refuse("Group '%s' should be a mapping, found %s instead.", name, class(body))
	}
	if err := p.keys(m); err != nil {
		return err
	}
	if err := p.operator(g, m); err != nil {
		return err
	}
	if err := p.entries(g, m.At("properties")); err != nil {
		return err
	}
	support, err := p.supportedSince(name, m)
	if err != nil {
		return err
	}
	return p.add(&rule{name: name, named: true, group: g, support: support})
}

func (p *parser) keys(m document.Mapping) error {
	var unknown []string
	for _, member := range m {
		switch member.Key {
		case "properties", "operator", "client_plugin", "client_plugin_supported", "client_plugin_supported_since":
		default:
			unknown = append(unknown, member.Key)
		}
	}
	if unknown != nil {
		return p.unknownKeys(unknown)
	}
	return nil
}

func (p *parser) operator(g *group, m document.Mapping) error {
	value, ok := m.Lookup("operator")
	if !ok && hasVersions(m) {
		return nil
	}
	word, _ := value.(string)
	if g.operator = operatorOf(word); g.operator == noOperator {
		return p.noOperator(g.name)
	}
	return nil
}

func (p *parser) entries(g *group, value any) error {
	items, _ := value.([]any)
	if len(items) == 0 {
		return p.noEntries(g)
	}
	operands := make([]operand, len(items))
	for i, item := range items {
		entry, ok := item.(string)
		if !ok {
			return p.noEntries(g)
		}
		var err error
		if operands[i], err = p.entry(g, entry); err != nil {
			return err
		}
	}
	if g.operands = operands; g.operator == dependsOn && len(items) < 2 {
		return p.refuse("Group '%s' with depends_on needs at least two entries.", g.name)
	}
	return nil
}

func (p *parser) noEntries(g *group) error {
	return p.refuse("Properties of group '%s' should be a list of properties names or groups.", g.name)
}

// entry reads an operand: a reference or a dotted path.
func (p *parser) entry(g *group, entry string) (operand, error) {
	name, explicit := strings.CutPrefix(entry, namedKeyword+".")
	referred := p.groupsByName[name]
	switch {
	case explicit && referred == nil:
		return operand{}, p.refuse("Group '%s' refers to unknown group '%s'.", g.name, name)
	case referred != nil && !explicit && p.declared.declares(name):
		return operand{}, p.refuse("'%s' in group '%s' names both a property and a group.", name, g.name)
	case referred != nil:
		referred.references++
		return operand{group: referred}, nil
	case strings.Count(entry, ".") >= maxParts:
		return operand{}, p.refuse(tooManyParts, maxParts)
	case strings.Contains("."+entry+".", ".."):
		return operand{}, p.noEntries(g)
	}
	path := strings.Split(entry, ".")
	p.addPath(path)
	return operand{path: path}, nil
}
