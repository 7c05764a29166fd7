package validations

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// DataSchema is a registered schema with the ones that it refers to.
type DataSchema struct {
	Digest document.Digest
	Text   []byte // compact JSON
	// Others maps the names of the DataSchemas that it refers to, directly or indirectly, to their texts, nil for those
	// that are not registered.
	Others map[string][]byte
}

// Registry holds the texts of the DataSchemas in force, by name.
type Registry map[string][]byte

// textSteps is the cost of scanning a byte of a schema for references and keywords and of hashing it, in the budget's
// steps.
const textSteps = 5

// DataSchema returns the DataSchema with a text and those that it refers to. The only errors are those of meter,
// returned unwrapped.
func (r Registry) DataSchema(meter *budget.Meter, digest document.Digest, text []byte) (DataSchema, error) {
	s := DataSchema{Digest: digest, Text: text}
	for queue := jsonschema.References(text); len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		if _, known := s.Others[name]; known {
			continue
		}
		if err := meter.Spend(len(name) + len(r[name])*textSteps); err != nil {
			return s, err
		}
		if s.Others == nil {
			s.Others = map[string][]byte{}
		}
		s.Others[name] = r[name]
		queue = append(queue, jsonschema.References(r[name])...)
	}
	return s, nil
}

// sum returns a digest of all texts.
func (s DataSchema) sum() document.Digest { return s.with(sha256.Sum256(s.Text)) }

// with returns a digest of digest and the texts of Others, or digest itself if there are none.
func (s DataSchema) with(digest document.Digest) document.Digest {
	if len(s.Others) == 0 {
		return digest
	}
	h := sha256.New()
	h.Write(digest[:])
	for _, name := range slices.Sorted(maps.Keys(s.Others)) {
		h.Write([]byte(name))
		of := sha256.Sum256(s.Others[name])
		h.Write(of[:])
	}
	return document.Digest(h.Sum(nil))
}

// size returns the total length of all texts, in bytes.
func (s DataSchema) size() int {
	size := len(s.Text)
	for _, text := range s.Others {
		size += len(text)
	}
	return size
}

// contains reports whether one of the texts contains part.
func (s DataSchema) contains(part []byte) bool {
	for _, text := range s.Others {
		if bytes.Contains(text, part) {
			return true
		}
	}
	return bytes.Contains(s.Text, part)
}

// Dependents returns the names of the schemas that refer, directly or indirectly, to one of names, and names
// themselves.
func (r Registry) Dependents(names map[string]bool) map[string]bool {
	referring := make(map[string][]string) // names of schemas by the name that they refer to
	for name, text := range r {
		for _, to := range jsonschema.References(text) {
			referring[to] = append(referring[to], name)
		}
	}
	all := maps.Clone(names)
	for queue := slices.Collect(maps.Keys(names)); len(queue) > 0; queue = queue[1:] {
		for _, name := range referring[queue[0]] {
			if !all[name] {
				all[name] = true
				queue = append(queue, name)
			}
		}
	}
	return all
}
