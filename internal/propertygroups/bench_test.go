package propertygroups

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkGroups checks ten groups on a document of 2 KB.
func BenchmarkGroups(b *testing.B) {
	schema := schemaOf(b, `
properties_groups_schema:
  - AND: [[name], [image, url]]
  - OR: [[network, address], [network, dhcp]]
  - XOR: [[password], [key], {AND: [[token], [realm]]}]
  - XOR: [[ports, address], [ports, dhcp]]
  - API_VERSIONS: {CLIENT_PLUGIN: nova, VERSIONS: ['2.1', '2.42'], PROPERTIES: [[tags], [ports, tag]]}
property_groups:
  - pair: {properties: [ports.name, ports.address], operator: and}
  - either: {properties: [pair, ports.dhcp], operator: or}
  - dep: {properties: [image.checksum, image.url], operator: depends_on}
  - back: {properties: [network.address, network.mask], operator: depends_on}
  - since: {properties: [key, token], operator: or, client_plugin: keystone, client_plugin_supported: '3'}`)
	var ports []string
	for i := range 20 {
		ports = append(ports, fmt.Sprintf("{name: port-%02d, address: 192.168.100.%d, vlan: %d, tag: in-use, description: an access port}", i, i+10, i+100))
	}
	object := objectOf(b, `{name: node-1, key: ssh, image: {url: 'https://images/1', checksum: abc}, network: {address: 10.0.0.1, mask: 24}, ports: [`+
		strings.Join(ports, ", ")+`]}`)
	versions := Versions{"nova": "2.42", "keystone": "3.14"}
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse(schema); err != nil {
				b.Fatal(err)
			}
		}
	})
	g, err := Parse(schema)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if found := judge(b, g, object, versions); found != nil {
				b.Fatal(sketch(found))
			}
		}
	})
	b.Run("check with violations", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if found := judge(b, g, object, nil); len(found) != 2 {
				b.Fatal(sketch(found))
			}
		}
	})
}
