package propertygroups

import (
	"strings"

	"purser/internal/document"
)

// apiVersions reads API_VERSIONS of properties_groups_schema.
func (p *parser) apiVersions(value any) (*rule, error) {
	m, ok := value.(document.Mapping)
	if !ok {
		return nil, p.refuse("API_VERSIONS should be a mapping, found %s instead.", class(value))
	}
	members := make(map[string]any)
	var unknown []string
	for _, member := range m {
		key := strings.ToUpper(member.Key)
		_, twice := members[key]
		if twice || key != "CLIENT_PLUGIN" && key != "VERSIONS" && key != "PROPERTIES" {
			unknown = append(unknown, member.Key)
			continue
		}
		members[key] = member.Value
	}
	switch plugin, ok := members["CLIENT_PLUGIN"].(string); {
	case len(members) < 3:
		return nil, p.refuse("API_VERSIONS requires CLIENT_PLUGIN, VERSIONS and PROPERTIES.")
	case unknown != nil:
		return nil, p.unknownKeys(unknown)
	case !ok || plugin == "":
		return nil, p.refuse("CLIENT_PLUGIN should be a client plugin name.")
	default:
		return p.versionRule(plugin, members["VERSIONS"], members["PROPERTIES"])
	}
}

func (p *parser) versionRule(plugin string, versions, properties any) (*rule, error) {
	support := &support{plugin: plugin}
	if list, ok := versions.([]any); !ok || !support.read(list) {
		return nil, p.refuse("VERSIONS should be a list of versions.")
	}
	items, ok := properties.([]any)
	if !ok || len(items) == 0 {
		return nil, p.refuse(noPath)
	}
	g := &group{operands: make([]operand, len(items)), memo: -1}
	for i, item := range items {
		var err error
		if g.operands[i].path, err = p.path(item); err != nil {
			return nil, err
		}
	}
	return &rule{group: g, support: support}, nil
}

const noSince = "client_plugin_supported should be a list of versions."

// supportedSince reads the client versions of a named group, nil if it has none.
func (p *parser) supportedSince(name string, m document.Mapping) (*support, error) {
	plugin, ok := m.Lookup("client_plugin")
	if !ok && !hasVersions(m) {
		return nil, nil
	}
	l := &support{since: true}
	if l.plugin, _ = plugin.(string); l.plugin == "" {
		return nil, p.refuse("Group '%s' needs client_plugin.", name)
	}
	for _, member := range m {
		if member.Key != "client_plugin_supported" && member.Key != "client_plugin_supported_since" {
			continue
		}
		list, ok := member.Value.([]any)
		if !ok {
			list = []any{member.Value}
		}
		if !l.read(list) {
			return nil, p.refuse(noSince)
		}
	}
	if l.versions == nil {
		return nil, p.refuse(noSince)
	}
	return l, nil
}

func hasVersions(m document.Mapping) bool {
	_, supported := m.Lookup("client_plugin_supported")
	_, since := m.Lookup("client_plugin_supported_since")
	return supported || since
}
