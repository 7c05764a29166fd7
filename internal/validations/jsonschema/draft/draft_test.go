package draft

import "testing"

func TestOf(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]*Draft{
		"http://json-schema.org/schema#":                V4,
		"http://json-schema.org/schema":                 V4,
		"http://json-schema.org/draft-03/schema#":       V4,
		"http://json-schema.org/draft-04/schema#":       V4,
		"https://json-schema.org/draft-04/schema":       V4,
		"http://json-schema.org/draft-06/schema#":       V6,
		"http://json-schema.org/draft-07/schema":        V7,
		"https://json-schema.org/draft/2019-09/schema":  V2019,
		"http://json-schema.org/draft/2020-12/schema#":  V2020,
		"https://json-schema.org/draft/2020-12/schemas": nil,
		"": nil,
	} {
		if got := Of(uri); got != want {
			t.Errorf("%q is %v", uri, got)
		}
	}
}
