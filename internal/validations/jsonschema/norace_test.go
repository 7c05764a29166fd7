//go:build !race

package jsonschema

// underRace reports whether the race detector slows the tests down.
const underRace = false
