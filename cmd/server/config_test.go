package main

import "testing"

// --yaml=strict reaches the decoder of bodies.
func TestLimitFlags_yaml(t *testing.T) {
	t.Parallel()
	for value, strict := range map[string]bool{"fast": false, "strict": true} {
		if limits := (limitFlags{YAML: value}).document(); limits.Strict != strict {
			t.Errorf("--yaml=%s: strict is %t", value, limits.Strict)
		}
	}
}
