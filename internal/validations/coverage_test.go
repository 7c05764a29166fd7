package validations

import "testing"

func TestCoverageWarning(t *testing.T) {
	t.Parallel()
	registered, hidden := []string{"acme/BaremetalNode/v1", "acme/Host/v1", "acme/Gadget"}, []string{"acme/Vault/v1"}
	for want, counts := range map[string]map[string]int{
		"": {"acme/Host/v1": 3, "deckhand/Passphrase/v1": 1, DataSchemaKind: 2},
		"1 document has no DataSchema: acme/BaremetalNod/v1 (1; did you mean acme/BaremetalNode/v1?)": {"acme/BaremetalNod/v1": 1},
		"5 documents have no DataSchema: other/Thing/v1 (3), acme/Hosts/v1 (2; did you mean acme/Host/v1?)": {
			"acme/Host/v1": 1, "acme/Hosts/v1": 2, "other/Thing/v1": 3,
		},
		"1 document has no DataSchema: acme/Gadget/v1 (1)":   {"acme/Gadget/v1": 1},
		"2 documents have no DataSchema: acme/Vaults/v1 (2)": {"acme/Vault/v1": 3, "acme/Vaults/v1": 2},
	} {
		documents := map[string]Kind{}
		for schema, n := range counts {
			documents[schema] = Kind{Documents: n}
		}
		if got := CoverageWarning(Coverage(documents, registered, hidden)); got != want {
			t.Errorf("%v: %q, want %q", documents, got, want)
		}
	}
}

// Where documents were not counted to the end, the words say so.
func TestCoverageWarning_atLeast(t *testing.T) {
	t.Parallel()
	uncovered := Coverage(map[string]Kind{
		"acme/Many/v1": {Documents: 1000, AtLeast: true}, "acme/Few/v1": {Documents: 2},
	}, nil, nil)
	const want = "1002 or more documents have no DataSchema: acme/Many/v1 (1000 or more), acme/Few/v1 (2)"
	if got := CoverageWarning(uncovered); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := uncovered[0].String(); got != "No DataSchema is named acme/Many/v1 (1000 or more documents)" {
		t.Errorf("%q", got)
	}
}
