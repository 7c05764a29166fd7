package jsonschema

import "testing"

func TestDraftNamed(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]*draft{
		"http://json-schema.org/schema#":                draft4,
		"http://json-schema.org/schema":                 draft4,
		"http://json-schema.org/draft-03/schema#":       draft4,
		"http://json-schema.org/draft-04/schema#":       draft4,
		"https://json-schema.org/draft-04/schema":       draft4,
		"http://json-schema.org/draft-06/schema#":       draft6,
		"http://json-schema.org/draft-07/schema":        draft7,
		"https://json-schema.org/draft/2019-09/schema":  draft2019,
		"http://json-schema.org/draft/2020-12/schema#":  draft2020,
		"https://json-schema.org/draft/2020-12/schemas": nil,
		"": nil,
	} {
		if got := draftNamed(uri); got != want {
			t.Errorf("%q is %v", uri, got)
		}
	}
}
