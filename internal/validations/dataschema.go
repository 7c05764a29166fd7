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

// DataSchema is a schema that a document registers, with the others that it refers to.
type DataSchema struct {
	Digest document.Digest
	Text   []byte // compact JSON
	// Others are the texts of the DataSchemas that it refers to, itself or through others, by name; nil for those that
	// are not registered.
	Others map[string][]byte
}

// Registry holds the texts of the DataSchemas in force, by name.
type Registry map[string][]byte

// textSteps is what finding the references of a text, hashing it and looking for keywords in it takes for each byte, in
// the budget's steps.
const textSteps = 5

// DataSchema returns a DataSchema with those that it refers to, and counts what these take. The error is the meter's,
// unwrapped.
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

// sum returns a digest of the texts of the schema and of those that it refers to.
func (s DataSchema) sum() document.Digest { return s.with(sha256.Sum256(s.Text)) }

// with returns a digest of another one and of the texts that the schema refers to; that one itself if there are none.
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

// size returns the bytes of the texts of the schema and of those that it refers to.
func (s DataSchema) size() int {
	size := len(s.Text)
	for _, text := range s.Others {
		size += len(text)
	}
	return size
}

// contains reports whether one of the texts contains another.
func (s DataSchema) contains(part []byte) bool {
	for _, text := range s.Others {
		if bytes.Contains(text, part) {
			return true
		}
	}
	return bytes.Contains(s.Text, part)
}

// Dependents returns the names of the schemas that refer to one of some names, directly or through others, and those
// names themselves.
func (r Registry) Dependents(names map[string]bool) map[string]bool {
	referring := make(map[string][]string) // names of schemas, by what they refer to
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
