//go:build race

package jsonschema

// underRace says that the race detector slows the tests down.
const underRace = true
