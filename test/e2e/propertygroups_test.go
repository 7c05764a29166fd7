package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Documents take precedence over the server's defaults.
func TestClientVersions_defaults(t *testing.T) {
	t.Parallel()
	s := startFresh(t, "--client-version", "shop=1.0", "--client-version", "other=1,2")
	s.put(t, "site", layeringPolicy("lp")+sized()+widget("w", "{size: 1}")).is(t, http.StatusOK)
	s.isMessages(t, "1", 2, ".data: "+old)
	s.get(t, "revisions/1/rendered-documents").fails(t, http.StatusBadRequest, "InvalidDocumentFormat", old)
	s.put(t, "versions", clientVersions("{shop: '2.0'}")).is(t, http.StatusOK)
	s.isOutcomes(t, "2", "success")
	s.get(t, "revisions/2/rendered-documents").is(t, http.StatusOK)
}

// The work of checks is bounded, and the error says what exceeded the bound.
func TestPropertyGroups_bounded(t *testing.T) {
	t.Parallel()
	s := startLean(t)
	var groups, members strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&groups, "- g%d: {operator: or, properties: [p%d, p%d, p%d]}\n", i, i, (i*7+1)%1000, (i*13+2)%1000)
		fmt.Fprintf(&members, "p%d: %d, ", i, i)
	}
	path := "[" + strings.Repeat("x, ", 999) + "x]"
	schema := "{properties_groups_schema: [{OR: [" + path + ", [list, y, z]]}]}"
	items := "{list: [" + strings.Repeat("{y: [{z: 1}]}, ", 10_000) + "]}"
	many := "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, name: acme/Widget/v1}\ndata:\n  property_groups:\n" +
		indentLines(groups.String()) + widget("w", "{"+members.String()+"}")
	s.affords(t, func() {
		s.put(t, "many", many).is(t, http.StatusOK)
		s.isOutcomes(t, "1", "success", "success")
	})
	s.affords(t, func() {
		s.put(t, "long", dataSchema("acme/Gadget/v1", schema)+doc("acme/Gadget/v1", "g", items)).is(t, http.StatusOK)
		s.isOutcomes(t, "2", "success", "success")
	})
}
