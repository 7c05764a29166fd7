package check

import "testing"

func TestPlace_Text(t *testing.T) {
	t.Parallel()
	for want, place := range map[string]Place{
		"": {}, "a.yaml": {File: "a.yaml"}, "a.yaml:3": {File: "a.yaml", Line: 3},
		"a.yaml:3:9": {File: "a.yaml", Line: 3, Column: 9}, "a\nb:c.yaml:12": {File: "a\nb:c.yaml", Line: 12},
	} {
		if got := place.Text(); got != want {
			t.Errorf("%+v: %q, want %q", place, got, want)
		}
	}
}
